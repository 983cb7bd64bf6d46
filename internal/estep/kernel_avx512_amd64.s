//go:build amd64 && !noasm && !purego

#include "go_asm.h"
#include "textflag.h"

// The words are gone through two or three times: for z, for what is left of the
// responsibilities, and to share out. Their rows stay in the cache. Going through
// once would wait for the sums and the divisions of a word, which are long chains.
//
// Pointers are to the ends of arrays and of what is needed of rows.
//
// DI      the arguments
// SI      the words; CX minus the words left
// R8, R9  B and the sums (B if there are none); R10 minus the bytes of a row.
//         R9 is a row of B to come, with LeaveLast
// R11     t
// R12     the words to come; g
// R13     out
// R14     z; the counts
// R15     a row of B to come; the prior; the word's row of the sums; the scales
// BX      the word's row of B; a vector of its row of out
// DX      the word's row of the sums; the sums of out; the counts
// AX      position in a row, negative
//
// Z30 ones, Z29 the token, X28 the least sum, Z31 the factor of the word

// SUM leaves the sum of Z0 in X0.
#define SUM \
	VEXTRACTF64X4 $1, Z0, Y1 \
	VADDPS        Y1, Y0, Y0 \
	VEXTRACTF128  $1, Y0, X1 \
	VADDPS        X1, X0, X0 \
	VPERMILPD     $1, X0, X1 \
	VADDPS        X1, X0, X0 \
	VMOVSHDUP     X0, X1     \
	VADDSS        X1, X0, X0

// ROW points to to the row of the current word.
#define ROW(base, to) \
	MOVLQSX (SI)(CX*4), to       \
	IMULQ   args_stride(DI), to  \
	ADDQ    base, to

// LOAD sets reg to the end of n numbers.
#define LOAD(arg, reg) \
	MOVQ arg(DI), reg     \
	LEAQ (reg)(CX*4), reg

// RESET sets CX to n.
#define RESET \
	MOVQ args_n(DI), CX

// LOADROW sets reg to the end of a row.
#define LOADROW(arg, reg) \
	MOVQ arg(DI), reg \
	SUBQ R10, reg

// FACTOR sets Z31 to num over the number of the current word at den.
#define FACTOR(den, num) \
	VMAXSS       (den)(CX*4), X28, X0 \
	VDIVSS       X0, num, X0          \
	VBROADCASTSS X0, Z31

// func run512(a *args)
TEXT ·run512(SB), NOSPLIT, $0-8
	MOVQ         a+0(FP), DI
	RESET
	LOAD(args_words, SI)
	LOAD(args_next, R12)
	LOAD(args_z, R14)
	NEGQ         CX
	MOVQ         args_width(DI), R10
	NEGQ         R10
	LOADROW(args_b, R8)
	LOADROW(args_t, R11)
	LOADROW(args_sums, R9)
	CMPQ         args_sums(DI), $0
	CMOVQEQ      R8, R9
	VBROADCASTSS args_one(DI), Z30
	VMOVSS       args_least(DI), X28
	CMPQ         args_mode(DI), $const_LeaveLast
	JEQ          last

dotWord:
	MOVLQSX (R12)(CX*4), R15
	IMULQ   args_stride(DI), R15
	ADDQ    R8, R15
	ROW(R8, BX)
	ROW(R9, DX)
	MOVQ    R10, AX
	VPXORQ  Z0, Z0, Z0

dot:
	VMOVUPS     (R11)(AX*1), Z1
	VMULPS      (BX)(AX*1), Z1, Z1
	VADDPS      Z1, Z0, Z0
	PREFETCHT0  (R15)(AX*1)
	PREFETCHT0  (DX)(AX*1)
	ADDQ        $64, AX
	JNE         dot
	SUM
	VMOVSS      X0, (R14)(CX*4)
	INCQ        CX
	JNE         dotWord

	MOVQ  args_mode(DI), AX
	TESTQ AX, AX
	JLT   done
	RESET
	JEQ   plain
	LOAD(args_left, DX)
	NEGQ  CX
	LOADROW(args_prior, R15)
	LOADROW(args_out, R13)

documentWord:
	ROW(R8, BX)
	FACTOR(R14, X30)
	MOVQ   R10, AX
	VPXORQ Z0, Z0, Z0

document:
	VMOVUPS      (BX)(AX*1), Z1
	VMULPS       Z1, Z31, Z2
	VSUBPS       Z2, Z30, Z2
	VMULPS       (R11)(AX*1), Z2, Z2
	VMAXPS       (R15)(AX*1), Z2, Z2
	VMULPS       Z1, Z2, Z2
	VMOVUPS      Z2, (R13)(AX*1)
	VADDPS       Z2, Z0, Z0
	ADDQ         $64, AX
	JNE          document
	SUM
	VMOVSS       X0, (DX)(CX*4)
	SUBQ         R10, R13
	INCQ         CX
	JNE          documentWord
	JMP          share

last:
	RESET
	LOAD(args_left, DX)
	LOAD(args_counts, R14)
	NEGQ   CX
	LOADROW(args_prior, R15)
	LOADROW(args_out, R13)
	VMOVSS args_token(DI), X29

lastWord:
	MOVLQSX (R12)(CX*4), R9
	IMULQ   args_stride(DI), R9
	ADDQ    R8, R9
	ROW(R8, BX)
	VMINSS (R14)(CX*4), X29, X1
	FACTOR(DX, X1)
	MOVQ   R10, AX
	VPXORQ Z0, Z0, Z0

last1:
	VMOVUPS      (R11)(AX*1), Z2
	VMULPS       (R13)(AX*1), Z31, Z1
	VSUBPS       Z1, Z2, Z1
	VMAXPS       (R15)(AX*1), Z1, Z1
	VMULPS       (BX)(AX*1), Z1, Z1
	VMOVUPS      Z1, (R13)(AX*1)
	VADDPS       Z1, Z0, Z0
	PREFETCHT0   (R9)(AX*1)
	ADDQ         $64, AX
	JNE          last1
	SUM
	VMOVSS       X0, (DX)(CX*4)
	SUBQ         R10, R13
	INCQ         CX
	JNE          lastWord
	LOADROW(args_sums, R9)

share:
	CMPQ args_g(DI), $0
	JEQ  done
	RESET
	LOAD(args_counts, R14)
	NEGQ CX
	LOADROW(args_out, R13)
	LOADROW(args_g, R12)
	CMPQ args_sums(DI), $0
	JEQ  shareDoc

shareWord:
	VMOVSS (R14)(CX*4), X1
	FACTOR(DX, X1)
	ROW(R9, R15)
	MOVQ   R10, AX

shareBoth:
	VMULPS  (R13)(AX*1), Z31, Z1
	VADDPS  (R12)(AX*1), Z1, Z2
	VADDPS  (R15)(AX*1), Z1, Z3
	VMOVUPS Z2, (R12)(AX*1)
	VMOVUPS Z3, (R15)(AX*1)
	ADDQ    $64, AX
	JNE     shareBoth
	SUBQ    R10, R13
	INCQ    CX
	JNE     shareWord
	JMP     done

// Without sums one vector of g after the other, which stays in a register.
shareDoc:
	RESET
	LOAD(args_scale, R15)
	NEGQ CX

scale:
	VMAXSS (DX)(CX*4), X28, X0
	VMOVSS (R14)(CX*4), X1
	VDIVSS X0, X1, X0
	VMOVSS X0, (R15)(CX*4)
	INCQ   CX
	JNE    scale
	MOVQ   R10, AX

shareDocVector:
	VMOVUPS (R12)(AX*1), Z0
	LEAQ    (R13)(AX*1), BX
	RESET
	NEGQ    CX

shareDocWord:
	VBROADCASTSS (R15)(CX*4), Z1
	VMULPS       (BX), Z1, Z1
	VADDPS       Z1, Z0, Z0
	SUBQ         R10, BX
	INCQ         CX
	JNE          shareDocWord
	VMOVUPS      Z0, (R12)(AX*1)
	ADDQ         $64, AX
	JNE          shareDocVector
	JMP          done

plain:
	LOAD(args_counts, DX)
	NEGQ CX
	LOADROW(args_g, R12)
	CMPQ args_sums(DI), $0
	JEQ  plainDocWord

plainWord:
	VMOVSS (DX)(CX*4), X1
	FACTOR(R14, X1)
	ROW(R8, BX)
	ROW(R9, R15)
	MOVQ   R10, AX

plainBoth:
	VMULPS      (BX)(AX*1), Z31, Z1
	VADDPS      (R12)(AX*1), Z1, Z2
	VMULPS      (R11)(AX*1), Z1, Z3
	VADDPS      (R15)(AX*1), Z3, Z3
	VMOVUPS     Z2, (R12)(AX*1)
	VMOVUPS     Z3, (R15)(AX*1)
	ADDQ        $64, AX
	JNE         plainBoth
	INCQ        CX
	JNE         plainWord
	JMP         done

plainDocWord:
	VMOVSS (DX)(CX*4), X1
	FACTOR(R14, X1)
	ROW(R8, BX)
	MOVQ   R10, AX

plainDoc:
	VMULPS      (BX)(AX*1), Z31, Z2
	VADDPS      (R12)(AX*1), Z2, Z2
	VMOVUPS     Z2, (R12)(AX*1)
	ADDQ        $64, AX
	JNE         plainDoc
	INCQ        CX
	JNE         plainDocWord

done:
	VZEROUPPER
	RET

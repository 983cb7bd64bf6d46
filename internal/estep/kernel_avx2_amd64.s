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
// Y15 ones, Y14 the token, X13 the least sum, Y12 the factor of the word

// SUM leaves the sum of Y0 and Y3, which have eight each of sixteen sums, in X0.
#define SUM \
	VADDPS        Y3, Y0, Y0 \
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

// FACTOR sets Y12 to num over the number of the current word at den.
#define FACTOR(den, num) \
	VMAXSS       (den)(CX*4), X13, X0 \
	VDIVSS       X0, num, X0          \
	VBROADCASTSS X0, Y12

// DOCUMENT is a vector of a step of LeaveDocument, LAST one of LeaveLast. They add it to sum.

#define DOCUMENT(sum) \
	VMOVUPS (BX)(AX*1), Y1      \
	VMULPS  Y1, Y12, Y2         \
	VSUBPS  Y2, Y15, Y2         \
	VMULPS  (R11)(AX*1), Y2, Y2 \
	VMAXPS  (R15)(AX*1), Y2, Y2 \
	VMULPS  Y1, Y2, Y2          \
	VMOVUPS Y2, (R13)(AX*1)     \
	VADDPS  Y2, sum, sum

#define LAST(sum) \
	VMOVUPS (R11)(AX*1), Y2     \
	VMULPS  (R13)(AX*1), Y12, Y1 \
	VSUBPS  Y1, Y2, Y1          \
	VMAXPS  (R15)(AX*1), Y1, Y1 \
	VMULPS  (BX)(AX*1), Y1, Y1  \
	VMOVUPS Y1, (R13)(AX*1)     \
	VADDPS  Y1, sum, sum

// func run256(a *args)
TEXT ·run256(SB), NOSPLIT, $0-8
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
	VBROADCASTSS args_one(DI), Y15
	VMOVSS       args_least(DI), X13
	CMPQ         args_mode(DI), $const_LeaveLast
	JEQ          last

dotWord:
	MOVLQSX (R12)(CX*4), R15
	IMULQ   args_stride(DI), R15
	ADDQ    R8, R15
	ROW(R8, BX)
	ROW(R9, DX)
	MOVQ    R10, AX
	VPXOR   Y0, Y0, Y0
	VPXOR   Y3, Y3, Y3

dot:
	VMOVUPS    (R11)(AX*1), Y1
	VMULPS     (BX)(AX*1), Y1, Y1
	VADDPS     Y1, Y0, Y0
	PREFETCHT0 (R15)(AX*1)
	PREFETCHT0 (DX)(AX*1)
	ADDQ       $32, AX
	JEQ        dotSum
	VMOVUPS    (R11)(AX*1), Y1
	VMULPS     (BX)(AX*1), Y1, Y1
	VADDPS     Y1, Y3, Y3
	ADDQ       $32, AX
	JNE        dot

dotSum:
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
	FACTOR(R14, X15)
	MOVQ   R10, AX
	VPXOR  Y0, Y0, Y0
	VPXOR  Y3, Y3, Y3

document:
	DOCUMENT(Y0)
	ADDQ   $32, AX
	JEQ    documentSum
	DOCUMENT(Y3)
	ADDQ   $32, AX
	JNE    document

documentSum:
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
	VMOVSS args_token(DI), X14

lastWord:
	MOVLQSX (R12)(CX*4), R9
	IMULQ   args_stride(DI), R9
	ADDQ    R8, R9
	ROW(R8, BX)
	VMINSS (R14)(CX*4), X14, X1
	FACTOR(DX, X1)
	MOVQ   R10, AX
	VPXOR  Y0, Y0, Y0
	VPXOR  Y3, Y3, Y3

last1:
	LAST(Y0)
	PREFETCHT0 (R9)(AX*1)
	ADDQ   $32, AX
	JEQ    lastSum
	LAST(Y3)
	ADDQ   $32, AX
	JNE    last1

lastSum:
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
	VMULPS  (R13)(AX*1), Y12, Y1
	VADDPS  (R12)(AX*1), Y1, Y2
	VADDPS  (R15)(AX*1), Y1, Y3
	VMOVUPS Y2, (R12)(AX*1)
	VMOVUPS Y3, (R15)(AX*1)
	ADDQ    $32, AX
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
	VMAXSS (DX)(CX*4), X13, X0
	VMOVSS (R14)(CX*4), X1
	VDIVSS X0, X1, X0
	VMOVSS X0, (R15)(CX*4)
	INCQ   CX
	JNE    scale
	MOVQ   R10, AX

shareDocVector:
	VMOVUPS (R12)(AX*1), Y0
	LEAQ    (R13)(AX*1), BX
	RESET
	NEGQ    CX

shareDocWord:
	VBROADCASTSS (R15)(CX*4), Y1
	VMULPS       (BX), Y1, Y1
	VADDPS       Y1, Y0, Y0
	SUBQ         R10, BX
	INCQ         CX
	JNE          shareDocWord
	VMOVUPS      Y0, (R12)(AX*1)
	ADDQ         $32, AX
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
	VMULPS      (BX)(AX*1), Y12, Y1
	VADDPS      (R12)(AX*1), Y1, Y2
	VMULPS      (R11)(AX*1), Y1, Y3
	VADDPS      (R15)(AX*1), Y3, Y3
	VMOVUPS     Y2, (R12)(AX*1)
	VMOVUPS     Y3, (R15)(AX*1)
	ADDQ        $32, AX
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
	VMULPS      (BX)(AX*1), Y12, Y2
	VADDPS      (R12)(AX*1), Y2, Y2
	VMOVUPS     Y2, (R12)(AX*1)
	ADDQ        $32, AX
	JNE         plainDoc
	INCQ        CX
	JNE         plainDocWord

done:
	VZEROUPPER
	RET

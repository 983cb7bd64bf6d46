//go:build amd64 && !noasm && !purego

#include "go_asm.h"
#include "textflag.h"

// SI, DX, R14  ends of the words, their counts and z; CX minus the words left
// DI           the arguments
// R8, R9       B and the sums; R10 minus the bytes of a row that are needed. Pointers
//              to rows point to the end of these.
// R11, R13     t and out
// R12          g; the totals where out is found
// BX           the word's row of B, then a row of the sums to prefetch
// R15          a row of B to prefetch, the prior, or the word's row of the sums
// AX           position in a row, negative
//
// Z30 ones, Z29 beta, X28 the least sum, Z31 the factor of the word

// AHEAD is how many words ahead rows are fetched.
#define AHEAD 4

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

// func run512(a *args)
TEXT ·run512(SB), NOSPLIT, $0-8
	MOVQ         a+0(FP), DI
	MOVQ         args_n(DI), CX
	MOVQ         args_words(DI), SI
	MOVQ         args_counts(DI), DX
	MOVQ         args_z(DI), R14
	LEAQ         (SI)(CX*4), SI
	LEAQ         (DX)(CX*4), DX
	LEAQ         (R14)(CX*4), R14
	NEGQ         CX
	MOVQ         args_width(DI), R10
	MOVQ         args_b(DI), R8
	MOVQ         args_sums(DI), R9
	ADDQ         args_width(DI), R9
	MOVQ         args_t(DI), R11
	MOVQ         args_out(DI), R13
	ADDQ         R10, R8
	ADDQ         R10, R11
	ADDQ         R10, R13
	NEGQ         R10
	VBROADCASTSS args_one(DI), Z30
	VBROADCASTSS args_beta(DI), Z29
	VMOVSS       args_least(DI), X28

word:
	LEAQ    AHEAD(CX), AX
	TESTQ   AX, AX
	CMOVQGE CX, AX
	MOVLQSX (SI)(AX*4), R15
	IMULQ   args_stride(DI), R15
	ADDQ    R8, R15
	MOVLQSX (SI)(CX*4), BX
	IMULQ   args_stride(DI), BX
	ADDQ    R8, BX
	MOVQ    R10, AX
	VPXORQ  Z0, Z0, Z0

dot:
	VMOVUPS     (R11)(AX*1), Z1
	VFMADD231PS (BX)(AX*1), Z1, Z0
	PREFETCHT0  (R15)(AX*1)
	ADDQ        $64, AX
	JNE dot
	SUM
	VMOVSS      X0, (R14)(CX*4)
	MOVQ        args_mode(DI), AX
	TESTQ       AX, AX
	JLT         next
	VMAXSS      X28, X0, X0
	JEQ         plain

	VDIVSS       X0, X30, X0
	VBROADCASTSS X0, Z31
	MOVQ         args_prior(DI), R15
	SUBQ         R10, R15
	VPXORQ       Z0, Z0, Z0
	CMPQ         AX, $1
	JNE          everywhere
	MOVQ         R10, AX

document:
	VMOVUPS      (BX)(AX*1), Z1
	VMOVAPS      Z1, Z2
	VFNMADD213PS Z30, Z31, Z2
	VMULPS       (R11)(AX*1), Z2, Z2
	VMAXPS       (R15)(AX*1), Z2, Z2
	VMULPS       Z1, Z2, Z2
	VMOVUPS      Z2, (R13)(AX*1)
	VADDPS       Z2, Z0, Z0
	ADDQ         $64, AX
	JNE document
	JMP          share

everywhere:
	MOVQ args_totals(DI), R12
	SUBQ R10, R12
	MOVQ R10, AX

everywhere1:
	VMOVUPS     (BX)(AX*1), Z1
	VMOVUPS     (R11)(AX*1), Z2
	VMOVUPS     (R12)(AX*1), Z3
	VMULPS      Z1, Z31, Z4
	VMULPS      Z2, Z4, Z4
	VSUBPS      Z4, Z2, Z2
	VFMSUB213PS Z4, Z3, Z1
	VSUBPS      Z4, Z3, Z3
	VMAXPS      (R15)(AX*1), Z2, Z2
	VMAXPS      Z29, Z1, Z1
	VMULPS      Z1, Z2, Z2
	VDIVPS      Z3, Z2, Z2
	VMOVUPS     Z2, (R13)(AX*1)
	VADDPS      Z2, Z0, Z0
	ADDQ        $64, AX
	JNE everywhere1

share:
	SUM
	VMAXSS       X28, X0, X0
	VMOVSS       (DX)(CX*4), X1
	VDIVSS       X0, X1, X0
	VBROADCASTSS X0, Z31
	MOVQ         args_g(DI), R12
	SUBQ         R10, R12
	CMPQ         args_sums(DI), $0
	JEQ          shareDoc
	LEAQ         AHEAD(CX), AX
	TESTQ        AX, AX
	CMOVQGE      CX, AX
	MOVLQSX      (SI)(AX*4), BX
	IMULQ        args_stride(DI), BX
	ADDQ         R9, BX
	MOVLQSX      (SI)(CX*4), R15
	IMULQ        args_stride(DI), R15
	ADDQ         R9, R15
	MOVQ         R10, AX

shareBoth:
	VMULPS     (R13)(AX*1), Z31, Z1
	VADDPS     (R12)(AX*1), Z1, Z2
	VADDPS     (R15)(AX*1), Z1, Z3
	VMOVUPS    Z2, (R12)(AX*1)
	VMOVUPS    Z3, (R15)(AX*1)
	PREFETCHT0 (BX)(AX*1)
	ADDQ       $64, AX
	JNE shareBoth
	JMP        next

shareDoc:
	MOVQ R10, AX

shareDoc1:
	VMULPS  (R13)(AX*1), Z31, Z1
	VADDPS  (R12)(AX*1), Z1, Z2
	VMOVUPS Z2, (R12)(AX*1)
	ADDQ    $64, AX
	JNE shareDoc1
	JMP     next

plain:
	VMOVSS       (DX)(CX*4), X1
	VDIVSS       X0, X1, X0
	VBROADCASTSS X0, Z31
	MOVQ         args_g(DI), R12
	SUBQ         R10, R12
	MOVQ         R10, AX
	CMPQ         args_sums(DI), $0
	JEQ          plainDoc
	MOVLQSX      (SI)(CX*4), R15
	IMULQ        args_stride(DI), R15
	ADDQ         R9, R15

plainBoth:
	VMULPS      (BX)(AX*1), Z31, Z1
	VADDPS      (R12)(AX*1), Z1, Z2
	VMOVUPS     (R15)(AX*1), Z3
	VFMADD231PS (R11)(AX*1), Z1, Z3
	VMOVUPS     Z2, (R12)(AX*1)
	VMOVUPS     Z3, (R15)(AX*1)
	ADDQ        $64, AX
	JNE plainBoth
	JMP         next

plainDoc:
	VMOVUPS     (R12)(AX*1), Z2
	VFMADD231PS (BX)(AX*1), Z31, Z2
	VMOVUPS     Z2, (R12)(AX*1)
	ADDQ        $64, AX
	JNE plainDoc

next:
	INCQ CX
	JNZ  word
	VZEROUPPER
	RET

//go:build amd64 && !noasm && !purego

#include "textflag.h"

// DI  end of the sum
// SI  end of x
// CX  minus the numbers left
// Y0  the scale, Y1 magic

DATA magic<>+0(SB)/8, $0x4338000000000000
GLOBL magic<>(SB), RODATA|NOPTR, $8

// func add256(sum *int64, x *float32, n int, scale float32, next *int64)
TEXT ·add256(SB), NOSPLIT, $0-40
	MOVQ         sum+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS scale+24(FP), X0
	VBROADCASTSD magic<>(SB), Y1
	MOVQ         next+32(FP), DX
	LEAQ         (DI)(CX*8), DI
	LEAQ         (DX)(CX*8), DX
	LEAQ         (SI)(CX*4), SI
	NEGQ         CX

four:
	PREFETCHT0 (DX)(CX*8)
	VMULPS    (SI)(CX*4), X0, X2
	VCVTPS2PD X2, Y2
	VADDPD    Y1, Y2, Y2
	VPSUBQ    Y1, Y2, Y2
	VPADDQ    (DI)(CX*8), Y2, Y2
	VMOVDQU   Y2, (DI)(CX*8)
	ADDQ      $4, CX
	JNE       four
	VZEROUPPER
	RET

// func add512(sum *int64, x *float32, n int, scale float32, next *int64)
TEXT ·add512(SB), NOSPLIT, $0-40
	MOVQ         sum+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS scale+24(FP), Y0
	MOVQ         next+32(FP), DX
	LEAQ         (DI)(CX*8), DI
	LEAQ         (DX)(CX*8), DX
	LEAQ         (SI)(CX*4), SI
	NEGQ         CX

eight:
	PREFETCHT0 (DX)(CX*8)
	VMULPS    (SI)(CX*4), Y0, Y2
	VCVTPS2QQ Y2, Z2
	VPADDQ    (DI)(CX*8), Z2, Z2
	VMOVDQU64 Z2, (DI)(CX*8)
	ADDQ      $8, CX
	JNE       eight
	VZEROUPPER
	RET

//go:build arm64 && !noasm && !purego

#include "textflag.h"

// The assembler does not know these instructions. d is the result, of n and m.
#define FMUL4S(m, n, d) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define FCVTL(n, d)     WORD $(0x0E617800 | (n)<<5 | (d)) // the first two of four float32 as float64
#define FCVTL2(n, d)    WORD $(0x4E617800 | (n)<<5 | (d)) // the last two
#define FCVTNS2D(n, d)  WORD $(0x4E61A800 | (n)<<5 | (d)) // the nearest whole numbers, of ties the even one

// R0  the sum
// R1  x
// R2  the numbers left
// R3  what is fetched ahead
// V0  the scale

// func addNEON(sum *int64, x *float32, n int, scale float32, next *int64)
TEXT ·addNEON(SB), NOSPLIT, $0-40
	MOVD  sum+0(FP), R0
	MOVD  x+8(FP), R1
	MOVD  n+16(FP), R2
	FMOVS scale+24(FP), F0
	VDUP  V0.S[0], V0.S4
	MOVD  next+32(FP), R3

four:
	PRFM   (R3), PLDL1KEEP
	ADD    $32, R3
	VLD1.P 16(R1), [V1.S4]
	VLD1   (R0), [V4.D2, V5.D2]
	FMUL4S(0, 1, 1)
	FCVTL(1, 2)
	FCVTL2(1, 3)
	FCVTNS2D(2, 2)
	FCVTNS2D(3, 3)
	VADD   V2.D2, V4.D2, V4.D2
	VADD   V3.D2, V5.D2, V5.D2
	VST1.P [V4.D2, V5.D2], 32(R0)
	SUB    $4, R2
	CBNZ   R2, four
	RET

//go:build amd64 && !noasm && !purego

#include "textflag.h"

// Register tiles of 4 rows: row r is in Y(3r), Y(3r+1), Y(3r+2), one register for
// 4 columns; Y12 … Y14 hold the columns of one step and Y15 an element of the
// left factor in all lanes.
//
// SI       left factor, R8 distance of its rows in bytes, R9 three times that,
//          R10 distance of its steps
// R11 … R13  the groups of 4 columns of the right factor
// CX       steps left
// DX       result, BX distance of its rows in bytes, AX whether it is read

#define ZERO(a, b, c) \
	VXORPD a, a, a \
	VXORPD b, b, b \
	VXORPD c, c, c

#define ROW3(addr, a, b, c) \
	VBROADCASTSD addr, Y15   \
	VFMADD231PD  Y12, Y15, a \
	VFMADD231PD  Y13, Y15, b \
	VFMADD231PD  Y14, Y15, c

#define ROW2(addr, a, b) \
	VBROADCASTSD addr, Y15   \
	VFMADD231PD  Y12, Y15, a \
	VFMADD231PD  Y13, Y15, b

// The last step: Y12 is alpha, Y13 beta.

#define SET3(a, b, c) \
	VMULPD  a, Y12, a \
	VMULPD  b, Y12, b \
	VMULPD  c, Y12, c \
	VMOVUPD a, (DX)   \
	VMOVUPD b, 32(DX) \
	VMOVUPD c, 64(DX) \
	ADDQ    BX, DX

#define UPDATE3(a, b, c) \
	VMULPD      a, Y12, a      \
	VMULPD      b, Y12, b      \
	VMULPD      c, Y12, c      \
	VFMADD231PD (DX), Y13, a   \
	VFMADD231PD 32(DX), Y13, b \
	VFMADD231PD 64(DX), Y13, c \
	VMOVUPD     a, (DX)        \
	VMOVUPD     b, 32(DX)      \
	VMOVUPD     c, 64(DX)      \
	ADDQ        BX, DX

#define SET2(a, b) \
	VMULPD  a, Y12, a \
	VMULPD  b, Y12, b \
	VMOVUPD a, (DX)   \
	VMOVUPD b, 32(DX) \
	ADDQ    BX, DX

#define UPDATE2(a, b) \
	VMULPD      a, Y12, a      \
	VMULPD      b, Y12, b      \
	VFMADD231PD (DX), Y13, a   \
	VFMADD231PD 32(DX), Y13, b \
	VMOVUPD     a, (DX)        \
	VMOVUPD     b, 32(DX)      \
	ADDQ        BX, DX

// func tile4x12(k int, a *float64, rs, ks int, b0, b1, b2 *float64, groups int, c *float64, ldc int, alpha, beta float64, update bool)
TEXT ·tile4x12(SB), NOSPLIT, $0-97
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ rs+16(FP), R8
	MOVQ ks+24(FP), R10
	MOVQ b0+32(FP), R11
	MOVQ b1+40(FP), R12
	MOVQ b2+48(FP), R13
	MOVQ c+64(FP), DX
	MOVQ ldc+72(FP), BX
	SHLQ $3, R8
	SHLQ $3, R10
	SHLQ $3, BX
	LEAQ (R8)(R8*2), R9
	ZERO(Y0, Y1, Y2)
	ZERO(Y3, Y4, Y5)
	ZERO(Y6, Y7, Y8)
	ZERO(Y9, Y10, Y11)
	MOVQ groups+56(FP), AX
	CMPQ AX, $3
	MOVBLZX update+96(FP), AX
	JLT  loop2

loop3:
	VMOVUPD (R11), Y12
	VMOVUPD (R12), Y13
	VMOVUPD (R13), Y14
	ROW3((SI), Y0, Y1, Y2)
	ROW3((SI)(R8*1), Y3, Y4, Y5)
	ROW3((SI)(R8*2), Y6, Y7, Y8)
	ROW3((SI)(R9*1), Y9, Y10, Y11)
	ADDQ    R10, SI
	ADDQ    $64, R11
	ADDQ    $64, R12
	ADDQ    $64, R13
	DECQ    CX
	JNZ     loop3

	VBROADCASTSD alpha+80(FP), Y12
	VBROADCASTSD beta+88(FP), Y13
	TESTQ AX, AX
	JNZ   update3
	SET3(Y0, Y1, Y2)
	SET3(Y3, Y4, Y5)
	SET3(Y6, Y7, Y8)
	SET3(Y9, Y10, Y11)
	VZEROUPPER
	RET

update3:
	UPDATE3(Y0, Y1, Y2)
	UPDATE3(Y3, Y4, Y5)
	UPDATE3(Y6, Y7, Y8)
	UPDATE3(Y9, Y10, Y11)
	VZEROUPPER
	RET

loop2:
	VMOVUPD (R11), Y12
	VMOVUPD (R12), Y13
	ROW2((SI), Y0, Y1)
	ROW2((SI)(R8*1), Y3, Y4)
	ROW2((SI)(R8*2), Y6, Y7)
	ROW2((SI)(R9*1), Y9, Y10)
	ADDQ    R10, SI
	ADDQ    $64, R11
	ADDQ    $64, R12
	DECQ    CX
	JNZ     loop2

	VBROADCASTSD alpha+80(FP), Y12
	VBROADCASTSD beta+88(FP), Y13
	TESTQ AX, AX
	JNZ   update2
	SET2(Y0, Y1)
	SET2(Y3, Y4)
	SET2(Y6, Y7)
	SET2(Y9, Y10)
	VZEROUPPER
	RET

update2:
	UPDATE2(Y0, Y1)
	UPDATE2(Y3, Y4)
	UPDATE2(Y6, Y7)
	UPDATE2(Y9, Y10)
	VZEROUPPER
	RET

// BITS sets bits shift … shift+3 of R8 where the four numbers at off are below
// Y0 (predicate 17: less than, false for NaN).
#define BITS(off, shift) \
	VMOVUPD   off(SI), Y1    \
	VCMPPD    $17, Y0, Y1, Y1 \
	VMOVMSKPD Y1, R9         \
	SHLL      $shift, R9     \
	ORL       R9, R8

// func below8x24(tile *float64, thr float64, masks *uint32) uint32
TEXT ·below8x24(SB), NOSPLIT, $0-28
	MOVQ         tile+0(FP), SI
	VBROADCASTSD thr+8(FP), Y0
	MOVQ         masks+16(FP), DI
	MOVQ         $8, CX
	XORL         AX, AX

row:
	XORL R8, R8
	BITS(0, 0)
	BITS(32, 4)
	BITS(64, 8)
	BITS(96, 12)
	BITS(128, 16)
	BITS(160, 20)
	MOVL R8, (DI)
	ORL  R8, AX
	ADDQ $192, SI
	ADDQ $4, DI
	DECQ CX
	JNZ  row

	MOVL AX, ret+24(FP)
	VZEROUPPER
	RET

// Sparse times dense: Y0 … Y7 hold the sums of one row, Y13 a value in all lanes,
// Y15 the mask of the columns of the last vector.
//
// R8      entry of the row in rowPtr, R9 rows left
// SI, DI  cols and vals, CX position in them, DX its end
// R10     x, R11 distance of its rows in bytes, R12 number of its rows
// BX      row of dst, R13 distance of its rows in bytes, AX whether it is read

// Lists of instructions for each of V vectors: CLEARV; and PRODUCTSV, ADDSV and
// STORESV, in which the last vector is masked, from those of whole vectors.
#define CLEAR1 VXORPD Y0, Y0, Y0
#define CLEAR2 CLEAR1; VXORPD Y1, Y1, Y1
#define CLEAR3 CLEAR2; VXORPD Y2, Y2, Y2
#define CLEAR4 CLEAR3; VXORPD Y3, Y3, Y3
#define CLEAR5 CLEAR4; VXORPD Y4, Y4, Y4
#define CLEAR6 CLEAR5; VXORPD Y5, Y5, Y5
#define CLEAR7 CLEAR6; VXORPD Y6, Y6, Y6
#define CLEAR8 CLEAR7; VXORPD Y7, Y7, Y7

#define PRODUCT1 VFMADD231PD (R15), Y13, Y0
#define PRODUCT2 PRODUCT1; VFMADD231PD 32(R15), Y13, Y1
#define PRODUCT3 PRODUCT2; VFMADD231PD 64(R15), Y13, Y2
#define PRODUCT4 PRODUCT3; VFMADD231PD 96(R15), Y13, Y3
#define PRODUCT5 PRODUCT4; VFMADD231PD 128(R15), Y13, Y4
#define PRODUCT6 PRODUCT5; VFMADD231PD 160(R15), Y13, Y5
#define PRODUCT7 PRODUCT6; VFMADD231PD 192(R15), Y13, Y6
#define PRODUCTS1 VMASKMOVPD (R15), Y15, Y14; VFMADD231PD Y14, Y13, Y0
#define PRODUCTS2 PRODUCT1; VMASKMOVPD 32(R15), Y15, Y14; VFMADD231PD Y14, Y13, Y1
#define PRODUCTS3 PRODUCT2; VMASKMOVPD 64(R15), Y15, Y14; VFMADD231PD Y14, Y13, Y2
#define PRODUCTS4 PRODUCT3; VMASKMOVPD 96(R15), Y15, Y14; VFMADD231PD Y14, Y13, Y3
#define PRODUCTS5 PRODUCT4; VMASKMOVPD 128(R15), Y15, Y14; VFMADD231PD Y14, Y13, Y4
#define PRODUCTS6 PRODUCT5; VMASKMOVPD 160(R15), Y15, Y14; VFMADD231PD Y14, Y13, Y5
#define PRODUCTS7 PRODUCT6; VMASKMOVPD 192(R15), Y15, Y14; VFMADD231PD Y14, Y13, Y6
#define PRODUCTS8 PRODUCT7; VMASKMOVPD 224(R15), Y15, Y14; VFMADD231PD Y14, Y13, Y7

#define ADD1 VADDPD (BX), Y0, Y0
#define ADD2 ADD1; VADDPD 32(BX), Y1, Y1
#define ADD3 ADD2; VADDPD 64(BX), Y2, Y2
#define ADD4 ADD3; VADDPD 96(BX), Y3, Y3
#define ADD5 ADD4; VADDPD 128(BX), Y4, Y4
#define ADD6 ADD5; VADDPD 160(BX), Y5, Y5
#define ADD7 ADD6; VADDPD 192(BX), Y6, Y6
#define ADDS1 VMASKMOVPD (BX), Y15, Y14; VADDPD Y14, Y0, Y0
#define ADDS2 ADD1; VMASKMOVPD 32(BX), Y15, Y14; VADDPD Y14, Y1, Y1
#define ADDS3 ADD2; VMASKMOVPD 64(BX), Y15, Y14; VADDPD Y14, Y2, Y2
#define ADDS4 ADD3; VMASKMOVPD 96(BX), Y15, Y14; VADDPD Y14, Y3, Y3
#define ADDS5 ADD4; VMASKMOVPD 128(BX), Y15, Y14; VADDPD Y14, Y4, Y4
#define ADDS6 ADD5; VMASKMOVPD 160(BX), Y15, Y14; VADDPD Y14, Y5, Y5
#define ADDS7 ADD6; VMASKMOVPD 192(BX), Y15, Y14; VADDPD Y14, Y6, Y6
#define ADDS8 ADD7; VMASKMOVPD 224(BX), Y15, Y14; VADDPD Y14, Y7, Y7

#define STORE1 VMOVUPD Y0, (BX)
#define STORE2 STORE1; VMOVUPD Y1, 32(BX)
#define STORE3 STORE2; VMOVUPD Y2, 64(BX)
#define STORE4 STORE3; VMOVUPD Y3, 96(BX)
#define STORE5 STORE4; VMOVUPD Y4, 128(BX)
#define STORE6 STORE5; VMOVUPD Y5, 160(BX)
#define STORE7 STORE6; VMOVUPD Y6, 192(BX)
#define STORES1 VMASKMOVPD Y0, Y15, (BX)
#define STORES2 STORE1; VMASKMOVPD Y1, Y15, 32(BX)
#define STORES3 STORE2; VMASKMOVPD Y2, Y15, 64(BX)
#define STORES4 STORE3; VMASKMOVPD Y3, Y15, 96(BX)
#define STORES5 STORE4; VMASKMOVPD Y4, Y15, 128(BX)
#define STORES6 STORE5; VMASKMOVPD Y5, Y15, 160(BX)
#define STORES7 STORE6; VMASKMOVPD Y6, Y15, 192(BX)
#define STORES8 STORE7; VMASKMOVPD Y7, Y15, 224(BX)

#define ROWS(row, value, sum, store, clear, products, adds, stores) \
row:                                \
	MOVQ  (R8), CX                  \
	MOVQ  8(R8), DX                 \
	clear                           \
	CMPQ  CX, DX                    \
	JGE   sum                       \
value:                              \
	MOVLQSX (SI)(CX*4), R15         \
	CMPQ  R15, R12                  \
	JAE   bad                       \
	IMULQ R11, R15                  \
	ADDQ  R10, R15                  \
	VBROADCASTSD (DI)(CX*8), Y13    \
	products                        \
	INCQ  CX                        \
	CMPQ  CX, DX                    \
	JLT   value                     \
sum:                                \
	TESTQ AX, AX                    \
	JZ    store                     \
	adds                            \
store:                              \
	stores                          \
	ADDQ  R13, BX                   \
	ADDQ  $8, R8                    \
	DECQ  R9                        \
	JNZ   row                       \
	JMP   good

// first has, 8·n bytes before its middle, a mask of the first n of four columns.
DATA first<>+0(SB)/8, $-1
DATA first<>+8(SB)/8, $-1
DATA first<>+16(SB)/8, $-1
DATA first<>+24(SB)/8, $-1
DATA first<>+32(SB)/8, $0
DATA first<>+40(SB)/8, $0
DATA first<>+48(SB)/8, $0
DATA first<>+56(SB)/8, $0
GLOBL first<>(SB), RODATA|NOPTR, $64

// func spmm4(v, n int, rowPtr *int, rows int, cols *int32, vals, x *float64, xs int, dst *float64, ds, last int, accumulate bool) int
TEXT ·spmm4(SB), NOSPLIT, $0-104
	MOVQ  n+8(FP), R12
	MOVQ  rowPtr+16(FP), R8
	MOVQ  rows+24(FP), R9
	MOVQ  cols+32(FP), SI
	MOVQ  vals+40(FP), DI
	MOVQ  x+48(FP), R10
	MOVQ  xs+56(FP), R11
	MOVQ  dst+64(FP), BX
	MOVQ  ds+72(FP), R13
	MOVQ  last+80(FP), CX
	LEAQ  first<>+32(SB), AX
	SHLQ  $3, CX
	SUBQ  CX, AX
	VMOVUPD (AX), Y15
	SHLQ  $3, R11
	SHLQ  $3, R13
	MOVQ  v+0(FP), CX
	MOVBLZX accumulate+88(FP), AX
	CMPQ  CX, $2
	JLT   row1
	JEQ   row2
	CMPQ  CX, $4
	JLT   row3
	JEQ   row4
	CMPQ  CX, $6
	JLT   row5
	JEQ   row6
	CMPQ  CX, $8
	JLT   row7

	ROWS(row8, value8, sum8, store8, CLEAR8, PRODUCTS8, ADDS8, STORES8)
	ROWS(row7, value7, sum7, store7, CLEAR7, PRODUCTS7, ADDS7, STORES7)
	ROWS(row6, value6, sum6, store6, CLEAR6, PRODUCTS6, ADDS6, STORES6)
	ROWS(row5, value5, sum5, store5, CLEAR5, PRODUCTS5, ADDS5, STORES5)
	ROWS(row4, value4, sum4, store4, CLEAR4, PRODUCTS4, ADDS4, STORES4)
	ROWS(row3, value3, sum3, store3, CLEAR3, PRODUCTS3, ADDS3, STORES3)
	ROWS(row2, value2, sum2, store2, CLEAR2, PRODUCTS2, ADDS2, STORES2)
	ROWS(row1, value1, sum1, store1, CLEAR1, PRODUCTS1, ADDS1, STORES1)

good:
	MOVQ $-1, CX

bad:
	MOVQ CX, ret+96(FP)
	VZEROUPPER
	RET

// func dots4(blocks int, a *float64, rs int, x *float64, sums *[8]float64)
TEXT ·dots4(SB), NOSPLIT, $0-40
	MOVQ blocks+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ rs+16(FP), R8
	MOVQ x+24(FP), BX
	MOVQ sums+32(FP), DX
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9
	ZERO(Y0, Y1, Y2)
	ZERO(Y3, Y4, Y5)
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7

loop:
	VMOVUPD (BX), Y8
	VMOVUPD 32(BX), Y9
	VFMADD231PD (SI), Y8, Y0
	VFMADD231PD 32(SI), Y9, Y1
	VFMADD231PD (SI)(R8*1), Y8, Y2
	VFMADD231PD 32(SI)(R8*1), Y9, Y3
	VFMADD231PD (SI)(R8*2), Y8, Y4
	VFMADD231PD 32(SI)(R8*2), Y9, Y5
	VFMADD231PD (SI)(R9*1), Y8, Y6
	VFMADD231PD 32(SI)(R9*1), Y9, Y7
	ADDQ $64, SI
	ADDQ $64, BX
	DECQ CX
	JNZ  loop

	VMOVUPD Y0, (DX)
	VMOVUPD Y1, 32(DX)
	VMOVUPD Y2, 64(DX)
	VMOVUPD Y3, 96(DX)
	VMOVUPD Y4, 128(DX)
	VMOVUPD Y5, 160(DX)
	VMOVUPD Y6, 192(DX)
	VMOVUPD Y7, 224(DX)
	VZEROUPPER
	RET

//go:build arm64 && !noasm && !purego

#include "textflag.h"

// The assembler does not know these instructions. d is the result, of n and m in this order.
#define FADD2D(m, n, d)  WORD $(0x4E60D400 | (m)<<16 | (n)<<5 | (d))
#define FMUL2D(m, n, d)  WORD $(0x6E60DC00 | (m)<<16 | (n)<<5 | (d))
#define FCMGT2D(m, n, d) WORD $(0x6EE0E400 | (m)<<16 | (n)<<5 | (d)) // all bits where n is above m

#define ZERO(a, b, c, d) \
	VEOR a.B16, a.B16, a.B16 \
	VEOR b.B16, b.B16, b.B16 \
	VEOR c.B16, c.B16, c.B16 \
	VEOR d.B16, d.B16, d.B16

// Register tiles of 4 rows: row r is in V(6r) … V(6r+5), one register for 2 columns; V24 … V29 hold
// the columns of one step and V30 an element of the left factor in both lanes.
//
// R0             steps left
// R1 … R4        the rows of the left factor, R5 distance of its steps in bytes
// R6 … R8        the groups of 4 columns of the right factor, R13 bytes of a panel's row
// R9             result, R10 distance of its rows in bytes, R12 whether it is read

#define ROW3(row, a, b, c, d, e, f) \
	VLD1R.P (row)(R5), [V30.D2]   \
	VFMLA   V24.D2, V30.D2, a.D2  \
	VFMLA   V25.D2, V30.D2, b.D2  \
	VFMLA   V26.D2, V30.D2, c.D2  \
	VFMLA   V27.D2, V30.D2, d.D2  \
	VFMLA   V28.D2, V30.D2, e.D2  \
	VFMLA   V29.D2, V30.D2, f.D2

#define ROW2(row, a, b, c, d) \
	VLD1R.P (row)(R5), [V30.D2]   \
	VFMLA   V24.D2, V30.D2, a.D2  \
	VFMLA   V25.D2, V30.D2, b.D2  \
	VFMLA   V26.D2, V30.D2, c.D2  \
	VFMLA   V27.D2, V30.D2, d.D2

// The last step: V30 is alpha, V31 beta.

#define SCALE(a, b, c, d) \
	FMUL2D(30, a, a) \
	FMUL2D(30, b, b) \
	FMUL2D(30, c, c) \
	FMUL2D(30, d, d)

#define SCALE2 \
	SCALE(0, 1, 2, 3)     \
	SCALE(6, 7, 8, 9)     \
	SCALE(12, 13, 14, 15) \
	SCALE(18, 19, 20, 21)

#define SCALE3 \
	SCALE2               \
	SCALE(4, 5, 10, 11)  \
	SCALE(16, 17, 22, 23)

#define SET2(a, b, c, d) \
	VST1 [a.D2, b.D2, c.D2, d.D2], (R9) \
	ADD  R10, R9

#define SET3(a, b, c, d, e, f) \
	VST1.P [a.D2, b.D2, c.D2], 48(R9) \
	VST1   [d.D2, e.D2, f.D2], (R9)   \
	ADD    R10, R9

#define UPDATE2(a, b, c, d) \
	VLD1  (R9), [V24.D2, V25.D2, V26.D2, V27.D2] \
	VFMLA V24.D2, V31.D2, a.D2                   \
	VFMLA V25.D2, V31.D2, b.D2                   \
	VFMLA V26.D2, V31.D2, c.D2                   \
	VFMLA V27.D2, V31.D2, d.D2                   \
	SET2(a, b, c, d)

#define UPDATE3(a, b, c, d, e, f) \
	VLD1.P 48(R9), [V24.D2, V25.D2, V26.D2] \
	VLD1   (R9), [V27.D2, V28.D2, V29.D2]   \
	SUB    $48, R9                          \
	VFMLA  V24.D2, V31.D2, a.D2             \
	VFMLA  V25.D2, V31.D2, b.D2             \
	VFMLA  V26.D2, V31.D2, c.D2             \
	VFMLA  V27.D2, V31.D2, d.D2             \
	VFMLA  V28.D2, V31.D2, e.D2             \
	VFMLA  V29.D2, V31.D2, f.D2             \
	SET3(a, b, c, d, e, f)

// func tile4x12(k int, a *float64, rs, ks int, b0, b1, b2 *float64, groups int, c *float64, ldc int, alpha, beta float64, update bool)
TEXT ·tile4x12(SB), NOSPLIT, $0-97
	MOVD k+0(FP), R0
	MOVD a+8(FP), R1
	MOVD rs+16(FP), R4
	MOVD ks+24(FP), R5
	MOVD b0+32(FP), R6
	MOVD b1+40(FP), R7
	MOVD b2+48(FP), R8
	MOVD groups+56(FP), R11
	MOVD c+64(FP), R9
	MOVD ldc+72(FP), R10
	MOVBU update+96(FP), R12
	MOVD $64, R13
	LSL  $3, R5
	LSL  $3, R10
	ADD  R4<<3, R1, R2
	ADD  R4<<3, R2, R3
	ADD  R4<<3, R3, R4
	ZERO(V0, V1, V2, V3)
	ZERO(V4, V5, V6, V7)
	ZERO(V8, V9, V10, V11)
	ZERO(V12, V13, V14, V15)
	ZERO(V16, V17, V18, V19)
	ZERO(V20, V21, V22, V23)
	CMP  $3, R11
	BLT  loop2

loop3:
	VLD1.P (R6)(R13), [V24.D2, V25.D2]
	VLD1.P (R7)(R13), [V26.D2, V27.D2]
	VLD1.P (R8)(R13), [V28.D2, V29.D2]
	ROW3(R1, V0, V1, V2, V3, V4, V5)
	ROW3(R2, V6, V7, V8, V9, V10, V11)
	ROW3(R3, V12, V13, V14, V15, V16, V17)
	ROW3(R4, V18, V19, V20, V21, V22, V23)
	SUB    $1, R0
	CBNZ   R0, loop3

	FMOVD alpha+80(FP), F30
	FMOVD beta+88(FP), F31
	VDUP  V30.D[0], V30.D2
	VDUP  V31.D[0], V31.D2
	SUB   $48, R10
	SCALE3
	CBNZ  R12, update3
	SET3(V0, V1, V2, V3, V4, V5)
	SET3(V6, V7, V8, V9, V10, V11)
	SET3(V12, V13, V14, V15, V16, V17)
	SET3(V18, V19, V20, V21, V22, V23)
	RET

update3:
	UPDATE3(V0, V1, V2, V3, V4, V5)
	UPDATE3(V6, V7, V8, V9, V10, V11)
	UPDATE3(V12, V13, V14, V15, V16, V17)
	UPDATE3(V18, V19, V20, V21, V22, V23)
	RET

loop2:
	VLD1.P (R6)(R13), [V24.D2, V25.D2]
	VLD1.P (R7)(R13), [V26.D2, V27.D2]
	ROW2(R1, V0, V1, V2, V3)
	ROW2(R2, V6, V7, V8, V9)
	ROW2(R3, V12, V13, V14, V15)
	ROW2(R4, V18, V19, V20, V21)
	SUB    $1, R0
	CBNZ   R0, loop2

	FMOVD alpha+80(FP), F30
	FMOVD beta+88(FP), F31
	VDUP  V30.D[0], V30.D2
	VDUP  V31.D[0], V31.D2
	SCALE2
	CBNZ  R12, update2
	SET2(V0, V1, V2, V3)
	SET2(V6, V7, V8, V9)
	SET2(V12, V13, V14, V15)
	SET2(V18, V19, V20, V21)
	RET

update2:
	UPDATE2(V0, V1, V2, V3)
	UPDATE2(V6, V7, V8, V9)
	UPDATE2(V12, V13, V14, V15)
	UPDATE2(V18, V19, V20, V21)
	RET

// PAIR adds to V29 the bits of two numbers, those in both lanes of bits, where V0 is above the numbers.
// All bits are those of the pair before, two to the left.
#define PAIR(number, numbers) \
	FCMGT2D(number, 0, number)                \
	VAND numbers.B16, V30.B16, numbers.B16    \
	VORR numbers.B16, V29.B16, V29.B16        \
	VSHL $2, V30.D2, V30.D2

// func below8x24(tile *float64, thr float64, masks *uint32) uint32
TEXT ·below8x24(SB), NOSPLIT, $0-28
	MOVD  tile+0(FP), R0
	FMOVD thr+8(FP), F0
	VDUP  V0.D[0], V0.D2
	MOVD  masks+16(FP), R1
	MOVD  $8, R2
	MOVD  $0, R3
	MOVD  $1, R4
	MOVD  $2, R5

row:
	VLD1.P 64(R0), [V1.D2, V2.D2, V3.D2, V4.D2]
	VLD1.P 64(R0), [V5.D2, V6.D2, V7.D2, V8.D2]
	VLD1.P 64(R0), [V9.D2, V10.D2, V11.D2, V12.D2]
	VEOR   V29.B16, V29.B16, V29.B16
	VMOV   R4, V30.D[0]
	VMOV   R5, V30.D[1]
	PAIR(1, V1)
	PAIR(2, V2)
	PAIR(3, V3)
	PAIR(4, V4)
	PAIR(5, V5)
	PAIR(6, V6)
	PAIR(7, V7)
	PAIR(8, V8)
	PAIR(9, V9)
	PAIR(10, V10)
	PAIR(11, V11)
	PAIR(12, V12)
	VMOV   V29.D[0], R6
	VMOV   V29.D[1], R7
	ORR    R7, R6
	MOVW.P R6, 4(R1)
	ORR    R6, R3
	SUB    $1, R2
	CBNZ   R2, row

	MOVW R3, ret+24(FP)
	RET

// Sparse times dense: V0 … V15 hold the sums of one row, V24 a value in both lanes. The last
// group of columns is moved to the left where it is not whole, over columns of the group before:
// these come out the same twice. All is added before anything is stored.
//
// R0       entry of the row in rowPtr, R1 rows left
// R2, R3   cols and vals, R11 and R12 cursors in them, R13 the values left
// R4       x, R5 distance of its rows in bytes, R6 number of its rows
// R7       row of dst, R8 distance of its rows in bytes, R9 whether it is read
// R10      bytes from a row's first column to its last group
// R14      the value's row of x, R15 its last group; a row's in dst

// Lists of instructions for each of V groups: CLEARV; and PRODUCTSV, ADDSV and STORESV, in which the
// last group is at R15, from those of the other groups. Those with L have one group of fewer columns.
#define CLEAR2 ZERO(V0, V1, V2, V3)
#define CLEAR4 CLEAR2; ZERO(V4, V5, V6, V7)
#define CLEAR6 CLEAR4; ZERO(V8, V9, V10, V11)
#define CLEAR8 CLEAR6; ZERO(V12, V13, V14, V15)

#define PRODUCT(at, a, b) FLDPQ at, (F16, F17); VFMLA V16.D2, V24.D2, a.D2; VFMLA V17.D2, V24.D2, b.D2
#define PRODUCT1 PRODUCT(0(R14), V0, V1)
#define PRODUCT2 PRODUCT1; PRODUCT(32(R14), V2, V3)
#define PRODUCT3 PRODUCT2; PRODUCT(64(R14), V4, V5)
#define PRODUCT4 PRODUCT3; PRODUCT(96(R14), V6, V7)
#define PRODUCT5 PRODUCT4; PRODUCT(128(R14), V8, V9)
#define PRODUCT6 PRODUCT5; PRODUCT(160(R14), V10, V11)
#define PRODUCT7 PRODUCT6; PRODUCT(192(R14), V12, V13)
#define PRODUCTS1 PRODUCT(0(R15), V0, V1)
#define PRODUCTS2 PRODUCT1; PRODUCT(0(R15), V2, V3)
#define PRODUCTS3 PRODUCT2; PRODUCT(0(R15), V4, V5)
#define PRODUCTS4 PRODUCT3; PRODUCT(0(R15), V6, V7)
#define PRODUCTS5 PRODUCT4; PRODUCT(0(R15), V8, V9)
#define PRODUCTS6 PRODUCT5; PRODUCT(0(R15), V10, V11)
#define PRODUCTS7 PRODUCT6; PRODUCT(0(R15), V12, V13)
#define PRODUCTS8 PRODUCT7; PRODUCT(0(R15), V14, V15)
#define PRODUCTSL1 FMOVD (R14), F16; VFMLA V16.D2, V24.D2, V0.D2
#define PRODUCTSL2 FMOVQ (R14), F16; VFMLA V16.D2, V24.D2, V0.D2
#define PRODUCTSL3 PRODUCTSL2; FMOVD 16(R14), F17; VFMLA V17.D2, V24.D2, V1.D2

#define SUM(at, a, b) FLDPQ at, (F16, F17); FADD2D(16, a, a); FADD2D(17, b, b)
#define ADD1 SUM(0(R7), 0, 1)
#define ADD2 ADD1; SUM(32(R7), 2, 3)
#define ADD3 ADD2; SUM(64(R7), 4, 5)
#define ADD4 ADD3; SUM(96(R7), 6, 7)
#define ADD5 ADD4; SUM(128(R7), 8, 9)
#define ADD6 ADD5; SUM(160(R7), 10, 11)
#define ADD7 ADD6; SUM(192(R7), 12, 13)
#define ADDS1 SUM(0(R15), 0, 1)
#define ADDS2 ADD1; SUM(0(R15), 2, 3)
#define ADDS3 ADD2; SUM(0(R15), 4, 5)
#define ADDS4 ADD3; SUM(0(R15), 6, 7)
#define ADDS5 ADD4; SUM(0(R15), 8, 9)
#define ADDS6 ADD5; SUM(0(R15), 10, 11)
#define ADDS7 ADD6; SUM(0(R15), 12, 13)
#define ADDS8 ADD7; SUM(0(R15), 14, 15)
#define ADDSL1 FMOVD (R7), F16; FADD2D(16, 0, 0)
#define ADDSL2 FMOVQ (R7), F16; FADD2D(16, 0, 0)
#define ADDSL3 ADDSL2; FMOVD 16(R7), F17; FADD2D(17, 1, 1)

#define STORE1 FSTPQ (F0, F1), 0(R7)
#define STORE2 STORE1; FSTPQ (F2, F3), 32(R7)
#define STORE3 STORE2; FSTPQ (F4, F5), 64(R7)
#define STORE4 STORE3; FSTPQ (F6, F7), 96(R7)
#define STORE5 STORE4; FSTPQ (F8, F9), 128(R7)
#define STORE6 STORE5; FSTPQ (F10, F11), 160(R7)
#define STORE7 STORE6; FSTPQ (F12, F13), 192(R7)
#define STORES1 FSTPQ (F0, F1), 0(R15)
#define STORES2 STORE1; FSTPQ (F2, F3), 0(R15)
#define STORES3 STORE2; FSTPQ (F4, F5), 0(R15)
#define STORES4 STORE3; FSTPQ (F6, F7), 0(R15)
#define STORES5 STORE4; FSTPQ (F8, F9), 0(R15)
#define STORES6 STORE5; FSTPQ (F10, F11), 0(R15)
#define STORES7 STORE6; FSTPQ (F12, F13), 0(R15)
#define STORES8 STORE7; FSTPQ (F14, F15), 0(R15)
#define STORESL1 FMOVD F0, (R7)
#define STORESL2 FMOVQ F0, (R7)
#define STORESL3 STORESL2; FMOVD F1, 16(R7)

#define ROWS(row, value, sum, store, clear, products, adds, stores) \
row:                           \
	LDP     (R0), (R11, R13)   \
	ADD     $8, R0             \
	clear                      \
	SUBS    R11, R13, R13      \
	ADD     R11<<3, R3, R12    \
	ADD     R11<<2, R2, R11    \
	BLE     sum                \
value:                         \
	MOVW.P  4(R11), R14        \
	CMP     R6, R14            \
	BHS     bad                \
	MADD    R5, R4, R14, R14   \
	ADD     R10, R14, R15      \
	VLD1R.P 8(R12), [V24.D2]   \
	products                   \
	SUB     $1, R13            \
	CBNZ    R13, value         \
sum:                           \
	ADD     R10, R7, R15       \
	CBZ     R9, store          \
	adds                       \
store:                         \
	stores                     \
	ADD     R8, R7             \
	SUB     $1, R1             \
	CBNZ    R1, row            \
	B       good

// func spmm4(v, n int, rowPtr *int, rows int, cols *int32, vals, x *float64, xs int, dst *float64, ds, last int, accumulate bool) int
TEXT ·spmm4(SB), NOSPLIT, $0-104
	MOVD n+8(FP), R6
	MOVD rowPtr+16(FP), R0
	MOVD rows+24(FP), R1
	MOVD cols+32(FP), R2
	MOVD vals+40(FP), R3
	MOVD x+48(FP), R4
	MOVD xs+56(FP), R5
	MOVD dst+64(FP), R7
	MOVD ds+72(FP), R8
	LSL  $3, R5
	LSL  $3, R8
	MOVD v+0(FP), R11
	MOVD last+80(FP), R12
	MOVBU accumulate+88(FP), R9
	ADD  R11<<2, R12, R10
	SUB  $8, R10
	LSL  $3, R10
	CMP  $2, R11
	BLT  one
	BEQ  row2
	CMP  $4, R11
	BLT  row3
	BEQ  row4
	CMP  $6, R11
	BLT  row5
	BEQ  row6
	CMP  $8, R11
	BLT  row7

	ROWS(row8, value8, sum8, store8, CLEAR8, PRODUCTS8, ADDS8, STORES8)
	ROWS(row7, value7, sum7, store7, CLEAR8, PRODUCTS7, ADDS7, STORES7)
	ROWS(row6, value6, sum6, store6, CLEAR6, PRODUCTS6, ADDS6, STORES6)
	ROWS(row5, value5, sum5, store5, CLEAR6, PRODUCTS5, ADDS5, STORES5)
	ROWS(row4, value4, sum4, store4, CLEAR4, PRODUCTS4, ADDS4, STORES4)
	ROWS(row3, value3, sum3, store3, CLEAR4, PRODUCTS3, ADDS3, STORES3)
	ROWS(row2, value2, sum2, store2, CLEAR2, PRODUCTS2, ADDS2, STORES2)

one:
	CMP  $2, R12
	BLT  rowL1
	BEQ  rowL2
	CMP  $4, R12
	BLT  rowL3
	ROWS(row1, value1, sum1, store1, CLEAR2, PRODUCTS1, ADDS1, STORES1)
	ROWS(rowL3, valueL3, sumL3, storeL3, CLEAR2, PRODUCTSL3, ADDSL3, STORESL3)
	ROWS(rowL2, valueL2, sumL2, storeL2, CLEAR2, PRODUCTSL2, ADDSL2, STORESL2)
	ROWS(rowL1, valueL1, sumL1, storeL1, CLEAR2, PRODUCTSL1, ADDSL1, STORESL1)

good:
	MOVD $-1, R11
	MOVD R11, ret+96(FP)
	RET

bad:
	SUB  R2, R11
	ASR  $2, R11
	SUB  $1, R11
	MOVD R11, ret+96(FP)
	RET

// DOT adds the products of four pairs at the cursor row.
#define DOT(row, a, b, c, d) \
	VLD1.P 64(row), [V20.D2, V21.D2, V22.D2, V23.D2] \
	VFMLA  V20.D2, V16.D2, a.D2                      \
	VFMLA  V21.D2, V17.D2, b.D2                      \
	VFMLA  V22.D2, V18.D2, c.D2                      \
	VFMLA  V23.D2, V19.D2, d.D2

// func dots4(blocks int, a *float64, rs int, x *float64, sums *[8]float64)
TEXT ·dots4(SB), NOSPLIT, $0-40
	MOVD blocks+0(FP), R0
	MOVD a+8(FP), R1
	MOVD rs+16(FP), R4
	MOVD x+24(FP), R5
	MOVD sums+32(FP), R6
	ADD  R4<<3, R1, R2
	ADD  R4<<3, R2, R3
	ADD  R4<<3, R3, R4
	ZERO(V0, V1, V2, V3)
	ZERO(V4, V5, V6, V7)
	ZERO(V8, V9, V10, V11)
	ZERO(V12, V13, V14, V15)

loop:
	VLD1.P 64(R5), [V16.D2, V17.D2, V18.D2, V19.D2]
	DOT(R1, V0, V1, V2, V3)
	DOT(R2, V4, V5, V6, V7)
	DOT(R3, V8, V9, V10, V11)
	DOT(R4, V12, V13, V14, V15)
	SUB    $1, R0
	CBNZ   R0, loop

	VST1.P [V0.D2, V1.D2, V2.D2, V3.D2], 64(R6)
	VST1.P [V4.D2, V5.D2, V6.D2, V7.D2], 64(R6)
	VST1.P [V8.D2, V9.D2, V10.D2, V11.D2], 64(R6)
	VST1.P [V12.D2, V13.D2, V14.D2, V15.D2], 64(R6)
	RET

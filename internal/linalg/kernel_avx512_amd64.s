//go:build amd64 && !noasm && !purego

#include "textflag.h"

// Register tiles: row r of the tile is in Z(3r), Z(3r+1), Z(3r+2), one register
// for each panel of 8 columns; Z24 … Z26 hold the columns of one step, Z27 … Z29
// an element of the left factor in all lanes, Z30 alpha and Z31 beta.
//
// SI      left factor, row 0; DI its row 4
// R8      distance of its rows in bytes, R9 three times that, R10 of its steps
// R11     right factor, R12 distance of its panels in bytes, R13 twice that
// CX      steps left
// DX      result, BX distance of its rows in bytes, K1 columns of its last panel

#define ZERO(a, b, c) \
	VPXORQ a, a, a \
	VPXORQ b, b, b \
	VPXORQ c, c, c

#define ROW3(addr, t, a, b, c) \
	VBROADCASTSD addr, t     \
	VFMADD231PD  Z24, t, a   \
	VFMADD231PD  Z25, t, b   \
	VFMADD231PD  Z26, t, c

#define ROW2(addr, t, a, b) \
	VBROADCASTSD addr, t     \
	VFMADD231PD  Z24, t, a   \
	VFMADD231PD  Z25, t, b

#define ROW1(addr, t, a) \
	VBROADCASTSD addr, t     \
	VFMADD231PD  Z24, t, a

// NEXT moves to the next step.
#define NEXT \
	ADDQ R10, SI \
	ADDQ R10, DI \
	ADDQ $64, R11

#define SET3(a, b, c) \
	VMULPD  a, Z30, a       \
	VMULPD  b, Z30, b       \
	VMULPD  c, Z30, c       \
	VMOVUPD a, (DX)         \
	VMOVUPD b, 64(DX)       \
	VMOVUPD c, K1, 128(DX)  \
	ADDQ    BX, DX

#define UPDATE3(a, b, c) \
	VMULPD      a, Z30, a           \
	VMULPD      b, Z30, b           \
	VMULPD      c, Z30, c           \
	VFMADD231PD (DX), Z31, a        \
	VFMADD231PD 64(DX), Z31, b      \
	VFMADD231PD 128(DX), Z31, K1, c \
	VMOVUPD     a, (DX)             \
	VMOVUPD     b, 64(DX)           \
	VMOVUPD     c, K1, 128(DX)      \
	ADDQ        BX, DX

#define SET2(a, b) \
	VMULPD  a, Z30, a       \
	VMULPD  b, Z30, b       \
	VMOVUPD a, (DX)         \
	VMOVUPD b, K1, 64(DX)   \
	ADDQ    BX, DX

#define UPDATE2(a, b) \
	VMULPD      a, Z30, a           \
	VMULPD      b, Z30, b           \
	VFMADD231PD (DX), Z31, a        \
	VFMADD231PD 64(DX), Z31, K1, b  \
	VMOVUPD     a, (DX)             \
	VMOVUPD     b, K1, 64(DX)       \
	ADDQ        BX, DX

#define SET1(a) \
	VMULPD  a, Z30, a       \
	VMOVUPD a, K1, (DX)     \
	ADDQ    BX, DX

#define UPDATE1(a) \
	VMULPD      a, Z30, a           \
	VFMADD231PD (DX), Z31, K1, a    \
	VMOVUPD     a, K1, (DX)         \
	ADDQ        BX, DX

#define ZERO24 \
	ZERO(Z0, Z1, Z2)    \
	ZERO(Z3, Z4, Z5)    \
	ZERO(Z6, Z7, Z8)    \
	ZERO(Z9, Z10, Z11)  \
	ZERO(Z12, Z13, Z14) \
	ZERO(Z15, Z16, Z17) \
	ZERO(Z18, Z19, Z20) \
	ZERO(Z21, Z22, Z23)

// STEP24 adds one step to an 8×24 tile.
#define STEP24 \
	VMOVUPD (R11), Z24                            \
	VMOVUPD (R11)(R12*1), Z25                     \
	VMOVUPD (R11)(R12*2), Z26                     \
	ROW3((SI), Z27, Z0, Z1, Z2)                   \
	ROW3((SI)(R8*1), Z28, Z3, Z4, Z5)             \
	ROW3((SI)(R8*2), Z29, Z6, Z7, Z8)             \
	ROW3((SI)(R9*1), Z27, Z9, Z10, Z11)           \
	ROW3((DI), Z28, Z12, Z13, Z14)                \
	ROW3((DI)(R8*1), Z29, Z15, Z16, Z17)          \
	ROW3((DI)(R8*2), Z27, Z18, Z19, Z20)          \
	ROW3((DI)(R9*1), Z28, Z21, Z22, Z23)          \
	NEXT

// func tile512x(k int, a *float64, rs, ks int, b *float64, bs, nb int, c *float64, ldc int, alpha, beta float64, mask int, update bool)
TEXT ·tile512x(SB), NOSPLIT, $0-97
	MOVQ         k+0(FP), CX
	MOVQ         a+8(FP), SI
	MOVQ         rs+16(FP), R8
	MOVQ         ks+24(FP), R10
	MOVQ         b+32(FP), R11
	MOVQ         bs+40(FP), R12
	MOVQ         c+56(FP), DX
	MOVQ         ldc+64(FP), BX
	VBROADCASTSD alpha+72(FP), Z30
	VBROADCASTSD beta+80(FP), Z31
	MOVQ         mask+88(FP), AX
	KMOVW        AX, K1
	SHLQ         $3, R8
	SHLQ         $3, R10
	SHLQ         $3, R12
	SHLQ         $3, BX
	LEAQ         (R8)(R8*2), R9
	LEAQ         (SI)(R8*4), DI
	ZERO24
	MOVQ         nb+48(FP), AX
	CMPQ         AX, $2
	MOVBLZX      update+96(FP), AX
	JEQ          loop2
	JLT          loop1

loop3:
	STEP24
	DECQ  CX
	JNZ   loop3
	TESTQ AX, AX
	JNZ   update3
	SET3(Z0, Z1, Z2)
	SET3(Z3, Z4, Z5)
	SET3(Z6, Z7, Z8)
	SET3(Z9, Z10, Z11)
	SET3(Z12, Z13, Z14)
	SET3(Z15, Z16, Z17)
	SET3(Z18, Z19, Z20)
	SET3(Z21, Z22, Z23)
	VZEROUPPER
	RET

update3:
	UPDATE3(Z0, Z1, Z2)
	UPDATE3(Z3, Z4, Z5)
	UPDATE3(Z6, Z7, Z8)
	UPDATE3(Z9, Z10, Z11)
	UPDATE3(Z12, Z13, Z14)
	UPDATE3(Z15, Z16, Z17)
	UPDATE3(Z18, Z19, Z20)
	UPDATE3(Z21, Z22, Z23)
	VZEROUPPER
	RET

loop2:
	VMOVUPD (R11), Z24
	VMOVUPD (R11)(R12*1), Z25
	ROW2((SI), Z27, Z0, Z1)
	ROW2((SI)(R8*1), Z28, Z3, Z4)
	ROW2((SI)(R8*2), Z29, Z6, Z7)
	ROW2((SI)(R9*1), Z27, Z9, Z10)
	ROW2((DI), Z28, Z12, Z13)
	ROW2((DI)(R8*1), Z29, Z15, Z16)
	ROW2((DI)(R8*2), Z27, Z18, Z19)
	ROW2((DI)(R9*1), Z28, Z21, Z22)
	NEXT
	DECQ  CX
	JNZ   loop2
	TESTQ AX, AX
	JNZ   update2
	SET2(Z0, Z1)
	SET2(Z3, Z4)
	SET2(Z6, Z7)
	SET2(Z9, Z10)
	SET2(Z12, Z13)
	SET2(Z15, Z16)
	SET2(Z18, Z19)
	SET2(Z21, Z22)
	VZEROUPPER
	RET

update2:
	UPDATE2(Z0, Z1)
	UPDATE2(Z3, Z4)
	UPDATE2(Z6, Z7)
	UPDATE2(Z9, Z10)
	UPDATE2(Z12, Z13)
	UPDATE2(Z15, Z16)
	UPDATE2(Z18, Z19)
	UPDATE2(Z21, Z22)
	VZEROUPPER
	RET

loop1:
	VMOVUPD (R11), Z24
	ROW1((SI), Z27, Z0)
	ROW1((SI)(R8*1), Z28, Z3)
	ROW1((SI)(R8*2), Z29, Z6)
	ROW1((SI)(R9*1), Z27, Z9)
	ROW1((DI), Z28, Z12)
	ROW1((DI)(R8*1), Z29, Z15)
	ROW1((DI)(R8*2), Z27, Z18)
	ROW1((DI)(R9*1), Z28, Z21)
	NEXT
	DECQ  CX
	JNZ   loop1
	TESTQ AX, AX
	JNZ   update1
	SET1(Z0)
	SET1(Z3)
	SET1(Z6)
	SET1(Z9)
	SET1(Z12)
	SET1(Z15)
	SET1(Z18)
	SET1(Z21)
	VZEROUPPER
	RET

update1:
	UPDATE1(Z0)
	UPDATE1(Z3)
	UPDATE1(Z6)
	UPDATE1(Z9)
	UPDATE1(Z12)
	UPDATE1(Z15)
	UPDATE1(Z18)
	UPDATE1(Z21)
	VZEROUPPER
	RET

DATA iota512<>+0(SB)/4, $0
DATA iota512<>+4(SB)/4, $1
DATA iota512<>+8(SB)/4, $2
DATA iota512<>+12(SB)/4, $3
DATA iota512<>+16(SB)/4, $4
DATA iota512<>+20(SB)/4, $5
DATA iota512<>+24(SB)/4, $6
DATA iota512<>+28(SB)/4, $7
GLOBL iota512<>(SB), RODATA|NOPTR, $32

DATA eight512<>+0(SB)/4, $8
GLOBL eight512<>(SB), RODATA|NOPTR, $4

// FOLD takes the minimum of a column of panels over the rows. A later NaN is
// passed over (VMINPD returns its first operand here) and one in row 0 stays:
// nothing below the threshold is lost as long as NaN counts as "maybe".
#define FOLD(a, b, c, d, e, f, g, h, t) \
	VMINPD a, b, t \
	VMINPD t, c, t \
	VMINPD t, d, t \
	VMINPD t, e, t \
	VMINPD t, f, t \
	VMINPD t, g, t \
	VMINPD t, h, t

// APPEND writes the elements of v chosen by mask, and their columns from cv,
// after the R9 elements that the row has.
#define APPEND(mask, v, cv) \
	VCOMPRESSPD.Z v, mask, Z28     \
	VPCOMPRESSD.Z cv, mask, Y29    \
	VMOVUPD       Z28, (DX)(R9*8)  \
	VMOVDQU32     Y29, (BX)(R9*4)  \
	KMOVB         mask, AX         \
	POPCNTL       AX, AX           \
	ADDQ          AX, R9

// HITS appends the elements of one row below Z27 (predicate 17: less than, false
// for NaN) and moves to the next row.
#define HITS(a, b, c, next) \
	VCMPPD   $17, Z27, a, K1 \
	VCMPPD   $17, Z27, b, K2 \
	VCMPPD   $17, Z27, c, K3 \
	KORB     K1, K2, K4      \
	KORTESTB K3, K4          \
	JZ       next            \
	MOVQ     (DI), R9        \
	APPEND(K1, a, Y24)       \
	APPEND(K2, b, Y25)       \
	APPEND(K3, c, Y26)       \
	MOVQ     R9, (DI)        \
next:                        \
	ADDQ     $8, DI          \
	LEAQ     (DX)(R8*8), DX  \
	LEAQ     (BX)(R8*4), BX

// func scan512x3(k int, a, b *float64, thr float64, col0 int, vals *float64, cols *int32, stride int, cnt *int)
TEXT ·scan512x3(SB), NOSPLIT, $0-72
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), R11
	MOVQ CX, R12
	SHLQ $6, R12
	MOVQ $8, R8
	MOVQ $24, R9
	MOVQ $64, R10
	LEAQ 32(SI), DI
	ZERO24

loop:
	STEP24
	DECQ CX
	JNZ  loop

	VBROADCASTSD thr+24(FP), Z27
	FOLD(Z0, Z3, Z6, Z9, Z12, Z15, Z18, Z21, Z24)
	FOLD(Z1, Z4, Z7, Z10, Z13, Z16, Z19, Z22, Z25)
	FOLD(Z2, Z5, Z8, Z11, Z14, Z17, Z20, Z23, Z26)
	VCMPPD   $25, Z27, Z24, K1 // not greater or equal, true for NaN
	VCMPPD   $25, Z27, Z25, K2
	VCMPPD   $25, Z27, Z26, K3
	KORB     K1, K2, K4
	KORTESTB K3, K4
	JZ       done

	MOVQ         vals+40(FP), DX
	MOVQ         cols+48(FP), BX
	MOVQ         stride+56(FP), R8
	MOVQ         cnt+64(FP), DI
	VPBROADCASTD col0+32(FP), Y24
	VPADDD       iota512<>(SB), Y24, Y24
	VPBROADCASTD eight512<>(SB), Y28
	VPADDD       Y28, Y24, Y25
	VPADDD       Y28, Y25, Y26
	HITS(Z0, Z1, Z2, row1)
	HITS(Z3, Z4, Z5, row2)
	HITS(Z6, Z7, Z8, row3)
	HITS(Z9, Z10, Z11, row4)
	HITS(Z12, Z13, Z14, row5)
	HITS(Z15, Z16, Z17, row6)
	HITS(Z18, Z19, Z20, row7)
	HITS(Z21, Z22, Z23, row8)

done:
	VZEROUPPER
	RET

// Sparse times dense: Z0 … Z7 hold the sums of one row, Z16 a value in all lanes.
//
// R8      entry of the row in rowPtr, R9 rows left
// SI, DI  cols and vals, CX position in them, DX its end
// R10     x, R11 distance of its rows in bytes, R12 number of its rows
// BX      row of dst, R13 distance of its rows in bytes
// K1      columns of the last vector

// Lists of one instruction for each of V vectors: CLEARV; and PRODUCTSV, ADDSV
// and STORESV, in which the last vector is masked, from those of whole vectors.
#define CLEAR1 VPXORQ Z0, Z0, Z0
#define CLEAR2 CLEAR1; VPXORQ Z1, Z1, Z1
#define CLEAR3 CLEAR2; VPXORQ Z2, Z2, Z2
#define CLEAR4 CLEAR3; VPXORQ Z3, Z3, Z3
#define CLEAR5 CLEAR4; VPXORQ Z4, Z4, Z4
#define CLEAR6 CLEAR5; VPXORQ Z5, Z5, Z5
#define CLEAR7 CLEAR6; VPXORQ Z6, Z6, Z6
#define CLEAR8 CLEAR7; VPXORQ Z7, Z7, Z7

#define PRODUCT1 VFMADD231PD (R15), Z16, Z0
#define PRODUCT2 PRODUCT1; VFMADD231PD 64(R15), Z16, Z1
#define PRODUCT3 PRODUCT2; VFMADD231PD 128(R15), Z16, Z2
#define PRODUCT4 PRODUCT3; VFMADD231PD 192(R15), Z16, Z3
#define PRODUCT5 PRODUCT4; VFMADD231PD 256(R15), Z16, Z4
#define PRODUCT6 PRODUCT5; VFMADD231PD 320(R15), Z16, Z5
#define PRODUCT7 PRODUCT6; VFMADD231PD 384(R15), Z16, Z6
#define PRODUCTS1 VFMADD231PD (R15), Z16, K1, Z0
#define PRODUCTS2 PRODUCT1; VFMADD231PD 64(R15), Z16, K1, Z1
#define PRODUCTS3 PRODUCT2; VFMADD231PD 128(R15), Z16, K1, Z2
#define PRODUCTS4 PRODUCT3; VFMADD231PD 192(R15), Z16, K1, Z3
#define PRODUCTS5 PRODUCT4; VFMADD231PD 256(R15), Z16, K1, Z4
#define PRODUCTS6 PRODUCT5; VFMADD231PD 320(R15), Z16, K1, Z5
#define PRODUCTS7 PRODUCT6; VFMADD231PD 384(R15), Z16, K1, Z6
#define PRODUCTS8 PRODUCT7; VFMADD231PD 448(R15), Z16, K1, Z7

#define ADD1 VADDPD (BX), Z0, Z0
#define ADD2 ADD1; VADDPD 64(BX), Z1, Z1
#define ADD3 ADD2; VADDPD 128(BX), Z2, Z2
#define ADD4 ADD3; VADDPD 192(BX), Z3, Z3
#define ADD5 ADD4; VADDPD 256(BX), Z4, Z4
#define ADD6 ADD5; VADDPD 320(BX), Z5, Z5
#define ADD7 ADD6; VADDPD 384(BX), Z6, Z6
#define ADDS1 VADDPD (BX), Z0, K1, Z0
#define ADDS2 ADD1; VADDPD 64(BX), Z1, K1, Z1
#define ADDS3 ADD2; VADDPD 128(BX), Z2, K1, Z2
#define ADDS4 ADD3; VADDPD 192(BX), Z3, K1, Z3
#define ADDS5 ADD4; VADDPD 256(BX), Z4, K1, Z4
#define ADDS6 ADD5; VADDPD 320(BX), Z5, K1, Z5
#define ADDS7 ADD6; VADDPD 384(BX), Z6, K1, Z6
#define ADDS8 ADD7; VADDPD 448(BX), Z7, K1, Z7

#define STORE1 VMOVUPD Z0, (BX)
#define STORE2 STORE1; VMOVUPD Z1, 64(BX)
#define STORE3 STORE2; VMOVUPD Z2, 128(BX)
#define STORE4 STORE3; VMOVUPD Z3, 192(BX)
#define STORE5 STORE4; VMOVUPD Z4, 256(BX)
#define STORE6 STORE5; VMOVUPD Z5, 320(BX)
#define STORE7 STORE6; VMOVUPD Z6, 384(BX)
#define STORES1 VMOVUPD Z0, K1, (BX)
#define STORES2 STORE1; VMOVUPD Z1, K1, 64(BX)
#define STORES3 STORE2; VMOVUPD Z2, K1, 128(BX)
#define STORES4 STORE3; VMOVUPD Z3, K1, 192(BX)
#define STORES5 STORE4; VMOVUPD Z4, K1, 256(BX)
#define STORES6 STORE5; VMOVUPD Z5, K1, 320(BX)
#define STORES7 STORE6; VMOVUPD Z6, K1, 384(BX)
#define STORES8 STORE7; VMOVUPD Z7, K1, 448(BX)

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
	VBROADCASTSD (DI)(CX*8), Z16    \
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

// func spmm512x(v, n int, rowPtr *int, rows int, cols *int32, vals, x *float64, xs int, dst *float64, ds, mask int, accumulate bool) int
TEXT ·spmm512x(SB), NOSPLIT, $0-104
	MOVQ  n+8(FP), R12
	MOVQ  rowPtr+16(FP), R8
	MOVQ  rows+24(FP), R9
	MOVQ  cols+32(FP), SI
	MOVQ  vals+40(FP), DI
	MOVQ  x+48(FP), R10
	MOVQ  xs+56(FP), R11
	MOVQ  dst+64(FP), BX
	MOVQ  ds+72(FP), R13
	MOVQ  mask+80(FP), AX
	KMOVW AX, K1
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

// func spmv512x(n int, rowPtr *int, rows int, cols *int32, vals, x *float64, dst *float64, ds int, accumulate bool) int
TEXT ·spmv512x(SB), NOSPLIT, $0-80
	MOVQ n+0(FP), R12
	MOVQ rowPtr+8(FP), R8
	MOVQ rows+16(FP), R9
	MOVQ cols+24(FP), SI
	MOVQ vals+32(FP), DI
	MOVQ x+40(FP), R10
	MOVQ dst+48(FP), BX
	MOVQ ds+56(FP), R13
	MOVBLZX accumulate+64(FP), AX
	SHLQ $3, R13
	VPBROADCASTD R12, Y20

row:
	MOVQ   (R8), R11
	MOVQ   8(R8), DX
	SUBQ   R11, DX
	VPXORQ Z0, Z0, Z0

eight:
	CMPQ       DX, $8
	JLT        tail
	VMOVDQU32  (SI)(R11*4), Y1
	VPCMPUD    $5, Y20, Y1, K1 // not less than, unsigned
	KORTESTB   K1, K1
	JNZ        bad
	KXNORB     K2, K2, K2
	VPXORQ     Z2, Z2, Z2
	VGATHERDPD (R10)(Y1*8), K2, Z2
	VFMADD231PD (DI)(R11*8), Z2, Z0
	ADDQ       $8, R11
	SUBQ       $8, DX
	JMP        eight

tail:
	TESTQ       DX, DX
	JZ          sum
	MOVL        $1, R14
	MOVQ        DX, CX
	SHLL        CX, R14
	DECL        R14
	KMOVB       R14, K3
	KMOVB       R14, K2
	VMOVDQU32.Z (SI)(R11*4), K3, Y1
	VPCMPUD     $5, Y20, Y1, K3, K1
	KORTESTB    K1, K1
	JNZ         bad
	VPXORQ      Z2, Z2, Z2
	VGATHERDPD  (R10)(Y1*8), K2, Z2
	VFMADD231PD (DI)(R11*8), Z2, K3, Z0

sum:
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPD        Y1, Y0, Y0
	VEXTRACTF128  $1, Y0, X1
	VADDPD        X1, X0, X0
	VPERMILPD     $1, X0, X1
	VADDSD        X1, X0, X0
	TESTQ         AX, AX
	JZ            store
	VADDSD        (BX), X0, X0

store:
	VMOVSD X0, (BX)
	ADDQ   R13, BX
	ADDQ   $8, R8
	DECQ   R9
	JNZ    row
	MOVQ   $-1, ret+72(FP)
	VZEROUPPER
	RET

bad:
	KMOVB K1, AX
	BSFL  AX, AX
	ADDQ  R11, AX
	MOVQ  AX, ret+72(FP)
	VZEROUPPER
	RET

// func packCols512x(dst, src *float64, stride, k, n int)
TEXT ·packCols512x(SB), NOSPLIT, $0-40
	MOVQ  dst+0(FP), DI
	MOVQ  src+8(FP), SI
	MOVQ  stride+16(FP), R8
	MOVQ  k+24(FP), R9
	MOVQ  n+32(FP), CX
	SHLQ  $3, R8
	MOVQ  R9, R10
	SHLQ  $6, R10      // bytes of a panel
	MOVQ  CX, R11
	SHRQ  $3, R11      // whole panels
	ANDQ  $7, CX
	MOVL  $1, AX
	SHLL  CX, AX
	DECL  AX
	KMOVW AX, K1       // columns of the last panel

row:
	MOVQ  SI, AX
	MOVQ  DI, BX
	MOVQ  R11, DX
	TESTQ DX, DX
	JZ    rest

whole:
	VMOVUPD (AX), Z0
	VMOVUPD Z0, (BX)
	ADDQ    $64, AX
	ADDQ    R10, BX
	DECQ    DX
	JNZ     whole

rest:
	TESTQ     CX, CX
	JZ        next
	VMOVUPD.Z (AX), K1, Z0
	VMOVUPD   Z0, (BX)

next:
	ADDQ R8, SI
	ADDQ $64, DI
	DECQ R9
	JNZ  row
	VZEROUPPER
	RET

// SUM8 adds up the lanes of z, whose lower parts are y and x, in the order of
// halving, and stores the sum.
#define SUM8(z, y, x, off) \
	VEXTRACTF64X4 $1, z, Y9  \
	VADDPD        Y9, y, y   \
	VEXTRACTF128  $1, y, X9  \
	VADDPD        X9, x, x   \
	VPERMILPD     $1, x, X9  \
	VADDSD        X9, x, x   \
	VMOVSD        x, off(DX)

// func dots512x(k int, a *float64, rs int, x, y *float64)
TEXT ·dots512x(SB), NOSPLIT, $0-40
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), SI
	MOVQ rs+16(FP), R8
	MOVQ x+24(FP), BX
	MOVQ y+32(FP), DX
	SHLQ $3, R8
	LEAQ (R8)(R8*2), R9
	LEAQ (SI)(R8*4), DI
	ZERO(Z0, Z1, Z2)
	ZERO(Z3, Z4, Z5)
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	MOVQ CX, AX
	ANDQ $7, AX
	SHRQ $3, CX
	JZ   tail

loop:
	VMOVUPD (BX), Z8
	VFMADD231PD (SI), Z8, Z0
	VFMADD231PD (SI)(R8*1), Z8, Z1
	VFMADD231PD (SI)(R8*2), Z8, Z2
	VFMADD231PD (SI)(R9*1), Z8, Z3
	VFMADD231PD (DI), Z8, Z4
	VFMADD231PD (DI)(R8*1), Z8, Z5
	VFMADD231PD (DI)(R8*2), Z8, Z6
	VFMADD231PD (DI)(R9*1), Z8, Z7
	ADDQ $64, SI
	ADDQ $64, DI
	ADDQ $64, BX
	DECQ CX
	JNZ  loop

tail:
	TESTQ AX, AX
	JZ    sum
	MOVL  $1, R10
	MOVQ  AX, CX
	SHLL  CX, R10
	DECL  R10
	KMOVW R10, K1
	VMOVUPD.Z (BX), K1, Z8
	VFMADD231PD (SI), Z8, K1, Z0
	VFMADD231PD (SI)(R8*1), Z8, K1, Z1
	VFMADD231PD (SI)(R8*2), Z8, K1, Z2
	VFMADD231PD (SI)(R9*1), Z8, K1, Z3
	VFMADD231PD (DI), Z8, K1, Z4
	VFMADD231PD (DI)(R8*1), Z8, K1, Z5
	VFMADD231PD (DI)(R8*2), Z8, K1, Z6
	VFMADD231PD (DI)(R9*1), Z8, K1, Z7

sum:
	SUM8(Z0, Y0, X0, 0)
	SUM8(Z1, Y1, X1, 8)
	SUM8(Z2, Y2, X2, 16)
	SUM8(Z3, Y3, X3, 24)
	SUM8(Z4, Y4, X4, 32)
	SUM8(Z5, Y5, X5, 40)
	SUM8(Z6, Y6, X6, 48)
	SUM8(Z7, Y7, X7, 56)
	VZEROUPPER
	RET

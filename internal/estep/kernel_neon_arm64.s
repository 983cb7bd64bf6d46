//go:build arm64 && !noasm && !purego

#include "go_asm.h"
#include "textflag.h"

// The words are gone through two or three times, as in the other kernels. A cursor is a pointer that
// moves past what is read or written.
//
// R0       the arguments
// R1, R2   cursors of the words and of the words to come; R3 the words left
// R4       bytes from row to row; R5 B, R6 the sums (B if there are none)
// R7       t
// R8, R9   a row's blocks of sixteen numbers and the vectors after the last of them; R14 those left
// R10      cursor in the word's row of B
// R11      in t; in g
// R12      in out, which goes on from word to word; in a row of B to come
// R13      in the prior; in the word's row of the sums
// R15      the prior; g
// R19      cursor of z; R20 of the counts; R21 of the sums of out
//
// V0 … V3  sixteen sums
// V28      ones, F29 the least sum, F30 the token, V31 the factor of the word

// The assembler does not know these instructions. d is the result, of n and m in this order.
#define FADD4S(m, n, d)   WORD $(0x4E20D400 | (m)<<16 | (n)<<5 | (d))
#define FSUB4S(m, n, d)   WORD $(0x4EA0D400 | (m)<<16 | (n)<<5 | (d))
#define FMUL4S(m, n, d)   WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define FMAXNM4S(m, n, d) WORD $(0x4E20C400 | (m)<<16 | (n)<<5 | (d))
#define FADDP2S(n, d)     WORD $(0x7E30D800 | (n)<<5 | (d)) // the sum of two numbers

// SUM leaves the sum of the sixteen sums in F0.
#define SUM \
	FADD4S(2, 0, 0)                    \
	FADD4S(3, 1, 1)                    \
	FADD4S(1, 0, 0)                    \
	VEXT $8, V0.B16, V0.B16, V1.B16    \
	FADD4S(1, 0, 0)                    \
	FADDP2S(0, 0)

#define ZERO \
	VEOR V0.B16, V0.B16, V0.B16 \
	VEOR V1.B16, V1.B16, V1.B16 \
	VEOR V2.B16, V2.B16, V2.B16 \
	VEOR V3.B16, V3.B16, V3.B16

// ROW points to to the row of the word at the cursor.
#define ROW(cursor, base, to) \
	MOVW.P 4(cursor), to     \
	MADD   R4, base, to, to

// RESET goes back to the first word.
#define RESET \
	MOVD args_words(R0), R1 \
	MOVD args_n(R0), R3

// FACTOR sets V31 to num over den, or over the least sum.
#define FACTOR(den, num) \
	FMAXS F29, den, den \
	FDIVS den, num, F31 \
	VDUP  V31.S[0], V31.S4

// REST runs a vector for each of the last ones of a row, and adds it to the sum whose number it is given.
#define REST(vector, end) \
	CBZ R9, end \
	CMP $2, R9  \
	vector(0)   \
	BLT end     \
	vector(1)   \
	BEQ end     \
	vector(2)

// SCALE16 multiplies the sixteen numbers from V4 on by the factor of the word, and ADD16 adds them to those from to on.
#define SCALE16 \
	FMUL4S(31, 4, 4) \
	FMUL4S(31, 5, 5) \
	FMUL4S(31, 6, 6) \
	FMUL4S(31, 7, 7)

#define ADD16(to) \
	FADD4S(4, to, to)     \
	FADD4S(5, to+1, to+1) \
	FADD4S(6, to+2, to+2) \
	FADD4S(7, to+3, to+3)

#define DOT(b, t, sum) \
	FMUL4S(b, t, b) \
	FADD4S(b, sum, sum)

#define DOT1(sum) \
	VLD1.P 16(R10), [V4.S4] \
	VLD1.P 16(R11), [V8.S4] \
	DOT(4, 8, sum)

#define DOCUMENT(b, t, prior, x, sum) \
	FMUL4S(31, b, x)      \
	FSUB4S(x, 28, x)      \
	FMUL4S(t, x, x)       \
	FMAXNM4S(prior, x, x) \
	FMUL4S(b, x, x)       \
	FADD4S(x, sum, sum)

#define DOCUMENT1(sum) \
	VLD1.P 16(R10), [V4.S4]     \
	VLD1.P 16(R11), [V8.S4]     \
	VLD1.P 16(R13), [V16.S4]    \
	DOCUMENT(4, 8, 16, 20, sum) \
	VST1.P [V20.S4], 16(R12)

#define LAST(b, t, prior, x, sum) \
	FMUL4S(31, x, x)      \
	FSUB4S(x, t, x)       \
	FMAXNM4S(prior, x, x) \
	FMUL4S(b, x, x)       \
	FADD4S(x, sum, sum)

#define LAST1(sum) \
	VLD1.P 16(R10), [V4.S4]  \
	VLD1.P 16(R11), [V8.S4]  \
	VLD1.P 16(R13), [V16.S4] \
	VLD1   (R12), [V20.S4]   \
	LAST(4, 8, 16, 20, sum)  \
	VST1.P [V20.S4], 16(R12)

// func runNEON(a *args)
TEXT ·runNEON(SB), NOSPLIT, $0-8
	MOVD  a+0(FP), R0
	RESET
	MOVD  args_next(R0), R2
	MOVD  args_stride(R0), R4
	MOVD  args_b(R0), R5
	MOVD  args_sums(R0), R6
	CMP   $0, R6
	CSEL  EQ, R5, R6, R6
	MOVD  args_t(R0), R7
	MOVD  args_width(R0), R9
	LSR   $6, R9, R8
	UBFX  $4, R9, $2, R9
	MOVD  args_z(R0), R19
	FMOVS args_one(R0), F28
	VDUP  V28.S[0], V28.S4
	FMOVS args_least(R0), F29
	MOVD  args_mode(R0), R14
	CMP   $const_LeaveLast, R14
	BEQ   last

dotWord:
	ROW(R2, R5, R12)
	MOVW.P 4(R1), R13
	MADD   R4, R5, R13, R10
	MADD   R4, R6, R13, R13
	MOVD   R7, R11
	ZERO
	MOVD   R8, R14
	CBZ    R8, dotRest

dot:
	VLD1.P 64(R10), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R11), [V8.S4, V9.S4, V10.S4, V11.S4]
	PRFM   (R12), PLDL1KEEP
	PRFM   (R13), PLDL1KEEP
	ADD    $64, R12
	ADD    $64, R13
	DOT(4, 8, 0)
	DOT(5, 9, 1)
	DOT(6, 10, 2)
	DOT(7, 11, 3)
	SUB    $1, R14
	CBNZ   R14, dot

dotRest:
	PRFM (R12), PLDL1KEEP
	PRFM (R13), PLDL1KEEP
	REST(DOT1, dotSum)

dotSum:
	SUM
	FMOVS.P F0, 4(R19)
	SUB     $1, R3
	CBNZ    R3, dotWord

	MOVD args_mode(R0), R14
	TBNZ $63, R14, done
	RESET
	MOVD args_z(R0), R19
	CBZ  R14, plain
	MOVD args_left(R0), R21
	MOVD args_prior(R0), R15
	MOVD args_out(R0), R12

documentWord:
	ROW(R1, R5, R10)
	FMOVS.P 4(R19), F16
	FACTOR(F16, F28)
	MOVD    R7, R11
	MOVD    R15, R13
	ZERO
	MOVD    R8, R14
	CBZ     R8, documentRest

document:
	VLD1.P 64(R10), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R11), [V8.S4, V9.S4, V10.S4, V11.S4]
	VLD1.P 64(R13), [V16.S4, V17.S4, V18.S4, V19.S4]
	DOCUMENT(4, 8, 16, 20, 0)
	DOCUMENT(5, 9, 17, 21, 1)
	DOCUMENT(6, 10, 18, 22, 2)
	DOCUMENT(7, 11, 19, 23, 3)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R12)
	SUB    $1, R14
	CBNZ   R14, document

documentRest:
	REST(DOCUMENT1, documentSum)

documentSum:
	SUM
	FMOVS.P F0, 4(R21)
	SUB     $1, R3
	CBNZ    R3, documentWord
	B       share

last:
	MOVD  args_left(R0), R21
	MOVD  args_counts(R0), R20
	MOVD  args_prior(R0), R15
	MOVD  args_out(R0), R12
	FMOVS args_token(R0), F30

lastWord:
	ROW(R2, R5, R19)
	ROW(R1, R5, R10)
	FMOVS.P 4(R20), F16
	FMINS   F30, F16, F16
	FMOVS   (R21), F17
	FACTOR(F17, F16)
	MOVD    R7, R11
	MOVD    R15, R13
	ZERO
	MOVD    R8, R14
	CBZ     R8, lastRest

last1:
	VLD1.P 64(R10), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R11), [V8.S4, V9.S4, V10.S4, V11.S4]
	VLD1.P 64(R13), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1   (R12), [V20.S4, V21.S4, V22.S4, V23.S4]
	PRFM   (R19), PLDL1KEEP
	ADD    $64, R19
	LAST(4, 8, 16, 20, 0)
	LAST(5, 9, 17, 21, 1)
	LAST(6, 10, 18, 22, 2)
	LAST(7, 11, 19, 23, 3)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R12)
	SUB    $1, R14
	CBNZ   R14, last1

lastRest:
	PRFM (R19), PLDL1KEEP
	REST(LAST1, lastSum)

lastSum:
	SUM
	FMOVS.P F0, 4(R21)
	SUB     $1, R3
	CBNZ    R3, lastWord

share:
	MOVD args_g(R0), R15
	CBZ  R15, done
	RESET
	MOVD args_counts(R0), R20
	MOVD args_left(R0), R21
	MOVD args_out(R0), R12
	MOVD args_sums(R0), R14
	CBZ  R14, shareDoc

shareWord:
	ROW(R1, R6, R13)
	FMOVS.P 4(R20), F16
	FMOVS.P 4(R21), F17
	FACTOR(F17, F16)
	MOVD    R15, R11
	MOVD    R8, R14
	CBZ     R8, shareRest

shareBoth:
	VLD1.P 64(R12), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1   (R11), [V8.S4, V9.S4, V10.S4, V11.S4]
	VLD1   (R13), [V16.S4, V17.S4, V18.S4, V19.S4]
	SCALE16
	ADD16(8)
	ADD16(16)
	VST1.P [V8.S4, V9.S4, V10.S4, V11.S4], 64(R11)
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R13)
	SUB    $1, R14
	CBNZ   R14, shareBoth

shareRest:
	MOVD R9, R14
	CBZ  R9, shareNext

shareBoth1:
	VLD1.P 16(R12), [V4.S4]
	VLD1   (R11), [V8.S4]
	VLD1   (R13), [V16.S4]
	FMUL4S(31, 4, 4)
	FADD4S(4, 8, 8)
	FADD4S(4, 16, 16)
	VST1.P [V8.S4], 16(R11)
	VST1.P [V16.S4], 16(R13)
	SUB    $1, R14
	CBNZ   R14, shareBoth1

shareNext:
	SUB  $1, R3
	CBNZ R3, shareWord
	B    done

// Without sums one block of g after the other, which stays in registers. R10 is the bytes of a row
// of out, R11 in its first row, R12 in a row; R20 the scales and R21 the cursor in them.
shareDoc:
	MOVD args_scale(R0), R10

scale:
	FMOVS.P 4(R20), F16
	FMOVS.P 4(R21), F17
	FMAXS   F29, F17, F17
	FDIVS   F17, F16, F16
	FMOVS.P F16, 4(R10)
	SUB     $1, R3
	CBNZ    R3, scale
	MOVD    args_scale(R0), R20
	MOVD    args_width(R0), R10
	MOVD    R12, R11
	CBZ     R8, shareDocRest

shareDocBlock:
	VLD1 (R15), [V0.S4, V1.S4, V2.S4, V3.S4]
	MOVD R11, R12
	MOVD R20, R21
	MOVD args_n(R0), R3

shareDocWord:
	VLD1.P  (R12)(R10), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1R.P 4(R21), [V31.S4]
	SCALE16
	ADD16(0)
	SUB     $1, R3
	CBNZ    R3, shareDocWord
	VST1.P  [V0.S4, V1.S4, V2.S4, V3.S4], 64(R15)
	ADD     $64, R11
	SUB     $1, R8
	CBNZ    R8, shareDocBlock

shareDocRest:
	CBZ R9, done

shareDocVector:
	VLD1 (R15), [V0.S4]
	MOVD R11, R12
	MOVD R20, R21
	MOVD args_n(R0), R3

shareDocWord1:
	VLD1.P  (R12)(R10), [V4.S4]
	VLD1R.P 4(R21), [V31.S4]
	FMUL4S(31, 4, 4)
	FADD4S(4, 0, 0)
	SUB     $1, R3
	CBNZ    R3, shareDocWord1
	VST1.P  [V0.S4], 16(R15)
	ADD     $16, R11
	SUB     $1, R9
	CBNZ    R9, shareDocVector
	B       done

plain:
	MOVD args_counts(R0), R20
	MOVD args_g(R0), R15
	MOVD args_sums(R0), R14
	CBZ  R14, plainDocWord

// R12 is the cursor in t.
plainWord:
	MOVW.P  4(R1), R13
	MADD    R4, R5, R13, R10
	MADD    R4, R6, R13, R13
	FMOVS.P 4(R20), F16
	FMOVS.P 4(R19), F17
	FACTOR(F17, F16)
	MOVD    R15, R11
	MOVD    R7, R12
	MOVD    R8, R14
	CBZ     R8, plainRest

plainBoth:
	VLD1.P 64(R10), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R12), [V20.S4, V21.S4, V22.S4, V23.S4]
	VLD1   (R11), [V8.S4, V9.S4, V10.S4, V11.S4]
	VLD1   (R13), [V16.S4, V17.S4, V18.S4, V19.S4]
	SCALE16
	ADD16(8)
	FMUL4S(20, 4, 4)
	FMUL4S(21, 5, 5)
	FMUL4S(22, 6, 6)
	FMUL4S(23, 7, 7)
	ADD16(16)
	VST1.P [V8.S4, V9.S4, V10.S4, V11.S4], 64(R11)
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R13)
	SUB    $1, R14
	CBNZ   R14, plainBoth

plainRest:
	MOVD R9, R14
	CBZ  R9, plainNext

plainBoth1:
	VLD1.P 16(R10), [V4.S4]
	VLD1.P 16(R12), [V20.S4]
	VLD1   (R11), [V8.S4]
	VLD1   (R13), [V16.S4]
	FMUL4S(31, 4, 4)
	FADD4S(4, 8, 8)
	FMUL4S(20, 4, 4)
	FADD4S(4, 16, 16)
	VST1.P [V8.S4], 16(R11)
	VST1.P [V16.S4], 16(R13)
	SUB    $1, R14
	CBNZ   R14, plainBoth1

plainNext:
	SUB  $1, R3
	CBNZ R3, plainWord
	B    done

plainDocWord:
	ROW(R1, R5, R10)
	FMOVS.P 4(R20), F16
	FMOVS.P 4(R19), F17
	FACTOR(F17, F16)
	MOVD    R15, R11
	MOVD    R8, R14
	CBZ     R8, plainDocRest

plainDoc:
	VLD1.P 64(R10), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1   (R11), [V8.S4, V9.S4, V10.S4, V11.S4]
	SCALE16
	ADD16(8)
	VST1.P [V8.S4, V9.S4, V10.S4, V11.S4], 64(R11)
	SUB    $1, R14
	CBNZ   R14, plainDoc

plainDocRest:
	MOVD R9, R14
	CBZ  R9, plainDocNext

plainDoc1:
	VLD1.P 16(R10), [V4.S4]
	VLD1   (R11), [V8.S4]
	FMUL4S(31, 4, 4)
	FADD4S(4, 8, 8)
	VST1.P [V8.S4], 16(R11)
	SUB    $1, R14
	CBNZ   R14, plainDoc1

plainDocNext:
	SUB  $1, R3
	CBNZ R3, plainDocWord

done:
	RET

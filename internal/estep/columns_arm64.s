//go:build arm64 && !noasm && !purego

#include "go_asm.h"
#include "textflag.h"

// Rows to come are fetched into the second cache, because the first is full of the blocks that the
// kernel takes next.
//
// R0       the arguments
// R1, R2   the words and the next words, which move on; R3 the words left
// R4, R5   the matrix, bytes from row to row
// R6       the part, which moves on
// R7, R8   the blocks' offsets and how many; R9 those to come and R10 how many
// R11      the word's row, R12 a row to come
// R13, R14 the block's offset, its place

// BEGIN sets the registers that all words have in common.
#define BEGIN \
	MOVD m+0(FP), R0          \
	MOVD move_words(R0), R1   \
	MOVD move_next(R0), R2    \
	MOVD move_n(R0), R3       \
	MOVD move_rows(R0), R4    \
	MOVD move_stride(R0), R5  \
	MOVD move_part(R0), R6    \
	MOVD move_offsets(R0), R7 \
	MOVD move_blocks(R0), R8

// ROW points to to the row of the current word of words.
#define ROW(words, to) \
	MOVW.P 4(words), to   \
	MADD   R5, R4, to, to

// func gatherNEON(m *move)
TEXT ·gatherNEON(SB), NOSPLIT, $0-8
	BEGIN

word:
	ROW(R1, R11)
	ROW(R2, R12)
	MOVD R7, R9
	MOVD R8, R10

copy:
	MOVW.P 4(R9), R13
	ADD    R13, R11, R14
	VLD1   (R14), [V0.S4, V1.S4, V2.S4, V3.S4]
	ADD    R13, R12, R14
	PRFM   (R14), PLDL2KEEP
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R6)
	SUB    $1, R10
	CBNZ   R10, copy
	SUB    $1, R3
	CBNZ   R3, word
	RET

// func scatterNEON(m *move)
TEXT ·scatterNEON(SB), NOSPLIT, $0-8
	BEGIN

word:
	ROW(R1, R11)
	MOVD R7, R9
	MOVD R8, R10

copy:
	MOVW.P 4(R9), R13
	ADD    R13, R11, R14
	VLD1.P 64(R6), [V0.S4, V1.S4, V2.S4, V3.S4]
	VST1   [V0.S4, V1.S4, V2.S4, V3.S4], (R14)
	SUB    $1, R10
	CBNZ   R10, copy
	SUB    $1, R3
	CBNZ   R3, word
	RET

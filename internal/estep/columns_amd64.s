//go:build amd64 && !noasm && !purego

#include "go_asm.h"
#include "textflag.h"

// Both kernels with vectors use these: the time is that of the memory, whatever the width.
// Rows to come are fetched into the second cache, because the first is full of the blocks
// that the kernel takes next.
//
// DI      the arguments
// SI      the end of the words; R12 of the next words; CX minus the words left
// R8      the matrix; BX the word's row; R15 a row to come
// R13     the part
// R9      the end of the blocks' offsets; R10 minus the blocks; AX minus the blocks left
// DX      the block's offset

// BEGIN sets the registers that all words have in common.
#define BEGIN \
	MOVQ m+0(FP), DI         \
	MOVQ move_n(DI), CX      \
	MOVQ move_words(DI), SI  \
	LEAQ (SI)(CX*4), SI      \
	MOVQ move_next(DI), R12  \
	LEAQ (R12)(CX*4), R12    \
	NEGQ CX                  \
	MOVQ move_rows(DI), R8   \
	MOVQ move_part(DI), R13  \
	MOVQ move_blocks(DI), R10 \
	MOVQ move_offsets(DI), R9 \
	LEAQ (R9)(R10*4), R9     \
	NEGQ R10

// ROW points to to the row of the current word of words.
#define ROW(words, to) \
	MOVLQSX (words)(CX*4), to    \
	IMULQ   move_stride(DI), to  \
	ADDQ    R8, to

// func gatherAVX(m *move)
TEXT ·gatherAVX(SB), NOSPLIT, $0-8
	BEGIN

word:
	ROW(SI, BX)
	ROW(R12, R15)
	MOVQ R10, AX

copy:
	MOVLQSX    (R9)(AX*4), DX
	VMOVUPS    (BX)(DX*1), Y0
	VMOVUPS    32(BX)(DX*1), Y1
	VMOVUPS    Y0, (R13)
	VMOVUPS    Y1, 32(R13)
	PREFETCHT1 (R15)(DX*1)
	ADDQ       $64, R13
	INCQ       AX
	JNE        copy
	INCQ       CX
	JNE        word
	VZEROUPPER
	RET

// func scatterAVX(m *move)
TEXT ·scatterAVX(SB), NOSPLIT, $0-8
	BEGIN

word:
	ROW(SI, BX)
	MOVQ R10, AX

copy:
	MOVLQSX (R9)(AX*4), DX
	VMOVUPS (R13), Y0
	VMOVUPS 32(R13), Y1
	VMOVUPS Y0, (BX)(DX*1)
	VMOVUPS Y1, 32(BX)(DX*1)
	ADDQ    $64, R13
	INCQ    AX
	JNE     copy
	INCQ    CX
	JNE     word
	VZEROUPPER
	RET

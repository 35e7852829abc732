//go:build !purego

#include "textflag.h"

// CHOOSE jumps to the version of a kernel for the selected level. The arguments stay in place.
#define CHOOSE(avx512, avx2) \
	CMPB ·wide(SB), $0; \
	JEQ  2(PC); \
	JMP  avx512(SB); \
	JMP  avx2(SB)

TEXT ·unpackPlainKernel(SB), NOSPLIT, $0-24
	CHOOSE(·unpackPlainAVX512, ·unpackPlainAVX2)

TEXT ·unpackGapsKernel(SB), NOSPLIT, $0-28
	CHOOSE(·unpackGapsAVX512, ·unpackGapsAVX2)

TEXT ·unpackBitsKernel(SB), NOSPLIT, $0-40
	CHOOSE(·unpackBitsAVX512, ·unpackBitsAVX2)

// func prefetch(data *byte)
TEXT ·prefetch(SB), NOSPLIT, $0-8
	MOVQ data+0(FP), SI
	PREFETCHT0 (SI)
	PREFETCHT0 64(SI)
	PREFETCHT0 128(SI)
	RET

// func prefetchItems(items *byte, numbers *uint32, n int, shift uint8)
TEXT ·prefetchItems(SB), NOSPLIT, $0-25
	MOVQ    items+0(FP), AX
	MOVQ    numbers+8(FP), SI
	MOVQ    n+16(FP), DX
	MOVBLZX shift+24(FP), CX

item:
	MOVL       (SI), DI
	SHLQ       CX, DI
	PREFETCHT0 (AX)(DI*1)
	ADDQ       $4, SI
	DECQ       DX
	JNZ        item
	RET

//go:build !purego

#include "textflag.h"

// CHOOSE jumps to the version of a kernel for the selected level. The arguments stay in place.
#define CHOOSE(avx512, avx2) \
	CMPB ·wide(SB), $0; \
	JEQ  2(PC); \
	JMP  avx512(SB); \
	JMP  avx2(SB)

TEXT ·wordBitsKernel(SB), NOSPLIT, $0-56
	CHOOSE(·wordBitsAVX512, ·wordBitsAVX2)

TEXT ·letterBitsKernel(SB), NOSPLIT, $0-32
	CHOOSE(·letterBitsAVX512, ·letterBitsAVX2)

TEXT ·blankBitsKernel(SB), NOSPLIT, $0-40
	CHOOSE(·blankBitsAVX512, ·blankBitsAVX2)

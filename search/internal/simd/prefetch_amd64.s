//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// func Prefetch(p unsafe.Pointer)
TEXT ·Prefetch(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), SI
	PREFETCHT0 (SI)
	PREFETCHT0 64(SI)
	RET

// func PrefetchLine(p unsafe.Pointer)
TEXT ·PrefetchLine(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), SI
	PREFETCHT0 (SI)
	RET

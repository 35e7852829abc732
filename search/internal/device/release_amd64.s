//go:build !purego && !race

#include "textflag.h"

// func storeRelease(to *atomic.Int64, n int64)
TEXT ·storeRelease(SB), NOSPLIT, $0-16
	MOVQ to+0(FP), DI
	MOVQ n+8(FP), AX
	MOVQ AX, (DI)
	RET

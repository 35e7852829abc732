#include "textflag.h"

// func prefetch(slots *slot, mask uint64, keys *[lookahead]key)
TEXT ·prefetch(SB), NOSPLIT, $0-24
	MOVQ slots+0(FP), AX
	MOVQ mask+8(FP), BX
	MOVQ keys+16(FP), CX
	MOVQ $32, DX

next:
	MOVQ 16(CX), SI
	ANDQ BX, SI
	SHLQ $5, SI
	PREFETCHT0 (AX)(SI*1)
	ADDQ $24, CX
	DECQ DX
	JNZ  next
	RET

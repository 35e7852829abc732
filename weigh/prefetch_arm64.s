#include "textflag.h"

// func prefetch(slots *slot, mask uint64, keys *[lookahead]key)
TEXT ·prefetch(SB), NOSPLIT, $0-24
	MOVD slots+0(FP), R0
	MOVD mask+8(FP), R1
	MOVD keys+16(FP), R2
	MOVD $32, R3

next:
	MOVD 16(R2), R4
	AND  R1, R4, R4
	ADD  R4<<5, R0, R5
	PRFM (R5), PLDL1KEEP
	ADD  $24, R2, R2
	SUBS $1, R3, R3
	BNE  next
	RET

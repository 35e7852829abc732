#include "go_asm.h"
#include "textflag.h"

// func prefetchSlots(slots *slot, mask uint64, keys *[lookahead]key, n int)
TEXT ·prefetchSlots(SB), NOSPLIT, $0-32
	MOVD slots+0(FP), R0
	MOVD mask+8(FP), R1
	MOVD keys+16(FP), R2
	MOVD n+24(FP), R3
	CBZ  R3, none

slot:
	MOVD key_hash(R2), R4
	AND  R1, R4, R4
	ADD  R4<<6, R0, R5
	PRFM (R5), PLDL1KEEP
	ADD  $key__size, R2, R2
	SUBS $1, R3, R3
	BNE  slot

none:
	RET

// func prefetchChunk(postings *uint32, n uint32)
TEXT ·prefetchChunk(SB), NOSPLIT, $0-12
	MOVD  postings+0(FP), R0
	MOVWU n+8(FP), R1
	ADD   R1<<2, R0, R1 // the link behind the last

line:
	PRFM (R0), PLDL1KEEP
	ADD  $64, R0, R0
	CMP  R1, R0
	BLS  line
	PRFM (R1), PLDL1KEEP
	RET

// func prefetchGaps(gaps *uint16, places *[lookahead]uint32, n int)
TEXT ·prefetchGaps(SB), NOSPLIT, $0-24
	MOVD gaps+0(FP), R0
	MOVD places+8(FP), R2
	MOVD n+16(FP), R3
	CBZ  R3, none

place:
	MOVWU (R2), R4
	ADD   R4<<2, R0, R5
	PRFM  (R5), PSTL1KEEP
	ADD   $4, R2, R2
	SUBS  $1, R3, R3
	BNE   place

none:
	RET

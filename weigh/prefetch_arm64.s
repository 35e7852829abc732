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
	ADD  R4<<5, R0, R5
	PRFM (R5), PLDL1KEEP
	ADD  $key__size, R2, R2
	SUBS $1, R3, R3
	BNE  slot

none:
	RET

// func prefetchPostings(postings *uint32, places *[lookahead]uint32, n int)
TEXT ·prefetchPostings(SB), NOSPLIT, $0-24
	MOVD postings+0(FP), R0
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

// func prefetchNext(next *uint32, pairs *uint32, n int)
TEXT ·prefetchNext(SB), NOSPLIT, $0-24
	MOVD next+0(FP), R0
	MOVD pairs+8(FP), R2
	MOVD n+16(FP), R3
	CBZ  R3, none

next:
	MOVWU (R2), R4
	LSR   $8, R4, R4
	ADD   R4<<2, R0, R5
	PRFM  (R5), PSTL1KEEP
	ADD   $4, R2, R2
	SUBS  $1, R3, R3
	BNE   next

none:
	RET

#include "go_asm.h"
#include "textflag.h"

// func prefetchSlots(slots *slot, mask uint64, keys *[lookahead]key, n int)
TEXT ·prefetchSlots(SB), NOSPLIT, $0-32
	MOVQ slots+0(FP), AX
	MOVQ mask+8(FP), BX
	MOVQ keys+16(FP), CX
	MOVQ n+24(FP), DX
	TESTQ DX, DX
	JZ   none

slot:
	MOVQ key_hash(CX), SI
	ANDQ BX, SI
	SHLQ $5, SI
	PREFETCHT0 (AX)(SI*1)
	ADDQ $key__size, CX
	DECQ DX
	JNZ  slot

none:
	RET

// func prefetchPostings(postings *uint32, places *[lookahead]uint32, n int)
TEXT ·prefetchPostings(SB), NOSPLIT, $0-24
	MOVQ postings+0(FP), AX
	MOVQ places+8(FP), CX
	MOVQ n+16(FP), DX
	TESTQ DX, DX
	JZ   none

place:
	MOVL (CX), SI
	PREFETCHT0 (AX)(SI*4)
	ADDQ $4, CX
	DECQ DX
	JNZ  place

none:
	RET

// func prefetchNext(next *uint32, pairs *uint32, n int)
TEXT ·prefetchNext(SB), NOSPLIT, $0-24
	MOVQ next+0(FP), AX
	MOVQ pairs+8(FP), CX
	MOVQ n+16(FP), DX
	TESTQ DX, DX
	JZ   none

next:
	MOVL (CX), SI
	SHRL $8, SI
	PREFETCHT0 (AX)(SI*4)
	ADDQ $4, CX
	DECQ DX
	JNZ  next

none:
	RET

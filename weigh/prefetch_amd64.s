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
	SHLQ $6, SI
	PREFETCHT0 (AX)(SI*1)
	ADDQ $key__size, CX
	DECQ DX
	JNZ  slot

none:
	RET

// func prefetchChunk(postings *uint32, n uint32)
TEXT ·prefetchChunk(SB), NOSPLIT, $0-12
	MOVQ postings+0(FP), AX
	MOVL n+8(FP), CX
	LEAQ (AX)(CX*4), CX // the link behind the last

line:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	CMPQ AX, CX
	JLS  line
	PREFETCHT0 (CX)
	RET

// func prefetchGaps(gaps *uint16, places *[lookahead]uint32, n int)
TEXT ·prefetchGaps(SB), NOSPLIT, $0-24
	MOVQ gaps+0(FP), AX
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

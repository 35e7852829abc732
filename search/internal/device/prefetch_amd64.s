//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// func prefetchTexts(first *ringRequest, n int)
TEXT ·prefetchTexts(SB), NOSPLIT, $0-16
	MOVQ first+0(FP), SI
	MOVQ n+8(FP), CX
texts:
	DECQ CX
	JLT  textsDone
	MOVQ ringRequest_text(SI), AX
	PREFETCHT0 (AX)
	ADDQ $ringRequest__size, SI
	JMP  texts
textsDone:
	RET

#define ASK(i) \
	MOVQ (requestWord_hash+i*requestWord__size)(SI), AX; \
	ANDQ $(const_tableLines-1), AX; \
	SHLQ $6, AX; \
	PREFETCHT0 (DI)(AX*1)

// func prefetchWords(lines *[tableLines]wordLine, first *requestWord)
TEXT ·prefetchWords(SB), NOSPLIT, $0-16
	MOVQ lines+0(FP), DI
	MOVQ first+8(FP), SI
	ASK(0)
	ASK(1)
	ASK(2)
	ASK(3)
	RET

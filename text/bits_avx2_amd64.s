//go:build !purego

#include "textflag.h"

// The kernels of bits_avx512_amd64.s, with two registers of 32 bytes.

// SPREAD broadcasts a byte to all lanes of y.
#define SPREAD(byte, x, y) \
	MOVL byte, AX; \
	VMOVD AX, x; \
	VPBROADCASTB x, y

// LOAD loads the first n bytes of p, at most 64, followed by zeros, into Y0 and Y1. It may read
// beyond the last byte within the same page; otherwise the bytes are copied to the stack first.
#define LOAD \
	MOVQ to+0(FP), DI; \
	MOVQ p+8(FP), SI; \
	MOVQ n+16(FP), CX; \
	CMPQ CX, $64; \
	JEQ  whole; \
	VPXOR Y0, Y0, Y0; \
	VPXOR Y1, Y1, Y1; \
	TESTQ CX, CX; \
	JZ   loaded; \
	MOVL SI, AX; \
	ANDL $4095, AX; \
	CMPL AX, $4032; \
	JLS  part; \
	VMOVDQU Y0, 0(SP); \
	VMOVDQU Y0, 32(SP); \
	XORQ DX, DX; \
copy: \
	MOVB (SI)(DX*1), AX; \
	MOVB AX, (SP)(DX*1); \
	INCQ DX; \
	CMPQ DX, CX; \
	JLT  copy; \
	VMOVDQU 0(SP), Y0; \
	VMOVDQU 32(SP), Y1; \
	JMP  loaded; \
part: \
	LEAQ ·firstBytes+64(SB), AX; \
	SUBQ CX, AX; \
	VMOVDQU (SI), Y0; \
	VMOVDQU 32(SI), Y1; \
	VPAND (AX), Y0, Y0; \
	VPAND 32(AX), Y1, Y1; \
	JMP  loaded; \
whole: \
	VMOVDQU (SI), Y0; \
	VMOVDQU 32(SI), Y1; \
loaded:

// BITS combines the top bits of all bytes of two registers.
#define BITS(low, high, to) \
	VPMOVMSKB low, AX; \
	VPMOVMSKB high, BX; \
	SHLQ $32, BX; \
	ORQ  BX, AX; \
	MOVQ AX, to

// BELOW marks the bytes b with b - first <= last, as unsigned numbers.
#define BELOW(from, first, last, to) \
	VPSUBB first, from, to; \
	VPMINUB last, to, Y5; \
	VPCMPEQB Y5, to, to

// func wordBitsAVX2(to, p *byte, n int) (word, space, score, high uint64)
TEXT ·wordBitsAVX2(SB), NOSPLIT, $64-56
	LOAD
	SPREAD($0x20, X15, Y15)
	SPREAD($0x61, X14, Y14)          // a
	SPREAD($25, X13, Y13)
	SPREAD($0x30, X12, Y12)          // 0
	SPREAD($9, X11, Y11)
	SPREAD($0x5f, X10, Y10)          // _
	VPOR Y15, Y0, Y2
	VPOR Y15, Y1, Y3
	BELOW(Y2, Y14, Y13, Y2)          // letters
	BELOW(Y3, Y14, Y13, Y3)
	VPAND Y15, Y2, Y4
	VPOR Y4, Y0, Y4                  // to lower case
	VMOVDQU Y4, (DI)
	VPAND Y15, Y3, Y4
	VPOR Y4, Y1, Y4
	VMOVDQU Y4, 32(DI)
	BELOW(Y0, Y12, Y11, Y4)          // digits
	VPOR Y4, Y2, Y2
	BELOW(Y1, Y12, Y11, Y4)
	VPOR Y4, Y3, Y3
	VPCMPEQB Y10, Y0, Y4             // underscores
	VPCMPEQB Y10, Y1, Y5
	VPOR Y4, Y2, Y2
	VPOR Y5, Y3, Y3
	BITS(Y2, Y3, word+24(FP))
	BITS(Y4, Y5, score+40(FP))
	VPMINUB Y15, Y0, Y2              // blanks and control characters
	VPMINUB Y15, Y1, Y3
	VPCMPEQB Y0, Y2, Y2
	VPCMPEQB Y1, Y3, Y3
	BITS(Y2, Y3, space+32(FP))
	BITS(Y0, Y1, high+48(FP))
	VZEROUPPER
	RET

// func letterBitsAVX2(to, p *byte, n int) (letter uint64)
TEXT ·letterBitsAVX2(SB), NOSPLIT, $64-32
	LOAD
	SPREAD($0x20, X15, Y15)
	SPREAD($0x61, X14, Y14)
	SPREAD($25, X13, Y13)
	VPOR Y15, Y0, Y2
	VPOR Y15, Y1, Y3
	VMOVDQU Y2, (DI)
	VMOVDQU Y3, 32(DI)
	BELOW(Y2, Y14, Y13, Y2)
	BELOW(Y3, Y14, Y13, Y3)
	BITS(Y2, Y3, letter+24(FP))
	VZEROUPPER
	RET

// EITHER marks the blanks, tabs and line feeds.
#define EITHER(from, to, temp) \
	VPCMPEQB Y15, from, to; \
	VPCMPEQB Y14, from, temp; \
	VPOR temp, to, to; \
	VPCMPEQB Y13, from, temp; \
	VPOR temp, to, to

// func blankBitsAVX2(to, p *byte, n int) (blank, cr uint64)
TEXT ·blankBitsAVX2(SB), NOSPLIT, $64-40
	LOAD
	SPREAD($0x20, X15, Y15)
	SPREAD($0x09, X14, Y14)
	SPREAD($0x0a, X13, Y13)
	SPREAD($0x0d, X12, Y12)
	TESTQ DI, DI
	JZ   3(PC)
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	EITHER(Y0, Y2, Y4)
	EITHER(Y1, Y3, Y4)
	BITS(Y2, Y3, blank+24(FP))
	VPCMPEQB Y12, Y0, Y2
	VPCMPEQB Y12, Y1, Y3
	BITS(Y2, Y3, cr+32(FP))
	VZEROUPPER
	RET

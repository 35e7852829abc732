//go:build !purego

#include "textflag.h"

DATA to64<>+0(SB)/8, $0x0706050403020100
DATA to64<>+8(SB)/8, $0x0f0e0d0c0b0a0908
DATA to64<>+16(SB)/8, $0x1716151413121110
DATA to64<>+24(SB)/8, $0x1f1e1d1c1b1a1918
DATA to64<>+32(SB)/8, $0x2726252423222120
DATA to64<>+40(SB)/8, $0x2f2e2d2c2b2a2928
DATA to64<>+48(SB)/8, $0x3736353433323130
DATA to64<>+56(SB)/8, $0x3f3e3d3c3b3a3938
GLOBL to64<>(SB), RODATA|NOPTR, $64

// func unpackBitsAVX512(in *byte, words int, base uint32, out *[BlockSize]uint32) int
// For each word it appends the positions of the set bits to one array of bytes, and as many copies
// of the word's number to another. Then both are widened to documents.
TEXT ·unpackBitsAVX512(SB), NOSPLIT, $384-40
	MOVQ in+0(FP), SI
	MOVQ words+8(FP), CX
	MOVQ out+24(FP), DI
	LEAQ bit-384(SP), R8
	LEAQ word-192(SP), R9
	VMOVDQU8 to64<>(SB), Z1
	VPXORQ Z2, Z2, Z2                // number of the word
	MOVL $1, AX
	VPBROADCASTB AX, Z3
	XORQ R12, R12
biWord:
	MOVQ (SI), AX
	KMOVQ AX, K1
	VPCOMPRESSB.Z Z1, K1, Z4
	VMOVDQU8 Z4, (R8)(R12*1)
	VMOVDQU8 Z2, (R9)(R12*1)
	VPADDB Z3, Z2, Z2
	POPCNTQ AX, AX
	ADDQ AX, R12
	CMPQ R12, $128
	JGT  biDone
	ADDQ $8, SI
	DECQ CX
	JNZ  biWord
	MOVL base+16(FP), AX
	VPBROADCASTD AX, Z3
	MOVQ $8, CX
biWiden:
	VPMOVZXBD (R8), Z4
	VPMOVZXBD (R9), Z5
	VPSLLD $6, Z5, Z5
	VPADDD Z3, Z4, Z4
	VPADDD Z5, Z4, Z4
	VMOVDQU32 Z4, (DI)
	ADDQ $16, R8
	ADDQ $16, R9
	ADDQ $64, DI
	DECQ CX
	JNZ  biWiden
biDone:
	MOVQ R12, ret+32(FP)
	VZEROUPPER
	RET

// func keepTFsAVX512(words, keep *byte, n int, tfs *[BlockSize]uint32, out *uint32) int
// For each word it extracts the bits of keep at the word's set bits: a bit per posting. These bits
// are shifted into R11 and R10 from above, so that after all 128 postings the first one has the
// lowest bit. The frequencies are then compressed by them.
TEXT ·keepTFsAVX512(SB), NOSPLIT, $0-48
	MOVQ words+0(FP), SI
	MOVQ keep+8(FP), DI
	MOVQ n+16(FP), R9
	MOVQ tfs+24(FP), R8
	MOVQ out+32(FP), R12
	XORQ R10, R10
	XORQ R11, R11
keWord:
	MOVQ (SI), AX
	POPCNTQ AX, CX
	MOVQ (DI), BX
	PEXTQ AX, BX, DX
	CMPQ CX, $64
	JEQ  keFull
	// A shift by 64-CX takes two steps, since CX may be 0.
	MOVQ CX, AX
	XORQ $63, AX
	LEAQ (R11)(R11*1), BX
	SHLXQ AX, BX, BX
	SHRXQ CX, R10, R10
	ORQ  BX, R10
	SHRXQ CX, R11, R11
	ADDQ DX, DX
	SHLXQ AX, DX, DX
	ORQ  DX, R11
keNext:
	ADDQ $8, SI
	ADDQ $8, DI
	DECQ R9
	JNZ  keWord
	XORQ BX, BX
	MOVQ $8, R9
keTFs:
	KMOVW R10, K1
	VMOVDQU32 (R8), Z0
	VPCOMPRESSD.Z Z0, K1, Z0
	VMOVDQU32 Z0, (R12)(BX*4)
	MOVWLZX R10, AX
	POPCNTL AX, AX
	ADDQ AX, BX
	SHRQ $16, R11, R10
	SHRQ $16, R11
	ADDQ $64, R8
	DECQ R9
	JNZ  keTFs
	MOVQ BX, ret+40(FP)
	VZEROUPPER
	RET
keFull:
	MOVQ R11, R10
	MOVQ DX, R11
	JMP  keNext

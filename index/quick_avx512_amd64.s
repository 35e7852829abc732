//go:build !purego

#include "textflag.h"

// PATCH adds the upper bits (BX) of a patch, those above bit v, to the frequency at its position
// (AX).
#define PATCH(r) \
	MOVBLZX r, AX; \
	SHRQ $8, r; \
	MOVBLZX r, BX; \
	SHRQ $8, r; \
	SHLL CX, BX; \
	VPBROADCASTD AX, Z6; \
	VPBROADCASTD BX, Z7; \
	VPCMPEQD Z6, Z0, K2; \
	VPADDD Z7, Z4, K2, Z4

// func tfsAtAVX512(in *byte, v uint64, places *uint32, n int, low, high uint64, out *uint32)
// The number at index p is in lane p%4, at bit p/4*v of its words.
TEXT ·tfsAtAVX512(SB), NOSPLIT, $0-56
	MOVQ in+0(FP), SI
	MOVQ v+8(FP), CX
	MOVQ places+16(FP), DI
	MOVQ n+24(FP), DX
	MOVQ low+32(FP), R8
	MOVQ high+40(FP), R9
	MOVQ out+48(FP), R10
	MOVL $0xffff, AX
	BZHIL DX, AX, AX
	KMOVW AX, K1
	VMOVDQU32.Z (DI), K1, Z0
	MOVL $127, AX
	VPBROADCASTD AX, Z8
	VPANDD Z8, Z0, Z0
	MOVL $1, AX
	VPBROADCASTD AX, Z8
	SHLL CX, AX
	DECL AX
	VPBROADCASTD AX, Z9              // mask
	MOVL $3, AX
	VPBROADCASTD AX, Z10
	VPBROADCASTD CX, Z11
	VPSRLD $2, Z0, Z1
	VPMULLD Z11, Z1, Z1              // bit
	VPANDD Z10, Z0, Z2               // lane
	VPSRLD $5, Z1, Z3
	VPSLLD $2, Z3, Z3
	VPADDD Z2, Z3, Z3
	KMOVW K1, K2
	KMOVW K1, K3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPGATHERDD (SI)(Z3*4), K2, Z4
	VPGATHERDD 16(SI)(Z3*4), K3, Z5
	VPSHRDVD Z1, Z5, Z4
	VPANDD Z9, Z4, Z4
	VPADDD Z8, Z4, Z4
	TESTQ R8, R8
	JZ   taStore
	PATCH(R8)
	PATCH(R8)
	PATCH(R8)
	PATCH(R8)
	TESTQ R9, R9
	JZ   taStore
	PATCH(R9)
	PATCH(R9)
	PATCH(R9)
taStore:
	VMOVDQU32 Z4, K1, (R10)
	VZEROUPPER
	RET

DATA eachLane<>+0(SB)/8, $0x0000000100000000
DATA eachLane<>+8(SB)/8, $0x0000000300000002
DATA eachLane<>+16(SB)/8, $0x0000000500000004
DATA eachLane<>+24(SB)/8, $0x0000000700000006
DATA eachLane<>+32(SB)/8, $0x0000000900000008
DATA eachLane<>+40(SB)/8, $0x0000000b0000000a
DATA eachLane<>+48(SB)/8, $0x0000000d0000000c
DATA eachLane<>+56(SB)/8, $0x0000000f0000000e
GLOBL eachLane<>(SB), RODATA|NOPTR, $64

// SUMS replaces every lane of z by the sum of all lanes up to it. Z31 is 0.
#define SUMS(z, t) \
	VALIGND $15, Z31, z, t; \
	VPADDD t, z, z; \
	VALIGND $14, Z31, z, t; \
	VPADDD t, z, z; \
	VALIGND $12, Z31, z, t; \
	VPADDD t, z, z; \
	VALIGND $8, Z31, z, t; \
	VPADDD t, z, z

// func sumsAVX512(in, out *[BlockSize]uint32)
TEXT ·sumsAVX512(SB), NOSPLIT, $0-16
	MOVQ in+0(FP), SI
	MOVQ out+8(FP), DI
	VPXORD Z31, Z31, Z31
	MOVL $15, AX
	VPBROADCASTD AX, Z30
	VPXORD Z29, Z29, Z29             // sum so far
#define SUM16(at, z, t) \
	VMOVDQU32 at(SI), z; \
	SUMS(z, t)
#define STORE16(at, z) \
	VPADDD Z29, z, z; \
	VMOVDQU32 z, at(DI); \
	VPERMD z, Z30, Z29
	SUM16(0, Z0, Z8)
	SUM16(64, Z1, Z9)
	SUM16(128, Z2, Z10)
	SUM16(192, Z3, Z11)
	SUM16(256, Z4, Z12)
	SUM16(320, Z5, Z13)
	SUM16(384, Z6, Z14)
	SUM16(448, Z7, Z15)
	STORE16(0, Z0)
	STORE16(64, Z1)
	STORE16(128, Z2)
	STORE16(192, Z3)
	STORE16(256, Z4)
	STORE16(320, Z5)
	STORE16(384, Z6)
	STORE16(448, Z7)
	VZEROUPPER
	RET

// func readPlacesAVX512(in *byte, v uint64, index, n int, low, high uint64, out *uint32, sum uint32) uint32
// The number at index p is in lane p%4, at bit p/4*v of its words. 16 numbers are in at most five
// rows of four words, so no gather is needed, which is slow on some processors. It writes 16
// numbers at a time.
TEXT ·readPlacesAVX512(SB), NOSPLIT, $0-68
	MOVQ in+0(FP), SI
	MOVQ v+8(FP), CX
	MOVQ index+16(FP), R11
	MOVQ n+24(FP), DX
	MOVQ out+48(FP), DI
	VPXORD Z31, Z31, Z31
	VPBROADCASTD R11, Z0
	VPADDD eachLane<>(SB), Z0, Z0    // places
	MOVL $1, AX
	VPBROADCASTD AX, Z8
	SHLL CX, AX
	DECL AX
	VPBROADCASTD AX, Z9              // mask
	MOVL $3, AX
	VPBROADCASTD AX, Z10
	VPBROADCASTD CX, Z11
	MOVL $31, AX
	VPBROADCASTD AX, Z13
	MOVL $15, AX
	VPBROADCASTD AX, Z30
	MOVL $16, AX
	VPBROADCASTD AX, Z14
	VPADDD Z14, Z14, Z15             // 32
	MOVL sum+56(FP), AX
	VPBROADCASTD AX, Z29             // sum so far
rpNext:
	MOVQ low+32(FP), R8
	MOVQ high+40(FP), R9
	MOVQ R11, R10
	SHRQ $2, R10
	IMULQ CX, R10
	SHRQ $5, R10                     // the first row
	VPBROADCASTD R10, Z12
	SHLQ $4, R10
	VMOVDQU32 (SI)(R10*1), Z6
	VMOVDQU32 16(SI)(R10*1), Z7
	VPSRLD $2, Z0, Z1
	VPMULLD Z11, Z1, Z1              // bit
	VPANDD Z10, Z0, Z2               // lane
	VPSRLD $5, Z1, Z3
	VPSUBD Z12, Z3, Z3               // row
	VPSLLD $2, Z3, Z3
	VPADDD Z2, Z3, Z3
	VPERMD Z6, Z3, Z4
	VPERMD Z7, Z3, Z5
	VPANDD Z13, Z1, Z1
	VPSRLVD Z1, Z4, Z4
	VPSUBD Z1, Z15, Z1
	VPSLLVD Z1, Z5, Z5
	VPORD Z5, Z4, Z4
	VPANDD Z9, Z4, Z4
	VPADDD Z8, Z4, Z4
	TESTQ R8, R8
	JZ   rpSum
	PATCH(R8)
	PATCH(R8)
	PATCH(R8)
	PATCH(R8)
	TESTQ R9, R9
	JZ   rpSum
	PATCH(R9)
	PATCH(R9)
	PATCH(R9)
rpSum:
	SUMS(Z4, Z5)
	VPADDD Z29, Z4, Z4
	VPSUBD Z8, Z4, Z5
	VMOVDQU32 Z5, (DI)
	SUBQ $16, DX
	JLE  rpDone
	VPERMD Z4, Z30, Z29
	VPADDD Z14, Z0, Z0
	ADDQ $16, R11
	ADDQ $64, DI
	JMP  rpNext
rpDone:
	ADDQ $15, DX                     // the last number wanted
	VPBROADCASTD DX, Z5
	VPERMD Z4, Z5, Z4
	VMOVD X4, AX
	MOVL AX, ret+64(FP)
	VZEROUPPER
	RET

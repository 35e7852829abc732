//go:build !purego

#include "textflag.h"

// PATCH adds what a patch has above v bits, AX its position and BX its bits, to the frequency at that place.
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
// The number at place p is in lane p%4, at bit p/4*v of its words.
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

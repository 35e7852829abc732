//go:build !purego

#include "textflag.h"

// OR sets R to the bitwise or of the lanes of V. It uses R10.
#define OR(V, R) \
	VMOV V.D[0], R; \
	VMOV V.D[1], R10; \
	ORR R10, R, R; \
	ORR R>>32, R, R

// func takeKernel(docs, tfs *uint32, n int, next uint32, toDocs, toGaps, toLess *uint32) (wrong, all uint32)
TEXT ·takeKernel(SB), NOSPLIT, $0-64
	MOVD docs+0(FP), R1
	MOVD tfs+8(FP), R2
	MOVD n+16(FP), R3
	MOVWU next+24(FP), R4
	MOVD toDocs+32(FP), R5
	MOVD toGaps+40(FP), R6
	MOVD toLess+48(FP), R7
	SUB  $1, R4, R4
	VDUP R4, V2.S4                   // the last lane is the previous document
	MOVD $1, R4
	VDUP R4, V0.S4
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
some:
	VLD1.P 16(R1), [V1.S4]
	VEXT $12, V1.B16, V2.B16, V3.B16 // the previous document of each
	VSUB V3.S4, V1.S4, V4.S4
	VSUB V0.S4, V4.S4, V4.S4
	VST1.P [V1.S4], 16(R5)
	VST1.P [V4.S4], 16(R6)
	VORR V1.B16, V6.B16, V6.B16
	VORR V4.B16, V6.B16, V6.B16
	VLD1.P 16(R2), [V5.S4]
	VSUB V0.S4, V5.S4, V5.S4
	VST1.P [V5.S4], 16(R7)
	VORR V5.B16, V7.B16, V7.B16
	VORR V1.B16, V1.B16, V2.B16
	SUBS $4, R3, R3
	BNE  some
	OR(V6, R4)
	MOVW R4, wrong+56(FP)
	OR(V7, R4)
	MOVW R4, all+60(FP)
	RET

// FILL sets the bits below the highest one.
#define FILL(shift) \
	VUSHR shift, V5.S4, V6.S4; \
	VORR V6.B16, V5.B16, V5.B16

// MAJORITY sets the bits that at least two of A, B and C have. It uses V11.
#define MAJORITY(A, B, C, to) \
	VAND A.B16, B.B16, to.B16; \
	VORR A.B16, B.B16, V11.B16; \
	VAND C.B16, V11.B16, V11.B16; \
	VORR V11.B16, to.B16, to.B16

// JOIN adds the counts in V7 to V10 to those in V1 to V4: ones, twos, fours, more.
#define JOIN \
	VAND V1.B16, V7.B16, V5.B16; \
	VEOR V7.B16, V1.B16, V1.B16; \
	MAJORITY(V2, V8, V5, V6); \
	VEOR V8.B16, V2.B16, V2.B16; \
	VEOR V5.B16, V2.B16, V2.B16; \
	MAJORITY(V3, V9, V6, V5); \
	VEOR V9.B16, V3.B16, V3.B16; \
	VEOR V6.B16, V3.B16, V3.B16; \
	VORR V10.B16, V4.B16, V4.B16; \
	VORR V5.B16, V4.B16, V4.B16

// func countKernel(v *[BlockSize]uint32, counts *[4]uint32)
TEXT ·countKernel(SB), NOSPLIT, $0-16
	MOVD v+0(FP), R1
	MOVD counts+8(FP), R2
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	MOVD $32, R3
some:
	VLD1.P 16(R1), [V5.S4]
	FILL($1)
	FILL($2)
	FILL($4)
	FILL($8)
	FILL($16)
	VAND V1.B16, V5.B16, V6.B16
	VEOR V5.B16, V1.B16, V1.B16
	VAND V2.B16, V6.B16, V5.B16
	VEOR V6.B16, V2.B16, V2.B16
	VAND V3.B16, V5.B16, V6.B16
	VEOR V5.B16, V3.B16, V3.B16
	VORR V6.B16, V4.B16, V4.B16
	SUBS $1, R3, R3
	BNE  some
	VEXT $8, V1.B16, V1.B16, V7.B16
	VEXT $8, V2.B16, V2.B16, V8.B16
	VEXT $8, V3.B16, V3.B16, V9.B16
	VEXT $8, V4.B16, V4.B16, V10.B16
	JOIN
	VREV64 V1.S4, V7.S4
	VREV64 V2.S4, V8.S4
	VREV64 V3.S4, V9.S4
	VREV64 V4.S4, V10.S4
	JOIN
	FMOVS F1, 0(R2)
	FMOVS F2, 4(R2)
	FMOVS F3, 8(R2)
	FMOVS F4, 12(R2)
	RET

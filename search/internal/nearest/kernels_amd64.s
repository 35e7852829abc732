//go:build !purego

#include "textflag.h"

// The 128 by which codes are raised, in each byte.
DATA raised<>+0(SB)/4, $0x80808080
GLOBL raised<>(SB), RODATA|NOPTR, $4

// FOLD adds the 16 lanes of Z0 in the documented order and leaves the sum in X0.
#define FOLD \
	VEXTRACTF64X4 $1, Z0, Y1; \
	VADDPS Y1, Y0, Y0; \
	FOLD8

// FOLD8 adds the 8 lanes of Y0.
#define FOLD8 \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPS X1, X0, X0; \
	VPERMILPS $0x0e, X0, X1; \
	VADDPS X1, X0, X0; \
	VPERMILPS $0x01, X0, X1; \
	VADDSS X1, X0, X0

// func sumAVX512(q, x *float32, n int) float32
TEXT ·sumAVX512(SB), NOSPLIT, $0-28
	MOVQ q+0(FP), SI
	MOVQ x+8(FP), DI
	MOVQ n+16(FP), CX
	VXORPS X0, X0, X0
loop:
	VMOVUPS (SI), Z1
	VMULPS (DI), Z1, Z1
	VADDPS Z1, Z0, Z0
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JG loop
	FOLD
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func distanceAVX512(q, x *float32, n int) float32
TEXT ·distanceAVX512(SB), NOSPLIT, $0-28
	MOVQ q+0(FP), SI
	MOVQ x+8(FP), DI
	MOVQ n+16(FP), CX
	VXORPS X0, X0, X0
loop:
	VMOVUPS (SI), Z1
	VSUBPS (DI), Z1, Z1
	VMULPS Z1, Z1, Z1
	VADDPS Z1, Z0, Z0
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JG loop
	FOLD
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func sumAVX2(q, x *float32, n int) float32
TEXT ·sumAVX2(SB), NOSPLIT, $0-28
	MOVQ q+0(FP), SI
	MOVQ x+8(FP), DI
	MOVQ n+16(FP), CX
	VXORPS X0, X0, X0
	VXORPS X2, X2, X2
loop:
	VMOVUPS (SI), Y1
	VMULPS (DI), Y1, Y1
	VADDPS Y1, Y0, Y0
	VMOVUPS 32(SI), Y3
	VMULPS 32(DI), Y3, Y3
	VADDPS Y3, Y2, Y2
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JG loop
	VADDPS Y2, Y0, Y0
	FOLD8
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func distanceAVX2(q, x *float32, n int) float32
TEXT ·distanceAVX2(SB), NOSPLIT, $0-28
	MOVQ q+0(FP), SI
	MOVQ x+8(FP), DI
	MOVQ n+16(FP), CX
	VXORPS X0, X0, X0
	VXORPS X2, X2, X2
loop:
	VMOVUPS (SI), Y1
	VSUBPS (DI), Y1, Y1
	VMULPS Y1, Y1, Y1
	VADDPS Y1, Y0, Y0
	VMOVUPS 32(SI), Y3
	VSUBPS 32(DI), Y3, Y3
	VMULPS Y3, Y3, Y3
	VADDPS Y3, Y2, Y2
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JG loop
	VADDPS Y2, Y0, Y0
	FOLD8
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// FOUR adds Y0, Y1, Y2 and Y3, each across its lanes, and leaves the four sums in X0.
#define FOUR \
	VPHADDD Y1, Y0, Y0; \
	VPHADDD Y3, Y2, Y2; \
	VPHADDD Y2, Y0, Y0; \
	VEXTRACTI128 $1, Y0, X1; \
	VPADDD X1, X0, X0

// ROWS sets R10, R11, R12 and R13 to the rows of the next four documents. Those beyond the last are
// the last one's.
#define ROWS(two, three, four) \
	MOVL (DX), R10; \
	IMULQ R8, R10; \
	ADDQ DI, R10; \
	MOVQ R10, R11; \
	MOVQ R10, R12; \
	MOVQ R10, R13; \
	CMPQ CX, $2; \
	JLT two; \
	MOVL 4(DX), R11; \
	IMULQ R8, R11; \
	ADDQ DI, R11; \
two: \
	CMPQ CX, $3; \
	JLT three; \
	MOVL 8(DX), R12; \
	IMULQ R8, R12; \
	ADDQ DI, R12; \
three: \
	CMPQ CX, $4; \
	JLT four; \
	MOVL 12(DX), R13; \
	IMULQ R8, R13; \
	ADDQ DI, R13; \
four:

// func dotsAVX512(q, rows *int8, docs *uint32, n, codes int, sum int32, out *int32)
//
// Codes of documents are raised to bytes without a sign, which VPDPBUSD wants. out has room for a
// multiple of four.
TEXT ·dotsAVX512(SB), NOSPLIT, $0-56
	MOVQ q+0(FP), SI
	MOVQ rows+8(FP), DI
	MOVQ docs+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ codes+32(FP), R8
	MOVL sum+40(FP), AX
	MOVQ out+48(FP), R9
	SHLL $7, AX
	VMOVD AX, X6
	VPBROADCASTD X6, X6
	VPBROADCASTD raised<>(SB), Z7
next:
	ROWS(two, three, four)
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	XORQ BX, BX
loop:
	VMOVDQU32 (SI)(BX*1), Z8
	VPXORD (R10)(BX*1), Z7, Z9
	VPXORD (R11)(BX*1), Z7, Z10
	VPXORD (R12)(BX*1), Z7, Z11
	VPXORD (R13)(BX*1), Z7, Z12
	VPDPBUSD Z8, Z9, Z0
	VPDPBUSD Z8, Z10, Z1
	VPDPBUSD Z8, Z11, Z2
	VPDPBUSD Z8, Z12, Z3
	ADDQ $64, BX
	CMPQ BX, R8
	JLT loop
	VEXTRACTI64X4 $1, Z0, Y8
	VEXTRACTI64X4 $1, Z1, Y9
	VEXTRACTI64X4 $1, Z2, Y10
	VEXTRACTI64X4 $1, Z3, Y11
	VPADDD Y8, Y0, Y0
	VPADDD Y9, Y1, Y1
	VPADDD Y10, Y2, Y2
	VPADDD Y11, Y3, Y3
	FOUR
	VPSUBD X6, X0, X0
	VMOVDQU X0, (R9)
	ADDQ $16, R9
	ADDQ $16, DX
	SUBQ $4, CX
	JG next
	VZEROUPPER
	RET

// func dotsAVX2(q, rows *int8, docs *uint32, n, codes int, sum int32, out *int32)
//
// A product of codes is that of the absolute value of one and the other with its sign. Two such
// products are at most 2·128·127, which fits 16 bits.
#define MULTIPLY(row, acc) \
	VMOVDQU (row)(BX*1), Y9; \
	VPABSB Y9, Y10; \
	VPSIGNB Y9, Y8, Y11; \
	VPMADDUBSW Y11, Y10, Y10; \
	VPMADDWD Y7, Y10, Y10; \
	VPADDD Y10, acc, acc

TEXT ·dotsAVX2(SB), NOSPLIT, $0-56
	MOVQ q+0(FP), SI
	MOVQ rows+8(FP), DI
	MOVQ docs+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ codes+32(FP), R8
	MOVQ out+48(FP), R9
	VPCMPEQW Y7, Y7, Y7
	VPABSW Y7, Y7
next:
	ROWS(two, three, four)
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	XORQ BX, BX
loop:
	VMOVDQU (SI)(BX*1), Y8
	MULTIPLY(R10, Y0)
	MULTIPLY(R11, Y1)
	MULTIPLY(R12, Y2)
	MULTIPLY(R13, Y3)
	ADDQ $32, BX
	CMPQ BX, R8
	JLT loop
	FOUR
	VMOVDQU X0, (R9)
	ADDQ $16, R9
	ADDQ $16, DX
	SUBQ $4, CX
	JG next
	VZEROUPPER
	RET

// func reachAVX512(dots *int32, scales, rests, norms *float32, t *test) uint64
TEXT ·reachAVX512(SB), NOSPLIT, $0-48
	MOVQ dots+0(FP), SI
	MOVQ scales+8(FP), DI
	MOVQ rests+16(FP), R8
	MOVQ norms+24(FP), R9
	MOVQ t+32(FP), DX
	VBROADCASTSS 0(DX), Z8
	VBROADCASTSS 4(DX), Z9
	VBROADCASTSS 8(DX), Z10
	VBROADCASTSS 12(DX), Z11
	VBROADCASTSS 16(DX), Z12
	XORQ AX, AX
	XORQ CX, CX
loop:
	VCVTDQ2PS (SI)(CX*4), Z0
	VMULPS (DI)(CX*4), Z0, Z0
	VMULPS Z8, Z0, Z0
	VMULPS (R8)(CX*4), Z9, Z1
	VADDPS Z1, Z0, Z0
	VMOVUPS (R9)(CX*4), Z2
	VMULPS Z2, Z11, Z3
	VADDPS Z3, Z10, Z3
	VMULPS Z2, Z3, Z3
	VADDPS Z3, Z0, Z0
	VCMPPS $13, Z12, Z0, K1
	KMOVW K1, BX
	SHLQ CX, BX
	ORQ BX, AX
	ADDQ $16, CX
	CMPQ CX, $64
	JLT loop
	MOVQ AX, ret+40(FP)
	VZEROUPPER
	RET

// func reachAVX2(dots *int32, scales, rests, norms *float32, t *test) uint64
TEXT ·reachAVX2(SB), NOSPLIT, $0-48
	MOVQ dots+0(FP), SI
	MOVQ scales+8(FP), DI
	MOVQ rests+16(FP), R8
	MOVQ norms+24(FP), R9
	MOVQ t+32(FP), DX
	VBROADCASTSS 0(DX), Y8
	VBROADCASTSS 4(DX), Y9
	VBROADCASTSS 8(DX), Y10
	VBROADCASTSS 12(DX), Y11
	VBROADCASTSS 16(DX), Y12
	XORQ AX, AX
	XORQ CX, CX
loop:
	VCVTDQ2PS (SI)(CX*4), Y0
	VMULPS (DI)(CX*4), Y0, Y0
	VMULPS Y8, Y0, Y0
	VMULPS (R8)(CX*4), Y9, Y1
	VADDPS Y1, Y0, Y0
	VMOVUPS (R9)(CX*4), Y2
	VMULPS Y2, Y11, Y3
	VADDPS Y3, Y10, Y3
	VMULPS Y2, Y3, Y3
	VADDPS Y3, Y0, Y0
	VCMPPS $13, Y12, Y0, Y1
	VMOVMSKPS Y1, BX
	SHLQ CX, BX
	ORQ BX, AX
	ADDQ $8, CX
	CMPQ CX, $64
	JLT loop
	MOVQ AX, ret+40(FP)
	VZEROUPPER
	RET

// STEP multiplies four codes of a query with those of 64 documents.
#define STEP(a0, a1, a2, a3) \
	VPDPBUSD Z28, Z24, a0; \
	VPDPBUSD Z28, Z25, a1; \
	VPDPBUSD Z28, Z26, a2; \
	VPDPBUSD Z28, Z27, a3

// STORE writes the results of a query.
#define STORE(n, a0, a1, a2, a3) \
	MOVL (n*4)(R9), AX; \
	SHLL $7, AX; \
	VPBROADCASTD AX, Z28; \
	VPSUBD Z28, a0, a0; \
	VPSUBD Z28, a1, a1; \
	VPSUBD Z28, a2, a2; \
	VPSUBD Z28, a3, a3; \
	VMOVDQU32 a0, (n*256)(DX); \
	VMOVDQU32 a1, (n*256+64)(DX); \
	VMOVDQU32 a2, (n*256+128)(DX); \
	VMOVDQU32 a3, (n*256+192)(DX)

// func tileKernel(t *uint32, q *int8, codes int, sums *int32, out *int32)
TEXT ·tileKernel(SB), NOSPLIT, $0-40
	MOVQ t+0(FP), SI
	MOVQ q+8(FP), DI
	MOVQ codes+16(FP), CX
	MOVQ sums+24(FP), R9
	MOVQ out+32(FP), DX
	LEAQ (DI)(CX*1), R10
	LEAQ (DI)(CX*2), R11
	LEAQ (R10)(CX*2), R12
	LEAQ (DI)(CX*4), R13
	LEAQ (R10)(CX*4), R8
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	VPXORD Z8, Z8, Z8
	VPXORD Z9, Z9, Z9
	VPXORD Z10, Z10, Z10
	VPXORD Z11, Z11, Z11
	VPXORD Z12, Z12, Z12
	VPXORD Z13, Z13, Z13
	VPXORD Z14, Z14, Z14
	VPXORD Z15, Z15, Z15
	VPXORD Z16, Z16, Z16
	VPXORD Z17, Z17, Z17
	VPXORD Z18, Z18, Z18
	VPXORD Z19, Z19, Z19
	VPXORD Z20, Z20, Z20
	VPXORD Z21, Z21, Z21
	VPXORD Z22, Z22, Z22
	VPXORD Z23, Z23, Z23
	XORQ BX, BX
loop:
	VMOVDQU32 (SI), Z24
	VMOVDQU32 64(SI), Z25
	VMOVDQU32 128(SI), Z26
	VMOVDQU32 192(SI), Z27
	VPBROADCASTD (DI)(BX*1), Z28
	STEP(Z0, Z1, Z2, Z3)
	VPBROADCASTD (R10)(BX*1), Z28
	STEP(Z4, Z5, Z6, Z7)
	VPBROADCASTD (R11)(BX*1), Z28
	STEP(Z8, Z9, Z10, Z11)
	VPBROADCASTD (R12)(BX*1), Z28
	STEP(Z12, Z13, Z14, Z15)
	VPBROADCASTD (R13)(BX*1), Z28
	STEP(Z16, Z17, Z18, Z19)
	VPBROADCASTD (R8)(BX*1), Z28
	STEP(Z20, Z21, Z22, Z23)
	ADDQ $256, SI
	ADDQ $4, BX
	CMPQ BX, CX
	JLT loop
	STORE(0, Z0, Z1, Z2, Z3)
	STORE(1, Z4, Z5, Z6, Z7)
	STORE(2, Z8, Z9, Z10, Z11)
	STORE(3, Z12, Z13, Z14, Z15)
	STORE(4, Z16, Z17, Z18, Z19)
	STORE(5, Z20, Z21, Z22, Z23)
	VZEROUPPER
	RET

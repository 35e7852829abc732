//go:build !purego

#include "textflag.h"

// Both kernels use AVX2 at every level: AVX-512 was not faster.

// Indexes that rotate lanes by one: each lane gets the one before it, the first gets the last.
DATA laneBefore<>+0(SB)/8, $0x0000000000000007
DATA laneBefore<>+8(SB)/8, $0x0000000200000001
DATA laneBefore<>+16(SB)/8, $0x0000000400000003
DATA laneBefore<>+24(SB)/8, $0x0000000600000005
GLOBL laneBefore<>(SB), RODATA|NOPTR, $32

// OR sets R to the bitwise or of the 8 lanes of Y, whose lower half is X. It uses X1.
#define OR(Y, X, R) \
	VEXTRACTI128 $1, Y, X1; \
	VPOR X1, X, X; \
	VPSHUFD $0x4E, X, X1; \
	VPOR X1, X, X; \
	VPSHUFD $0xB1, X, X1; \
	VPOR X1, X, X; \
	VMOVD X, R

// func takeKernel(docs, tfs *uint32, n int, next uint32, toDocs, toGaps, toLess *uint32) (wrong, all uint32)
TEXT ·takeKernel(SB), NOSPLIT, $0-64
	MOVQ docs+0(FP), SI
	MOVQ tfs+8(FP), BX
	MOVQ n+16(FP), CX
	MOVL next+24(FP), AX
	MOVQ toDocs+32(FP), DI
	MOVQ toGaps+40(FP), R8
	MOVQ toLess+48(FP), R9
	DECL AX
	VMOVD AX, X2                     // the first lane is the previous document
	VPCMPEQD Y0, Y0, Y0              // -1
	VMOVDQU laneBefore<>(SB), Y8
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	XORQ DX, DX
some:
	VMOVDQU (SI)(DX*4), Y1
	VPERMD Y1, Y8, Y9
	VPBLENDD $1, Y2, Y9, Y3          // the previous document of each
	VMOVDQA Y9, Y2
	VPSUBD Y3, Y1, Y4
	VPADDD Y0, Y4, Y4
	VMOVDQU Y1, (DI)(DX*4)
	VMOVDQU Y4, (R8)(DX*4)
	VPOR Y1, Y6, Y6
	VPOR Y4, Y6, Y6
	VMOVDQU (BX)(DX*4), Y5
	VPADDD Y0, Y5, Y5
	VMOVDQU Y5, (R9)(DX*4)
	VPOR Y5, Y7, Y7
	ADDQ $8, DX
	CMPQ DX, CX
	JLT  some
	OR(Y6, X6, AX)
	MOVL AX, wrong+56(FP)
	OR(Y7, X7, AX)
	MOVL AX, all+60(FP)
	VZEROUPPER
	RET

// FILL sets the bits below the highest one.
#define FILL(shift) \
	VPSRLD shift, Y5, Y6; \
	VPOR Y6, Y5, Y5

// JOIN adds the counts in Y7 to Y10 to those in Y1 to Y4: ones, twos, fours, more.
#define JOIN \
	VPAND Y1, Y7, Y5; \
	VPXOR Y7, Y1, Y1; \
	MAJORITY(Y2, Y8, Y5, Y6); \
	VPXOR Y8, Y2, Y2; \
	VPXOR Y5, Y2, Y2; \
	MAJORITY(Y3, Y9, Y6, Y5); \
	VPXOR Y9, Y3, Y3; \
	VPXOR Y6, Y3, Y3; \
	VPOR Y10, Y4, Y4; \
	VPOR Y5, Y4, Y4

// MAJORITY sets the bits that at least two of A, B and C have. It uses Y11.
#define MAJORITY(A, B, C, to) \
	VPAND A, B, to; \
	VPOR A, B, Y11; \
	VPAND C, Y11, Y11; \
	VPOR Y11, to, to

// func countKernel(v *[BlockSize]uint32, counts *[4]uint32)
TEXT ·countKernel(SB), NOSPLIT, $0-16
	MOVQ v+0(FP), SI
	MOVQ counts+8(FP), DI
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	LEAQ 512(SI), CX
some:
	VMOVDQU (SI), Y5
	FILL($1)
	FILL($2)
	FILL($4)
	FILL($8)
	FILL($16)
	VPAND Y1, Y5, Y6
	VPXOR Y5, Y1, Y1
	VPAND Y2, Y6, Y5
	VPXOR Y6, Y2, Y2
	VPAND Y3, Y5, Y6
	VPXOR Y5, Y3, Y3
	VPOR Y6, Y4, Y4
	ADDQ $32, SI
	CMPQ SI, CX
	JNE  some
	VPERMQ $0x4E, Y1, Y7
	VPERMQ $0x4E, Y2, Y8
	VPERMQ $0x4E, Y3, Y9
	VPERMQ $0x4E, Y4, Y10
	JOIN
	VPSHUFD $0x4E, Y1, Y7
	VPSHUFD $0x4E, Y2, Y8
	VPSHUFD $0x4E, Y3, Y9
	VPSHUFD $0x4E, Y4, Y10
	JOIN
	VPSHUFD $0xB1, Y1, Y7
	VPSHUFD $0xB1, Y2, Y8
	VPSHUFD $0xB1, Y3, Y9
	VPSHUFD $0xB1, Y4, Y10
	JOIN
	VMOVD X1, 0(DI)
	VMOVD X2, 4(DI)
	VMOVD X3, 8(DI)
	VMOVD X4, 12(DI)
	VZEROUPPER
	RET

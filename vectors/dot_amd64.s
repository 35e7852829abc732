//go:build !purego

#include "textflag.h"

// Masks: eight lanes of ones, then eight of zeros. A load of eight lanes from byte 4*(8-n) has n
// lanes of ones.
DATA window<>+0(SB)/8, $0xffffffffffffffff
DATA window<>+8(SB)/8, $0xffffffffffffffff
DATA window<>+16(SB)/8, $0xffffffffffffffff
DATA window<>+24(SB)/8, $0xffffffffffffffff
DATA window<>+32(SB)/8, $0
DATA window<>+40(SB)/8, $0
DATA window<>+48(SB)/8, $0
DATA window<>+56(SB)/8, $0
GLOBL window<>(SB), RODATA|NOPTR, $64

// ADD32 adds the products in Y0 to Y3 to the sums in Y8.
#define ADD32 \
	VADDPS Y2, Y0, Y0; \
	VADDPS Y3, Y1, Y1; \
	VADDPS Y1, Y0, Y0; \
	VADDPS Y0, Y8, Y8

// SOME sets y to the products of the eight pairs of numbers at a byte offset. CX pairs are left
// from offset 0 on; the others have the product 0.
#define SOME(offset, y) \
	MOVQ CX, AX; \
	SUBQ $(offset/4), AX; \
	CMOVQLT R10, AX; \
	CMPQ AX, R11; \
	CMOVQGT R11, AX; \
	NEGQ AX; \
	VMOVDQU (BX)(AX*4), Y15; \
	VMASKMOVPS offset(SI), Y15, y; \
	VMASKMOVPS offset(DI), Y15, Y14; \
	VMULPS Y14, y, y

// func dotAVX2(a, b *float32, n int) float32
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	VXORPS Y8, Y8, Y8
loop:
	CMPQ CX, $32
	JLT  rest
	VMOVUPS 0(SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS 64(SI), Y2
	VMOVUPS 96(SI), Y3
	VMULPS 0(DI), Y0, Y0
	VMULPS 32(DI), Y1, Y1
	VMULPS 64(DI), Y2, Y2
	VMULPS 96(DI), Y3, Y3
	ADD32
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $32, CX
	JMP  loop
rest:
	TESTQ CX, CX
	JEQ  sum
	LEAQ window<>+32(SB), BX
	XORQ R10, R10
	MOVQ $8, R11
	SOME(0, Y0)
	SOME(32, Y1)
	SOME(64, Y2)
	SOME(96, Y3)
	ADD32
sum:
	VEXTRACTF128 $1, Y8, X1
	VADDPS X1, X8, X0
	VPERMILPS $0x4e, X0, X1
	VADDPS X1, X0, X0
	VPERMILPS $0xb1, X0, X1
	VADDSS X1, X0, X0
	VZEROUPPER
	MOVSS X0, ret+24(FP)
	RET

// func stepAVX2(w, v, sw, sv *float32, n int, by float32)
TEXT ·stepAVX2(SB), NOSPLIT, $0-44
	MOVQ w+0(FP), SI
	MOVQ v+8(FP), DI
	MOVQ sw+16(FP), R8
	MOVQ sv+24(FP), R9
	MOVQ n+32(FP), CX
	VBROADCASTSS by+40(FP), Y15
	XORQ DX, DX
step:
	SUBQ $8, CX
	JLT  done
	VMOVUPS (R8)(DX*1), Y2
	VMOVUPS (R9)(DX*1), Y3
	VMOVUPS (SI)(DX*1), Y0
	VMOVUPS (DI)(DX*1), Y1
	VSQRTPS Y2, Y6
	VSQRTPS Y3, Y7
	VMULPS Y15, Y1, Y4
	VMULPS Y15, Y0, Y5
	VDIVPS Y6, Y4, Y6
	VDIVPS Y7, Y5, Y7
	VSUBPS Y6, Y0, Y0
	VSUBPS Y7, Y1, Y1
	VMULPS Y4, Y4, Y4
	VMULPS Y5, Y5, Y5
	VADDPS Y4, Y2, Y2
	VADDPS Y5, Y3, Y3
	VMOVUPS Y0, (SI)(DX*1)
	VMOVUPS Y1, (DI)(DX*1)
	VMOVUPS Y2, (R8)(DX*1)
	VMOVUPS Y3, (R9)(DX*1)
	ADDQ $32, DX
	JMP  step
done:
	VZEROUPPER
	RET

// AXPY adds the four products to four numbers of y at a byte offset.
#define AXPY(offset, y) \
	VMOVUPD offset(SI)(DX*1), y; \
	VMULPD offset(R8)(DX*1), Y12, Y4; \
	VMULPD offset(R9)(DX*1), Y13, Y5; \
	VMULPD offset(R10)(DX*1), Y14, Y6; \
	VMULPD offset(R11)(DX*1), Y15, Y7; \
	VADDPD Y4, y, y; \
	VADDPD Y5, y, y; \
	VADDPD Y6, y, y; \
	VADDPD Y7, y, y; \
	VMOVUPD y, offset(SI)(DX*1)

// func axpy4AVX2(y *float64, n int, x0, x1, x2, x3 *float64, a *[4]float64)
TEXT ·axpy4AVX2(SB), NOSPLIT, $0-56
	MOVQ y+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ x0+16(FP), R8
	MOVQ x1+24(FP), R9
	MOVQ x2+32(FP), R10
	MOVQ x3+40(FP), R11
	MOVQ a+48(FP), AX
	VBROADCASTSD 0(AX), Y12
	VBROADCASTSD 8(AX), Y13
	VBROADCASTSD 16(AX), Y14
	VBROADCASTSD 24(AX), Y15
	XORQ DX, DX
axpy:
	SUBQ $8, CX
	JLT  end
	AXPY(0, Y0)
	AXPY(32, Y1)
	ADDQ $64, DX
	JMP  axpy
end:
	VZEROUPPER
	RET

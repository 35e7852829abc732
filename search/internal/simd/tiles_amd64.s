//go:build !purego

#include "textflag.h"

// CHOOSE jumps to the version of a kernel for the selected level. The arguments stay in place.
#define CHOOSE(avx512, avx2) \
	CMPB ·wide(SB), $0; \
	JEQ  2(PC); \
	JMP  avx512(SB); \
	JMP  avx2(SB)

TEXT ·addBytes(SB), NOSPLIT, $0-28
	CHOOSE(·addBytesAVX512, ·addBytesAVX2)

TEXT ·above(SB), NOSPLIT, $0-32
	CHOOSE(·aboveAVX512, ·aboveAVX2)

TEXT ·highest(SB), NOSPLIT, $0-24
	CHOOSE(·highestAVX512, ·highestAVX2)

// func addBytesAVX512(sums *int32, bytes *uint8, n int, factor int32)
// adds factor times each byte to the sums. A byte and the factor are the low halves of their lanes,
// so that VPMADDWD multiplies them.
TEXT ·addBytesAVX512(SB), NOSPLIT, $0-28
	MOVQ sums+0(FP), DI
	MOVQ bytes+8(FP), SI
	MOVQ n+16(FP), CX
	MOVL factor+24(FP), AX
	VPBROADCASTD AX, Z0
loop:
	VPMOVZXBD (SI), Z1
	VPMOVZXBD 16(SI), Z2
	VPMADDWD Z0, Z1, Z1
	VPMADDWD Z0, Z2, Z2
	VPADDD (DI), Z1, Z1
	VPADDD 64(DI), Z2, Z2
	VMOVDQU32 Z1, (DI)
	VMOVDQU32 Z2, 64(DI)
	ADDQ $32, SI
	ADDQ $128, DI
	SUBQ $32, CX
	JG loop
	VZEROUPPER
	RET

// func addBytesAVX2(sums *int32, bytes *uint8, n int, factor int32)
TEXT ·addBytesAVX2(SB), NOSPLIT, $0-28
	MOVQ sums+0(FP), DI
	MOVQ bytes+8(FP), SI
	MOVQ n+16(FP), CX
	MOVL factor+24(FP), AX
	VMOVD AX, X0
	VPBROADCASTD X0, Y0
loop:
	VPMOVZXBD (SI), Y1
	VPMOVZXBD 8(SI), Y2
	VPMADDWD Y0, Y1, Y1
	VPMADDWD Y0, Y2, Y2
	VPADDD (DI), Y1, Y1
	VPADDD 32(DI), Y2, Y2
	VMOVDQU Y1, (DI)
	VMOVDQU Y2, 32(DI)
	ADDQ $16, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JG loop
	VZEROUPPER
	RET

// func aboveAVX512(sums *int32, n int, need int32, out *uint64)
TEXT ·aboveAVX512(SB), NOSPLIT, $0-32
	MOVQ sums+0(FP), DI
	MOVQ n+8(FP), CX
	MOVL need+16(FP), AX
	MOVQ out+24(FP), R10
	VPBROADCASTD AX, Z0
loop:
	VMOVDQU32 (DI), Z1
	VPCMPD $6, Z0, Z1, K1
	KMOVW K1, AX
	MOVW AX, (R10)
	ADDQ $64, DI
	ADDQ $2, R10
	SUBQ $16, CX
	JG loop
	VZEROUPPER
	RET

// func aboveAVX2(sums *int32, n int, need int32, out *uint64)
TEXT ·aboveAVX2(SB), NOSPLIT, $0-32
	MOVQ sums+0(FP), DI
	MOVQ n+8(FP), CX
	MOVL need+16(FP), AX
	MOVQ out+24(FP), R10
	VMOVD AX, X0
	VPBROADCASTD X0, Y0
loop:
	VMOVDQU (DI), Y1
	VPCMPGTD Y0, Y1, Y1
	VMOVMSKPS Y1, AX
	MOVB AX, (R10)
	ADDQ $32, DI
	ADDQ $1, R10
	SUBQ $8, CX
	JG loop
	VZEROUPPER
	RET

// func highestAVX512(sums *int32, n int, out *int32)
// stores the highest of each 32 sums, n times.
TEXT ·highestAVX512(SB), NOSPLIT, $0-24
	MOVQ sums+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ out+16(FP), R10
loop:
	VMOVDQU32 (DI), Z1
	VPMAXSD 64(DI), Z1, Z1
	VEXTRACTI64X4 $1, Z1, Y2
	VPMAXSD Y2, Y1, Y1
	VEXTRACTI128 $1, Y1, X2
	VPMAXSD X2, X1, X1
	VPSHUFD $0x4e, X1, X2
	VPMAXSD X2, X1, X1
	VPSHUFD $0xb1, X1, X2
	VPMAXSD X2, X1, X1
	VMOVD X1, (R10)
	ADDQ $128, DI
	ADDQ $4, R10
	SUBQ $1, CX
	JG loop
	VZEROUPPER
	RET

// func highestAVX2(sums *int32, n int, out *int32)
TEXT ·highestAVX2(SB), NOSPLIT, $0-24
	MOVQ sums+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ out+16(FP), R10
loop:
	VMOVDQU (DI), Y1
	VMOVDQU 32(DI), Y2
	VPMAXSD 64(DI), Y1, Y1
	VPMAXSD 96(DI), Y2, Y2
	VPMAXSD Y2, Y1, Y1
	VEXTRACTI128 $1, Y1, X2
	VPMAXSD X2, X1, X1
	VPSHUFD $0x4e, X1, X2
	VPMAXSD X2, X1, X1
	VPSHUFD $0xb1, X1, X2
	VPMAXSD X2, X1, X1
	VMOVD X1, (R10)
	ADDQ $128, DI
	ADDQ $4, R10
	SUBQ $1, CX
	JG loop
	VZEROUPPER
	RET

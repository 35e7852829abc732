//go:build !purego

#include "textflag.h"

// lane/4 and lane%4 for each of 16 lanes.
DATA rowOf<>+0(SB)/8, $0x0000000000000000
DATA rowOf<>+8(SB)/8, $0x0000000000000000
DATA rowOf<>+16(SB)/8, $0x0000000100000001
DATA rowOf<>+24(SB)/8, $0x0000000100000001
DATA rowOf<>+32(SB)/8, $0x0000000200000002
DATA rowOf<>+40(SB)/8, $0x0000000200000002
DATA rowOf<>+48(SB)/8, $0x0000000300000003
DATA rowOf<>+56(SB)/8, $0x0000000300000003
GLOBL rowOf<>(SB), RODATA|NOPTR, $64

DATA columnOf<>+0(SB)/8, $0x0000000100000000
DATA columnOf<>+8(SB)/8, $0x0000000300000002
DATA columnOf<>+16(SB)/8, $0x0000000100000000
DATA columnOf<>+24(SB)/8, $0x0000000300000002
DATA columnOf<>+32(SB)/8, $0x0000000100000000
DATA columnOf<>+40(SB)/8, $0x0000000300000002
DATA columnOf<>+48(SB)/8, $0x0000000100000000
DATA columnOf<>+56(SB)/8, $0x0000000300000002
GLOBL columnOf<>(SB), RODATA|NOPTR, $64

// PREPARE loads what both functions need: the input (SI), the output (DI), the width (CX), the bits
// of four rows (DX), the bit offset of each lane from the first row (Z0), the mask of a number
// (Z1), ones (Z2), columns (Z3) and fours (Z4).
#define PREPARE \
	MOVQ in+0(FP), SI; \
	MOVQ w+8(FP), CX; \
	MOVQ out+16(FP), DI; \
	VPBROADCASTD CX, Z0; \
	VMOVDQU32 rowOf<>(SB), Z1; \
	VPMULLD Z1, Z0, Z0; \
	MOVL $1, AX; \
	VPBROADCASTD AX, Z2; \
	SHLL CX, AX; \
	DECL AX; \
	VPBROADCASTD AX, Z1; \
	VMOVDQU32 columnOf<>(SB), Z3; \
	MOVL $4, AX; \
	VPBROADCASTD AX, Z4; \
	LEAQ (CX*4), DX; \
	XORQ BX, BX

// UNPACK loads the next 16 numbers plus 1 into Z8, and advances the bit offset BX. A register holds
// four words per lane, which is enough for four numbers of up to 25 bits.
#define UNPACK \
	MOVQ BX, R8; \
	SHRQ $5, R8; \
	SHLQ $4, R8; \
	MOVL BX, R9; \
	ANDL $31, R9; \
	ADDQ DX, BX; \
	VMOVDQU32 (SI)(R8*1), Z7; \
	VPBROADCASTD R9, Z5; \
	VPADDD Z0, Z5, Z5; \
	VPSRLD $5, Z5, Z6; \
	VPSLLD $2, Z6, Z6; \
	VPADDD Z3, Z6, Z6; \
	VPERMD Z7, Z6, Z8; \
	VPADDD Z4, Z6, Z6; \
	VPERMD Z7, Z6, Z9; \
	VPSHRDVD Z5, Z9, Z8; \
	VPANDD Z1, Z8, Z8; \
	VPADDD Z2, Z8, Z8

// func unpackPlainAVX512(in *byte, w uint64, out *[BlockSize]uint32)
TEXT ·unpackPlainAVX512(SB), NOSPLIT, $0-24
	PREPARE
	MOVQ $8, R10
plain:
	UNPACK
	VMOVDQU32 Z8, (DI)
	ADDQ $64, DI
	DECQ R10
	JNZ  plain
	VZEROUPPER
	RET

// func unpackGapsAVX512(in *byte, w uint64, out *[BlockSize]uint32, at uint32)
TEXT ·unpackGapsAVX512(SB), NOSPLIT, $0-28
	PREPARE
	MOVL at+24(FP), AX
	VPBROADCASTD AX, Z10
	VPXORD Z11, Z11, Z11
	MOVL $15, AX
	VPBROADCASTD AX, Z12
	MOVQ $8, R10
gaps:
	UNPACK
	// Running sums: add the lanes 1, 2, 4 and 8 before.
	VALIGND $15, Z11, Z8, Z9
	VPADDD  Z9, Z8, Z8
	VALIGND $14, Z11, Z8, Z9
	VPADDD  Z9, Z8, Z8
	VALIGND $12, Z11, Z8, Z9
	VPADDD  Z9, Z8, Z8
	VALIGND $8, Z11, Z8, Z9
	VPADDD  Z9, Z8, Z8
	VPERMD  Z8, Z12, Z9
	VPADDD  Z10, Z8, Z8
	VPADDD  Z10, Z9, Z10
	VMOVDQU32 Z8, (DI)
	ADDQ $64, DI
	DECQ R10
	JNZ  gaps
	VZEROUPPER
	RET

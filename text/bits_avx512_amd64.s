//go:build !purego

#include "textflag.h"

// Each byte is repeated four times, to be broadcast to a register.
DATA bytes<>+0(SB)/4, $0x20202020
DATA bytes<>+4(SB)/4, $0x61616161 // a
DATA bytes<>+8(SB)/4, $0x1a1a1a1a // 26
DATA bytes<>+12(SB)/4, $0x30303030 // 0
DATA bytes<>+16(SB)/4, $0x0a0a0a0a // 10, and a line feed
DATA bytes<>+20(SB)/4, $0x5f5f5f5f // _
DATA bytes<>+24(SB)/4, $0x09090909 // tab
DATA bytes<>+28(SB)/4, $0x0d0d0d0d // carriage return
GLOBL bytes<>(SB), RODATA|NOPTR, $32

// LOAD loads the first n bytes of p, at most 64, followed by zeros, into Z16. The upper 16
// registers need no VZEROUPPER.
#define LOAD \
	MOVQ to+0(FP), DI; \
	MOVQ p+8(FP), SI; \
	MOVQ n+16(FP), CX; \
	MOVQ $-1, AX; \
	BZHIQ CX, AX, AX; \
	KMOVQ AX, K1; \
	VMOVDQU8.Z (SI), K1, Z16

// func wordBitsAVX512(to, p *byte, n int) (word, space, score, high uint64)
TEXT ·wordBitsAVX512(SB), NOSPLIT, $0-56
	LOAD
	VPBROADCASTD bytes<>+0(SB), Z17
	VPBROADCASTD bytes<>+4(SB), Z18
	VPBROADCASTD bytes<>+8(SB), Z19
	VPBROADCASTD bytes<>+12(SB), Z20
	VPBROADCASTD bytes<>+16(SB), Z21
	VPBROADCASTD bytes<>+20(SB), Z22
	VPORD Z17, Z16, Z23
	VPSUBB Z18, Z23, Z24
	VPCMPUB $1, Z19, Z24, K2        // letters
	VPBLENDMB Z23, Z16, K2, Z25     // to lower case
	VMOVDQU64 Z25, (DI)
	VPSUBB Z20, Z16, Z24
	VPCMPUB $1, Z21, Z24, K3        // digits
	VPCMPUB $0, Z22, Z16, K4        // underscores
	VPCMPUB $2, Z17, Z16, K5        // blanks and control characters
	VPMOVB2M Z16, K6
	KORQ K2, K3, K3
	KORQ K3, K4, K3
	KMOVQ K3, word+24(FP)
	KMOVQ K5, space+32(FP)
	KMOVQ K4, score+40(FP)
	KMOVQ K6, high+48(FP)
	RET

// func letterBitsAVX512(to, p *byte, n int) (letter uint64)
TEXT ·letterBitsAVX512(SB), NOSPLIT, $0-32
	LOAD
	VPBROADCASTD bytes<>+0(SB), Z17
	VPBROADCASTD bytes<>+4(SB), Z18
	VPBROADCASTD bytes<>+8(SB), Z19
	VPORD Z17, Z16, Z23
	VMOVDQU64 Z23, (DI)
	VPSUBB Z18, Z23, Z24
	VPCMPUB $1, Z19, Z24, K2
	KMOVQ K2, letter+24(FP)
	RET

// func blankBitsAVX512(to, p *byte, n int) (blank, cr uint64)
TEXT ·blankBitsAVX512(SB), NOSPLIT, $0-40
	LOAD
	VPBROADCASTD bytes<>+0(SB), Z17
	VPBROADCASTD bytes<>+24(SB), Z18
	VPBROADCASTD bytes<>+16(SB), Z19
	VPBROADCASTD bytes<>+28(SB), Z20
	TESTQ DI, DI
	JZ   2(PC)
	VMOVDQU64 Z16, (DI)
	VPCMPUB $0, Z17, Z16, K2
	VPCMPUB $0, Z18, Z16, K3
	VPCMPUB $0, Z19, Z16, K4
	VPCMPUB $0, Z20, Z16, K5
	KORQ K2, K3, K3
	KORQ K3, K4, K3
	KMOVQ K3, blank+24(FP)
	KMOVQ K5, cr+32(FP)
	RET

//go:build !purego

#include "textflag.h"

// Instructions that Go's assembler lacks; d, n and m are register numbers, d is the destination.
// On four floats or integers:
#define FADD(d, n, m) WORD $(0x4e20d400 | (m)<<16 | (n)<<5 | (d))
#define FSUB(d, n, m) WORD $(0x4ea0d400 | (m)<<16 | (n)<<5 | (d))
#define FMUL(d, n, m) WORD $(0x6e20dc00 | (m)<<16 | (n)<<5 | (d))
#define FCMGE(d, n, m) WORD $(0x6e20e400 | (m)<<16 | (n)<<5 | (d))
#define SCVTF(d, n) WORD $(0x4e21d800 | (n)<<5 | (d))
// On two floats:
#define FADD2(d, n, m) WORD $(0x0e20d400 | (m)<<16 | (n)<<5 | (d))
// Products of the lower and upper eight signed bytes, in 16 bits; and the addition of pairs of
// these to four integers:
#define SMULL(d, n, m) WORD $(0x0e20c000 | (m)<<16 | (n)<<5 | (d))
#define SMULL2(d, n, m) WORD $(0x4e20c000 | (m)<<16 | (n)<<5 | (d))
#define SADALP(d, n) WORD $(0x4e606800 | (n)<<5 | (d))

DATA bits<>+0(SB)/8, $0x0000000200000001
DATA bits<>+8(SB)/8, $0x0000000800000004
GLOBL bits<>(SB), RODATA|NOPTR, $16

// FOLD adds the lanes of V0 to V3 in the documented order, and leaves the sum in F0.
#define FOLD \
	FADD(0, 0, 2); \
	FADD(1, 1, 3); \
	FADD(0, 0, 1); \
	VEXT $8, V0.B16, V0.B16, V1.B16; \
	FADD(0, 0, 1); \
	VDUP V0.S[1], V1.S4; \
	FADDS F1, F0, F0

// func sumKernel(q, x *float32, n int) float32
TEXT ·sumKernel(SB), NOSPLIT, $0-28
	MOVD q+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R2
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
loop:
	VLD1.P 64(R0), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]
	FMUL(4, 4, 16)
	FMUL(5, 5, 17)
	FMUL(6, 6, 18)
	FMUL(7, 7, 19)
	FADD(0, 0, 4)
	FADD(1, 1, 5)
	FADD(2, 2, 6)
	FADD(3, 3, 7)
	SUBS $16, R2, R2
	BGT loop
	FOLD
	FMOVS F0, ret+24(FP)
	RET

// func distanceKernel(q, x *float32, n int) float32
TEXT ·distanceKernel(SB), NOSPLIT, $0-28
	MOVD q+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R2
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
loop:
	VLD1.P 64(R0), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]
	FSUB(4, 4, 16)
	FSUB(5, 5, 17)
	FSUB(6, 6, 18)
	FSUB(7, 7, 19)
	FMUL(4, 4, 4)
	FMUL(5, 5, 5)
	FMUL(6, 6, 6)
	FMUL(7, 7, 7)
	FADD(0, 0, 4)
	FADD(1, 1, 5)
	FADD(2, 2, 6)
	FADD(3, 3, 7)
	SUBS $16, R2, R2
	BGT loop
	FOLD
	FMOVS F0, ret+24(FP)
	RET

// func dotsKernel(q, rows *int8, docs *uint32, n, codes int, sum int32, out *int32)
TEXT ·dotsKernel(SB), NOSPLIT, $0-56
	MOVD q+0(FP), R0
	MOVD rows+8(FP), R1
	MOVD docs+16(FP), R2
	MOVD n+24(FP), R3
	MOVD codes+32(FP), R4
	MOVD out+48(FP), R5
next:
	MOVWU.P 4(R2), R6
	MUL  R4, R6, R6
	ADD  R1, R6, R6
	MOVD R0, R7
	MOVD R4, R8
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
loop:
	VLD1.P 32(R7), [V2.B16, V3.B16]
	VLD1.P 32(R6), [V4.B16, V5.B16]
	SMULL(16, 2, 4)
	SMULL2(17, 2, 4)
	SMULL(18, 3, 5)
	SMULL2(19, 3, 5)
	SADALP(0, 16)
	SADALP(1, 17)
	SADALP(0, 18)
	SADALP(1, 19)
	SUBS $32, R8, R8
	BGT loop
	VADD V1.S4, V0.S4, V0.S4
	VADDV V0.S4, V0
	VMOV V0.S[0], R7
	MOVW.P R7, 4(R5)
	SUBS $1, R3, R3
	BGT next
	RET

// func reachKernel(dots *int32, scales, rests, norms *float32, t *test) uint64
TEXT ·reachKernel(SB), NOSPLIT, $0-48
	MOVD dots+0(FP), R0
	MOVD scales+8(FP), R1
	MOVD rests+16(FP), R2
	MOVD norms+24(FP), R3
	MOVD t+32(FP), R4
	VLD1R.P 4(R4), [V20.S4]
	VLD1R.P 4(R4), [V21.S4]
	VLD1R.P 4(R4), [V22.S4]
	VLD1R.P 4(R4), [V23.S4]
	VLD1R (R4), [V24.S4]
	MOVD $bits<>(SB), R5
	VLD1 (R5), [V25.S4]
	MOVD $0, R6
	MOVD $0, R7
loop:
	VLD1.P 16(R0), [V0.S4]
	VLD1.P 16(R1), [V1.S4]
	VLD1.P 16(R2), [V2.S4]
	VLD1.P 16(R3), [V3.S4]
	SCVTF(0, 0)
	FMUL(0, 0, 1)
	FMUL(0, 0, 20)
	FMUL(2, 2, 21)
	FADD(0, 0, 2)
	FMUL(4, 3, 23)
	FADD(4, 4, 22)
	FMUL(4, 4, 3)
	FADD(0, 0, 4)
	FCMGE(0, 0, 24)
	VAND V25.B16, V0.B16, V0.B16
	VADDV V0.S4, V0
	VMOV V0.S[0], R8
	LSL  R7, R8, R8
	ORR  R8, R6, R6
	ADD  $4, R7, R7
	CMP  $64, R7
	BLT  loop
	MOVD R6, ret+40(FP)
	RET

//go:build !purego

#include "textflag.h"

// The kernels of avx512_amd64.s that are worthwhile with four postings at a time. If fewer are
// left, they are copied to the stack, and copies of the first of them fill the other lanes, so that
// all lanes hold valid documents. R13 is the bit mask of the lanes in use.

// Instructions that Go's assembler lacks, on four floats or integers. d, n and m are register
// numbers; d is the destination.
#define FADD(d, n, m) WORD $(0x4e20d400 | (m)<<16 | (n)<<5 | (d))
#define FMUL(d, n, m) WORD $(0x6e20dc00 | (m)<<16 | (n)<<5 | (d))
#define FDIV(d, n, m) WORD $(0x6e20fc00 | (m)<<16 | (n)<<5 | (d))
#define FCMGT(d, n, m) WORD $(0x6ea0e400 | (m)<<16 | (n)<<5 | (d))
#define FCMGE(d, n, m) WORD $(0x6e20e400 | (m)<<16 | (n)<<5 | (d))
#define UCVTF(d, n) WORD $(0x6e21d800 | (n)<<5 | (d))
// On 16 signed bytes: addition with saturation, and the comparison n >= m.
#define SQADD(d, n, m) WORD $(0x4e200c00 | (m)<<16 | (n)<<5 | (d))
#define CMGE(d, n, m) WORD $(0x4e203c00 | (m)<<16 | (n)<<5 | (d))

// The bit of each of four lanes; then the bit of each of eight bytes, twice.
DATA weights<>+0(SB)/8, $0x0000000200000001
DATA weights<>+8(SB)/8, $0x0000000800000004
DATA weights<>+16(SB)/8, $0x8040201008040201
DATA weights<>+24(SB)/8, $0x8040201008040201
GLOBL weights<>(SB), RODATA|NOPTR, $32

DATA lanes<>+0(SB)/8, $0x0000000100000000
DATA lanes<>+8(SB)/8, $0x0000000300000002
GLOBL lanes<>(SB), RODATA|NOPTR, $16

// TABLES loads the tables of SET, MOVER and COUNT.
#define TABLES \
	MOVD $weights<>(SB), R6; \
	VLD1 (R6), [V31.S4]; \
	MOVD $·compress(SB), R16; \
	MOVD $·laneCounts(SB), R17

// SET sets R7 to the bit mask of the lanes of v that are ones and in use.
#define SET(v) \
	VAND V31.B16, v.B16, V30.B16; \
	VADDV V30.S4, V30; \
	VMOV V30.S[0], R7; \
	AND  R13, R7, R7

// MOVER loads the permutation that moves the lanes in the bit mask R7 to the front, and MOVE
// applies it. COUNT loads their number into R6.
#define MOVER \
	ADD  R7<<4, R16, R6; \
	VLD1 (R6), [V29.B16]
#define MOVE(v) VTBL V29.B16, [v.B16], v.B16
#define COUNT MOVBU (R17)(R7), R6

// COPY copies the last R3 elements of an array, fewer than four, to the stack.
#define COPY(from, offset, short) \
	MOVWU (from), R6; \
	VDUP R6, V0.S4; \
	ADD  $offset, R7, R8; \
	VST1 [V0.S4], (R8); \
	CMP  $2, R3; \
	BLT  short; \
	MOVWU 4(from), R6; \
	MOVW R6, 4(R8); \
	CMP  $3, R3; \
	BLT  short; \
	MOVWU 8(from), R6; \
	MOVW R6, 8(R8); \
short: \
	MOVD R8, from

// LAST sets R13 to the bit mask of the first R3 lanes, fewer than four.
#define LAST \
	MOVD $1, R13; \
	LSL  R3, R13, R13; \
	SUB  $1, R13, R13

// LANES loads two arrays into V0 and V1.
#define LANES \
	MOVD $15, R13; \
	CMP  $4, R3; \
	BGE  full; \
	LAST; \
	MOVD $room-48(SP), R7; \
	COPY(R0, 0, short1); \
	COPY(R1, 16, short2); \
full: \
	VLD1.P 16(R0), [V0.S4]; \
	VLD1.P 16(R1), [V1.S4]

// SPREAD broadcasts a float to all lanes.
#define SPREAD(from, f, v) \
	FMOVS from, f; \
	VDUP v.S[0], v.S4

// MODEL loads the fields of a Kernel (R4) that POSTINGS needs.
#define MODEL \
	TABLES; \
	SPREAD(0(R4), F16, V16); \
	SPREAD(4(R4), F17, V17); \
	FMOVS $1.0, F18; \
	VDUP V18.S[0], V18.S4; \
	SPREAD(8(R4), F19, V19); \
	SPREAD(12(R4), F20, V20); \
	MOVD 24(R4), R14; \
	MOVD 32(R4), R15

// LOOKUP loads the number of a table whose index is the document at offset(R0). CLASS loads one of
// (R15) by the class of that document, a byte of (R14).
#define LOOKUP(offset, table, to) \
	MOVWU offset(R0), R6; \
	ADD  R6<<2, table, R6; \
	VLD1 (R6), to
#define CLASS(offset, to) \
	MOVWU offset(R0), R6; \
	MOVBU (R14)(R6), R6; \
	ADD  R6<<2, R15, R6; \
	VLD1 (R6), to

// POSTINGS loads documents (V0) and frequencies (V1) and computes x (V2).
#define POSTINGS \
	LANES; \
	CBNZ R14, classes; \
	LOOKUP(-16, R2, V2.S[0]); \
	LOOKUP(-12, R2, V2.S[1]); \
	LOOKUP(-8, R2, V2.S[2]); \
	LOOKUP(-4, R2, V2.S[3]); \
	UCVTF(2, 2); \
	FMUL(2, 2, 17); \
	FADD(2, 2, 16); \
	B    length; \
classes: \
	CLASS(-16, V2.S[0]); \
	CLASS(-12, V2.S[1]); \
	CLASS(-8, V2.S[2]); \
	CLASS(-4, V2.S[3]); \
length: \
	UCVTF(3, 1); \
	FDIV(3, 18, 3); \
	FMUL(2, 2, 3)

// SCORES computes scores from x (V2).
#define SCORES \
	FADD(2, 2, 18); \
	FDIV(2, 19, 2); \
	FADD(2, 2, 20)

// STORE writes the lanes of V2 that are in use.
#define STORE \
	CMP  $4, R3; \
	BLT  few; \
	VST1.P [V2.S4], 16(R5); \
	SUB  $4, R3, R3; \
	B    loop; \
few: \
	VMOV V2.S[0], R6; \
	MOVW R6, (R5); \
	CMP  $2, R3; \
	BLT  done; \
	VMOV V2.S[1], R6; \
	MOVW R6, 4(R5); \
	CMP  $3, R3; \
	BLT  done; \
	VMOV V2.S[2], R6; \
	MOVW R6, 8(R5)

// func Xs(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32)
// out[i] = (a + b*lengths[docs[i]]) * (1/tfs[i])
TEXT ·Xs(SB), NOSPLIT, $48-48
	MOVD docs+0(FP), R0
	MOVD tfs+8(FP), R1
	MOVD lengths+16(FP), R2
	MOVD n+24(FP), R3
	MOVD m+32(FP), R4
	MOVD out+40(FP), R5
	MODEL
loop:
	CBZ  R3, done
	POSTINGS
	STORE
done:
	RET

// func Scores(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32)
// out[i] = weight/(1+x) + plus
TEXT ·Scores(SB), NOSPLIT, $48-48
	MOVD docs+0(FP), R0
	MOVD tfs+8(FP), R1
	MOVD lengths+16(FP), R2
	MOVD n+24(FP), R3
	MOVD m+32(FP), R4
	MOVD out+40(FP), R5
	MODEL
loop:
	CBZ  R3, done
	POSTINGS
	SCORES
	STORE
done:
	RET

// func Pick(docs, tfs, lengths *uint32, n int, m *Kernel, need, limit float32, outDocs *uint32, outScores *float32) int
// keeps the postings with scores above need: documents and scores.
TEXT ·Pick(SB), NOSPLIT, $48-72
	MOVD docs+0(FP), R0
	MOVD tfs+8(FP), R1
	MOVD lengths+16(FP), R2
	MOVD n+24(FP), R3
	MOVD m+32(FP), R4
	MOVD outDocs+48(FP), R5
	MOVD outScores+56(FP), R9
	SPREAD(need+40(FP), F22, V22)
	SPREAD(limit+44(FP), F21, V21)
	MODEL
loop:
	CMP  $0, R3
	BLE  done
	POSTINGS
	SUB  $4, R3, R3
	FCMGE(3, 21, 2)                  // only these are divided
	SET(V3)
	CBZ  R7, loop
	MOVD R7, R13
	SCORES
	FCMGT(3, 2, 22)
	SET(V3)
	MOVER
	MOVE(V0)
	MOVE(V2)
	COUNT
	VST1 [V0.S4], (R5)
	VST1 [V2.S4], (R9)
	ADD  R6<<2, R5, R5
	ADD  R6<<2, R9, R9
	B    loop
done:
	MOVD outDocs+48(FP), R6
	SUB  R6, R5, R5
	LSR  $2, R5, R5
	MOVD R5, ret+64(FP)
	RET

// EMIT writes documents (V0) and sums (V1) as candidates, for the lanes in the bit mask R7.
#define EMIT \
	MOVER; \
	MOVE(V0); \
	MOVE(V1); \
	VZIP1 V0.S4, V1.S4, V2.S4; \
	VZIP2 V0.S4, V1.S4, V3.S4; \
	COUNT; \
	VST1 [V2.S4, V3.S4], (R5); \
	ADD  R6<<3, R5, R5

// func Filter(docs *uint32, scores *float32, n int, need float32, out *Candidate) int
// keeps the documents with scores above need.
TEXT ·Filter(SB), NOSPLIT, $48-48
	MOVD docs+0(FP), R0
	MOVD scores+8(FP), R1
	MOVD n+16(FP), R3
	SPREAD(need+24(FP), F22, V22)
	MOVD out+32(FP), R5
	TABLES
loop:
	CMP  $0, R3
	BLE  done
	LANES
	SUB  $4, R3, R3
	FCMGT(2, 1, 22)
	SET(V2)
	CBZ  R7, loop
	EMIT
	B    loop
done:
	MOVD out+32(FP), R6
	SUB  R6, R5, R5
	LSR  $3, R5, R5
	MOVD R5, ret+40(FP)
	RET

// func Scan(sums *float32, n int, base uint32, need float32, out *Candidate) int
// keeps the documents with sums above need that are not minus zero, and sets all sums to minus
// zero, which means that no score was added.
TEXT ·Scan(SB), NOSPLIT, $48-40
	MOVD sums+0(FP), R0
	MOVD n+8(FP), R3
	MOVWU base+16(FP), R6
	VDUP R6, V23.S4
	SPREAD(need+20(FP), F22, V22)
	MOVD out+24(FP), R5
	MOVD $lanes<>(SB), R6
	VLD1 (R6), [V24.S4]
	VADD V24.S4, V23.S4, V23.S4      // documents
	MOVD $4, R6
	VDUP R6, V24.S4
	MOVD $0x80000000, R6
	VDUP R6, V25.S4
	TABLES
loop:
	CMP  $0, R3
	BLE  done
	MOVD $15, R13
	MOVD R0, R1                      // where the sums are read
	CMP  $4, R3
	BGE  full
	LAST
	MOVD $room-48(SP), R7
	COPY(R1, 0, short)
	MOVD $0x80000000, R6
	MOVW R6, (R0)
	CMP  $2, R3
	BLT  read
	MOVW R6, 4(R0)
	CMP  $3, R3
	BLT  read
	MOVW R6, 8(R0)
	B    read
full:
	VLD1 (R1), [V1.S4]
	VST1.P [V25.S4], 16(R0)
	B    choose
read:
	VLD1 (R1), [V1.S4]
choose:
	SUB  $4, R3, R3
	VORR V23.B16, V23.B16, V0.B16
	VADD V24.S4, V23.S4, V23.S4
	VCMEQ V25.S4, V1.S4, V3.S4       // no score was added
	FCMGT(2, 1, 22)
	VAND V2.B16, V3.B16, V3.B16
	VEOR V3.B16, V2.B16, V2.B16
	SET(V2)
	CBZ  R7, loop
	EMIT
	B    loop
done:
	MOVD out+24(FP), R6
	SUB  R6, R5, R5
	LSR  $3, R5, R5
	MOVD R5, ret+32(FP)
	RET

// func Keep(found *Candidate, n int, need float32) int
// moves the candidates with sums above need to the front. n is a multiple of 8. It never writes
// ahead of what it has read.
TEXT ·Keep(SB), NOSPLIT, $0-32
	MOVD found+0(FP), R0
	MOVD n+8(FP), R3
	SPREAD(need+16(FP), F22, V22)
	MOVD R0, R5
	MOVD $15, R13
	TABLES
loop:
	CBZ  R3, done
	SUB  $4, R3, R3
	VLD2.P 32(R0), [V1.S4, V2.S4]    // sums and documents
	VORR V2.B16, V2.B16, V0.B16
	FCMGT(3, 1, 22)
	SET(V3)
	EMIT
	B    loop
done:
	MOVD found+0(FP), R6
	SUB  R6, R5, R5
	LSR  $3, R5, R5
	MOVD R5, ret+24(FP)
	RET

// LEVELS adds the units of 32 levels, two in each of 16 bytes, to sums: those of the lower half
// bytes to one register, those of the upper ones to another.
#define LEVELS(v, low, high) \
	VUSHR $4, v.B16, V26.B16; \
	VAND V25.B16, v.B16, v.B16; \
	VTBL v.B16, [V24.B16], v.B16; \
	VTBL V26.B16, [V24.B16], V26.B16; \
	VORR v.B16, v.B16, V27.B16; \
	SQADD(low, low, 27); \
	SQADD(high, high, 26)

// REACH writes a bit for each byte of four registers, which is set if the byte is at least need.
#define REACH(a, b, c, d, va, vb, vc, vd, to) \
	CMGE(a, a, 28); \
	CMGE(b, b, 28); \
	CMGE(c, c, 28); \
	CMGE(d, d, 28); \
	VAND V29.B16, va.B16, va.B16; \
	VAND V29.B16, vb.B16, vb.B16; \
	VAND V29.B16, vc.B16, vc.B16; \
	VAND V29.B16, vd.B16, vd.B16; \
	VADDP vb.B16, va.B16, va.B16; \
	VADDP vd.B16, vc.B16, vc.B16; \
	VADDP vc.B16, va.B16, va.B16; \
	VADDP va.B16, va.B16, va.B16; \
	VMOV va.D[0], R6; \
	MOVD R6, to

// func FindPlaces(maps **uint8, units *[NumLevels]int8, lists, from, n int, need int8, out *uint64)
// adds up, at each place, the units of the levels of all lists, and sets a bit if the sum is at
// least need.
TEXT ·FindPlaces(SB), NOSPLIT, $0-56
	MOVD maps+0(FP), R0
	MOVD units+8(FP), R1
	MOVD lists+16(FP), R2
	MOVD from+24(FP), R4
	MOVD n+32(FP), R3
	MOVB need+40(FP), R6
	VDUP R6, V28.B16
	MOVD out+48(FP), R5
	MOVD $weights<>+16(SB), R6
	VLD1 (R6), [V29.B16]
	MOVD $15, R6
	VDUP R6, V25.B16
	LSL  $6, R4, R4
stretch:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	MOVD R0, R7
	MOVD R1, R8
	MOVD R2, R9
list:
	MOVD.P 8(R7), R6
	ADD  R4, R6, R6
	VLD1 (R6), [V20.B16, V21.B16, V22.B16, V23.B16]
	VLD1.P 16(R8), [V24.B16]
	LEVELS(V20, 0, 4)
	LEVELS(V21, 1, 5)
	LEVELS(V22, 2, 6)
	LEVELS(V23, 3, 7)
	SUBS $1, R9, R9
	BNE  list
	REACH(0, 1, 2, 3, V0, V1, V2, V3, (R5))
	REACH(4, 5, 6, 7, V4, V5, V6, V7, 8(R5))
	ADD  $16, R5, R5
	ADD  $64, R4, R4
	SUBS $1, R3, R3
	BNE  stretch
	RET

// func Between(docs, tfs *uint32, sums *float32, n int, low, high float32, outDocs, outTFs *uint32, outSums *float32) int
// keeps the postings with sums above low and not above high.
TEXT ·Between(SB), NOSPLIT, $48-72
	MOVD docs+0(FP), R0
	MOVD tfs+8(FP), R1
	MOVD sums+16(FP), R2
	MOVD n+24(FP), R3
	SPREAD(low+32(FP), F21, V21)
	SPREAD(high+36(FP), F22, V22)
	MOVD outDocs+40(FP), R5
	MOVD outTFs+48(FP), R9
	MOVD outSums+56(FP), R10
	TABLES
loop:
	CMP  $0, R3
	BLE  done
	CMP  $4, R3
	BGE  enough
	MOVD $room-48(SP), R7
	COPY(R2, 32, short3)
enough:
	LANES
	VLD1.P 16(R2), [V2.S4]
	SUB  $4, R3, R3
	FCMGT(3, 2, 21)
	FCMGE(4, 22, 2)
	VAND V4.B16, V3.B16, V3.B16
	SET(V3)
	MOVER
	MOVE(V0)
	MOVE(V1)
	MOVE(V2)
	COUNT
	VST1 [V0.S4], (R5)
	VST1 [V1.S4], (R9)
	VST1 [V2.S4], (R10)
	ADD  R6<<2, R5, R5
	ADD  R6<<2, R9, R9
	ADD  R6<<2, R10, R10
	B    loop
done:
	MOVD outDocs+40(FP), R6
	SUB  R6, R5, R5
	LSR  $2, R5, R5
	MOVD R5, ret+64(FP)
	RET

//go:build !purego

#include "textflag.h"

// func unpackBitsKernel(in *byte, words int, base uint32, out *[BlockSize]uint32) int
// For each byte it appends the positions of the set bits, from a table. It always writes eight
// numbers, so that the last few documents, for which there is no such space, are found bit by bit.
TEXT ·unpackBitsKernel(SB), NOSPLIT, $0-40
	MOVD in+0(FP), R1
	MOVD words+8(FP), R3
	MOVWU base+16(FP), R4            // document of the byte's first bit
	MOVD out+24(FP), R2
	ADD  R3<<3, R1, R3               // end of the input
	MOVD $·bitPlaces(SB), R5
	MOVD R2, R6                      // end of the output so far
	ADD  $480, R2, R7                // from here on there is no space for eight
byte:
	CMP  R7, R6
	BHI  last
	MOVBU.P 1(R1), R8
	ADD  R8<<3, R5, R9
	FMOVD (R9), F0
	VDUP R4, V1.S4
	VUXTL V0.B8, V0.H8
	VUXTL2 V0.H8, V3.S4
	VUXTL V0.H4, V2.S4
	VADD V1.S4, V2.S4, V2.S4
	VADD V1.S4, V3.S4, V3.S4
	VST1 [V2.S4, V3.S4], (R6)
	FMOVD R8, F0
	VCNT V0.B8, V0.B8
	VMOV V0.B[0], R9
	ADD  R9<<2, R6, R6
	ADD  $8, R4, R4
	CMP  R3, R1
	BNE  byte
	B    done
last:
	ADD  $32, R7, R7                 // end of the output
lastByte:
	CMP  R3, R1
	BEQ  done
	MOVBU.P 1(R1), R8
bit:
	CBZ  R8, next
	CMP  R7, R6
	BEQ  more
	RBIT R8, R9
	CLZ  R9, R9
	ADDW R4, R9, R9
	MOVW.P R9, 4(R6)
	SUB  $1, R8, R9
	AND  R9, R8, R8
	B    bit
next:
	ADD  $8, R4, R4
	B    lastByte
more:
	ADD  $4, R6, R6
done:
	SUB  R2, R6, R6
	LSR  $2, R6, R6
	MOVD R6, ret+32(FP)
	RET

// func prefetch(data *byte)
TEXT ·prefetch(SB), NOSPLIT, $0-8
	MOVD data+0(FP), R1
	PRFM (R1), PLDL1KEEP
	PRFM 64(R1), PLDL1KEEP
	PRFM 128(R1), PLDL1KEEP
	RET

// func prefetchItems(items *byte, numbers *uint32, n int, shift uint8)
TEXT ·prefetchItems(SB), NOSPLIT, $0-25
	MOVD  items+0(FP), R0
	MOVD  numbers+8(FP), R1
	MOVD  n+16(FP), R2
	MOVBU shift+24(FP), R3

item:
	MOVWU.P 4(R1), R4
	LSL     R3, R4, R4
	ADD     R0, R4, R4
	PRFM    (R4), PLDL1KEEP
	SUBS    $1, R2, R2
	BNE     item
	RET

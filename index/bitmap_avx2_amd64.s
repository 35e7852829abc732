//go:build !purego

#include "textflag.h"

// func unpackBitsAVX2(in *byte, words int, base uint32, out *[BlockSize]uint32) int
// For each byte it appends the positions of the set bits, from a table. It always writes eight
// numbers, so that the last few documents, for which there is no such space, are found bit by bit.
TEXT ·unpackBitsAVX2(SB), NOSPLIT, $0-40
	MOVQ in+0(FP), SI
	MOVQ words+8(FP), CX
	MOVQ out+24(FP), DI
	LEAQ (SI)(CX*8), R9              // end of the input
	LEAQ ·bitPlaces(SB), R8
	MOVL base+16(FP), AX
	VMOVD AX, X1
	VPBROADCASTD X1, Y1              // document of the byte's first bit
	MOVL $8, AX
	VMOVD AX, X2
	VPBROADCASTD X2, Y2
	XORQ R12, R12
byte:
	CMPQ R12, $120
	JGT  last
	MOVBLZX (SI), AX
	VPMOVZXBD (R8)(AX*8), Y0
	POPCNTL AX, AX
	VPADDD Y1, Y0, Y0
	VPADDD Y2, Y1, Y1
	VMOVDQU Y0, (DI)(R12*4)
	ADDQ AX, R12
	INCQ SI
	CMPQ SI, R9
	JNE  byte
	JMP  done
last:
	VMOVD X1, DX
lastByte:
	CMPQ SI, R9
	JEQ  done
	MOVBLZX (SI), AX
	INCQ SI
bit:
	TESTL AX, AX
	JZ   next
	CMPQ R12, $128
	JEQ  more
	TZCNTL AX, BX
	ADDL DX, BX
	MOVL BX, (DI)(R12*4)
	INCQ R12
	LEAL -1(AX), BX
	ANDL BX, AX
	JMP  bit
next:
	ADDL $8, DX
	JMP  lastByte
more:
	INCQ R12
done:
	MOVQ R12, ret+32(FP)
	VZEROUPPER
	RET

//go:build !purego

#include "textflag.h"
#include "fetch_amd64.h"

DATA lanes<>+0(SB)/8, $0x0000000100000000
DATA lanes<>+8(SB)/8, $0x0000000300000002
DATA lanes<>+16(SB)/8, $0x0000000500000004
DATA lanes<>+24(SB)/8, $0x0000000700000006
DATA lanes<>+32(SB)/8, $0x0000000900000008
DATA lanes<>+40(SB)/8, $0x0000000b0000000a
DATA lanes<>+48(SB)/8, $0x0000000d0000000c
DATA lanes<>+56(SB)/8, $0x0000000f0000000e
GLOBL lanes<>(SB), RODATA|NOPTR, $64

// MASK sets the lowest CX bits of K1, at most all 16.
#define MASK \
	MOVL $0xffff, AX; \
	CMPQ CX, $16; \
	JGE  2(PC); \
	BZHIL CX, AX, AX; \
	KMOVW AX, K1

// KEEP appends the documents, frequencies and sums of the lanes in K4 to the output, and advances
// the input by 16.
#define KEEP \
	KMOVW K4, AX; \
	VPCOMPRESSD.Z Z0, K4, Z0; \
	VPCOMPRESSD.Z Z1, K4, Z1; \
	VCOMPRESSPS.Z Z2, K4, Z2; \
	VMOVDQU32 Z0, (R10)(R12*4); \
	VMOVDQU32 Z1, (R11)(R12*4); \
	VMOVUPS Z2, (R8)(R12*4); \
	POPCNTL AX, AX; \
	ADDQ AX, R12; \
	ADDQ $64, SI; \
	ADDQ $64, DI; \
	ADDQ $64, DX; \
	SUBQ $16, CX

// FETCH loads 16 numbers of a table into Z2. Their indexes are at (at).
#define FETCH(at, table) \
	FETCH4(at, 0, table, X2); \
	FETCH4(at, 16, table, X3); \
	FETCH4(at, 32, table, X4); \
	FETCH4(at, 48, table, X5); \
	JOIN

// JOIN combines X2, X3, X4 and X5 in Z2.
#define JOIN \
	VINSERTI128 $1, X3, Y2, Y2; \
	VINSERTI128 $1, X5, Y4, Y4; \
	VINSERTI64X4 $1, Y4, Z2, Z2

// MODEL loads the fields of a Kernel (R9) that POSTINGS needs.
#define MODEL \
	VBROADCASTSS 0(R9), Z20; \
	VBROADCASTSS 4(R9), Z21; \
	MOVQ 16(R9), AX; \
	VMOVUPS 0(AX), Z22; \
	VMOVUPS 64(AX), Z23; \
	VBROADCASTSS 4(AX), Z24; \
	MOVL $31, AX; \
	VPBROADCASTD AX, Z25; \
	MOVQ 24(R9), R13; \
	MOVQ 32(R9), DX; \
	MOVL $255, AX; \
	VPBROADCASTD AX, Z28; \
	VPBROADCASTD 40(R9), Z29

// POSTINGS loads documents (Z0) and frequencies (Z1) and computes x (Z2). If there are length
// classes, it jumps to the label classes, which jumps back to length. If a frequency is not in the
// table of reciprocals, it jumps to rare.
#define POSTINGS \
	MASK; \
	VMOVDQU32.Z (SI), K1, Z0; \
	VMOVDQU32.Z (DI), K1, Z1; \
	TESTQ R13, R13; \
	JNZ  classes; \
	CMPQ CX, $16; \
	JLT  few; \
	FETCH(SI, R8); \
	JMP  floats; \
few: \
	KMOVW K1, K2; \
	VPXORD Z2, Z2, Z2; \
	VPGATHERDD (R8)(Z0*4), K2, Z2; \
floats: \
	VCVTUDQ2PS Z2, Z2; \
	VMULPS Z21, Z2, Z2; \
	VADDPS Z20, Z2, Z2; \
length: \
	VPCMPUD $6, Z25, Z1, K3; \
	KORTESTW K3, K3; \
	JNZ  rare; \
	VPERMI2PS Z23, Z22, Z1; \
back: \
	VMULPS Z1, Z2, Z2

// ELSEWHERE holds the rarer branches of POSTINGS. If lanes are empty, it gathers four bytes for
// each class. For the last documents of the index it gathers the last four and shifts them, in
// order not to read beyond the end.
#define ELSEWHERE \
rare: \
	VCVTUDQ2PS Z1, Z1; \
	VDIVPS Z1, Z24, Z1; \
	JMP  back; \
classes: \
	CMPQ CX, $16; \
	JLT  fewClasses; \
	CLASS4(0, X2); \
	CLASS4(16, X3); \
	CLASS4(32, X4); \
	CLASS4(48, X5); \
	JOIN; \
	JMP  length; \
fewClasses: \
	KMOVW K1, K2; \
	VPXORD Z2, Z2, Z2; \
	VPMINUD Z29, Z0, Z3; \
	VPGATHERDD (R13)(Z3*1), K2, Z2; \
	VPSUBD Z3, Z0, Z3; \
	VPSLLD $3, Z3, Z3; \
	VPSRLVD Z3, Z2, Z2; \
	VPANDD Z28, Z2, Z3; \
	KMOVW K1, K2; \
	VGATHERDPS (DX)(Z3*4), K2, Z2; \
	JMP  length

// func xsAVX512(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32)
// out[i] = (a + b*lengths[docs[i]]) * (1/tfs[i])
TEXT ·xsAVX512(SB), NOSPLIT, $0-48
	MOVQ docs+0(FP), SI
	MOVQ tfs+8(FP), DI
	MOVQ lengths+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ m+32(FP), R9
	MOVQ out+40(FP), R10
	MODEL
xsLoop:
	TESTQ CX, CX
	JLE  xsDone
	POSTINGS
	VMOVUPS Z2, K1, (R10)
	ADDQ $64, SI
	ADDQ $64, DI
	ADDQ $64, R10
	SUBQ $16, CX
	JMP  xsLoop
	ELSEWHERE
xsDone:
	VZEROUPPER
	RET

// func scoresAVX512(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32)
// out[i] = weight/(1+x) + plus
TEXT ·scoresAVX512(SB), NOSPLIT, $0-48
	MOVQ docs+0(FP), SI
	MOVQ tfs+8(FP), DI
	MOVQ lengths+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ m+32(FP), R9
	MOVQ out+40(FP), R10
	VBROADCASTSS 8(R9), Z26          // weight
	VBROADCASTSS 12(R9), Z27         // plus
	MODEL
scLoop:
	TESTQ CX, CX
	JLE  scDone
	POSTINGS
	VADDPS Z24, Z2, Z2
	VDIVPS Z2, Z26, Z2
	VADDPS Z27, Z2, Z2
	VMOVUPS Z2, K1, (R10)
	ADDQ $64, SI
	ADDQ $64, DI
	ADDQ $64, R10
	SUBQ $16, CX
	JMP  scLoop
	ELSEWHERE
scDone:
	VZEROUPPER
	RET

// func pickAVX512(docs, tfs, lengths *uint32, n int, m *Kernel, need, limit float32, outDocs *uint32, outScores *float32) int
// keeps the postings with scores above need: documents and scores.
TEXT ·pickAVX512(SB), NOSPLIT, $0-72
	MOVQ docs+0(FP), SI
	MOVQ tfs+8(FP), DI
	MOVQ lengths+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ m+32(FP), R9
	MOVQ outDocs+48(FP), R10
	MOVQ outScores+56(FP), R11
	VBROADCASTSS need+40(FP), Z26
	VBROADCASTSS limit+44(FP), Z31
	VBROADCASTSS 8(R9), Z30          // weight
	VBROADCASTSS 12(R9), Z27         // plus
	MODEL
	XORQ R12, R12
piLoop:
	TESTQ CX, CX
	JLE  piDone
	POSTINGS
	VCMPPS $2, Z31, Z2, K1, K1     // only these are divided
	KORTESTW K1, K1
	JZ   piNext
	VADDPS Z24, Z2, Z2
	VDIVPS Z2, Z30, Z2
	VADDPS Z27, Z2, Z2
	VCMPPS $14, Z26, Z2, K1, K4
	KMOVW K4, AX
	TESTL AX, AX
	JZ   piNext
	VPCOMPRESSD.Z Z0, K4, Z0
	VCOMPRESSPS.Z Z2, K4, Z2
	VMOVDQU32 Z0, (R10)(R12*4)
	VMOVUPS Z2, (R11)(R12*4)
	POPCNTL AX, AX
	ADDQ AX, R12
piNext:
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JMP  piLoop
	ELSEWHERE
piDone:
	MOVQ R12, ret+64(FP)
	VZEROUPPER
	RET

// BUCKETS loads, for each document (Z0, also at SI), the byte that holds its length bucket into the
// lowest bits of Z2. A byte holds the buckets of two documents.
#define BUCKETS(halves) \
	CMPQ CX, $16; \
	JLT  fewBuckets; \
	HALF4(0, halves, X2); \
	HALF4(16, halves, X3); \
	HALF4(32, halves, X4); \
	HALF4(48, halves, X5); \
	JOIN; \
	JMP  found; \
fewBuckets: \
	VPSRLD $1, Z0, Z3; \
	KMOVW K1, K2; \
	VPXORD Z2, Z2, Z2; \
	VPGATHERDD (halves)(Z3*1), K2, Z2; \
found:

// func siftHalvesAVX512(docs, tfs *uint32, halves *uint8, n int, m *Kernel, k *float32, limit float32, outDocs, outTFs *uint32) int
// keeps the postings with k * (1/tf) <= limit, where k is that of the document's length bucket: all
// postings with x <= limit are among them.
TEXT ·siftHalvesAVX512(SB), NOSPLIT, $0-80
	MOVQ docs+0(FP), SI
	MOVQ tfs+8(FP), DI
	MOVQ halves+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ m+32(FP), R9
	MOVQ k+40(FP), R10
	VMOVUPS (R10), Z20
	VBROADCASTSS limit+48(FP), Z26
	MOVQ outDocs+56(FP), R10
	MOVQ outTFs+64(FP), R11
	MOVQ 16(R9), AX
	VMOVUPS 0(AX), Z22               // 1/0 to 1/15
	VMOVUPS 64(AX), Z23              // 1/16 to 1/31
	VBROADCASTSS 4(AX), Z24
	MOVL $31, AX
	VPBROADCASTD AX, Z25
	MOVL $1, AX
	VPBROADCASTD AX, Z27
	XORQ R12, R12
shLoop:
	TESTQ CX, CX
	JLE  shDone
	MASK
	VMOVDQU32.Z (SI), K1, Z0
	VMOVDQU32.Z (DI), K1, Z1
	BUCKETS(R8)
	VPANDD Z27, Z0, Z3
	VPSLLD $2, Z3, Z3
	VPSRLVD Z3, Z2, Z2
	VPERMPS Z20, Z2, Z2              // indexes by the lowest 4 bits
	VPCMPUD $6, Z25, Z1, K3
	KORTESTW K3, K3
	JNZ  shRare
	VMOVDQA32 Z1, Z4
	VPERMI2PS Z23, Z22, Z4
shBack:
	VMULPS Z4, Z2, Z2
	VCMPPS $2, Z26, Z2, K1, K4
	KMOVW K4, AX
	VPCOMPRESSD.Z Z0, K4, Z0
	VPCOMPRESSD.Z Z1, K4, Z1
	VMOVDQU32 Z0, (R10)(R12*4)
	VMOVDQU32 Z1, (R11)(R12*4)
	POPCNTL AX, AX
	ADDQ AX, R12
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JMP  shLoop
shRare:
	VCVTUDQ2PS Z1, Z4
	VDIVPS Z4, Z24, Z4
	JMP  shBack
shDone:
	MOVQ R12, ret+72(FP)
	VZEROUPPER
	RET

// EMIT writes documents (Z0) and sums (Z1) as candidates to (R10)(R12*8), for the lanes in the mask
// K4, which is also in AX.
#define EMIT \
	VPCOMPRESSD.Z Z0, K4, Z0; \
	VCOMPRESSPS.Z Z1, K4, Z1; \
	VPMOVZXDQ Y0, Z4; \
	VPMOVZXDQ Y1, Z5; \
	VPSLLQ $32, Z4, Z4; \
	VPORQ Z5, Z4, Z4; \
	VMOVDQU64 Z4, (R10)(R12*8); \
	VEXTRACTI64X4 $1, Z0, Y0; \
	VEXTRACTI64X4 $1, Z1, Y1; \
	VPMOVZXDQ Y0, Z4; \
	VPMOVZXDQ Y1, Z5; \
	VPSLLQ $32, Z4, Z4; \
	VPORQ Z5, Z4, Z4; \
	VMOVDQU64 Z4, 64(R10)(R12*8); \
	POPCNTL AX, AX; \
	ADDQ AX, R12

// func filterAVX512(docs *uint32, scores *float32, n int, need float32, out *Candidate) int
// keeps the documents with scores above need.
TEXT ·filterAVX512(SB), NOSPLIT, $0-48
	MOVQ docs+0(FP), SI
	MOVQ scores+8(FP), DI
	MOVQ n+16(FP), CX
	VBROADCASTSS need+24(FP), Z20
	MOVQ out+32(FP), R10
	XORQ R12, R12
fiLoop:
	TESTQ CX, CX
	JLE  fiDone
	MASK
	VMOVUPS.Z (DI), K1, Z1
	VCMPPS $14, Z20, Z1, K1, K4
	KMOVW K4, AX
	TESTL AX, AX
	JZ   fiNext
	VMOVDQU32.Z (SI), K1, Z0
	EMIT
fiNext:
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JMP  fiLoop
fiDone:
	MOVQ R12, ret+40(FP)
	VZEROUPPER
	RET

// func scanAVX512(sums *float32, n int, base uint32, need float32, out *Candidate) int
// keeps the documents with sums above need that are not minus zero, and sets all sums to minus
// zero, which means that no score was added.
TEXT ·scanAVX512(SB), NOSPLIT, $0-40
	MOVQ sums+0(FP), DI
	MOVQ n+8(FP), CX
	MOVL base+16(FP), AX
	VPBROADCASTD AX, Z21
	VBROADCASTSS need+20(FP), Z20
	MOVQ out+24(FP), R10
	VPADDD lanes<>(SB), Z21, Z21
	MOVL $16, AX
	VPBROADCASTD AX, Z22
	MOVL $0x80000000, AX
	VPBROADCASTD AX, Z23
	XORQ R12, R12
snLoop:
	TESTQ CX, CX
	JLE  snDone
	MASK
	VMOVUPS.Z (DI), K1, Z1
	VPCMPUD $4, Z23, Z1, K1, K2
	VCMPPS $14, Z20, Z1, K2, K4
	VMOVDQU32 Z23, K1, (DI)
	KMOVW K4, AX
	TESTL AX, AX
	JZ   snNext
	VMOVDQA32 Z21, Z0
	EMIT
snNext:
	VPADDD Z22, Z21, Z21
	ADDQ $64, DI
	SUBQ $16, CX
	JMP  snLoop
snDone:
	MOVQ R12, ret+32(FP)
	VZEROUPPER
	RET

// func keepAVX512(found *Candidate, n int, need float32) int
// moves the candidates with sums above need to the front. n is a multiple of 8. It never writes
// ahead of what it has read.
TEXT ·keepAVX512(SB), NOSPLIT, $0-32
	MOVQ found+0(FP), SI
	MOVQ n+8(FP), CX
	VBROADCASTSS need+16(FP), Z20
	MOVQ SI, DI
	MOVL $0xff, AX
	KMOVW AX, K1
kpLoop:
	SUBQ $8, CX
	JLT  kpDone
	VMOVDQU64 (SI), Z0
	VPMOVQD Z0, Y1                   // the sums
	VCMPPS $14, Z20, Z1, K1, K2
	VPCOMPRESSQ.Z Z0, K2, Z2
	VMOVDQU64 Z2, (DI)
	KMOVW K2, AX
	POPCNTL AX, AX
	LEAQ (DI)(AX*8), DI
	ADDQ $64, SI
	JMP  kpLoop
kpDone:
	SUBQ found+0(FP), DI
	SHRQ $3, DI
	MOVQ DI, ret+24(FP)
	VZEROUPPER
	RET

// 7, 15, ..., 127: the index of the last element of each group of eight.
DATA eighths<>+0(SB)/8, $0x0000000f00000007
DATA eighths<>+8(SB)/8, $0x0000001f00000017
DATA eighths<>+16(SB)/8, $0x0000002f00000027
DATA eighths<>+24(SB)/8, $0x0000003f00000037
DATA eighths<>+32(SB)/8, $0x0000004f00000047
DATA eighths<>+40(SB)/8, $0x0000005f00000057
DATA eighths<>+48(SB)/8, $0x0000006f00000067
DATA eighths<>+56(SB)/8, $0x0000007f00000077
GLOBL eighths<>(SB), RODATA|NOPTR, $64

// func locateAVX512(block, docs *uint32, n int, last uint32, at, places *uint32) (found, used int)
// counts, for each document, the groups of eight of the block that end before it, then searches the
// next group.
TEXT ·locateAVX512(SB), NOSPLIT, $0-64
	MOVQ block+0(FP), SI
	MOVQ docs+8(FP), DI
	MOVQ n+16(FP), CX
	MOVL last+24(FP), R9
	MOVQ at+32(FP), R10
	MOVQ places+40(FP), R11
	// The last of each group of eight, without a gather, which takes 60 ns on some processors.
	VMOVDQU32 eighths<>(SB), Z2
	VMOVDQU32 (SI), Z0
	VPERMT2D 64(SI), Z2, Z0
	VMOVDQU32 128(SI), Z3
	VPERMT2D 192(SI), Z2, Z3
	VMOVDQU32 256(SI), Z4
	VPERMT2D 320(SI), Z2, Z4
	VMOVDQU32 384(SI), Z5
	VPERMT2D 448(SI), Z2, Z5
	VINSERTI32X4 $1, X3, Z0, Z0
	VINSERTI32X4 $1, X5, Z4, Z4
	VINSERTI64X4 $1, Y4, Z0, Z0
	XORQ R8, R8
	XORQ R12, R12
loLoop:
	CMPL (DI)(R8*4), R9
	JHI  loDone
	VPBROADCASTD (DI)(R8*4), Z1
	VPCMPUD $1, Z1, Z0, K1
	KMOVW K1, AX
	POPCNTL AX, AX
	SHLL $3, AX
	ANDL $127, AX
	VPCMPEQD (SI)(AX*4), Y1, K2
	KMOVB K2, BX
	TZCNTL BX, DX
	ADDL AX, DX
	MOVL R8, (R10)(R12*4)
	MOVL DX, (R11)(R12*4)
	CMPL BX, $1
	SBBQ $-1, R12
	INCQ R8
	CMPQ R8, CX
	JLT  loLoop
loDone:
	MOVQ R12, found+48(FP)
	MOVQ R8, used+56(FP)
	VZEROUPPER
	RET

// func mergeAVX512(docs *uint32, scores *float32, n int, found *Candidate, m int)
// adds the scores of a list to those of the candidates that are in it.
TEXT ·mergeAVX512(SB), NOSPLIT, $0-40
	MOVQ docs+0(FP), SI
	MOVQ scores+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ found+24(FP), R10
	MOVQ m+32(FP), R11
	TESTQ R11, R11
	JLE  meDone
	XORQ R8, R8                      // index in the list
meLoop:
	MOVL 4(R10), DX
meSkip:
	LEAQ 16(R8), R9
	CMPQ R9, CX
	JGT  meTail
	CMPL DX, -4(SI)(R9*4)
	JLS  meFull
	MOVQ R9, R8
	JMP  meSkip
meTail:
	MOVQ CX, R9
	SUBQ R8, R9
	JLE  meDone
	MOVL $0xffff, AX
	BZHIL R9, AX, AX
	KMOVW AX, K1
	JMP  meLook
meFull:
	KXNORW K1, K1, K1
meLook:
	VPBROADCASTD DX, Z1
	VMOVDQU32.Z (SI)(R8*4), K1, Z0
	VPCMPEQD Z0, Z1, K1, K2
	KMOVW K2, AX
	TESTL AX, AX
	JZ   meNext
	TZCNTL AX, AX
	ADDQ R8, AX
	VMOVSS (R10), X2
	VADDSS (DI)(AX*4), X2, X2
	VMOVSS X2, (R10)
meNext:
	ADDQ $8, R10
	DECQ R11
	JNZ  meLoop
meDone:
	VZEROUPPER
	RET

// func findPlacesAVX512(maps **uint8, units *[NumLevels]int8, lists, from, n int, need int8, out *uint64)
// adds up, at each place, the units of the levels of all lists, and sets a bit if the sum is at
// least need.
TEXT ·findPlacesAVX512(SB), NOSPLIT, $0-56
	MOVQ maps+0(FP), SI
	MOVQ units+8(FP), DI
	MOVQ lists+16(FP), CX
	MOVQ from+24(FP), R8
	MOVQ n+32(FP), R9
	VPBROADCASTB need+40(FP), Z7
	MOVQ out+48(FP), R10
	MOVL $15, AX
	VPBROADCASTB AX, Z8
	SHLQ $6, R8
fpStretch:
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	XORQ DX, DX
	MOVQ DI, R11
fpList:
	MOVQ (SI)(DX*8), AX
	VMOVDQU64 (AX)(R8*1), Z0
	VBROADCASTI32X4 (R11), Z4
	VPSRLW $4, Z0, Z1
	VPANDQ Z8, Z0, Z0
	VPANDQ Z8, Z1, Z1
	VPSHUFB Z0, Z4, Z0
	VPSHUFB Z1, Z4, Z1
	VPADDSB Z0, Z2, Z2
	VPADDSB Z1, Z3, Z3
	ADDQ $16, R11
	INCQ DX
	CMPQ DX, CX
	JLT  fpList
	VPCMPB $5, Z7, Z2, K1
	VPCMPB $5, Z7, Z3, K2
	KMOVQ K1, (R10)
	KMOVQ K2, 8(R10)
	ADDQ $16, R10
	ADDQ $64, R8
	DECQ R9
	JNZ  fpStretch
	VZEROUPPER
	RET

// func keepBitsAVX512(docs, at *uint32, n int, bits *uint64, shift int, outDocs, outAt *uint32) int
// keeps the documents whose group of 1<<shift documents has its bit set, with their elements of at.
// Documents are in increasing order, so the bits of 16 of them often lie within 128 bytes. These are
// loaded at once, which takes a third of the time of 16 loads.
TEXT ·keepBitsAVX512(SB), NOSPLIT, $64-64
	MOVQ docs+0(FP), SI
	MOVQ at+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ bits+24(FP), R8
	MOVQ shift+32(FP), R13
	MOVQ outDocs+40(FP), R10
	MOVQ outAt+48(FP), R11
	MOVL $1, AX
	VPBROADCASTD AX, Z8
	MOVL $31, AX
	VPBROADCASTD AX, Z7
	VMOVD R13, X9
	ADDL $5, R13
	VMOVD R13, X10
	XORQ R12, R12
kpLoop:
	TESTQ CX, CX
	JLE  kpDone
	MASK
	VMOVDQU32.Z (SI), K1, Z0
	VMOVDQU32.Z (DI), K1, Z6
	VPSRLD X10, Z0, Z1               // index of the 32 bits
	MOVL $16, DX
	CMPQ CX, $16
	CMOVQLT CX, DX
	MOVL -4(SI)(DX*4), BX
	MOVL (SI), AX
	SHRXL R13, BX, BX                // of the last document
	SHRXL R13, AX, AX                // and of the first
	SUBL AX, BX
	CMPL BX, $32
	JAE  kpFar
	MOVL $2, DX
	SHLXL BX, DX, DX
	DECL DX
	KMOVW DX, K2                     // from the first to the last
	VMOVDQU32.Z (R8)(AX*4), K2, Z2
	SHRL $16, DX
	KMOVW DX, K3
	VMOVDQU32.Z 64(R8)(AX*4), K3, Z4
	VPBROADCASTD AX, Z3
	VPSUBD Z3, Z1, Z1
	VPERMT2D Z4, Z1, Z2
kpTest:
	VPSRLD X9, Z0, Z3
	VPANDD Z7, Z3, Z3
	VPSRLVD Z3, Z2, Z2
	VPTESTMD Z8, Z2, K1, K4
	KMOVW K4, AX
	VPCOMPRESSD.Z Z0, K4, Z0
	VPCOMPRESSD.Z Z6, K4, Z1
	VMOVDQU32 Z0, (R10)(R12*4)
	VMOVDQU32 Z1, (R11)(R12*4)
	POPCNTL AX, AX
	ADDQ AX, R12
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JMP  kpLoop
kpFar:
	VMOVDQU32 Z1, 0(SP)
	FETCH(SP, R8)
	JMP  kpTest
kpDone:
	MOVQ R12, ret+56(FP)
	VZEROUPPER
	RET

// func siftLevelsAVX512(docs, tfs *uint32, n int, s *LevelSieve, outDocs, outTFs *uint32, outSums *float32) int
// keeps the postings for which the sum of two bounds is above the cut, with these sums. One bound
// is the score by the shortest length of the document's bucket, the other the best scores of the
// other lists at the document's place. A first pass takes the shortest length of all documents, and
// a second pass the buckets of what is left. So few branches depend on the postings, and few lanes
// are empty. The levels of a stretch of 2,048 documents are one cache line: if 16 documents are in
// one stretch or two neighbours, their lines are loaded instead of 16 numbers.
TEXT ·siftLevelsAVX512(SB), NOSPLIT, $64-64
	MOVQ docs+0(FP), SI
	MOVQ tfs+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ s+24(FP), R9
	MOVQ outDocs+32(FP), R10
	MOVQ outTFs+40(FP), R11
	MOVQ outSums+48(FP), R8
	MOVQ 48(R9), AX
	VMOVUPS (AX), Z16                // best score of each frequency
	VMOVUPS 64(AX), Z17
	VBROADCASTSS 124(AX), Z18        // best score of frequencies from 31 on
	VBROADCASTSS 64(R9), Z29         // cut
	MOVL $31, AX
	VPBROADCASTD AX, Z25
	MOVL $1, AX
	VPBROADCASTD AX, Z30
	MOVL $15, AX
	VPBROADCASTD AX, Z31
	MOVL $3, AX
	VPBROADCASTD AX, Z19
	XORQ R12, R12
slLoop:
	MASK
	VMOVDQU32.Z (SI), K1, Z0
	VMOVDQU32.Z (DI), K1, Z1
	VPSRLD $11, Z0, Z2               // stretch
	VPSLLD $4, Z2, Z2
	VPSRLD $6, Z0, Z3
	VPANDD Z31, Z3, Z3
	VPORD Z3, Z2, Z2                 // four bytes of levels
	VPSRLD $4, Z0, Z3
	VPANDD Z19, Z3, Z3
	VPSLLD $3, Z3, Z3                // shift to the byte
	VPSRLD $10, Z0, Z4
	VPANDD Z30, Z4, Z4
	VPSLLD $2, Z4, Z4                // shift to the half byte
	VPORD Z4, Z3, Z8
	VPXORD Z9, Z9, Z9
	MOVL $16, DX
	CMPQ CX, $16
	CMOVQLT CX, DX
	MOVL -4(SI)(DX*4), BX
	MOVL (SI), AX
	XORQ DX, DX
	SHRL $11, BX                     // stretch of the last document
	SHRL $11, AX                     // and of the first
	MOVL BX, R13
	SUBL AX, R13
	CMPL R13, $1
	JHI  slFar
	SHLL $4, AX
	VPBROADCASTD AX, Z5
	VPSUBD Z5, Z2, Z5                // index in these two
	SHLQ $2, AX
	SHLQ $6, BX
slNear:
	MOVQ 0(R9), R13
	MOVQ (R13)(DX*8), R13
	VMOVDQU32 (R13)(AX*1), Z2
	VMOVDQU32 (R13)(BX*1), Z3
	VMOVDQA32 Z5, Z4
	VPERMI2D Z3, Z2, Z4
	VPSRLVD Z8, Z4, Z2
	MOVQ DX, R13
	SHLQ $6, R13
	ADDQ 8(R9), R13
	VPERMPS (R13), Z2, Z2            // indexes by the lowest 4 bits
	VADDPS Z2, Z9, Z9
	INCQ DX
	CMPQ DX, 16(R9)
	JLT  slNear
	JMP  slAdded
slFar:
	VMOVDQU32 Z2, 0(SP)              // unused lanes have index 0
slList:
	MOVQ 0(R9), AX
	MOVQ (AX)(DX*8), R13
	FETCH(SP, R13)
	VPSRLVD Z8, Z2, Z2
	MOVQ DX, AX
	SHLQ $6, AX
	ADDQ 8(R9), AX
	VPERMPS (AX), Z2, Z2             // indexes by the lowest 4 bits
	VADDPS Z2, Z9, Z9
	INCQ DX
	CMPQ DX, 16(R9)
	JLT  slList
slAdded:
	VPMINUD Z25, Z1, Z6
	VPERMI2PS Z17, Z16, Z6
	VADDPS Z6, Z9, Z6
	VCMPPS $14, Z29, Z6, K1, K4
	KMOVW K4, AX
	VPCOMPRESSD.Z Z0, K4, Z0
	VPCOMPRESSD.Z Z1, K4, Z1
	VCOMPRESSPS.Z Z9, K4, Z9
	VMOVDQU32 Z0, (R10)(R12*4)
	VMOVDQU32 Z1, (R11)(R12*4)
	VMOVUPS Z9, (R8)(R12*4)
	POPCNTL AX, AX
	ADDQ AX, R12
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JG   slLoop

	MOVQ R10, SI
	MOVQ R11, DI
	MOVQ R8, DX
	MOVQ R12, CX
	MOVQ 24(R9), R13                 // halves
	MOVQ 32(R9), AX
	VMOVUPS (AX), Z20                // k of each bucket
	MOVQ 40(R9), AX
	VMOVUPS (AX), Z22                // 1/0 to 1/15
	VMOVUPS 64(AX), Z23              // 1/16 to 1/31
	VBROADCASTSS 4(AX), Z24          // 1
	VBROADCASTSS 56(R9), Z26         // weight
	VBROADCASTSS 60(R9), Z27         // plus
	XORQ R12, R12
slBuckets:
	TESTQ CX, CX
	JLE  slDone
	MASK
	VMOVDQU32.Z (SI), K1, Z0
	VMOVDQU32.Z (DI), K1, Z1
	VMOVUPS.Z (DX), K1, Z6
	BUCKETS(R13)
	VPANDD Z30, Z0, Z3
	VPSLLD $2, Z3, Z3
	VPSRLVD Z3, Z2, Z2
	VPERMPS Z20, Z2, Z2              // indexes by the lowest 4 bits
	VPCMPUD $5, Z25, Z1, K1, K3      // frequencies from 31 on are not in the tables
	VPMINUD Z25, Z1, Z4
	VPERMI2PS Z23, Z22, Z4
	VMULPS Z4, Z2, Z2
	VADDPS Z24, Z2, Z2
	VDIVPS Z2, Z26, Z2
	VADDPS Z27, Z2, Z2
	VMOVAPS Z18, K3, Z2
	VADDPS Z2, Z6, Z2
	VCMPPS $14, Z29, Z2, K1, K4
	KEEP
	JMP  slBuckets
slDone:
	MOVQ R12, ret+56(FP)
	VZEROUPPER
	RET

// func betweenAVX512(docs, tfs *uint32, sums *float32, n int, low, high float32, outDocs, outTFs *uint32, outSums *float32) int
// keeps the postings with sums above low and not above high.
TEXT ·betweenAVX512(SB), NOSPLIT, $0-72
	MOVQ docs+0(FP), SI
	MOVQ tfs+8(FP), DI
	MOVQ sums+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSS low+32(FP), Z20
	VBROADCASTSS high+36(FP), Z21
	MOVQ outDocs+40(FP), R10
	MOVQ outTFs+48(FP), R11
	MOVQ outSums+56(FP), R8
	XORQ R12, R12
beLoop:
	TESTQ CX, CX
	JLE  beDone
	MASK
	VMOVUPS.Z (DX), K1, Z2
	VMOVDQU32.Z (SI), K1, Z0
	VMOVDQU32.Z (DI), K1, Z1
	VCMPPS $14, Z20, Z2, K1, K1
	VCMPPS $2, Z21, Z2, K1, K4
	KEEP
	JMP  beLoop
beDone:
	MOVQ R12, ret+64(FP)
	VZEROUPPER
	RET

// func keepStartsAVX512(starts, ends, places, until *uint32, n int, place uint32) int
// writes each start to the output. If it is not kept, the next one overwrites it.
TEXT ·keepStartsAVX512(SB), NOSPLIT, $0-56
	MOVQ starts+0(FP), SI
	MOVQ ends+8(FP), R10
	MOVQ places+16(FP), DI
	MOVQ until+24(FP), R11
	MOVQ n+32(FP), CX
	MOVL place+40(FP), BX
	MOVQ SI, R8                      // the next start
	MOVQ SI, R9                      // end of the output
	MOVQ DI, DX                      // the next place
ksNext:
	MOVL (R10), R12
	LEAQ (SI)(R12*4), R12
	MOVL (R11), R13
	LEAQ (DI)(R13*4), R13
	CMPQ R8, R12
	JAE  ksEnd
	MOVQ R13, AX
	SUBQ DX, AX
	SHRQ $2, AX
	CMPQ AX, $16
	JA   ksMany
	MOVL $0xffff, R15
	BZHIL AX, R15, AX
	KMOVW AX, K1
	VMOVDQU32.Z (DX), K1, Z0
ksStart:
	MOVL (R8), AX
	MOVL AX, (R9)
	ADDL BX, AX
	VPBROADCASTD AX, Z1
	VPCMPEQD Z1, Z0, K1, K2
	XORL R15, R15
	KORTESTW K2, K2
	SETNE R15
	LEAQ (R9)(R15*4), R9
	ADDQ $4, R8
	CMPQ R8, R12
	JB   ksStart
ksEnd:
	MOVQ R13, DX
	MOVQ R9, AX
	SUBQ SI, AX
	SHRQ $2, AX
	MOVL AX, (R10)
	ADDQ $4, R10
	ADDQ $4, R11
	DECQ CX
	JNZ  ksNext
	MOVQ R9, AX
	SUBQ SI, AX
	SHRQ $2, AX
	MOVQ AX, ret+48(FP)
	VZEROUPPER
	RET

	// More than one vector of places. Starts and places increase, so vectors of places below a
	// start are not needed again.
ksMany:
	MOVL (R8), AX
	MOVL AX, (R9)
	ADDL BX, AX
	VPBROADCASTD AX, Z1
ksVector:
	MOVQ R13, R15
	SUBQ DX, R15
	SHRQ $2, R15
	CMPQ R15, $16
	JBE  ksLast
	CMPL 60(DX), AX
	JAE  ksWhole
	ADDQ $64, DX
	JMP  ksVector
ksWhole:
	MOVL $16, R15
ksLast:
	MOVL $0xffff, AX
	BZHIL R15, AX, AX
	KMOVW AX, K1
	VMOVDQU32.Z (DX), K1, Z0
	VPCMPEQD Z1, Z0, K1, K2
	XORL R15, R15
	KORTESTW K2, K2
	SETNE R15
	LEAQ (R9)(R15*4), R9
	ADDQ $4, R8
	CMPQ R8, R12
	JB   ksMany
	JMP  ksEnd

// func occupiedAVX512(set *uint64, n int, out *uint64)
// sets a bit for each group of 16 bits that are not all 0, 64 groups at a time.
TEXT ·occupiedAVX512(SB), NOSPLIT, $0-24
	MOVQ set+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ out+16(FP), DI
ocNext:
	VMOVDQU64 (SI), Z0
	VMOVDQU64 64(SI), Z1
	VPTESTMW Z0, Z0, K1
	VPTESTMW Z1, Z1, K2
	KUNPCKDQ K1, K2, K1
	KMOVQ K1, (DI)
	ADDQ $128, SI
	ADDQ $8, DI
	DECQ CX
	JNZ  ocNext
	VZEROUPPER
	RET

//go:build !purego

#include "textflag.h"
#include "fetch_amd64.h"

// The kernels of avx512_amd64.s, for eight postings at a time. Registers of ones and zeros take the
// place of masks. Kept lanes are moved to the front by a permutation from a table (·compress).
// 1/frequency is a division, which gives the same bits as the table of AVX-512.

DATA lanes8<>+0(SB)/8, $0x0000000100000000
DATA lanes8<>+8(SB)/8, $0x0000000300000002
DATA lanes8<>+16(SB)/8, $0x0000000500000004
DATA lanes8<>+24(SB)/8, $0x0000000700000006
GLOBL lanes8<>(SB), RODATA|NOPTR, $32

// Eight lanes of ones, then eight of zeros. Eight lanes from offset 4*(8-n) on begin with n ones.
DATA window<>+0(SB)/8, $0xffffffffffffffff
DATA window<>+8(SB)/8, $0xffffffffffffffff
DATA window<>+16(SB)/8, $0xffffffffffffffff
DATA window<>+24(SB)/8, $0xffffffffffffffff
DATA window<>+32(SB)/8, $0
DATA window<>+40(SB)/8, $0
DATA window<>+48(SB)/8, $0
DATA window<>+56(SB)/8, $0
GLOBL window<>(SB), RODATA|NOPTR, $64

// 7, 15, ..., 127: the index of the last element of each group of eight.
DATA ends<>+0(SB)/8, $0x0000000f00000007
DATA ends<>+8(SB)/8, $0x0000001f00000017
DATA ends<>+16(SB)/8, $0x0000002f00000027
DATA ends<>+24(SB)/8, $0x0000003f00000037
DATA ends<>+32(SB)/8, $0x0000004f00000047
DATA ends<>+40(SB)/8, $0x0000005f00000057
DATA ends<>+48(SB)/8, $0x0000006f00000067
DATA ends<>+56(SB)/8, $0x0000007f00000077
GLOBL ends<>(SB), RODATA|NOPTR, $64

// SPREAD broadcasts a number to all lanes of y. It uses VMOVD because MOVD is an SSE instruction,
// which costs tens of cycles while upper halves of registers are in use.
#define SPREAD(number, x, y) \
	MOVL number, AX; \
	VMOVD AX, x; \
	VPBROADCASTD x, y

// MASK sets the first CX lanes of Y15 to ones, at most all 8, and the others to zeros.
#define MASK \
	MOVL $8, AX; \
	CMPQ CX, AX; \
	CMOVQLT CX, AX; \
	NEGQ AX; \
	LEAQ window<>+32(SB), BX; \
	VMOVDQU (BX)(AX*4), Y15

// FLOATS converts unsigned integers to floats, rounded once. It combines the upper and the lower 16
// bits with exponents to floats, subtracts the exponents, and adds both.
#define FLOATS(from, to, temp) \
	VPBLENDW $0xaa, Y12, from, temp; \
	VPSRLD $16, from, to; \
	VPBLENDW $0xaa, Y13, to, to; \
	VSUBPS Y14, to, to; \
	VADDPS temp, to, to

// CONSTANTS loads the constants of FLOATS, 1.0 (Y10), and the address of ·compress (R14).
#define CONSTANTS \
	SPREAD($0x4b000000, X12, Y12); \
	SPREAD($0x53000000, X13, Y13); \
	SPREAD($0x53000080, X14, Y14); \
	SPREAD($0x3f800000, X10, Y10); \
	LEAQ ·compress(SB), R14

// FETCH loads eight numbers of a table into y. Their indexes are at offset(at).
#define FETCH(at, offset, table, x, y, temp) \
	FETCH4(at, offset, table, x); \
	FETCH4(at, offset+16, table, temp); \
	VINSERTI128 $1, temp, y, y

// MODEL loads the fields of a Kernel (R9) that POSTINGS needs.
#define MODEL \
	CONSTANTS; \
	VBROADCASTSS 0(R9), Y8; \
	VBROADCASTSS 4(R9), Y9; \
	MOVQ 24(R9), R13; \
	MOVQ 32(R9), DX; \
	SPREAD(40(R9), X11, Y11)

// POSTINGS loads documents (Y0) and frequencies (Y1) and computes x (Y2). If there are length
// classes, it jumps to the label classes, which jumps back to length.
#define POSTINGS \
	MASK; \
	VPMASKMOVD (SI), Y15, Y0; \
	VPMASKMOVD (DI), Y15, Y1; \
	VMOVDQA Y15, Y4; \
	TESTQ R13, R13; \
	JNZ  classes; \
	CMPQ CX, $8; \
	JLT  few; \
	FETCH(SI, 0, R8, X5, Y5, X3); \
	JMP  floats; \
few: \
	VPGATHERDD Y4, (R8)(Y0*4), Y5; \
floats: \
	FLOATS(Y5, Y2, Y3); \
	VMULPS Y9, Y2, Y2; \
	VADDPS Y8, Y2, Y2; \
length: \
	FLOATS(Y1, Y3, Y4); \
	VDIVPS Y3, Y10, Y3; \
	VMULPS Y3, Y2, Y2

// CLASSES loads a + b*length by the classes of the documents. If lanes are empty, it gathers four
// bytes for each class. For the last documents of the index it gathers the last four and shifts
// them, in order not to read beyond the end.
#define CLASSES \
classes: \
	CMPQ CX, $8; \
	JLT  fewClasses; \
	CLASS4(0, X2); \
	CLASS4(16, X3); \
	VINSERTI128 $1, X3, Y2, Y2; \
	JMP  length; \
fewClasses: \
	VPMINUD Y11, Y0, Y3; \
	VPGATHERDD Y4, (R13)(Y3*1), Y5; \
	VPSUBD Y3, Y0, Y3; \
	VPSLLD $3, Y3, Y3; \
	VPSRLVD Y3, Y5, Y3; \
	VPSLLD $24, Y3, Y3; \
	VPSRLD $24, Y3, Y3; \
	VMOVDQA Y15, Y4; \
	VGATHERDPS Y4, (DX)(Y3*4), Y2; \
	JMP  length

// SCORES computes scores from x (Y2), with weight and plus of the Kernel.
#define SCORES(temp) \
	VADDPS Y10, Y2, Y2; \
	VBROADCASTSS 8(R9), temp; \
	VDIVPS Y2, temp, Y2; \
	VBROADCASTSS 12(R9), temp; \
	VADDPS temp, Y2, Y2

// MOVER loads the permutation that moves the lanes in the bit mask AX to the front into y.
#define MOVER(y) VPMOVZXBD (R14)(AX*8), y

// STORE writes the lanes that are in use, and nothing after them.
#define STORE(y, to) \
	CMPQ CX, $8; \
	JLT  3(PC); \
	VMOVDQU y, to; \
	JMP  2(PC); \
	VPMASKMOVD y, Y15, to

// func xsAVX2(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32)
// out[i] = (a + b*lengths[docs[i]]) * (1/tfs[i])
TEXT ·xsAVX2(SB), NOSPLIT, $0-48
	MOVQ docs+0(FP), SI
	MOVQ tfs+8(FP), DI
	MOVQ lengths+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ m+32(FP), R9
	MOVQ out+40(FP), R10
	MODEL
loop:
	TESTQ CX, CX
	JLE  done
	POSTINGS
	STORE(Y2, (R10))
	ADDQ $32, SI
	ADDQ $32, DI
	ADDQ $32, R10
	SUBQ $8, CX
	JMP  loop
	CLASSES
done:
	VZEROUPPER
	RET

// func scoresAVX2(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32)
// out[i] = weight/(1+x) + plus
TEXT ·scoresAVX2(SB), NOSPLIT, $0-48
	MOVQ docs+0(FP), SI
	MOVQ tfs+8(FP), DI
	MOVQ lengths+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ m+32(FP), R9
	MOVQ out+40(FP), R10
	MODEL
loop:
	TESTQ CX, CX
	JLE  done
	POSTINGS
	SCORES(Y3)
	STORE(Y2, (R10))
	ADDQ $32, SI
	ADDQ $32, DI
	ADDQ $32, R10
	SUBQ $8, CX
	JMP  loop
	CLASSES
done:
	VZEROUPPER
	RET

// func pickAVX2(docs, tfs, lengths *uint32, n int, m *Kernel, need, limit float32, outDocs *uint32, outScores *float32) int
// keeps the postings with scores above need: documents and scores.
TEXT ·pickAVX2(SB), NOSPLIT, $0-72
	MOVQ docs+0(FP), SI
	MOVQ tfs+8(FP), DI
	MOVQ lengths+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ m+32(FP), R9
	MOVQ outDocs+48(FP), R10
	MOVQ outScores+56(FP), R11
	VBROADCASTSS need+40(FP), Y7
	VBROADCASTSS limit+44(FP), Y6
	MODEL
	XORQ R12, R12
loop:
	TESTQ CX, CX
	JLE  done
	POSTINGS
	VCMPPS $2, Y6, Y2, Y3            // only these are divided
	VPAND Y15, Y3, Y15
	VPTEST Y15, Y15
	JZ   next
	SCORES(Y3)
	VCMPPS $14, Y7, Y2, Y3
	VPAND Y15, Y3, Y3
	VMOVMSKPS Y3, AX
	MOVER(Y3)
	VPERMD Y0, Y3, Y0
	VPERMPS Y2, Y3, Y2
	VMOVDQU Y0, (R10)(R12*4)
	VMOVUPS Y2, (R11)(R12*4)
	POPCNTL AX, AX
	ADDQ AX, R12
next:
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JMP  loop
	CLASSES
done:
	MOVQ R12, ret+64(FP)
	VZEROUPPER
	RET

// OF16 replaces the lanes of y by entries of a table of 16 floats, selected by their lowest 4 bits.
// The registers low and high are the halves of the table.
#define OF16(low, high, y, t1, t2) \
	VPERMPS low, y, t1; \
	VPERMPS high, y, t2; \
	VPSLLD $28, y, y; \
	VBLENDVPS y, t2, t1, y

// BUCKETS loads the length buckets of the documents (Y0, also at SI) into the lowest 4 bits of Y2.
#define BUCKETS(halves, few, found) \
	CMPQ CX, $8; \
	JLT  few; \
	HALF4(0, halves, X2); \
	HALF4(16, halves, X3); \
	VINSERTI128 $1, X3, Y2, Y2; \
	JMP  found; \
few: \
	VPSRLD $1, Y0, Y3; \
	VMOVDQA Y15, Y4; \
	VPGATHERDD Y4, (halves)(Y3*1), Y2; \
found: \
	VPSLLD $31, Y0, Y3; \
	VPSRLD $29, Y3, Y3; \
	VPSRLVD Y3, Y2, Y2

// func siftHalvesAVX2(docs, tfs *uint32, halves *uint8, n int, m *Kernel, k *float32, limit float32, outDocs, outTFs *uint32) int
// keeps the postings with k * (1/tf) <= limit, where k is that of the document's length bucket: all
// postings with x <= limit are among them.
TEXT ·siftHalvesAVX2(SB), NOSPLIT, $0-80
	MOVQ docs+0(FP), SI
	MOVQ tfs+8(FP), DI
	MOVQ halves+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ k+40(FP), R10
	VMOVUPS (R10), Y8
	VMOVUPS 32(R10), Y9
	VBROADCASTSS limit+48(FP), Y6
	MOVQ outDocs+56(FP), R10
	MOVQ outTFs+64(FP), R11
	CONSTANTS
	XORQ R12, R12
loop:
	TESTQ CX, CX
	JLE  done
	MASK
	VPMASKMOVD (SI), Y15, Y0
	VPMASKMOVD (DI), Y15, Y1
	BUCKETS(R8, few, found)
	OF16(Y8, Y9, Y2, Y3, Y4)
	FLOATS(Y1, Y3, Y4)
	VDIVPS Y3, Y10, Y3
	VMULPS Y3, Y2, Y2
	VCMPPS $2, Y6, Y2, Y3
	VPAND Y15, Y3, Y3
	VMOVMSKPS Y3, AX
	MOVER(Y3)
	VPERMD Y0, Y3, Y0
	VPERMD Y1, Y3, Y1
	VMOVDQU Y0, (R10)(R12*4)
	VMOVDQU Y1, (R11)(R12*4)
	POPCNTL AX, AX
	ADDQ AX, R12
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JMP  loop
done:
	MOVQ R12, ret+72(FP)
	VZEROUPPER
	RET

// EMIT writes documents (Y0) and sums (Y1) as candidates to (R10)(R12*8), for the lanes in the bit
// mask AX.
#define EMIT \
	MOVER(Y3); \
	VPERMD Y0, Y3, Y0; \
	VPERMD Y1, Y3, Y1; \
	VPUNPCKLDQ Y0, Y1, Y3; \
	VPUNPCKHDQ Y0, Y1, Y4; \
	VPERM2I128 $0x20, Y4, Y3, Y0; \
	VPERM2I128 $0x31, Y4, Y3, Y1; \
	VMOVDQU Y0, (R10)(R12*8); \
	VMOVDQU Y1, 32(R10)(R12*8); \
	POPCNTL AX, AX; \
	ADDQ AX, R12

// func filterAVX2(docs *uint32, scores *float32, n int, need float32, out *Candidate) int
// keeps the documents with scores above need.
TEXT ·filterAVX2(SB), NOSPLIT, $0-48
	MOVQ docs+0(FP), SI
	MOVQ scores+8(FP), DI
	MOVQ n+16(FP), CX
	VBROADCASTSS need+24(FP), Y7
	MOVQ out+32(FP), R10
	LEAQ ·compress(SB), R14
	XORQ R12, R12
loop:
	TESTQ CX, CX
	JLE  done
	MASK
	VPMASKMOVD (DI), Y15, Y1
	VCMPPS $14, Y7, Y1, Y3
	VPAND Y15, Y3, Y3
	VMOVMSKPS Y3, AX
	TESTL AX, AX
	JZ   next
	VPMASKMOVD (SI), Y15, Y0
	EMIT
next:
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JMP  loop
done:
	MOVQ R12, ret+40(FP)
	VZEROUPPER
	RET

// func scanAVX2(sums *float32, n int, base uint32, need float32, out *Candidate) int
// keeps the documents with sums above need that are not minus zero, and sets all sums to minus
// zero, which means that no score was added.
TEXT ·scanAVX2(SB), NOSPLIT, $0-40
	MOVQ sums+0(FP), DI
	MOVQ n+8(FP), CX
	MOVL base+16(FP), AX
	VMOVD AX, X8
	VPBROADCASTD X8, Y8
	VBROADCASTSS need+20(FP), Y7
	MOVQ out+24(FP), R10
	VPADDD lanes8<>(SB), Y8, Y8
	SPREAD($8, X9, Y9)
	SPREAD($0x80000000, X6, Y6)
	LEAQ ·compress(SB), R14
	XORQ R12, R12
loop:
	TESTQ CX, CX
	JLE  done
	MASK
	VPMASKMOVD (DI), Y15, Y1
	VPCMPEQD Y6, Y1, Y2              // no score was added
	VCMPPS $14, Y7, Y1, Y3
	VPANDN Y3, Y2, Y3
	VPAND Y15, Y3, Y3
	STORE(Y6, (DI))
	VMOVMSKPS Y3, AX
	TESTL AX, AX
	JZ   next
	VMOVDQA Y8, Y0
	EMIT
next:
	VPADDD Y9, Y8, Y8
	ADDQ $32, DI
	SUBQ $8, CX
	JMP  loop
done:
	MOVQ R12, ret+32(FP)
	VZEROUPPER
	RET

// func keepAVX2(found *Candidate, n int, need float32) int
// moves the candidates with sums above need to the front. n is a multiple of 8. It never writes
// ahead of what it has read.
TEXT ·keepAVX2(SB), NOSPLIT, $0-32
	MOVQ found+0(FP), SI
	MOVQ n+8(FP), CX
	VBROADCASTSS need+16(FP), Y7
	LEAQ ·compress(SB), R14
	MOVQ SI, DI
loop:
	SUBQ $4, CX
	JLT  done
	VMOVDQU (SI), Y0
	VPSHUFD $0xa0, Y0, Y1            // the sums, each twice
	VCMPPS $14, Y7, Y1, Y1
	VMOVMSKPS Y1, AX
	MOVER(Y1)
	VPERMD Y0, Y1, Y0
	VMOVDQU Y0, (DI)
	POPCNTL AX, AX
	LEAQ (DI)(AX*4), DI
	ADDQ $32, SI
	JMP  loop
done:
	SUBQ found+0(FP), DI
	SHRQ $3, DI
	MOVQ DI, ret+24(FP)
	VZEROUPPER
	RET

// func locateAVX2(block, docs *uint32, n int, last uint32, at, places *uint32) (found, used int)
// counts, for each document, the groups of eight of the block that end before it, then searches the
// next group.
TEXT ·locateAVX2(SB), NOSPLIT, $0-64
	MOVQ block+0(FP), SI
	MOVQ docs+8(FP), DI
	MOVQ n+16(FP), CX
	MOVL last+24(FP), R9
	MOVQ at+32(FP), R10
	MOVQ places+40(FP), R11
	SPREAD($0x80000000, X6, Y6)      // XOR with it allows signed comparisons of unsigned numbers
	VMOVDQU ends<>+0(SB), Y2
	VPCMPEQD Y4, Y4, Y4
	VPGATHERDD Y4, (SI)(Y2*4), Y0
	VMOVDQU ends<>+32(SB), Y2
	VPCMPEQD Y4, Y4, Y4
	VPGATHERDD Y4, (SI)(Y2*4), Y1
	VPXOR Y6, Y0, Y0
	VPXOR Y6, Y1, Y1
	XORQ R8, R8
	XORQ R12, R12
loop:
	CMPL (DI)(R8*4), R9
	JHI  done
	VPBROADCASTD (DI)(R8*4), Y2
	VPXOR Y6, Y2, Y3
	VPCMPGTD Y0, Y3, Y4
	VPCMPGTD Y1, Y3, Y5
	VPACKSSDW Y5, Y4, Y4
	VPMOVMSKB Y4, AX                 // two bits per lane
	POPCNTL AX, AX
	SHLL $2, AX
	ANDL $127, AX
	VPCMPEQD (SI)(AX*4), Y2, Y3
	VMOVMSKPS Y3, BX
	TZCNTL BX, DX
	ADDL AX, DX
	MOVL R8, (R10)(R12*4)
	MOVL DX, (R11)(R12*4)
	CMPL BX, $1
	SBBQ $-1, R12
	INCQ R8
	CMPQ R8, CX
	JLT  loop
done:
	MOVQ R12, found+48(FP)
	MOVQ R8, used+56(FP)
	VZEROUPPER
	RET

// func mergeAVX2(docs *uint32, scores *float32, n int, found *Candidate, m int)
// adds the scores of a list to those of the candidates that are in it.
TEXT ·mergeAVX2(SB), NOSPLIT, $0-40
	MOVQ docs+0(FP), SI
	MOVQ scores+8(FP), DI
	MOVQ n+16(FP), R13
	MOVQ found+24(FP), R10
	MOVQ m+32(FP), R11
	TESTQ R11, R11
	JLE  done
	XORQ R8, R8                      // index in the list
loop:
	MOVL 4(R10), DX
	VPBROADCASTD 4(R10), Y1
skip:
	LEAQ 8(R8), R9
	CMPQ R9, R13
	JGT  tail
	CMPL DX, -4(SI)(R9*4)
	JLS  look
	MOVQ R9, R8
	JMP  skip
look:
	// Whether the list has the candidate is unpredictable: no branch.
	VPCMPEQD (SI)(R8*4), Y1, Y0
	VMOVMSKPS Y0, AX
	TZCNTL AX, BX
	ANDL $7, BX
	ADDQ R8, BX
	MOVL (R10), R9
	VMOVD R9, X2
	VADDSS (DI)(BX*4), X2, X2
	VMOVD X2, BX
	TESTL AX, AX
	CMOVLNE BX, R9
	MOVL R9, (R10)
	ADDQ $8, R10
	DECQ R11
	JNZ  loop
done:
	VZEROUPPER
	RET
tail:
	MOVQ R13, CX
	SUBQ R8, CX
	JLE  done
	MASK
	VPMASKMOVD (SI)(R8*4), Y15, Y0
	VPCMPEQD Y0, Y1, Y0
	VPAND Y15, Y0, Y0
	VMOVMSKPS Y0, AX
	TESTL AX, AX
	JZ   next
	TZCNTL AX, AX
	ADDQ R8, AX
	VMOVSS (R10), X2
	VADDSS (DI)(AX*4), X2, X2
	VMOVSS X2, (R10)
next:
	ADDQ $8, R10
	DECQ R11
	JNZ  loop
	VZEROUPPER
	RET

// LEVELS adds the units of 64 levels, two in each byte of Y0, to sums: those of the lower half
// bytes to low, those of the upper ones to high.
#define LEVELS(low, high) \
	VPSRLW $4, Y0, Y1; \
	VPAND Y8, Y0, Y0; \
	VPAND Y8, Y1, Y1; \
	VPSHUFB Y0, Y6, Y0; \
	VPSHUFB Y1, Y6, Y1; \
	VPADDSB Y0, low, low; \
	VPADDSB Y1, high, high

// REACH writes a bit for each of 32 bytes, which is set if the byte is at least need.
#define REACH(sums, to) \
	VPCMPGTB sums, Y7, sums; \
	VPMOVMSKB sums, AX; \
	NOTL AX; \
	MOVL AX, to

// func findPlacesAVX2(maps **uint8, units *[NumLevels]int8, lists, from, n int, need int8, out *uint64)
// adds up, at each place, the units of the levels of all lists, and sets a bit if the sum is at
// least need.
TEXT ·findPlacesAVX2(SB), NOSPLIT, $0-56
	MOVQ maps+0(FP), SI
	MOVQ units+8(FP), DI
	MOVQ lists+16(FP), CX
	MOVQ from+24(FP), R8
	MOVQ n+32(FP), R9
	VPBROADCASTB need+40(FP), Y7
	MOVQ out+48(FP), R10
	SPREAD($0x0f0f0f0f, X8, Y8)
	SHLQ $6, R8
stretch:
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	XORQ DX, DX
	MOVQ DI, R11
list:
	MOVQ (SI)(DX*8), AX
	VBROADCASTI128 (R11), Y6
	VMOVDQU (AX)(R8*1), Y0
	LEVELS(Y2, Y3)
	VMOVDQU 32(AX)(R8*1), Y0
	LEVELS(Y4, Y5)
	ADDQ $16, R11
	INCQ DX
	CMPQ DX, CX
	JLT  list
	REACH(Y2, 0(R10))
	REACH(Y4, 4(R10))
	REACH(Y3, 8(R10))
	REACH(Y5, 12(R10))
	ADDQ $16, R10
	ADDQ $64, R8
	DECQ R9
	JNZ  stretch
	VZEROUPPER
	RET

// func keepBitsAVX2(docs, at *uint32, n int, bits *uint64, shift int, outDocs, outAt *uint32) int
// keeps the documents whose group of 1<<shift documents has its bit set, with their elements of at.
TEXT ·keepBitsAVX2(SB), NOSPLIT, $32-64
	MOVQ docs+0(FP), SI
	MOVQ at+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ bits+24(FP), R8
	MOVQ shift+32(FP), AX
	MOVQ outDocs+40(FP), R10
	MOVQ outAt+48(FP), R11
	VMOVD AX, X9
	ADDL $5, AX
	VMOVD AX, X10
	LEAQ ·compress(SB), R14
	XORQ R12, R12
loop:
	TESTQ CX, CX
	JLE  done
	MASK
	VPMASKMOVD (SI), Y15, Y0
	VPMASKMOVD (DI), Y15, Y1
	VPSRLD X10, Y0, Y3               // index of the 32 bits
	VMOVDQU Y3, 0(SP)
	FETCH(SP, 0, R8, X2, Y2, X3)
	VPSRLD X9, Y0, Y3
	VPSLLD $27, Y3, Y3               // which of them
	VPSRLD $27, Y3, Y3
	VPSRLVD Y3, Y2, Y2
	VPSLLD $31, Y2, Y2
	VPAND Y15, Y2, Y2
	VMOVMSKPS Y2, AX
	MOVER(Y2)
	VPERMD Y0, Y2, Y0
	VPERMD Y1, Y2, Y1
	VMOVDQU Y0, (R10)(R12*4)
	VMOVDQU Y1, (R11)(R12*4)
	POPCNTL AX, AX
	ADDQ AX, R12
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JMP  loop
done:
	MOVQ R12, ret+56(FP)
	VZEROUPPER
	RET

// KEEP appends documents (Y0), frequencies (Y1) and sums of the lanes that test selects.
#define KEEP(sums, test) \
	VPAND Y15, test, test; \
	VMOVMSKPS test, AX; \
	MOVER(test); \
	VPERMD Y0, test, Y0; \
	VPERMD Y1, test, Y1; \
	VPERMPS sums, test, sums; \
	VMOVDQU Y0, (R10)(R12*4); \
	VMOVDQU Y1, (R11)(R12*4); \
	VMOVUPS sums, (R8)(R12*4); \
	POPCNTL AX, AX; \
	ADDQ AX, R12

// func siftLevelsAVX2(docs, tfs *uint32, n int, s *LevelSieve, outDocs, outTFs *uint32, outSums *float32) int
// keeps the postings for which the sum of two bounds is above the cut, with these sums. One bound
// is the score by the shortest length of the document's bucket, the other the best scores of the
// other lists at the document's place. A first pass takes the shortest length of all documents, and
// a second pass the buckets of what is left. So no branch depends on the postings, and few lanes
// are empty.
TEXT ·siftLevelsAVX2(SB), NOSPLIT, $64-64
	MOVQ docs+0(FP), SI
	MOVQ tfs+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ s+24(FP), R9
	MOVQ outDocs+32(FP), R10
	MOVQ outTFs+40(FP), R11
	MOVQ outSums+48(FP), R8
	VBROADCASTSS 64(R9), Y14         // cut
	SPREAD($31, X13, Y13)
	LEAQ ·compress(SB), R14
	XORQ R12, R12
loop:
	MASK
	VPMASKMOVD (SI), Y15, Y0
	VPMASKMOVD (DI), Y15, Y1
	VPSRLD $11, Y0, Y2               // stretch
	VPSLLD $4, Y2, Y2
	VPSLLD $22, Y0, Y3
	VPSRLD $28, Y3, Y3
	VPOR Y3, Y2, Y2                  // four bytes of levels
	VPSLLD $26, Y0, Y3
	VPSRLD $30, Y3, Y3
	VPSLLD $3, Y3, Y3                // shift to the byte
	VPSLLD $21, Y0, Y4
	VPSRLD $31, Y4, Y4
	VPSLLD $2, Y4, Y4                // shift to the half byte
	VPOR Y4, Y3, Y3
	VPXOR Y5, Y5, Y5
	VMOVDQU Y2, 0(SP)                // unused lanes have index 0
	VPMINUD Y13, Y1, Y2
	VMOVDQU Y2, 32(SP)
	XORQ DX, DX
list:
	MOVQ 0(R9), AX
	MOVQ (AX)(DX*8), R13
	FETCH(SP, 0, R13, X6, Y6, X7)
	VPSRLVD Y3, Y6, Y6
	MOVQ DX, AX
	SHLQ $6, AX
	ADDQ 8(R9), AX
	OF16((AX), 32(AX), Y6, Y7, Y8)
	VADDPS Y6, Y5, Y5
	INCQ DX
	CMPQ DX, 16(R9)
	JLT  list
	MOVQ 48(R9), R13
	FETCH(SP, 32, R13, X7, Y7, X6)    // best score of each frequency
	VADDPS Y7, Y5, Y6
	VCMPPS $14, Y14, Y6, Y3
	KEEP(Y5, Y3)
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JG   loop

	MOVQ R10, SI
	MOVQ R11, DI
	MOVQ R8, DX
	MOVQ R12, CX
	MOVQ 48(R9), AX
	VBROADCASTSS 124(AX), Y12        // best score of frequencies from 31 on
	MOVQ 24(R9), R13                 // halves
	MOVQ 32(R9), AX
	VMOVUPS (AX), Y8                 // k of each bucket
	VMOVUPS 32(AX), Y9
	SPREAD($0x3f800000, X10, Y10)
	VBROADCASTSS 56(R9), Y11         // weight
	VBROADCASTSS 60(R9), Y7          // plus
	XORQ R12, R12
buckets:
	TESTQ CX, CX
	JLE  done
	MASK
	VPMASKMOVD (SI), Y15, Y0
	VPMASKMOVD (DI), Y15, Y1
	VPMASKMOVD (DX), Y15, Y5
	BUCKETS(R13, few, found)
	OF16(Y8, Y9, Y2, Y3, Y4)
	VPMINUD Y13, Y1, Y4
	VPCMPEQD Y13, Y4, Y6             // frequencies from 31 on are not in the tables
	VCVTDQ2PS Y4, Y4
	VDIVPS Y4, Y10, Y4
	VMULPS Y4, Y2, Y2
	VADDPS Y10, Y2, Y2
	VDIVPS Y2, Y11, Y2
	VADDPS Y7, Y2, Y2
	VBLENDVPS Y6, Y12, Y2, Y2
	VADDPS Y2, Y5, Y2
	VCMPPS $14, Y14, Y2, Y3
	KEEP(Y2, Y3)
	ADDQ $32, SI
	ADDQ $32, DI
	ADDQ $32, DX
	SUBQ $8, CX
	JMP  buckets
done:
	MOVQ R12, ret+56(FP)
	VZEROUPPER
	RET

// func betweenAVX2(docs, tfs *uint32, sums *float32, n int, low, high float32, outDocs, outTFs *uint32, outSums *float32) int
// keeps the postings with sums above low and not above high.
TEXT ·betweenAVX2(SB), NOSPLIT, $0-72
	MOVQ docs+0(FP), SI
	MOVQ tfs+8(FP), DI
	MOVQ sums+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSS low+32(FP), Y6
	VBROADCASTSS high+36(FP), Y7
	MOVQ outDocs+40(FP), R10
	MOVQ outTFs+48(FP), R11
	MOVQ outSums+56(FP), R8
	LEAQ ·compress(SB), R14
	XORQ R12, R12
loop:
	TESTQ CX, CX
	JLE  done
	MASK
	VPMASKMOVD (DX), Y15, Y2
	VPMASKMOVD (SI), Y15, Y0
	VPMASKMOVD (DI), Y15, Y1
	VCMPPS $14, Y6, Y2, Y3
	VCMPPS $2, Y7, Y2, Y4
	VPAND Y4, Y3, Y3
	KEEP(Y2, Y3)
	ADDQ $32, SI
	ADDQ $32, DI
	ADDQ $32, DX
	SUBQ $8, CX
	JMP  loop
done:
	MOVQ R12, ret+64(FP)
	VZEROUPPER
	RET

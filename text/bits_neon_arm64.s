//go:build !purego

#include "textflag.h"

// The kernels of bits_avx2_amd64.s, with four registers of 16 bytes.

// The bit of each of eight bytes, twice.
DATA weights<>+0(SB)/8, $0x8040201008040201
DATA weights<>+8(SB)/8, $0x8040201008040201
GLOBL weights<>(SB), RODATA|NOPTR, $16

// SPREAD broadcasts a byte to all lanes of v.
#define SPREAD(byte, v) \
	MOVD byte, R4; \
	VDUP R4, v.B16

// LOAD loads the first n bytes of p, at most 64, followed by zeros, into V0 to V3. It may read
// beyond the last byte within the same page; otherwise the bytes are copied to the stack first.
#define LOAD \
	MOVD to+0(FP), R0; \
	MOVD p+8(FP), R1; \
	MOVD n+16(FP), R2; \
	MOVD $weights<>(SB), R4; \
	VLD1 (R4), [V31.B16]; \
	CMP  $64, R2; \
	BEQ  whole; \
	VEOR V0.B16, V0.B16, V0.B16; \
	VEOR V1.B16, V1.B16, V1.B16; \
	VEOR V2.B16, V2.B16, V2.B16; \
	VEOR V3.B16, V3.B16, V3.B16; \
	CBZ  R2, loaded; \
	AND  $4095, R1, R4; \
	CMP  $4032, R4; \
	BLS  part; \
	MOVD $room-64(SP), R5; \
	VST1 [V0.B16, V1.B16, V2.B16, V3.B16], (R5); \
	MOVD $0, R4; \
copy: \
	MOVBU (R1)(R4), R6; \
	MOVB R6, (R5)(R4); \
	ADD  $1, R4, R4; \
	CMP  R2, R4; \
	BLT  copy; \
	VLD1 (R5), [V0.B16, V1.B16, V2.B16, V3.B16]; \
	B    loaded; \
part: \
	MOVD $·firstBytes+64(SB), R4; \
	SUB  R2, R4, R4; \
	VLD1 (R1), [V0.B16, V1.B16, V2.B16, V3.B16]; \
	VLD1 (R4), [V4.B16, V5.B16, V6.B16, V7.B16]; \
	VAND V4.B16, V0.B16, V0.B16; \
	VAND V5.B16, V1.B16, V1.B16; \
	VAND V6.B16, V2.B16, V2.B16; \
	VAND V7.B16, V3.B16, V3.B16; \
	B    loaded; \
whole: \
	VLD1 (R1), [V0.B16, V1.B16, V2.B16, V3.B16]; \
loaded:

// BITS combines four registers, whose bytes are all ones or zeros, to a bit per byte. It overwrites
// the registers.
#define BITS(a, b, c, d, to) \
	VAND V31.B16, a.B16, a.B16; \
	VAND V31.B16, b.B16, b.B16; \
	VAND V31.B16, c.B16, c.B16; \
	VAND V31.B16, d.B16, d.B16; \
	VADDP b.B16, a.B16, a.B16; \
	VADDP d.B16, c.B16, c.B16; \
	VADDP c.B16, a.B16, a.B16; \
	VADDP a.B16, a.B16, a.B16; \
	VMOV a.D[0], R4; \
	MOVD R4, to

// BELOW marks the bytes b with b - first <= last, as unsigned numbers.
#define BELOW(from, first, last, to) \
	VSUB first.B16, from.B16, to.B16; \
	VUMIN last.B16, to.B16, V30.B16; \
	VCMEQ V30.B16, to.B16, to.B16

// func wordBitsKernel(to, p *byte, n int) (word, space, score, high uint64)
TEXT ·wordBitsKernel(SB), NOSPLIT, $64-56
	LOAD
	SPREAD($0x20, V16)
	SPREAD($0x61, V17)               // a
	SPREAD($25, V18)
	SPREAD($0x30, V19)               // 0
	SPREAD($9, V20)
	SPREAD($0x5f, V21)               // _
	SPREAD($0x80, V22)
	VORR V16.B16, V0.B16, V4.B16
	BELOW(V4, V17, V18, V4)          // letters
	VAND V16.B16, V4.B16, V23.B16
	VORR V23.B16, V0.B16, V24.B16      // to lower case
	BELOW(V0, V19, V20, V23)           // digits
	VORR V23.B16, V4.B16, V4.B16
	VORR V16.B16, V1.B16, V5.B16
	BELOW(V5, V17, V18, V5)          // letters
	VAND V16.B16, V5.B16, V23.B16
	VORR V23.B16, V1.B16, V25.B16      // to lower case
	BELOW(V1, V19, V20, V23)           // digits
	VORR V23.B16, V5.B16, V5.B16
	VORR V16.B16, V2.B16, V6.B16
	BELOW(V6, V17, V18, V6)          // letters
	VAND V16.B16, V6.B16, V23.B16
	VORR V23.B16, V2.B16, V26.B16      // to lower case
	BELOW(V2, V19, V20, V23)           // digits
	VORR V23.B16, V6.B16, V6.B16
	VORR V16.B16, V3.B16, V7.B16
	BELOW(V7, V17, V18, V7)          // letters
	VAND V16.B16, V7.B16, V23.B16
	VORR V23.B16, V3.B16, V27.B16      // to lower case
	BELOW(V3, V19, V20, V23)           // digits
	VORR V23.B16, V7.B16, V7.B16
	VST1 [V24.B16, V25.B16, V26.B16, V27.B16], (R0)
	VCMEQ V21.B16, V0.B16, V24.B16     // underscores
	VORR V24.B16, V4.B16, V4.B16
	VCMEQ V21.B16, V1.B16, V25.B16     // underscores
	VORR V25.B16, V5.B16, V5.B16
	VCMEQ V21.B16, V2.B16, V26.B16     // underscores
	VORR V26.B16, V6.B16, V6.B16
	VCMEQ V21.B16, V3.B16, V27.B16     // underscores
	VORR V27.B16, V7.B16, V7.B16
	BITS(V4, V5, V6, V7, word+24(FP))
	BITS(V24, V25, V26, V27, score+40(FP))
	VUMIN V16.B16, V0.B16, V4.B16      // blanks and control characters
	VCMEQ V0.B16, V4.B16, V4.B16
	VUMIN V16.B16, V1.B16, V5.B16      // blanks and control characters
	VCMEQ V1.B16, V5.B16, V5.B16
	VUMIN V16.B16, V2.B16, V6.B16      // blanks and control characters
	VCMEQ V2.B16, V6.B16, V6.B16
	VUMIN V16.B16, V3.B16, V7.B16      // blanks and control characters
	VCMEQ V3.B16, V7.B16, V7.B16
	BITS(V4, V5, V6, V7, space+32(FP))
	VCMTST V22.B16, V0.B16, V0.B16
	VCMTST V22.B16, V1.B16, V1.B16
	VCMTST V22.B16, V2.B16, V2.B16
	VCMTST V22.B16, V3.B16, V3.B16
	BITS(V0, V1, V2, V3, high+48(FP))
	RET

// func letterBitsKernel(to, p *byte, n int) (letter uint64)
TEXT ·letterBitsKernel(SB), NOSPLIT, $64-32
	LOAD
	SPREAD($0x20, V16)
	SPREAD($0x61, V17)
	SPREAD($25, V18)
	VORR V16.B16, V0.B16, V0.B16
	VORR V16.B16, V1.B16, V1.B16
	VORR V16.B16, V2.B16, V2.B16
	VORR V16.B16, V3.B16, V3.B16
	VST1 [V0.B16, V1.B16, V2.B16, V3.B16], (R0)
	BELOW(V0, V17, V18, V0)
	BELOW(V1, V17, V18, V1)
	BELOW(V2, V17, V18, V2)
	BELOW(V3, V17, V18, V3)
	BITS(V0, V1, V2, V3, letter+24(FP))
	RET

// EITHER marks the blanks, tabs and line feeds.
#define EITHER(from, to) \
	VCMEQ V16.B16, from.B16, to.B16; \
	VCMEQ V17.B16, from.B16, V30.B16; \
	VORR V30.B16, to.B16, to.B16; \
	VCMEQ V18.B16, from.B16, V30.B16; \
	VORR V30.B16, to.B16, to.B16

// func blankBitsKernel(to, p *byte, n int) (blank, cr uint64)
TEXT ·blankBitsKernel(SB), NOSPLIT, $64-40
	LOAD
	SPREAD($0x20, V16)
	SPREAD($0x09, V17)
	SPREAD($0x0a, V18)
	SPREAD($0x0d, V19)
	CBZ  R0, kept
	VST1 [V0.B16, V1.B16, V2.B16, V3.B16], (R0)
kept:
	EITHER(V0, V4)
	EITHER(V1, V5)
	EITHER(V2, V6)
	EITHER(V3, V7)
	BITS(V4, V5, V6, V7, blank+24(FP))
	VCMEQ V19.B16, V0.B16, V0.B16
	VCMEQ V19.B16, V1.B16, V1.B16
	VCMEQ V19.B16, V2.B16, V2.B16
	VCMEQ V19.B16, V3.B16, V3.B16
	BITS(V0, V1, V2, V3, cr+32(FP))
	RET

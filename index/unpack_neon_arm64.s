//go:build !purego

#include "textflag.h"
#include "unpack_generated.h"

// The steps of unpack_generated.h with NEON, for four numbers at a time. (R1) is the input, (R2)
// the output, V0 holds words, V5 the mask of a number, V4 ones, V6 the sum so far, V7 zeros.
#define LOAD(in) FMOVQ in(R1), F0

#define ZERO VEOR V0.B16, V0.B16, V0.B16

#define ROW0(out) \
	VAND V5.B16, V0.B16, V2.B16; \
	PUT(out)

#define ROW(shift, out) \
	VUSHR $shift, V0.S4, V2.S4; \
	VAND V5.B16, V2.B16, V2.B16; \
	PUT(out)

#define SPAN(shift, rest, in, out) \
	VUSHR $shift, V0.S4, V2.S4; \
	FMOVQ in(R1), F0; \
	VSHL $rest, V0.S4, V3.S4; \
	VORR V3.B16, V2.B16, V2.B16; \
	VAND V5.B16, V2.B16, V2.B16; \
	PUT(out)

// PREPARE loads the arguments, and looks up the code for the width in a table.
#define PREPARE(table) \
	MOVD in+0(FP), R1; \
	MOVD w+8(FP), R3; \
	MOVD out+16(FP), R2; \
	MOVD $1, R4; \
	VDUP R4, V4.S4; \
	LSL R3, R4, R4; \
	SUB $1, R4, R4; \
	VDUP R4, V5.S4; \
	VEOR V7.B16, V7.B16, V7.B16; \
	MOVD $table(SB), R4; \
	MOVD (R4)(R3<<3), R4

// PUT writes the numbers plus 1.
#define PUT(out) \
	VADD V4.S4, V2.S4, V2.S4; \
	FMOVQ F2, out(R2)

TEXT plain0<>(SB), NOSPLIT|NOFRAME, $0
	ROWS0
	RET

TEXT plain1<>(SB), NOSPLIT|NOFRAME, $0
	ROWS1
	RET

TEXT plain2<>(SB), NOSPLIT|NOFRAME, $0
	ROWS2
	RET

TEXT plain3<>(SB), NOSPLIT|NOFRAME, $0
	ROWS3
	RET

TEXT plain4<>(SB), NOSPLIT|NOFRAME, $0
	ROWS4
	RET

TEXT plain5<>(SB), NOSPLIT|NOFRAME, $0
	ROWS5
	RET

TEXT plain6<>(SB), NOSPLIT|NOFRAME, $0
	ROWS6
	RET

TEXT plain7<>(SB), NOSPLIT|NOFRAME, $0
	ROWS7
	RET

TEXT plain8<>(SB), NOSPLIT|NOFRAME, $0
	ROWS8
	RET

TEXT plain9<>(SB), NOSPLIT|NOFRAME, $0
	ROWS9
	RET

TEXT plain10<>(SB), NOSPLIT|NOFRAME, $0
	ROWS10
	RET

TEXT plain11<>(SB), NOSPLIT|NOFRAME, $0
	ROWS11
	RET

TEXT plain12<>(SB), NOSPLIT|NOFRAME, $0
	ROWS12
	RET

TEXT plain13<>(SB), NOSPLIT|NOFRAME, $0
	ROWS13
	RET

TEXT plain14<>(SB), NOSPLIT|NOFRAME, $0
	ROWS14
	RET

TEXT plain15<>(SB), NOSPLIT|NOFRAME, $0
	ROWS15
	RET

TEXT plain16<>(SB), NOSPLIT|NOFRAME, $0
	ROWS16
	RET

TEXT plain17<>(SB), NOSPLIT|NOFRAME, $0
	ROWS17
	RET

TEXT plain18<>(SB), NOSPLIT|NOFRAME, $0
	ROWS18
	RET

TEXT plain19<>(SB), NOSPLIT|NOFRAME, $0
	ROWS19
	RET

TEXT plain20<>(SB), NOSPLIT|NOFRAME, $0
	ROWS20
	RET

TEXT plain21<>(SB), NOSPLIT|NOFRAME, $0
	ROWS21
	RET

TEXT plain22<>(SB), NOSPLIT|NOFRAME, $0
	ROWS22
	RET

TEXT plain23<>(SB), NOSPLIT|NOFRAME, $0
	ROWS23
	RET

TEXT plain24<>(SB), NOSPLIT|NOFRAME, $0
	ROWS24
	RET

DATA plain<>+0(SB)/8, $plain0<>(SB)
DATA plain<>+8(SB)/8, $plain1<>(SB)
DATA plain<>+16(SB)/8, $plain2<>(SB)
DATA plain<>+24(SB)/8, $plain3<>(SB)
DATA plain<>+32(SB)/8, $plain4<>(SB)
DATA plain<>+40(SB)/8, $plain5<>(SB)
DATA plain<>+48(SB)/8, $plain6<>(SB)
DATA plain<>+56(SB)/8, $plain7<>(SB)
DATA plain<>+64(SB)/8, $plain8<>(SB)
DATA plain<>+72(SB)/8, $plain9<>(SB)
DATA plain<>+80(SB)/8, $plain10<>(SB)
DATA plain<>+88(SB)/8, $plain11<>(SB)
DATA plain<>+96(SB)/8, $plain12<>(SB)
DATA plain<>+104(SB)/8, $plain13<>(SB)
DATA plain<>+112(SB)/8, $plain14<>(SB)
DATA plain<>+120(SB)/8, $plain15<>(SB)
DATA plain<>+128(SB)/8, $plain16<>(SB)
DATA plain<>+136(SB)/8, $plain17<>(SB)
DATA plain<>+144(SB)/8, $plain18<>(SB)
DATA plain<>+152(SB)/8, $plain19<>(SB)
DATA plain<>+160(SB)/8, $plain20<>(SB)
DATA plain<>+168(SB)/8, $plain21<>(SB)
DATA plain<>+176(SB)/8, $plain22<>(SB)
DATA plain<>+184(SB)/8, $plain23<>(SB)
DATA plain<>+192(SB)/8, $plain24<>(SB)
GLOBL plain<>(SB), NOPTR, $200

// func unpackPlainKernel(in *byte, w uint64, out *[BlockSize]uint32)
TEXT ·unpackPlainKernel(SB), NOSPLIT, $0-24
	PREPARE(plain<>)
	JMP (R4)

#undef PUT

// PUT writes the running sums of the numbers plus 1.
#define PUT(out) \
	VADD V4.S4, V2.S4, V2.S4; \
	VEXT $12, V2.B16, V7.B16, V3.B16; \
	VADD V3.S4, V2.S4, V2.S4; \
	VEXT $8, V2.B16, V7.B16, V3.B16; \
	VADD V3.S4, V2.S4, V2.S4; \
	VDUP V2.S[3], V3.S4; \
	VADD V6.S4, V2.S4, V2.S4; \
	FMOVQ F2, out(R2); \
	VADD V3.S4, V6.S4, V6.S4

TEXT gaps0<>(SB), NOSPLIT|NOFRAME, $0
	ROWS0
	RET

TEXT gaps1<>(SB), NOSPLIT|NOFRAME, $0
	ROWS1
	RET

TEXT gaps2<>(SB), NOSPLIT|NOFRAME, $0
	ROWS2
	RET

TEXT gaps3<>(SB), NOSPLIT|NOFRAME, $0
	ROWS3
	RET

TEXT gaps4<>(SB), NOSPLIT|NOFRAME, $0
	ROWS4
	RET

TEXT gaps5<>(SB), NOSPLIT|NOFRAME, $0
	ROWS5
	RET

TEXT gaps6<>(SB), NOSPLIT|NOFRAME, $0
	ROWS6
	RET

TEXT gaps7<>(SB), NOSPLIT|NOFRAME, $0
	ROWS7
	RET

TEXT gaps8<>(SB), NOSPLIT|NOFRAME, $0
	ROWS8
	RET

TEXT gaps9<>(SB), NOSPLIT|NOFRAME, $0
	ROWS9
	RET

TEXT gaps10<>(SB), NOSPLIT|NOFRAME, $0
	ROWS10
	RET

TEXT gaps11<>(SB), NOSPLIT|NOFRAME, $0
	ROWS11
	RET

TEXT gaps12<>(SB), NOSPLIT|NOFRAME, $0
	ROWS12
	RET

TEXT gaps13<>(SB), NOSPLIT|NOFRAME, $0
	ROWS13
	RET

TEXT gaps14<>(SB), NOSPLIT|NOFRAME, $0
	ROWS14
	RET

TEXT gaps15<>(SB), NOSPLIT|NOFRAME, $0
	ROWS15
	RET

TEXT gaps16<>(SB), NOSPLIT|NOFRAME, $0
	ROWS16
	RET

TEXT gaps17<>(SB), NOSPLIT|NOFRAME, $0
	ROWS17
	RET

TEXT gaps18<>(SB), NOSPLIT|NOFRAME, $0
	ROWS18
	RET

TEXT gaps19<>(SB), NOSPLIT|NOFRAME, $0
	ROWS19
	RET

TEXT gaps20<>(SB), NOSPLIT|NOFRAME, $0
	ROWS20
	RET

TEXT gaps21<>(SB), NOSPLIT|NOFRAME, $0
	ROWS21
	RET

TEXT gaps22<>(SB), NOSPLIT|NOFRAME, $0
	ROWS22
	RET

TEXT gaps23<>(SB), NOSPLIT|NOFRAME, $0
	ROWS23
	RET

TEXT gaps24<>(SB), NOSPLIT|NOFRAME, $0
	ROWS24
	RET

DATA gaps<>+0(SB)/8, $gaps0<>(SB)
DATA gaps<>+8(SB)/8, $gaps1<>(SB)
DATA gaps<>+16(SB)/8, $gaps2<>(SB)
DATA gaps<>+24(SB)/8, $gaps3<>(SB)
DATA gaps<>+32(SB)/8, $gaps4<>(SB)
DATA gaps<>+40(SB)/8, $gaps5<>(SB)
DATA gaps<>+48(SB)/8, $gaps6<>(SB)
DATA gaps<>+56(SB)/8, $gaps7<>(SB)
DATA gaps<>+64(SB)/8, $gaps8<>(SB)
DATA gaps<>+72(SB)/8, $gaps9<>(SB)
DATA gaps<>+80(SB)/8, $gaps10<>(SB)
DATA gaps<>+88(SB)/8, $gaps11<>(SB)
DATA gaps<>+96(SB)/8, $gaps12<>(SB)
DATA gaps<>+104(SB)/8, $gaps13<>(SB)
DATA gaps<>+112(SB)/8, $gaps14<>(SB)
DATA gaps<>+120(SB)/8, $gaps15<>(SB)
DATA gaps<>+128(SB)/8, $gaps16<>(SB)
DATA gaps<>+136(SB)/8, $gaps17<>(SB)
DATA gaps<>+144(SB)/8, $gaps18<>(SB)
DATA gaps<>+152(SB)/8, $gaps19<>(SB)
DATA gaps<>+160(SB)/8, $gaps20<>(SB)
DATA gaps<>+168(SB)/8, $gaps21<>(SB)
DATA gaps<>+176(SB)/8, $gaps22<>(SB)
DATA gaps<>+184(SB)/8, $gaps23<>(SB)
DATA gaps<>+192(SB)/8, $gaps24<>(SB)
GLOBL gaps<>(SB), NOPTR, $200

// func unpackGapsKernel(in *byte, w uint64, out *[BlockSize]uint32, at uint32)
TEXT ·unpackGapsKernel(SB), NOSPLIT, $0-28
	PREPARE(gaps<>)
	MOVWU at+24(FP), R3
	VDUP R3, V6.S4
	JMP (R4)

// The kernels load table entries one by one. On AMD's processors, and on Intel's up to Ice Lake,
// whose microcode mitigates leaks through gathers, that is faster than VPGATHERDD: the scores of a
// block take 0.6 of the time with AVX2 and with AVX-512. Only the last few postings of a call,
// which do not fill all lanes, are gathered.

// FETCH4 loads four numbers of a table into x. Their indexes are at offset(at).
#define FETCH4(at, offset, table, x) \
	MOVL offset+0(at), AX; \
	MOVL offset+4(at), BX; \
	VMOVD (table)(AX*4), x; \
	VPINSRD $1, (table)(BX*4), x, x; \
	MOVL offset+8(at), AX; \
	MOVL offset+12(at), BX; \
	VPINSRD $2, (table)(AX*4), x, x; \
	VPINSRD $3, (table)(BX*4), x, x

// CLASS4 loads a + b*length for the classes of four documents at offset(SI). (R13) has the class of
// each document as a byte, (DX) the value of each class.
#define CLASS4(offset, x) \
	MOVL offset+0(SI), AX; \
	MOVL offset+4(SI), BX; \
	MOVBLZX (R13)(AX*1), AX; \
	MOVBLZX (R13)(BX*1), BX; \
	VMOVD (DX)(AX*4), x; \
	VPINSRD $1, (DX)(BX*4), x, x; \
	MOVL offset+8(SI), AX; \
	MOVL offset+12(SI), BX; \
	MOVBLZX (R13)(AX*1), AX; \
	MOVBLZX (R13)(BX*1), BX; \
	VPINSRD $2, (DX)(AX*4), x, x; \
	VPINSRD $3, (DX)(BX*4), x, x

// HALF4 loads, for each of four documents at offset(SI), the four bytes of a table from index
// document/2 on. The first of them holds the document's half byte.
#define HALF4(offset, table, x) \
	MOVL offset+0(SI), AX; \
	MOVL offset+4(SI), BX; \
	SHRL $1, AX; \
	SHRL $1, BX; \
	VMOVD (table)(AX*1), x; \
	VPINSRD $1, (table)(BX*1), x, x; \
	MOVL offset+8(SI), AX; \
	MOVL offset+12(SI), BX; \
	SHRL $1, AX; \
	SHRL $1, BX; \
	VPINSRD $2, (table)(AX*1), x, x; \
	VPINSRD $3, (table)(BX*1), x, x

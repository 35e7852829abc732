//go:build !purego

package text

import "golang.org/x/sys/cpu"

// hasAVX512 says whether the kernels in bits_amd64.s can be used, which look at 64 bytes at once.
// Their plain Go twins give the same bits.
var hasAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasBMI2

// wordBitsAVX512 is wordBits for the first n bytes, 64 at most. It writes 64 bytes. It also has the
// bits of bytes that are not ASCII.
//
//go:noescape
func wordBitsAVX512(to, p *byte, n int) (word, space, score, high uint64)

// letterBitsAVX512 is letterBits for n bytes, 64 at most. It writes 64 bytes.
//
//go:noescape
func letterBitsAVX512(to, p *byte, n int) (letter uint64)

// blankBitsAVX512 has the bits of blanks, tabs and line feeds, and of carriage returns, among n
// bytes, 64 at most. If to is not nil it copies these: it writes 64 bytes.
//
//go:noescape
func blankBitsAVX512(to, p *byte, n int) (blank, cr uint64)

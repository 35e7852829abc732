//go:build (amd64 || arm64) && !purego

//lint:file-ignore U1000 some of this is called or read by assembly alone

package text

import "github.com/collocate/collocate/internal/cpu"

// hasKernels reports whether the kernels below, which process 64 bytes at once, may be called.
// Their plain Go twins return the same bits.
var hasKernels bool

func init() {
	cpu.Follow(func(l cpu.Level) {
		hasKernels = l != cpu.None
		chooseForms(l)
	})
}

// firstBytes is where masks are loaded from: from 64-n on, the first n of 64 bytes are ones.
var firstBytes = func() (m [128]byte) {
	for i := range m[:64] {
		m[i] = 0xff
	}
	return m
}()

// wordBitsKernel is wordBits for the first n bytes, 64 at most. It writes 64 bytes. It also has the
// bits of bytes that are not ASCII.
//
//go:noescape
func wordBitsKernel(to, p *byte, n int) (word, space, score, high uint64)

// letterBitsKernel is letterBits for n bytes, 64 at most. It writes 64 bytes.
//
//go:noescape
func letterBitsKernel(to, p *byte, n int) (letter uint64)

// blankBitsKernel has the bits of blanks, tabs and line feeds, and of carriage returns, among n
// bytes, 64 at most. If to is not nil it copies these: it writes 64 bytes.
//
//go:noescape
func blankBitsKernel(to, p *byte, n int) (blank, cr uint64)

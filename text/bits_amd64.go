//go:build !purego

//lint:file-ignore U1000 some of this is called or read by assembly alone

package text

import "github.com/collocate/collocate/internal/cpu"

var wide bool // with AVX-512; else with AVX2

func chooseForms(l cpu.Level) { wide = l == cpu.AVX512 }

// The forms of the kernels, between which bits_amd64.s chooses.

//go:noescape
func wordBitsAVX512(to, p *byte, n int) (word, space, score, high uint64)

//go:noescape
func wordBitsAVX2(to, p *byte, n int) (word, space, score, high uint64)

//go:noescape
func letterBitsAVX512(to, p *byte, n int) (letter uint64)

//go:noescape
func letterBitsAVX2(to, p *byte, n int) (letter uint64)

//go:noescape
func blankBitsAVX512(to, p *byte, n int) (blank, cr uint64)

//go:noescape
func blankBitsAVX2(to, p *byte, n int) (blank, cr uint64)

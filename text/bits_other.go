//go:build !amd64 || purego

package text

const hasAVX512 = false

func wordBitsAVX512(to, p *byte, n int) (word, space, score, high uint64) { return 0, 0, 0, 0 }

func letterBitsAVX512(to, p *byte, n int) (letter uint64) { return 0 }

func blankBitsAVX512(to, p *byte, n int) (blank, cr uint64) { return 0, 0 }

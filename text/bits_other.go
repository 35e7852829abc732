//go:build (!amd64 && !arm64) || purego

package text

const hasKernels = false

func wordBitsKernel(to, p *byte, n int) (word, space, score, high uint64) { return 0, 0, 0, 0 }

func letterBitsKernel(to, p *byte, n int) (letter uint64) { return 0 }

func blankBitsKernel(to, p *byte, n int) (blank, cr uint64) { return 0, 0 }

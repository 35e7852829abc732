//go:build !purego

package text

// withoutKernels lets plain Go do their work until the function that it returns is called.
func withoutKernels() func() {
	had := hasAVX512
	hasAVX512 = false
	return func() { hasAVX512 = had }
}

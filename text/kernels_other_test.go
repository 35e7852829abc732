//go:build !amd64 || purego

package text

func withoutKernels() func() { return func() {} }

//go:build !unix

package text

func atPageEnd(n int) []byte { return make([]byte, n) }

//go:build !unix

package serve

func maxFiles() int { return 0 }

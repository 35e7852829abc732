//go:build !amd64 || purego

package cpu

func levels() []Level { return nil }

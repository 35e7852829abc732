//go:build !purego

package cpu

func levels() []Level { return []Level{NEON} }

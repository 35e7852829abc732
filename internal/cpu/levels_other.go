//go:build (!amd64 && !arm64) || purego

package cpu

func levels() []Level { return nil }

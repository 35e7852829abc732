//go:build !amd64 || purego

package device

func prefetchTexts(*lineRequest, int) {}

func prefetchWords(*[tableLines]wordLine, *askedWord) {}

//go:build !amd64 || purego

package device

func prefetchTexts(*ringRequest, int) {}

func prefetchWords(*[tableLines]wordLine, *requestWord) {}

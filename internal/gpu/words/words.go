package words

import (
	"bytes"

	"github.com/collocate/collocate/internal/gpu"
)

// module returns the source of a PTX file.
func module(name string) *gpu.Source { return gpu.Registered("words/" + name) }

var (
	appendSource = module("append")
	listSource   = module("list")
)

// Kind defines what a word is.
type Kind uint32

const (
	Whitespace Kind = iota // bytes between blanks, cut at 999 bytes, as in GloVe
	ASCII                  // runs of the letters a-z and A-Z, in lower case
	Separated              // bytes between blanks, of any length, as another analyzer split them
)

// KindOf returns the kind that corresponds to an analyzer, if there is one.
func KindOf(analyzer string) (Kind, bool) {
	switch analyzer {
	case "whitespace":
		return Whitespace, true
	case "ascii":
		return ASCII, true
	}
	return 0, false
}

// Squeeze removes from a text, in place, the bytes that its kind of words ignores even inside a
// word: for Whitespace, carriage returns.
func (k Kind) Squeeze(text []byte) []byte {
	if k != Whitespace {
		return text
	}
	at := bytes.IndexByte(text, '\r')
	if at < 0 {
		return text
	}
	out := text[:at]
	for at < len(text) {
		next := bytes.IndexByte(text[at:], '\r')
		if next < 0 {
			next = len(text) - at
		}
		out = append(out, text[at:at+next]...)
		at += next + 1
	}
	return out
}

// The same values as in the kernels.
const (
	threads   = 256
	tile      = threads * 64
	inlineMax = 15
	refLength = 24
	longMark  = 0xff

	// None stands in a sequence for a word that is not in the dictionary.
	None = 1<<32 - 1
)

func divUp(a, b int) int { return (a + b - 1) / b }

package words

import (
	"bytes"
	"embed"

	"github.com/collocate/collocate/internal/gpu"
)

//go:embed kernels/*.ptx
var modules embed.FS

// module is one of our PTX files.
func module(name string) *gpu.Source { return gpu.SourceIn(modules, "words/"+name) }

var (
	appendSource = module("append")
	listSource   = module("list")
)

// Kind says what a word is.
type Kind uint32

const (
	Whitespace Kind = iota // what stands between blanks, as GloVe has it, cut at 999 bytes
	ASCII                  // the letters a-z and A-Z, in lower case
	Separated              // what stands between blanks, of any length: words that were found elsewhere
)

// KindOf returns the kind that finds the words of the analyzer of that name, if
// there is one.
func KindOf(analyzer string) (Kind, bool) {
	switch analyzer {
	case "whitespace":
		return Whitespace, true
	case "ascii":
		return ASCII, true
	}
	return 0, false
}

// Squeeze takes out of a text, in place, what its kind of words passes over even
// inside a word: carriage returns, between blanks.
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

// As in the kernels.
const (
	threads   = 256
	tile      = threads * 64
	inlineMax = 15
	refLength = 24
	longMark  = 0xff

	// None stands in a sequence for a word that was looked up and is not in the
	// dictionary.
	None = 1<<32 - 1
)

func divUp(a, b int) int { return (a + b - 1) / b }

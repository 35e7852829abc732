package text

import (
	"fmt"
	"math"
	"strings"
)

// ParseAnalyzer returns the analyzer of that name: whitespace, ascii, unicode, or a language such
// as english, with +stop behind it if stop words are to be dropped. With @1 behind them, the
// analyzers of Unicode are those of indexes that were made before these brought words into the
// normal form NFC, and porter took possessives off.
func ParseAnalyzer(name string) (Analyzer, error) {
	now, old := strings.CutSuffix(name, firstVersion)
	switch {
	case name == "whitespace":
		return whitespace{}, nil
	case name == "ascii":
		return ascii{}, nil
	case now == "unicode":
		return unicodeWords{old}, nil
	}
	if name == luceneEnglish {
		return newLuceneEnglish(), nil
	}
	if base, words, ok := strings.Cut(name, ownStops); ok {
		if l := withOwnStops(base, words); l != nil {
			return l, nil
		}
		return nil, fmt.Errorf("analyzer %q: it takes no stop words of one's own: want unicode or a language", base)
	}
	base, stop := strings.CutSuffix(now, "+stop")
	if l := newLanguage(base, stop, old); l != nil {
		return l, nil
	}
	if newLanguage(base, false, old) != nil {
		return nil, fmt.Errorf("analyzer %q: there are no stop words for %s", name, base)
	}
	return nil, fmt.Errorf("unknown analyzer %q: want %s; languages also with +stop", name,
		strings.Join(Analyzers(), ", "))
}

const firstVersion = "@1"

func versioned(name string, old bool) string {
	if old {
		name += firstVersion
	}
	return name
}

// Analyzers returns the names that ParseAnalyzer knows, without +stop.
func Analyzers() []string {
	return append([]string{"whitespace", "ascii", "unicode", luceneEnglish}, languages()...)
}

// OfBytes reports whether an analyzer works on bytes, so that its text need not be UTF-8.
func OfBytes(analyzer string) bool { return analyzer == "whitespace" || analyzer == "ascii" }

// maxDocument is the most bytes of a document: places in it are 32 bits wide.
const maxDocument = math.MaxUint32

func checkSize(doc []byte) error {
	if uint64(len(doc)) > maxDocument {
		return tooLarge(len(doc))
	}
	return nil
}

func tooLarge(size int) error {
	return fmt.Errorf("a document of %d bytes is too large: its words must fit 4 GiB", size)
}

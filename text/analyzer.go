package text

import (
	"fmt"
	"math"
	"strings"
)

// ParseAnalyzer returns the analyzer with the given name; the package comment lists them. The
// suffix +stop, as in english+stop, drops stop words. The suffix @1 selects an older version that
// old indexes need: unicode and the languages did not convert words to normal form NFC, and porter
// did not remove possessives. Of the analyzers in own, the first with that name is preferred.
func ParseAnalyzer(name string, own ...Analyzer) (Analyzer, error) {
	for _, a := range own {
		if a != nil && a.Name() == name {
			return a, nil
		}
	}
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
		return nil, fmt.Errorf("analyzer %q takes no list of stop words: want unicode or a language", base)
	}
	base, stop := strings.CutSuffix(now, "+stop")
	if l := newLanguage(base, stop, old); l != nil {
		return l, nil
	}
	if newLanguage(base, false, old) != nil {
		return nil, fmt.Errorf("analyzer %q: no stop words for %s", name, base)
	}
	return nil, fmt.Errorf("unknown analyzer %q: want %s; languages may end in +stop", name,
		strings.Join(Analyzers(), ", "))
}

const firstVersion = "@1"

func versioned(name string, old bool) string {
	if old {
		name += firstVersion
	}
	return name
}

// Analyzers returns the names that ParseAnalyzer accepts, without +stop; the Snowball languages
// come last.
func Analyzers() []string {
	return append([]string{"whitespace", "ascii", "unicode", luceneEnglish}, languages()...)
}

// OfBytes reports whether an analyzer works on bytes, so that text need not be UTF-8.
func OfBytes(analyzer string) bool { return analyzer == "whitespace" || analyzer == "ascii" }

// maxDocument is the largest size of a document: offsets in it are 32 bits wide.
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

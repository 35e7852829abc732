package text

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// ParseAnalyzer returns the analyzer with the given name, or the chain that it declares; the
// package comment lists them. The suffix +stop, as in english+stop, drops stop words. The suffixes
// @1 and @2 select older versions, which old indexes need. In version 1, unicode and the languages
// did not convert words to normal form NFC, and porter did not remove possessives. In version 2,
// unicode did not replace the typographic apostrophe by the plain one, so don’t and don't were two
// words. Of the analyzers that are given, the first with that name is preferred. The names
// impact and impact:SCALE are of analyzers that read weighted tokens instead of text.
func ParseAnalyzer(name string, given ...Analyzer) (Analyzer, error) {
	for _, a := range given {
		if a != nil && a.Name() == name {
			return own(a), nil
		}
	}
	if isChain(name) {
		c, err := parseChain(name, given)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	now, old := strings.CutSuffix(name, firstVersion)
	switch {
	case name == "whitespace":
		return whitespace{}, nil
	case name == "ascii":
		return ascii{}, nil
	case now == "unicode" || name == secondUnicode:
		return unicodeWords{name}, nil
	}
	if name == luceneEnglish {
		return newLuceneEnglish(), nil
	}
	if OfWeights(name) {
		return newImpact(name)
	}
	if base, words, ok := strings.Cut(name, ownStops); ok {
		if l := withOwnStops(base, words); l != nil {
			return l, nil
		}
		return nil, fmt.Errorf("analyzer %q takes no list of stop words: want unicode or a language, "+
			"or the step stop(@FILE) in a chain", base)
	}
	base, stop := strings.CutSuffix(now, "+stop")
	if l := newLanguage(base, stop, old); l != nil {
		return l, nil
	}
	if newLanguage(base, false, old) != nil {
		return nil, fmt.Errorf("analyzer %q: no stop words for %s", name, base)
	}
	return nil, fmt.Errorf("unknown analyzer %q: want %s; languages may end in +stop; "+
		"impact is for weighted tokens; or a chain, as in words | lower | fold", name,
		strings.Join(Analyzers(), ", "))
}

// Missing returns the error of an index whose analyzer ParseAnalyzer does not find, which says of
// what the analyzer made the words.
func Missing(what, name string, err error) error {
	if isChain(name) {
		return fmt.Errorf("%s were made by an analyzer that this program does not have: %w", what, err)
	}
	return fmt.Errorf("%s were made by analyzer %q, which is not built in: "+
		"open the index from Go, with that analyzer", what, name)
}

// CheckName returns an error if one of the analyzers is another than the built-in one of its name,
// or has a name that declares something else. Files record only the name, so whoever opens them
// would get the built-in one. nil is left out.
func CheckName(analyzers ...Analyzer) error {
	for _, a := range analyzers {
		if a == nil {
			continue
		}
		if built, err := ParseAnalyzer(a.Name()); err == nil && reflect.TypeOf(a) != reflect.TypeOf(built) {
			return fmt.Errorf("an analyzer of your own is named %q, like a built-in one: "+
				"give it another name", a.Name())
		}
		if _, checked := a.(ownAnalyzer); checked || isOwn(a) {
			if err := checkOwnName(a.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	firstVersion  = "@1"
	secondUnicode = "unicode@2"
)

// Version is the version of the analyzers whose names have no suffix. A file that records the name
// of an analyzer records it beside, or in a version of its own.
const Version = 3

// Recorded returns the name of the analyzer that a file means: one that records the given name and
// was written when analyzers had the given version.
func Recorded(name string, version int) string {
	if version == 1 && !strings.Contains(name, ownStops) {
		if _, err := ParseAnalyzer(name + firstVersion); err == nil {
			return name + firstVersion
		}
	}
	if version == 2 && (name == "unicode" || strings.HasPrefix(name, "unicode"+ownStops)) {
		return secondUnicode + strings.TrimPrefix(name, "unicode")
	}
	return name
}

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

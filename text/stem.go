package text

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/porter"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// stemmers are the Snowball algorithms. porter is Porter's original one for English, for comparison
// with older results.
var stemmers = map[string]func(*snowballstem.Env) bool{
	"arabic":     arabic.Stem,
	"danish":     danish.Stem,
	"dutch":      dutch.Stem,
	"english":    english.Stem,
	"finnish":    finnish.Stem,
	"french":     french.Stem,
	"german":     german.Stem,
	"hungarian":  hungarian.Stem,
	"irish":      irish.Stem,
	"italian":    italian.Stem,
	"norwegian":  norwegian.Stem,
	"porter":     porter.Stem,
	"portuguese": portuguese.Stem,
	"romanian":   romanian.Stem,
	"russian":    russian.Stem,
	"spanish":    spanish.Stem,
	"swedish":    swedish.Stem,
	"tamil":      tamil.Stem,
	"turkish":    turkish.Stem,
}

// elided are the words that lose their vowel before the next word: l'avion.
var elided = map[string]string{
	"french":  " l m t qu n s j d c jusqu quoiqu lorsqu puisqu ",
	"italian": " c l all dall dell nell sull coll pell gl agl dagl degl negl sugl un m t s v d ",
}

//go:embed stopwords/*.txt
var stopLists embed.FS

// language finds words like unicode, removes elided words (l'avion), drops stop words if requested,
// and stems.
type language struct {
	name   string
	stem   func(*snowballstem.Env) bool
	stops  map[string]bool // nil keeps all words
	elided string
	words  segmenter
	// Porter's original stemmer ignores apostrophes: dog's would become dog'.
	possessives bool
	lucene      bool // everything as in Lucene: see reduceAsLucene
}

// newLanguage returns nil if there is no such language, or no stop words for it.
func newLanguage(name string, stop, old bool) *language {
	l := &language{name: name, stem: stemmers[name], elided: elided[name],
		words: segmenter{fold: foldWithQuote, raw: old}}
	l.possessives = name == "porter" && !old
	if l.stem == nil {
		return nil
	}
	if name == "turkish" {
		l.words = segmenter{fold: foldTurkish, slow: true, raw: old}
	}
	if stop {
		list := name
		if name == "porter" {
			list = "english"
		}
		data, err := stopLists.ReadFile("stopwords/" + list + ".txt")
		if err != nil {
			return nil
		}
		l.name += "+stop"
		l.stops = stopSet(StopWords(data))
	}
	l.name = versioned(l.name, old)
	return l
}

// StopWords parses a list of stop words, one per line. Empty lines and lines that begin with # are
// skipped.
func StopWords(data []byte) (list []string) {
	for line := range strings.Lines(string(data)) {
		if word := strings.TrimSpace(line); word != "" && word[0] != '#' {
			list = append(list, word)
		}
	}
	return list
}

func stopSet(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, word := range list {
		set[word] = true
	}
	return set
}

// ownStops separates the name of an analyzer from a user's stop words.
const ownStops = "+stop:"

// WithStopWords returns the analyzer with the given name, unicode or a language, with a list of
// stop words in place of its own. The list is part of the analyzer's name, so that ParseAnalyzer
// can make the same analyzer again.
func WithStopWords(name string, list []string) (Analyzer, error) {
	var folded []string
	var tok Tokens
	for _, word := range list {
		if err := (segmenter{fold: foldWithQuote}).segment([]byte(word), &tok); err != nil {
			return nil, err
		}
		if len(tok.Words) != 1 {
			return nil, fmt.Errorf("stop word %q: want one word", word)
		}
		folded = append(folded, string(tok.Word(0)))
	}
	slices.Sort(folded)
	return ParseAnalyzer(name + ownStops + strings.Join(slices.Compact(folded), ","))
}

// withOwnStops returns the analyzer of a base and comma-separated stop words, or nil if there is
// none.
func withOwnStops(base, words string) *language {
	var l *language
	switch base {
	case luceneEnglish:
		l = newLuceneEnglish()
	case "unicode", secondUnicode:
		l = &language{words: unicodeWords{base}.segmenter(), stem: func(*snowballstem.Env) bool { return true }}
	default:
		if l = newLanguage(base, false, false); l == nil {
			return nil
		}
	}
	l.name = base + ownStops + words
	l.stops = stopSet(strings.Split(words, ","))
	return l
}

// languages returns the names of all stemmers, sorted.
func languages() []string { return slices.Sorted(maps.Keys(stemmers)) }

func (l *language) Name() string { return l.name }

// maxStem is the longest word that is stemmed, in bytes. Longer ones are not words of a language,
// and some stemmers take time quadratic in the length.
const maxStem = 64

func (l *language) Analyze(doc []byte, t *Tokens) error {
	if err := l.words.segment(doc, t); err != nil {
		return err
	}
	t.stems.use(l)
	out, kept := t.stems.text[:0], 0
	for i, w := range t.Words {
		start := len(out)
		out = t.stems.appendStem(out, t.Bytes, w)
		if len(out) == start {
			continue
		}
		t.Words[kept] = Span{uint32(start), uint32(len(out))}
		if t.WantSource {
			t.Source[kept] = t.Source[i]
		}
		kept++
	}
	if uint64(len(out)) > maxDocument {
		return tooLarge(len(doc))
	}
	t.Words = t.Words[:kept]
	if t.WantSource {
		t.Source = t.Source[:kept]
	}
	t.stems.text, t.Bytes = out, out
	return nil
}

// reduce returns the stem of a word, empty for a stop word.
func (l *language) reduce(word string) string {
	if l.lucene {
		return l.reduceAsLucene(word)
	}
	if l.elided != "" {
		if article, rest, ok := strings.Cut(word, "'"); ok && rest != "" &&
			strings.Contains(l.elided, " "+article+" ") {
			word = rest
		}
	}
	if l.stops[word] {
		return ""
	}
	if l.possessives {
		word = withoutPossessive(word)
	}
	env := snowballstem.NewEnv(word)
	l.stem(env)
	if stem := env.Current(); stem != "" {
		return stem
	}
	return word
}

// withoutPossessive removes what Snowball's English stemmer removes first: 's', 's or '.
func withoutPossessive(word string) string {
	for _, end := range []string{"'s'", "'s", "'"} {
		if stem, ok := strings.CutSuffix(word, end); ok && stem != "" {
			return stem
		}
	}
	return word
}

// foldWithQuote folds the case and replaces the typographic apostrophe by the plain one, which the
// stemmers expect and most people type.
func foldWithQuote(r rune) rune {
	if r == '’' {
		return '\''
	}
	return foldRune(r)
}

func foldTurkish(r rune) rune {
	switch r {
	case 'I':
		return 'ı'
	case 'İ':
		return 'i'
	}
	return foldWithQuote(r)
}

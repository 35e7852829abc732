package tree

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// expand returns the node of a pattern: the words of the index that match it.
func (x *exec) expand(q query.Node, weight float64) (*node, error) {
	var known *ask.Pattern
	if x.e.Index.Shard().Of > 0 && x.found == nil {
		at := slices.IndexFunc(x.patterns, func(p ask.Pattern) bool { return p.Text == q.String() && p.Field == x.name })
		if at < 0 {
			return nil, ask.Refuse("%v: %w, which does not have all words of the collection: ask a root, or the index "+
				"that it was cut from", q, index.ErrShard)
		}
		known = &x.patterns[at]
	}
	n := &node{kind: words, from: q, src: x.src, pattern: true,
		whole: model.Term{Text: q.String(), Weight: weight}}
	add := func(w index.Word) error {
		if len(n.terms) == x.most {
			return TooMany(n.whole.Text, x.most)
		}
		n.terms = append(n.terms, model.Term{Text: string(w.Text), Weight: weight, Info: w.Term})
		n.whole.Info.DF = max(n.whole.Info.DF, w.Term.FullDF())
		n.whole.Info.CF += w.Term.CF
		return nil
	}
	err := x.fitting(q, add)
	if known != nil {
		n.whole.Info.DF, n.whole.Info.CF = known.DF, known.CF
	}
	if x.found != nil {
		p := ask.Pattern{Field: x.name, Text: q.String()}
		for _, t := range n.terms {
			p.Words = append(p.Words, ask.PatternWord{Text: t.Text, DF: t.Info.FullDF(), CF: t.Info.CF})
		}
		*x.found = append(*x.found, p)
	}
	return n, err
}

// fitting calls add for the words of the index that match a pattern, in byte order.
func (x *exec) fitting(q query.Node, add func(index.Word) error) error {
	switch q := q.(type) {
	case query.Prefix:
		return x.begins(x.folded(q.Text), func([]byte) bool { return true }, add)
	case query.Wildcard:
		pattern := x.folded(q.Pattern)
		return x.begins(headOf(pattern), func(word []byte) bool { return fitsPattern(pattern, string(word)) }, add)
	case query.Same:
		return x.each(q, add)
	case query.Fuzzy:
		if q.Edits < 1 || q.Edits > 2 {
			return badEdits(q)
		}
		return x.begins("", newSpelling(x.folded(q.Text), q.Edits).fits, add)
	}
	return nil
}

// headOf returns what words that fit a pattern begin with.
func headOf(pattern string) string {
	head, _, _ := strings.Cut(pattern, "*")
	head, _, _ = strings.Cut(head, "?")
	return head
}

func badEdits(q query.Fuzzy) error {
	return ask.Refuse("%v: an edit distance of %d: want 1 or 2", q, q.Edits)
}

// each calls add for the words that the index has of some that mean the same, in byte order.
func (x *exec) each(q query.Same, add func(index.Word) error) error {
	var all []string
	for _, s := range q.Words {
		list, err := x.wordsOf(s)
		if err != nil {
			return err
		}
		if list = x.needed(list); len(list) != 1 {
			return ask.Refuse("%v: %q is %d words to the analyzer: want one", q, s, len(list))
		}
		all = append(all, list[0])
	}
	slices.Sort(all)
	for _, w := range slices.Compact(all) {
		info, err := x.src.Term(bytesOf(w))
		if err == nil && info.DF > 0 {
			err = add(index.Word{Text: []byte(w), Term: info})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// folded returns the text of a pattern normalised as analyzers normalise words, without stemming.
func (x *exec) folded(s string) string { return text.Normalize(x.src.Analyzer, s) }

// begins calls add for the words that begin with a prefix and for which fits is true.
func (x *exec) begins(prefix string, fits func([]byte) bool, add func(index.Word) error) error {
	n := 0
	for w, err := range x.src.Index.WordsFrom([]byte(prefix)) {
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(w.Text, []byte(prefix)) {
			break
		}
		if fits(w.Text) {
			if err := add(w); err != nil {
				return err
			}
		}
		if n++; n%1024 == 0 {
			if err := x.ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fitsPattern reports whether a word matches a pattern with * and ?, which stand for whole
// characters.
func fitsPattern(pattern, word string) bool {
	star, from := -1, 0 // the last * and the position in the word where it was tried
	p, w := 0, 0
	for w < len(word) {
		_, size := utf8.DecodeRuneInString(word[w:])
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, w
			p++
			continue
		case p < len(pattern) && pattern[p] == '?':
			p++
			w += size
			continue
		case p < len(pattern) && strings.HasPrefix(pattern[p:], word[w:w+size]):
			p += size
			w += size
			continue
		case star < 0:
			return false
		}
		_, size = utf8.DecodeRuneInString(word[from:])
		from += size
		p, w = star+1, from
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// spelling finds the words within some edit distance of a word: insertions, deletions,
// substitutions and transpositions of adjacent characters (optimal string alignment). Words come in
// sorted order, so the rows of a common prefix are computed once.
type spelling struct {
	word  []rune
	edits int
	last  []rune  // the previous word
	rows  [][]int // rows[i][j]: distance of the first i characters of last and the first j of word
	dead  int     // a prefix of last of this length is already too distant; -1: none
}

func newSpelling(word string, edits int) *spelling {
	s := &spelling{word: []rune(word), edits: edits, dead: -1}
	first := make([]int, len(s.word)+1)
	for j := range first {
		first[j] = j
	}
	s.rows = [][]int{first}
	return s
}

func (s *spelling) fits(text []byte) bool {
	if d := utf8.RuneCount(text) - len(s.word); d > s.edits || -d > s.edits {
		return false
	}
	word := []rune(string(text))
	same := 0
	for same < len(word) && same < len(s.last) && word[same] == s.last[same] {
		same++
	}
	s.last = word
	if s.dead >= 0 && same >= s.dead {
		return false
	}
	s.dead = -1
	for i := min(same, len(s.rows)-1) + 1; i <= len(word); i++ {
		if i == len(s.rows) {
			s.rows = append(s.rows, make([]int, len(s.word)+1))
		}
		row, above := s.rows[i], s.rows[i-1]
		row[0] = i
		least := row[0]
		for j := 1; j <= len(s.word); j++ {
			change := 1
			if word[i-1] == s.word[j-1] {
				change = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+change)
			if i > 1 && j > 1 && word[i-1] == s.word[j-2] && word[i-2] == s.word[j-1] {
				row[j] = min(row[j], s.rows[i-2][j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > s.edits && slices.Min(above) > s.edits { // a transposition uses row i-2
			s.dead = i
			return false
		}
	}
	return s.rows[len(word)][len(s.word)] <= s.edits
}

package lookup

import (
	"fmt"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/text"
)

// Lexicons is the Lexicon of an index with several segments. It looks up a word once for all of
// them.
type Lexicons struct {
	Lexicon  // its cache has the words of all segments, so that only Read uses it
	segments []*index.Reader
}

func NewLexicons(segments []*index.Reader, a text.Analyzer) Lexicons {
	return Lexicons{Lexicon: NewLexicon(segments[0], a), segments: segments}
}

// Across is the words of a query in all segments of an index. Terms are those that any segment has,
// in query order, with their counts in all segments; Info is not set.
type Across struct {
	Wording
	infos   [][]index.Term // of each term, in each segment
	known   []*knownWord   // of each term
	best    []*Best        // of each term, if Best was called
	unknown bool           // a query word is in no segment
}

// Find looks up the words of a request in all segments.
func (a *Across) Find(s *Lexicons, r *ask.Request) error {
	a.unknown, a.infos, a.known, a.best = false, a.infos[:0], a.known[:0], a.best[:0]
	if err := a.Read(&s.Lexicon, r); err != nil {
		return err
	}
	a.Terms = a.Terms[:0]
	clear(a.words)
	if len(r.Words) == 0 {
		for i := range a.tokens.Words {
			if err := a.addTo(s, a.tokens.Word(i), float64(a.tokens.Count(i))); err != nil {
				return err
			}
		}
		return nil
	}
	for _, word := range r.Words {
		weight, err := weightOf(word)
		if err != nil {
			return err
		}
		if err := a.addTo(s, []byte(word.Text), weight); err != nil {
			return err
		}
	}
	return nil
}

// InAll looks up a word in all segments. It returns its entry in one of them, and the number of
// documents with it in all.
func (s *Lexicons) InAll(segment int, word []byte) (info index.Term, documents uint64, err error) {
	each, documents, err := s.Each(word)
	if err == nil {
		info = each[segment]
	}
	return info, documents, err
}

// Each looks up a word in all segments. It returns its entry in each, and the number of documents
// with it in all.
func (s *Lexicons) Each(word []byte) (each []index.Term, documents uint64, err error) {
	k, err := s.known.findInAll(s.segments, word)
	if err != nil {
		return nil, 0, fmt.Errorf("look up %q: %w", word, err)
	}
	for i := range k.each {
		documents += uint64(k.each[i].FullDF())
	}
	return k.each, documents, nil
}

// InfoOf returns the entry of a term in a segment.
func (a *Across) InfoOf(term, segment int) index.Term { return a.infos[term][segment] }

// Missing reports whether a word of the query is in no segment.
func (a *Across) Missing() bool { return a.unknown }

// addTo adds a word.
func (a *Across) addTo(s *Lexicons, word []byte, weight float64) error {
	k, err := s.known.findInAll(s.segments, word)
	if err != nil {
		return fmt.Errorf("look up %q: %w", word, err)
	}
	if i := a.Position(k.text); i >= 0 {
		a.Terms[i].Weight += weight
		return nil
	}
	t := model.Term{Text: k.text, Weight: weight}
	for i := range k.each {
		t.DF += uint64(k.each[i].FullDF())
		t.CF += k.each[i].CF
	}
	if t.DF == 0 {
		a.unknown = true
		return nil
	}
	a.infos, a.known = append(a.infos, k.each), append(a.known, k)
	a.Terms = append(a.Terms, t)
	a.remember()
	return nil
}

// KnowsAll reports whether a segment has all terms of the query.
func (a *Across) KnowsAll(segment int) bool {
	for _, each := range a.infos {
		if each[segment].DF == 0 {
			return false
		}
	}
	return true
}

// TermsOf appends the terms that a segment has, in query order. In mode And it appends none if the
// segment lacks a word of the query.
//
// Postcondition: the terms are different words that the segment has, with positive weights.
func (a *Across) TermsOf(segment int, mode ask.Mode, out []model.Term) []model.Term {
	if mode == ask.And && a.unknown {
		return out
	}
	n := len(out)
	for i, t := range a.Terms {
		if t.Info = a.infos[i][segment]; t.Info.DF > 0 {
			if i < len(a.best) {
				t.LowX = a.best[i].Low[segment]
			}
			out = append(out, t)
		} else if mode == ask.And {
			return out[:n]
		}
	}
	if assert.On && !distinct(out[n:]) {
		assert.Fail("a term is twice, or not in the segment, or has no weight")
	}
	return out
}

// Best returns bounds on the best postings of each term. From then on TermsOf sets LowX.
func (a *Across) Best(s *Lexicons, scales *Scales) ([]*Best, error) {
	a.best = a.best[:0]
	for _, k := range a.known {
		b, err := k.bestIn(s.segments, scales)
		if err != nil {
			return nil, err
		}
		a.best = append(a.best, b)
	}
	return a.best, nil
}

// Postings counts the postings and blocks that a segment has for the words of a query.
func (a *Across) Postings(segment int, mode ask.Mode) (postings, blocks int64) {
	if mode == ask.And && a.unknown {
		return 0, 0
	}
	for i := range a.infos {
		df := int64(a.infos[i][segment].DF)
		if df == 0 && mode == ask.And {
			return 0, 0
		}
		postings += df
		blocks += (df + index.BlockSize - 1) / index.BlockSize
	}
	return postings, blocks
}

package thesisbench

import (
	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// plain reports whether an index is one list of postings per word.
func plain(s *search.Searcher) bool {
	segments := s.Index().Segments()
	return len(segments) == 1 && segments[0].Live == nil && s.Index().Schema() == nil
}

// newPaperMatch reads the lists of a query into memory.
//
// Precondition: plain(s).
func newPaperMatch(s *search.Searcher, r search.Request, k int) (*paperMatch, error) {
	return newMatch(s, r, k, false)
}

// newPackedMatch is newPaperMatch that leaves the lists compressed.
func newPackedMatch(s *search.Searcher, r search.Request, k int) (*paperMatch, error) {
	return newMatch(s, r, k, true)
}

// err returns the error of a list that could not be read.
func (m *paperMatch) err() error {
	for _, l := range m.lists {
		if l.packed != nil && l.packed.c.Err() != nil {
			return l.packed.c.Err()
		}
	}
	return nil
}

func newMatch(s *search.Searcher, r search.Request, k int, packed bool) (*paperMatch, error) {
	in := s.Index().Segments()[0].Reader
	scorer, err := bm25.Params{}.Scorer(uint64(in.Docs()), uint64(in.Tokens()))
	if err != nil {
		return nil, err
	}
	words, err := wordsOf(s, r)
	if err != nil {
		return nil, err
	}
	m := &paperMatch{lengths: in.Lengths(), k: k}
	for _, w := range words {
		t, err := in.Lookup([]byte(w.Text))
		if err != nil {
			return nil, err
		}
		if t.DF == 0 {
			continue
		}
		l := &paperList{n: int(t.DF), term: scorer.Term(uint64(t.DF), max(w.Weight, 1))}
		if packed {
			if l.packed, err = newPackedList(in, t); err != nil {
				return nil, err
			}
		} else {
			l.docs, l.tfs = make([]uint32, 0, t.DF), make([]uint32, 0, t.DF)
		}
		var c index.Cursor
		if err := in.Open(t, &c); err != nil {
			return nil, err
		}
		for doc := c.Doc(); doc != index.End; doc = c.Next() {
			if !packed {
				l.docs, l.tfs = append(l.docs, doc), append(l.tfs, c.TF())
			}
			l.max = max(l.max, l.term.Score(c.TF(), m.lengths[doc]))
		}
		if err := c.Err(); err != nil {
			return nil, err
		}
		m.lists = append(m.lists, l)
	}
	return m, nil
}

// wordsOf returns the words of a request. One that is repeated has the number as its weight.
func wordsOf(s *search.Searcher, r search.Request) ([]search.Word, error) {
	if r.Text == "" {
		return r.Words, nil
	}
	var tokens text.Tokens
	if err := s.Analyzer().Analyze([]byte(r.Text), &tokens); err != nil {
		return nil, err
	}
	var out []search.Word
	at := map[string]int{}
	for i := range tokens.Words {
		w := string(tokens.Word(i))
		if j, ok := at[w]; ok {
			out[j].Weight++
			continue
		}
		at[w] = len(out)
		out = append(out, search.Word{Text: w, Weight: 1})
	}
	return out, nil
}

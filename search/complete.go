package search

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/spelling"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/text"
)

// Completion is a word of an index.
type Completion struct {
	Word string `json:"word"` // as the analyzer of the index makes it
	// Documents is the number of documents that have the word; deleted ones count until their
	// segment is merged.
	Documents uint64 `json:"documents"`
}

// Complete returns the n words with the most documents that begin with prefix, as it is, in lower
// case, or as the analyzer changes its characters, the most frequent first; n of 0 means 10. Of a
// text field it takes the words of that field; "" means those of all text. It reads all words that
// begin so.
func (s *Searcher) Complete(ctx context.Context, field, prefix string, n int) (list []Completion, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if n < 0 || n > MaxK {
		return nil, ask.Refuse("complete: %d words: want 0 to %d", n, MaxK)
	}
	engines, err := s.enginesOf(field)
	if err != nil {
		return nil, err
	}
	counts := map[string]uint64{}
	for _, e := range engines {
		prefixes := []string{prefix, strings.ToLower(prefix), text.Normalize(e.Analyzer, prefix)}
		slices.Sort(prefixes)
		for _, p := range slices.Compact(prefixes) {
			if err := count(ctx, e, p, counts); err != nil {
				return nil, err
			}
		}
	}
	for word, docs := range counts {
		list = append(list, Completion{word, docs})
	}
	slices.SortFunc(list, func(a, b Completion) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), strings.Compare(a.Word, b.Word))
	})
	return list[:min(cmp.Or(n, 10), len(list))], nil
}

// count adds the documents of the words of a segment that begin with prefix.
func count(ctx context.Context, e *eval.Engine, prefix string, to map[string]uint64) error {
	n := 0
	for w, err := range e.Index.WordsFrom([]byte(prefix)) {
		if err != nil {
			return err
		}
		if !strings.HasPrefix(string(w.Text), prefix) {
			return nil
		}
		to[string(w.Text)] += uint64(w.Term.DF)
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// Similar returns up to three words of the index with a spelling similar to that of a word, the
// nearest first: equal but for capitals, or by one or two letters different. Of a text field it
// takes the words of that field; "" means those of all text.
func (s *Searcher) Similar(ctx context.Context, field, word string) (list []string, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	engines, err := s.enginesOf(field)
	if err != nil || word == "" {
		return nil, err
	}
	suggester := spelling.New(word)
	for _, e := range engines {
		if err := lookAt(ctx, e, word, suggester); err != nil {
			return nil, err
		}
	}
	return suggester.Best(), nil
}

// enginesOf returns those of all segments, of a text field or of all text.
func (s *Searcher) enginesOf(field string) (list []*eval.Engine, err error) {
	if s.tree == nil {
		return nil, nil
	}
	for _, e := range s.engines() {
		if field != "" {
			if e, err = e.Field(field); err != nil {
				return nil, err
			}
			if e == nil {
				return nil, ask.Refuse("%s", unknownText(s.index.Schema(), field))
			}
		}
		list = append(list, e)
	}
	return list, nil
}

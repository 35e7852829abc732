package words

import (
	"context"
	"fmt"
	"slices"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/spelling"
	"github.com/collocate/collocate/text"
)

// UnknownWord is the error for a word that is not in a vocabulary.
type UnknownWord struct {
	Word string `json:"word"` // the one that was looked for
	// Similar are words with a similar spelling, the nearest and most frequent first.
	Similar []string `json:"similar,omitempty"`
}

func (e *UnknownWord) Error() string {
	return fmt.Sprintf("the word %.60q is not in the vocabulary%s", e.Word, spelling.DidYouMean(e.Similar))
}

// suggest returns words of a matrix with a spelling similar to that of word.
func suggest(r *cooccur.Reader, word string) []string {
	s := spelling.New(word)
	for id := range r.Len() {
		s.Look(r.Word(id), uint64(r.Count(id)))
	}
	return s.Best()
}

// known finds the words of queries that are not in a vocabulary. look takes each word of the
// vocabulary.
type known struct {
	words      []string
	found      []bool
	suggesters []*spelling.Suggester
}

func newKnown(queries []*Query) *known {
	k := &known{}
	for _, q := range queries {
		if q == nil {
			continue
		}
		for _, e := range slices.Concat(q.patterns...) {
			w := straightApostrophes(string(e.text))
			if e.kind == exactWord && !slices.Contains(k.words, w) {
				k.words = append(k.words, w)
				k.suggesters = append(k.suggesters, spelling.New(w))
			}
		}
	}
	k.found = make([]bool, len(k.words))
	return k
}

func (k *known) look(word []byte, count uint64) {
	for i, w := range k.words {
		if string(word) == w || straightApostrophes(string(word)) == w {
			k.found[i] = true
		} else if !k.found[i] {
			k.suggesters[i].Look(word, count)
		}
	}
}

func (k *known) unknown() (list []UnknownWord) {
	for i, w := range k.words {
		if !k.found[i] {
			list = append(list, UnknownWord{w, k.suggesters[i].Best()})
		}
	}
	return list
}

// unknownWords reads a corpus and returns the words of queries that it does not have. Queries may
// be nil, except the first.
func unknownWords(ctx context.Context, corpus *text.Corpus, threads int, queries ...*Query) ([]UnknownWord, error) {
	k := newKnown(queries)
	if len(k.words) == 0 {
		return nil, nil
	}
	again := *corpus // the first reading gave its notes
	again.Options.Note = nil
	if again.Options.SkipBad != nil {
		again.Options.SkipBad = func(string, error) {}
	}
	v, _, err := cooccur.CountWords(ctx, &again, cooccur.VocabularyOptions{Analyzer: queries[0].analyzer,
		KeepUnk: true, Order: cooccur.ByteOrder, Engine: engine.Multicore, Threads: threads})
	if err != nil {
		return nil, err
	}
	for id := range v.Len() {
		k.look(v.Word(id), uint64(v.Count(id)))
	}
	return k.unknown(), nil
}

// Unknown returns words that do not occur in the corpus: those of the queries that have no match in
// the plot. If there are such queries, it reads the corpus once more.
func (p *Plot) Unknown(ctx context.Context, corpus *text.Corpus, threads int,
	queries []*Query) ([]UnknownWord, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	var missing []*Query
	for i, row := range p.Rows {
		if row.Count == 0 {
			missing = append(missing, queries[i])
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	return unknownWords(ctx, corpus, threads, missing...)
}

// unknownInIndex returns the words of queries that an index does not have.
func unknownInIndex(ctx context.Context, r *segments.Reader, queries ...*Query) ([]UnknownWord, error) {
	k := newKnown(queries)
	if len(k.words) == 0 {
		return nil, nil
	}
	for _, s := range r.Segments() {
		for w, err := range s.Words() {
			if err != nil {
				return nil, err
			}
			k.look(w.Text, w.Term.CF)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return k.unknown(), nil
}

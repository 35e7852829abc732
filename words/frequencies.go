package words

import (
	"context"
	"fmt"

	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
)

// FrequenciesIn counts the words of documents of an index in their stored text, with the index's
// analyzer.
func FrequenciesIn(ctx context.Context, r *segments.Reader, an text.Analyzer, docs []uint32) (f Frequencies, err error) {
	if err := given.Context(ctx); err != nil {
		return f, err
	}
	if !r.HasText() {
		return f, ErrNoText
	}
	f.Counts = map[string]uint64{}
	var t text.Tokens
	for _, doc := range docs {
		if err := ctx.Err(); err != nil {
			return f, err
		}
		body, err := r.Text(int(doc))
		if err != nil {
			return f, err
		}
		if err := an.Analyze(body, &t); err != nil {
			return f, fmt.Errorf("document %d: %w", doc, err)
		}
		for i := range t.Words {
			f.Counts[string(t.Word(i))]++
		}
		f.Total += uint64(len(t.Words))
	}
	return f, nil
}

// FrequenciesBeside counts the words of all documents of an index except those counted in of. Only
// the words of of are counted, unless every is set.
func FrequenciesBeside(ctx context.Context, r *segments.Reader, of Frequencies, every bool) (f Frequencies, err error) {
	if err := given.Context(ctx); err != nil {
		return f, err
	}
	f.Counts = map[string]uint64{}
	if all := uint64(r.Tokens()); all > of.Total {
		f.Total = all - of.Total
	}
	if every {
		for _, segment := range r.Segments() {
			for w, err := range segment.Words() {
				if err == nil && w.Term.ID%1024 == 0 {
					err = ctx.Err()
				}
				if err != nil {
					return f, err
				}
				f.Counts[string(w.Text)] += w.Term.CF
			}
		}
	}
	looked := 0
	for word, n := range of.Counts {
		if looked++; looked%1024 == 0 && ctx.Err() != nil {
			return f, ctx.Err()
		}
		all := f.Counts[word]
		if !every {
			if _, all, err = r.Lookup([]byte(word)); err != nil {
				return f, err
			}
		}
		if all > n {
			f.Counts[word] = all - n
		} else {
			delete(f.Counts, word)
		}
	}
	return f, nil
}

package words

import (
	"context"
	"iter"

	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
)

// FrequenciesOf counts the words of documents of an index in their stored text.
func FrequenciesOf(ctx context.Context, r *segments.Reader, an text.Analyzer,
	docs iter.Seq[int]) (f Frequencies, err error) {
	if err := given.Context(ctx); err != nil {
		return f, err
	}
	if !r.HasText() {
		return f, ErrNoText
	}
	f.Counts = map[string]uint64{}
	var t text.Tokens
	for doc := range docs {
		if err := ctx.Err(); err != nil {
			return f, err
		}
		body, err := r.Text(doc)
		if err == nil {
			err = an.Analyze(body, &t)
		}
		if err != nil {
			return f, err
		}
		for i := range t.Words {
			f.Counts[string(t.Word(i))]++
		}
		f.Total += uint64(len(t.Words))
		t.Trim()
	}
	return f, nil
}

// OtherFrequencies counts the words of all documents of an index except those that were counted in
// of. Unless every is set, only words of these are counted.
func OtherFrequencies(ctx context.Context, r *segments.Reader, of Frequencies,
	every bool) (f Frequencies, err error) {
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

package words

import (
	"context"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
)

// FrequenciesOf counts the words of documents of an index in their stored text. Within has a set of
// documents for each segment; nil means all.
func FrequenciesOf(ctx context.Context, r *segments.Reader, within []*docset.Set,
	o cooccur.VocabularyOptions) (f Frequencies, err error) {
	if err := given.Context(ctx); err != nil {
		return f, err
	}
	corpus, err := Stored(r, within)
	if err != nil {
		return f, err
	}
	o.KeepUnk, o.Order, o.Engine = true, cooccur.ByteOrder, engine.Multicore
	v, stats, err := cooccur.CountWords(ctx, corpus, o)
	if err != nil {
		return f, err
	}
	f = Frequencies{Total: uint64(stats.Words), Counts: make(map[string]uint64, v.Len())}
	for i := range v.Len() {
		f.Counts[string(v.Word(i))] = v.Count(i)
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

package weigh

import (
	"context"
	"fmt"
	"slices"

	"github.com/collocate/collocate/text"
)

// weighSequential follows the definition: it counts with maps, sorts, and applies the formula.
func weighSequential(ctx context.Context, j *job) (*Weights, error) {
	var (
		list          []docBatch
		tokens, bytes int64
		tok           text.Tokens
		words         = map[string]map[uint64]uint32{} // word, (batch, position in it), tf
	)
	err := j.each(ctx, func(_ int, b *text.Batch) error {
		d := newDocBatch(b.Seq, len(b.Docs))
		for i, doc := range b.Docs {
			if err := j.Analyzer.Analyze(doc.Text, &tok); err != nil {
				return fmt.Errorf("document %s: %w", doc.ID, err)
			}
			d.add(doc.ID, len(tok.Words))
			tokens += int64(len(tok.Words))
			bytes += int64(len(doc.Text))
			for k := range tok.Words {
				w := string(tok.Word(k))
				if words[w] == nil {
					words[w] = map[uint64]uint32{}
				}
				words[w][uint64(b.Seq)<<32|uint64(i)]++
			}
		}
		list = append(list, d)
		return nil
	})
	if err != nil {
		return nil, err
	}
	docs, err := newDocuments(list, tokens, bytes)
	if err != nil {
		return nil, err
	}
	scorer, err := docs.scorer(j.Params)
	if err != nil {
		return nil, err
	}

	var sorted []string
	for w := range words {
		sorted = append(sorted, w)
	}
	slices.Sort(sorted)
	a := &arrays{word: func(i int) []byte { return []byte(sorted[i]) }, first: []uint32{0}}
	for _, w := range sorted {
		var places []uint64
		for at := range words[w] {
			places = append(places, at)
		}
		slices.Sort(places)
		term := scorer.Term(uint64(len(places)), 1)
		for _, at := range places {
			doc, tf := docs.base[at>>32]+uint32(at), words[w][at]
			a.docs = append(a.docs, doc)
			a.tfs = append(a.tfs, tf)
			a.weights = append(a.weights, term.Score(tf, docs.lengths[doc]))
		}
		a.first = append(a.first, uint32(len(a.docs)))
	}
	return &Weights{docs: docs, scorer: scorer, source: a}, nil
}

package weigh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sort"
	"strings"

	"github.com/collocate/collocate/bm25"
)

// Join weighs the concatenation of several files' documents. It uses only the counts of the files:
// df, the number of documents and their mean length are those of all files together, so the weights
// are the same as those of Weigh. The files must stay open until the weights are closed, which does
// not close them.
func Join(files []*File, p bm25.Params) (*Weights, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if p.Variant.OnlySearches() {
		return nil, onlySearches(p.Variant)
	}
	j := &joined{files: files}
	var batches []docBatch
	var tokens uint64
	base := 0
	for _, f := range files {
		if base+len(f.Lengths) > math.MaxInt32 {
			return nil, errors.New("weigh: more than 2147483647 documents")
		}
		j.base = append(j.base, uint32(base))
		base += len(f.Lengths)
		tokens += f.Tokens
		for at := 0; at < len(f.Lengths); {
			b := newDocBatch(len(batches), 0)
			for ; at < len(f.Lengths) && b.docs < joinDocs && len(b.ids) < joinIDs; at++ {
				b.add(f.ID(at), int(f.Lengths[at]))
			}
			batches = append(batches, b)
		}
	}
	docs, err := newDocuments(batches, int64(tokens), 0)
	if err != nil {
		return nil, err
	}
	if j.scorer, err = docs.scorer(p); err != nil {
		return nil, err
	}
	j.docs = docs
	return &Weights{docs: docs, scorer: j.scorer, source: j, method: Inverting}, nil
}

// A batch of documents that were joined has at most joinDocs of them, with IDs of about joinIDs
// bytes.
const (
	joinDocs = 1 << 16
	joinIDs  = 1 << 24
)

func onlySearches(v bm25.Variant) error {
	return fmt.Errorf("weigh: variant %v is only for searching: want %s", v,
		strings.Join(bm25.Variants(), ", "))
}

// joined is the source of the weights of several files.
type joined struct {
	files  []*File
	base   []uint32 // number of a file's first document
	docs   *documents
	scorer *bm25.Scorer
}

func (j *joined) close() error { return nil }

// parts divides the words at words of the file that has most of them.
func (j *joined) parts(ctx context.Context, n int) (parts []iter.Seq2[Weighted, error]) {
	var most *File
	for _, f := range j.files {
		if most == nil || f.Len() > most.Len() {
			most = f
		}
	}
	var from []byte
	for i := 1; i < n && most != nil && most.Len() >= n; i++ {
		to := slice(most.words, most.ends, most.Len()/n*i)
		parts = append(parts, j.terms(ctx, from, to))
		from = to
	}
	return append(parts, j.terms(ctx, from, nil))
}

// terms yields the words w with from <= w < to; nil is no bound. A word comes once for each file.
func (j *joined) terms(ctx context.Context, from, to []byte) iter.Seq2[Weighted, error] {
	return func(yield func(Weighted, error) bool) {
		err := Guarded(func() error {
			at, end := make([]int, len(j.files)), make([]int, len(j.files))
			for i, f := range j.files {
				at[i], end[i] = 0, f.Len()
				if from != nil {
					at[i] = f.search(from)
				}
				if to != nil {
					end[i] = f.search(to)
				}
			}
			return j.merge(ctx, at, end, yield)
		})
		if err != nil {
			yield(Weighted{}, err)
		}
	}
}

// merge yields the terms from at to end of all files. Files are few, so the least word is found by
// looking at all.
func (j *joined) merge(ctx context.Context, at, end []int, yield func(Weighted, error) bool) error {
	var docs []uint32
	var weights []float32
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		var word []byte
		found, df := false, 0
		for i, f := range j.files {
			if at[i] == end[i] {
				continue
			}
			w := slice(f.words, f.ends, at[i])
			count := int(f.first[at[i]+1] - f.first[at[i]])
			switch order := bytes.Compare(w, word); {
			case !found || order < 0:
				word, found, df = w, true, count
			case order == 0:
				df += count
			}
		}
		if !found {
			return nil
		}
		for i, f := range j.files {
			if at[i] == end[i] || !bytes.Equal(slice(f.words, f.ends, at[i]), word) {
				continue
			}
			t := f.At(at[i])
			at[i]++
			docs = docs[:0]
			for _, d := range t.Docs {
				docs = append(docs, d+j.base[i])
			}
			weights = j.docs.score(j.scorer, df, docs, t.TFs, weights)
			if !yield(Weighted{Term{Word: word, DF: df, Docs: docs, TFs: t.TFs}, weights}, nil) {
				return nil
			}
		}
	}
}

// search returns the number of the first term that is not before word.
func (f *File) search(word []byte) int {
	return sort.Search(f.Len(), func(i int) bool { return bytes.Compare(slice(f.words, f.ends, i), word) >= 0 })
}

package weigh

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/sections"
)

// A file of weights is a sections file of kind "COLOWGT\n", version 1:
//
//	meta     eight uint64: documents, words of all documents, terms, pairs, bits of
//	         k1 and of b as float64, variant of the formula, 0
//	docs     uint32 for each pair: its document
//	tfs      uint32 for each pair
//	weights  float32 for each pair
//	first    uint64 for each term: its first pair; then the number of pairs
//	words    all terms, one after the other in byte order
//	ends     uint64 for each term: where it ends in words
//	lengths  uint32 for each document: its number of words
//	ids      the documents' IDs, one after the other
//	id-ends  uint64 for each document: where its ID ends
//
// Example: the documents d0 "a" and d1 "a b" have docs 0 1 1, tfs 1 1 1, first
// 0 2 3, words "ab", ends 1 2, lengths 1 2, ids "d0d1", id-ends 2 4.
const (
	binaryMagic   = "COLOWGT\n"
	binaryVersion = 1
)

func (w *Weights) writeBinary(ctx context.Context, to io.Writer) (Counts, error) {
	out, err := sections.NewWriter(to, binaryMagic, binaryVersion)
	if err != nil {
		return Counts{}, err
	}
	var words []byte
	var ends []uint64
	first := []uint64{0}
	column := func(name string, visit func(t Weighted, begins bool) error) (Counts, error) {
		if err := out.Begin(name); err != nil {
			return Counts{}, err
		}
		return w.each(ctx, visit)
	}
	counts, err := column("docs", func(t Weighted, begins bool) error {
		if begins {
			words = append(words, t.Word...)
			ends = append(ends, uint64(len(words)))
			first = append(first, first[len(first)-1]+uint64(t.DF))
		}
		return sections.Put(out, t.Docs)
	})
	if err != nil {
		return counts, err
	}
	for _, c := range []struct {
		name  string
		visit func(t Weighted, _ bool) error
	}{
		{"tfs", func(t Weighted, _ bool) error { return sections.Put(out, t.TFs) }},
		{"weights", func(t Weighted, _ bool) error { return sections.Put(out, t.Weights) }},
	} {
		if again, err := column(c.name, c.visit); err != nil {
			return counts, err
		} else if again != counts {
			return counts, errChanged
		}
	}
	p := w.scorer.Params()
	meta := []uint64{
		uint64(w.Docs()), uint64(w.Tokens()), uint64(counts.Terms), uint64(counts.Pairs),
		math.Float64bits(bm25.Shown(p.K1)), math.Float64bits(bm25.Shown(p.B)), uint64(p.Variant), 0,
	}
	put := func(name string, data []byte) error { return out.Section(name, data) }
	stream := func(name string, fill func(io.Writer) error) error {
		if err := out.Begin(name); err != nil {
			return err
		}
		return fill(out)
	}
	for _, step := range []func() error{
		func() error { return put("first", sections.Bytes(first)) },
		func() error { return put("words", words) },
		func() error { return put("ends", sections.Bytes(ends)) },
		func() error { return put("lengths", sections.Bytes(w.Lengths())) },
		func() error { return stream("ids", w.docs.putIDs) },
		func() error { return stream("id-ends", w.docs.putIDEnds) },
		func() error { return put("meta", sections.Bytes(meta)) },
	} {
		if err := step(); err != nil {
			return counts, err
		}
	}
	return counts, out.Close()
}

// File is an open file of weights, mapped into memory.
type File struct {
	Params bm25.Params // of the formula that gave the weights, with K1 and B as used
	Tokens uint64      // number of words of all documents
	// Lengths is the number of words of each document. It is valid until Close and must not be
	// changed.
	Lengths []uint32

	file    *sections.File
	first   []uint64
	docs    []uint32
	tfs     []uint32
	weights []float32
	words   []byte
	ends    []uint64
	ids     []byte
	idEnds  []uint64
}

// OpenFile maps a file that was written in format Binary and verifies its checksums, which reads it
// once.
func OpenFile(path string) (*File, error) {
	s, err := sections.Open(path, binaryMagic, binaryVersion)
	if err != nil {
		return nil, err
	}
	var f *File
	err = Guarded(func() (err error) {
		f, err = parseFile(s)
		return err
	})
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func parseFile(s *sections.File) (*File, error) {
	if err := s.Verify(); err != nil {
		return nil, err
	}
	f := &File{file: s}
	meta, err := column[uint64](s, "meta", 8)
	if err != nil {
		return nil, err
	}
	docs, terms, pairs := meta[0], meta[2], meta[3]
	if max(docs, terms, pairs) > math.MaxInt64/64 {
		return nil, fmt.Errorf("corrupted: %d documents, %d terms, %d pairs", docs, terms, pairs)
	}
	f.Tokens = meta[1]
	f.Params = bm25.Params{K1: bm25.Explicit(math.Float64frombits(meta[4])),
		B: bm25.Explicit(math.Float64frombits(meta[5])), Variant: bm25.Variant(meta[6])}
	if meta[6] > math.MaxUint8 || f.Params.Check() != nil {
		return nil, fmt.Errorf("corrupted: parameters of the formula are %v", f.Params)
	}
	load := func(step func() error) {
		if err == nil {
			err = step()
		}
	}
	load(func() (e error) { f.docs, e = column[uint32](s, "docs", int(pairs)); return })
	load(func() (e error) { f.tfs, e = column[uint32](s, "tfs", int(pairs)); return })
	load(func() (e error) { f.weights, e = column[float32](s, "weights", int(pairs)); return })
	load(func() (e error) { f.first, e = column[uint64](s, "first", int(terms)+1); return })
	load(func() (e error) { f.words, e = s.Section("words"); return })
	load(func() (e error) { f.ends, e = column[uint64](s, "ends", int(terms)); return })
	load(func() (e error) { f.Lengths, e = column[uint32](s, "lengths", int(docs)); return })
	load(func() (e error) { f.ids, e = s.Section("ids"); return })
	load(func() (e error) { f.idEnds, e = column[uint64](s, "id-ends", int(docs)); return })
	load(func() error { return ascending("first", f.first, pairs) })
	load(func() error { return ascending("ends", f.ends, uint64(len(f.words))) })
	load(func() error { return ascending("id-ends", f.idEnds, uint64(len(f.ids))) })
	load(func() error {
		for i, d := range f.docs {
			if uint64(d) >= docs {
				return fmt.Errorf("corrupted: pair %d is in document %d of %d", i, d, docs)
			}
		}
		return nil
	})
	return f, err
}

func column[T sections.Number](s *sections.File, name string, n int) ([]T, error) {
	b, err := s.Section(name)
	if err != nil {
		return nil, err
	}
	v, err := sections.View[T](b)
	if err == nil && len(v) != n {
		err = fmt.Errorf("corrupted: section %q has %d numbers, want %d", name, len(v), n)
	}
	return v, err
}

// ascending checks that offsets ascend, and that the last one is last.
func ascending(name string, v []uint64, last uint64) error {
	at := uint64(0)
	for _, x := range v {
		if x < at {
			return fmt.Errorf("corrupted: section %q does not ascend", name)
		}
		at = x
	}
	if len(v) > 0 && at != last {
		return fmt.Errorf("corrupted: section %q ends at %d, want %d", name, at, last)
	}
	return nil
}

// Guarded calls fn and returns its error. If fn reads a File that was truncated after it was
// opened, Guarded returns an error where the program would otherwise crash. Methods of File that
// return no error need it.
func Guarded(fn func() error) error { return mmap.Safely(fn) }

// Check verifies the checksums, the order of terms and documents, and each weight, which it
// computes again.
func (f *File) Check(ctx context.Context) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	return Guarded(func() error {
		if err := f.file.Verify(); err != nil {
			return err
		}
		scorer, err := f.Params.Scorer(uint64(len(f.Lengths)), f.Tokens)
		if err != nil {
			return fmt.Errorf("corrupted: %w", err)
		}
		var last []byte
		for i := range f.Len() {
			if err := f.checkTerm(i, last, scorer); err != nil {
				return err
			}
			last = slice(f.words, f.ends, i)
			if i%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
}

// checkTerm checks a term, which comes after last.
func (f *File) checkTerm(i int, last []byte, scorer *bm25.Scorer) error {
	t := f.At(i)
	if i > 0 && bytes.Compare(t.Word, last) <= 0 {
		return fmt.Errorf("corrupted: term %d, %q, comes after %q: not in byte order", i, t.Word, last)
	}
	score := scorer.Term(uint64(t.DF), 1)
	for k, d := range t.Docs {
		if k > 0 && d <= t.Docs[k-1] || t.TFs[k] == 0 || score.Score(t.TFs[k], f.Lengths[d]) != t.Weights[k] {
			return fmt.Errorf("corrupted: term %q: pair %d, of document %d, is wrong", t.Word, k, d)
		}
	}
	return nil
}

// Len returns the number of terms.
func (f *File) Len() int { return len(f.ends) }

// At returns the i-th term in byte order, with all its documents.
func (f *File) At(i int) Weighted {
	lo, hi := f.first[i], f.first[i+1]
	t := Term{Word: slice(f.words, f.ends, i), DF: int(hi - lo), Docs: f.docs[lo:hi], TFs: f.tfs[lo:hi]}
	return Weighted{t, f.weights[lo:hi]}
}

// Find returns the term of a word, if the word occurs.
func (f *File) Find(word []byte) (Weighted, bool) {
	i := f.search(word)
	if i == f.Len() || !bytes.Equal(slice(f.words, f.ends, i), word) {
		return Weighted{}, false
	}
	return f.At(i), true
}

// ID returns the ID of document i.
func (f *File) ID(i int) string { return string(slice(f.ids, f.idEnds, i)) }

func slice(data []byte, ends []uint64, i int) []byte {
	start := uint64(0)
	if i > 0 {
		start = ends[i-1]
	}
	return data[start:ends[i]]
}

// Close unmaps the file.
func (f *File) Close() error { return f.file.Close() }

package weigh

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/numberedid"
	"github.com/collocate/collocate/internal/scratch"
)

// documents holds the lengths and IDs of the documents of a corpus.
type documents struct {
	batches []docBatch // in corpus order
	base    []uint32   // number of a batch's first document
	lengths []uint32
	k       []float32 // by document: the formula's K of its length, once there is a scorer
	tokens  int64
	bytes   int64

	// Mapped files, if lengths and IDs do not fit in memory: see docStore.
	records, lengthPages *scratch.Pages
}

// docBatch holds the lengths and IDs of a batch of documents. If it was spilled, it holds only the
// offset of its record.
type docBatch struct {
	seq     int
	docs    int
	lengths []uint32
	ids     []byte
	idEnds  []uint32
	// counted means that the IDs are numbered consecutively, as those of lines are; ids then holds
	// only the first one. That saves 13 of 21 bytes for each of 50 million lines.
	counted bool
	next    numberedid.Follower // the ID that would continue the numbering
	at      int64               // offset of the record
	idBytes int
}

func newDocBatch(seq, docs int) docBatch {
	return docBatch{seq: seq, lengths: make([]uint32, 0, docs)}
}

func (d *docBatch) add(id string, length int) {
	d.lengths = append(d.lengths, uint32(length))
	d.docs++
	if d.counted {
		if d.next.IsString(id) {
			return
		}
		d.spell()
	}
	d.ids = append(d.ids, id...)
	if d.docs == 1 {
		if d.counted = d.next.After(d.ids); d.counted {
			return
		}
	}
	if d.idEnds == nil {
		d.idEnds = make([]uint32, 0, cap(d.lengths))
	}
	d.idEnds = append(d.idEnds, uint32(len(d.ids)))
}

// spell writes out all IDs but the last one, which does not continue the numbering.
func (d *docBatch) spell() {
	first, n := d.ids, numberedid.Of(d.ids)
	d.counted, d.ids = false, nil
	d.idEnds = make([]uint32, 0, cap(d.lengths))
	for i := range d.docs - 1 {
		d.ids = n.Append(append(d.ids, first[:n.Stem]...), uint64(i))
		d.idEnds = append(d.idEnds, uint32(len(d.ids)))
	}
}

// newDocuments numbers the documents of batches, which may be in any order.
func newDocuments(batches []docBatch, tokens, bytes int64) (*documents, error) {
	v := &documents{batches: batches, tokens: tokens, bytes: bytes}
	docs, err := v.number()
	if err != nil {
		return nil, err
	}
	v.lengths = make([]uint32, 0, docs)
	for i := range v.batches {
		v.lengths = append(v.lengths, v.batches[i].lengths...)
		v.batches[i].lengths = nil
	}
	return v, nil
}

// number sorts the batches and counts their documents.
func (v *documents) number() (docs int, err error) {
	slices.SortFunc(v.batches, func(a, b docBatch) int { return cmp.Compare(a.seq, b.seq) })
	for i, b := range v.batches {
		if b.seq != i {
			return 0, fmt.Errorf("weigh: batch %d of the corpus is missing", i)
		}
		v.base = append(v.base, uint32(docs))
		if docs += b.docs; docs > math.MaxInt32 {
			return 0, errors.New("weigh: more than 2147483647 documents")
		}
	}
	return docs, nil
}

func (v *documents) id(i int) string {
	c := idCursor{v: v}
	return string(c.at(i))
}

func (v *documents) scorer(p bm25.Params) (*bm25.Scorer, error) {
	s, err := p.Scorer(uint64(len(v.lengths)), uint64(v.tokens))
	if err != nil {
		return nil, err
	}
	if v.records != nil {
		return s, nil // lengths do not fit in memory, so neither does k
	}
	v.k = make([]float32, len(v.lengths))
	for i, l := range v.lengths {
		v.k[i] = s.Length().K(l)
	}
	return s, nil
}

// score computes the weights of a word in these documents into dst, given its df and frequencies.
func (v *documents) score(s *bm25.Scorer, df int, docs, tfs []uint32, dst []float32) []float32 {
	t := s.Term(uint64(df), 1)
	dst = slices.Grow(dst[:0], len(docs))[:len(docs)]
	tfs = tfs[:len(docs)]
	if t.L || v.k == nil {
		for i, d := range docs {
			dst[i] = t.Score(tfs[i], v.lengths[d])
		}
		v.touch(docs)
		return dst
	}
	// The same steps as Score, with K looked up.
	weight, plus, k := t.Weight, t.Plus, v.k
	for i, d := range docs {
		x := float32(k[d] * bm25.Reciprocal(tfs[i]))
		dst[i] = weight/(1+x) + plus
	}
	return dst
}

// touch records that the lengths of these documents were read.
func (v *documents) touch(docs []uint32) {
	if n := len(docs); n > 0 {
		v.lengthPages.TouchSorted(n, docs[0], docs[n-1], 4)
	}
}

package device

import (
	"context"
	"errors"

	"github.com/collocate/collocate/internal/gpu"
)

// blockPostings is the number of postings of a list with a common maximum, kBlockPostings in
// thesisheads.cuh.
const blockPostings = 64

// paperMaxima holds the block maxima of Block-Max WAND: the highest score of each 64 postings of
// the lists in use, for each model and weight in use. When space runs out, all of them are
// discarded.
type paperMaxima struct {
	all  gpu.Buffer[float32]
	at   map[maximaKey]uint32 // offset of a word's maxima
	used int
}

// maximaKey is a list and how it is scored.
type maximaKey struct {
	term   gpuTerm
	model  uint32
	packed bool
}

// bringMaxima computes the maxima of the batch's words that are not there yet.
func (w *paperWork) bringMaxima() error {
	g, m := w.g, &w.g.paper.maxima
	blocks := func(x *gpuTerm) int { return (int(x.DF) + blockPostings - 1) / blockPostings }
	need := 0
	for i := range w.terms {
		w.terms[i].Table = 0 // unused here
		need += blocks(&w.terms[i])
	}
	if m.at == nil || m.used+need > m.all.Len() || !g.pack.whole { // lists may have moved otherwise
		m.at, m.used = map[maximaKey]uint32{}, 0
		size := max(need, int(g.pack.postings.size)/blockPostings+1)
		if err := atLeast(g.dev, &m.all, size); err != nil {
			return err
		}
	}
	k, err := w.kernelOf("maxima")
	if err != nil {
		return err
	}
	for i := range w.plan {
		q := &w.plan[i]
		for j := q.First; j < q.First+q.Terms; j++ {
			key := maximaKey{w.terms[j], q.Model, w.packed}
			at, ok := m.at[key]
			if !ok {
				at = uint32(m.used)
				w.terms[j].Table = at
				if err := w.makeMaxima(k, q.Model, w.terms[j], blocks(&key.term)); err != nil {
					return err
				}
				m.at[key] = at
				m.used += blocks(&key.term)
			}
			w.terms[j].Table = at
		}
	}
	return nil
}

// makeMaxima computes the maxima of a list.
func (w *paperWork) makeMaxima(k *gpu.Kernel, model uint32, x gpuTerm, blocks int) error {
	g, st := w.g, w.g.pack
	buf, err := gpu.Alloc[gpuTerm](g.dev, 1)
	if err != nil {
		return err
	}
	err = buf.Upload(st.stream, []gpuTerm{x})
	if err == nil {
		err = st.stream.Launch(k, gpu.Grid(max(1, min(blocks/8, 1024)), 256), buf.Arg(),
			gpu.U32(model), w.lists().Arg(), st.tfs.Arg(), st.more.Arg(), st.lengths.Arg(),
			g.paper.maxima.all.Arg())
	}
	if err == nil {
		err = st.stream.Sync(context.Background())
	}
	return errors.Join(err, buf.Free())
}

package index

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/mmap"
)

// PruneOptions are the options of Prune. Of each list, a pruned index keeps the postings that weigh
// at least Epsilon times as much as the Top-th best posting of the list, by BM25 with k1 = 1.2 and
// b = 0.75.
type PruneOptions struct {
	// Top is a rank; 0 means 10. Lists of at most Top postings stay whole.
	Top int
	// Epsilon is a share, above 0 and at most 1; 0 means 0.5.
	Epsilon float64

	// Threads is the number of threads; 0 means GOMAXPROCS. The result does not depend on it.
	Threads int
	// Memory bounds the working memory in bytes; 0 means 2 GB.
	Memory int64
}

// Prune writes an index with fewer postings to the folder dir, which may be the folder of r itself;
// see Create for what dir may contain. This is the term-based static pruning of Carmel et al.
// (Static index pruning for information retrieval systems, SIGIR 2001).
//
// Word statistics stay those of the whole index, so each remaining posting keeps its score. But a
// document may lose words, and with each of them up to Epsilon times the Top-th best weight of that
// word. Answers are therefore approximate, and search.Stats says so.
func Prune(ctx context.Context, r *Reader, dir string, o PruneOptions) (err error) {
	if err := given.Context(ctx); err != nil {
		return err
	}
	defer mmap.Recover(mmap.Guard(), &err)
	cut := &pruning{top: o.Top, epsilon: o.Epsilon}
	if cut.top == 0 {
		cut.top = 10
	}
	if cut.epsilon == 0 {
		cut.epsilon = 0.5
	}
	if cut.top < 0 || !(cut.epsilon > 0 && cut.epsilon <= 1) {
		return fmt.Errorf("prune: top %d, epsilon %g: want a top of at least 1, and an epsilon above 0 and at most 1", o.Top, o.Epsilon)
	}
	if r.meta.shard.Of > 0 {
		return fmt.Errorf("prune %s: %w", r.dir, errShard)
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = 2e9
	}
	w, err := Create(dir)
	if err != nil {
		return err
	}
	defer w.Abort()
	w.setMemory(o.Memory, "")
	if err := r.verify(ctx); err != nil { // otherwise damage would get valid checksums
		return err
	}
	same := make([]uint32, r.Docs())
	for d := range same {
		same[d] = uint32(d)
	}
	if err := r.rewrite(ctx, w, same, cut,
		ReorderOptions{Threads: o.Threads, textBucket: textBucketFor(o.Memory)}); err != nil {
		return fmt.Errorf("prune %s: %w", r.dir, err)
	}
	return w.Commit()
}

// pruning holds the parameters of Prune.
type pruning struct {
	top     int
	epsilon float64
}

// prune drops the postings of the list that weigh too little. The weight of a posting is W/(1+x)
// with the same W for the whole list, so x alone decides.
func (m *mover) prune() {
	if len(m.docs) <= m.cut.top {
		return
	}
	m.xs = slices.Grow(m.xs[:0], len(m.docs))[:len(m.docs)]
	for i, d := range m.docs {
		m.xs[i] = math.Float32bits(xOf(m.r.coef, m.tfs[i], m.r.Length(int(d))))
	}
	best := slices.Clone(m.xs)
	selectLowest(best, m.cut.top)
	last := float64(math.Float32frombits(highest(best[:m.cut.top])))
	most := (1 + last) / m.cut.epsilon
	n := 0
	for i, x := range m.xs {
		if 1+float64(math.Float32frombits(x)) <= most {
			m.docs[n], m.tfs[n] = m.docs[i], m.tfs[i]
			n++
		}
	}
	m.docs, m.tfs = m.docs[:n], m.tfs[:n]
}

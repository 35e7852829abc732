package device

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"sync"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
)

//go:embed kernels/excerpt.ptx
var excerptPTX string

var excerptSource = gpu.NewSource("search/excerpt", excerptPTX)

// excerpt is what an Index has that is an excerpt of others: an index of some documents of one or
// several, such as those that a filter admits, numbered anew in their order. All kernels answer on
// it as on any other, and read only postings of these documents. Scores are those of the whole
// indexes. A word gets a number when it is first asked for, and its list is made then.
type excerpt struct {
	parts   []excerptPart
	docs    []uint32 // of each document, its number in all the indexes together
	lender  *Index   // whose slots and lanes it uses; nil: it has its own
	kernels struct{ count, fill *gpu.Kernel }

	mu      sync.Mutex
	ids     map[uint64]uint32 // of words, by the first part that has one and its number there
	numbers []uint32          // by word and part: 1 + the number there, 0 if the part does not have it
	terms   []gpuTerm         // of gpuStore.known
}

// excerptPart is an index of which documents are taken. All of its lists must be on the device.
type excerptPart struct {
	*Index
	cells   gpu.Buffer[uint64] // see Source in excerpt.cu
	classes *[256]uint8        // the class of lengths of the first part for each of its own
}

// boundOf returns the bound of a list for the scorers of the excerpt.
func (p *excerptPart) boundOf(l *gpuList) index.Bound {
	if p.classes == nil {
		return l.bound
	}
	return l.bound.In(p.classes)
}

// excerptSize is the space that an excerpt needs.
type excerptSize struct {
	docs, tiles           int
	postings, extra, rows int64
}

// bytes returns the memory on the device, with the codes of a model.
func (z *excerptSize) bytes() int64 {
	return 4*z.postings + 4*z.extra + z.rows*(int64(z.tiles)*(4*gpuSubs+1)+4+256*4) +
		4*int64(z.docs) + excerptWords*int64(gpuTermBytes)
}

// keptDocs is the documents of an excerpt as the kernels need them.
type keptDocs struct {
	docs, lengths []uint32
	cells         [][]uint64 // of each part
	tokens        int64
}

// keep numbers the documents of sets.
func keep(parts []*Index, sets []*docset.Set) (k keptDocs, err error) {
	n := 0
	for i, g := range parts {
		k.cells = append(k.cells, make([]uint64, (g.s.Index.Docs()+31)/32))
		n += sets[i].Count()
	}
	k.docs, k.lengths = make([]uint32, n), make([]uint32, n)
	const run = 1 << 10 // of words of 64 documents
	rank, base := uint32(0), uint32(0)
	for i, g := range parts {
		words, cells := sets[i].Words(), k.cells[i]
		starts := make([]uint32, (len(words)+run-1)/run)
		for r := range starts {
			starts[r] = rank
			for _, w := range words[r*run : min(len(words), (r+1)*run)] {
				rank += uint32(bits.OnesCount64(w))
			}
		}
		all, sums := g.s.Index.Lengths(), make([]int64, len(starts))
		errs := make([]error, len(starts))
		par.For(runtime.GOMAXPROCS(0), len(words), run, func(_, from, to int) {
			errs[from/run] = func() (err error) {
				defer mmap.Recover(mmap.Guard(), &err)
				rank, sum := starts[from/run], int64(0)
				for at := from; at < to; at++ {
					w := words[at]
					cells[2*at] = w&0xffffffff | uint64(rank)<<32
					if 2*at+1 < len(cells) {
						low := uint32(bits.OnesCount32(uint32(w)))
						cells[2*at+1] = w>>32 | uint64(rank+low)<<32
					}
					for ; w != 0; w &= w - 1 {
						doc := uint32(at<<6 + bits.TrailingZeros64(w))
						k.docs[rank], k.lengths[rank] = base+doc, all[doc]
						sum += int64(all[doc])
						rank++
					}
				}
				sums[from/run] = sum
				return nil
			}()
		})
		if err := errors.Join(errs...); err != nil {
			return k, err
		}
		for _, sum := range sums {
			k.tokens += sum
		}
		base += uint32(g.s.Index.Docs())
	}
	return k, nil
}

// sizeOf returns the space for the lists of the documents. Together these have no more postings
// than the documents have words.
func (k *keptDocs) sizeOf(parts []*Index) (z excerptSize) {
	z.docs, z.tiles = len(k.docs), max(1, (len(k.docs)+gpuTile-1)/gpuTile)
	for _, g := range parts {
		st := g.pack
		z.postings, z.extra = z.postings+st.postings.size, z.extra+st.extra.size
		z.rows = max(z.rows, st.rows.size)
	}
	// A list takes up to 7 postings more for alignment.
	z.postings = min(z.postings+8*excerptWords, k.tokens+8*excerptWords) &^ 7
	z.extra = min(z.extra+z.rows*int64(z.tiles), k.tokens) + 1<<10
	z.rows = min(z.rows+z.rows/2, k.tokens/int64(densePostings*z.tiles)) + 1<<8
	return z
}

// newExcerpt returns an excerpt of indexes on the same device, with the documents of sets, one for
// each. It returns nil if it would take more than the given memory.
func newExcerpt(parts []*Index, sets []*docset.Set, lender *Index, memory int64) (g *Index, err error) {
	k, err := keep(parts, sets)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	z := k.sizeOf(parts)
	if len(k.docs) == 0 || z.bytes() > memory {
		return nil, nil
	}
	first := parts[0]
	g = newIndex(first.s, first.dev, first.lanes)
	if lender != nil {
		g.slots = lender.slots
	}
	g.k, g.pairsFrom, g.addCost = first.k, first.pairsFrom, first.addCost
	g.elsewhere, g.x = first.elsewhere, &excerpt{docs: k.docs, lender: lender,
		ids: map[uint64]uint32{}, numbers: make([]uint32, excerptWords*len(parts)),
		terms: make([]gpuTerm, excerptWords)}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("search: an excerpt on the GPU: %w", err), g.Close())
			g = nil
		}
	}()
	if err := g.fillExcerpt(parts, &k, &z); err != nil {
		return g, err
	}
	return g, g.pack.stream.Sync(context.Background())
}

// fillExcerpt allocates what an excerpt has on the device.
func (g *Index) fillExcerpt(parts []*Index, k *keptDocs, z *excerptSize) (err error) {
	x := g.x
	st := &gpuStore{g: g, resident: &resident{dev: g.dev, tiles: z.tiles, docs: z.docs,
		budget: parts[0].pack.budget, lists: make([]gpuList, excerptWords)}}
	st.users.Add(1)
	st.postings.init(z.postings)
	st.extra.init(z.extra)
	st.rows.init(z.rows)
	g.pack = st
	if err := st.begin(); err != nil {
		return err
	}
	for _, kernel := range []struct {
		to   **gpu.Kernel
		name string
	}{{&x.kernels.count, "excerpt_count"}, {&x.kernels.fill, "excerpt_fill"}} {
		if *kernel.to, err = g.dev.Kernel(excerptSource, kernel.name); err != nil {
			return err
		}
	}
	for i, p := range parts {
		part := excerptPart{Index: p}
		if i > 0 {
			var ok bool
			if part.classes, ok = p.s.Index.ClassesIn(parts[0].s.Index); !ok {
				return errors.New("documents shorter than those of the first index")
			}
		}
		if part.cells, err = gpu.Alloc[uint64](g.dev, len(k.cells[i])); err != nil {
			return err
		}
		x.parts = append(x.parts, part)
		if err := part.cells.Upload(st.stream, k.cells[i]); err != nil {
			return err
		}
	}
	if err := st.alloc(int(z.postings), int(z.extra), int(z.rows), z.docs); err != nil {
		return err
	}
	// Kernels load neighbouring postings, also those between two lists, which they do not use.
	if err := errors.Join(st.offsets.Zero(st.stream), st.tfs.Zero(st.stream),
		st.lengths.Upload(st.stream, k.lengths)); err != nil {
		return err
	}
	w, err := g.s.Weigher(model.BM25{})
	if err != nil {
		return err
	}
	if len(parts) == g.s.Segments() { // otherwise the weights of words are not those of the parts
		known, err := st.know(usualBM25(w))
		if known != nil {
			known.there = true
		}
		return err
	}
	return nil
}

// free frees what an excerpt has besides its postings.
func (x *excerpt) free() error {
	var errs []error
	for i := range x.parts {
		errs = append(errs, x.parts[i].cells.Free())
	}
	return errors.Join(errs...)
}

// errManyWords says that an excerpt has numbered as many words as it can.
var errManyWords = errors.New("an excerpt has no number for another word")

// number returns the number of a word that at least one part has, given its entry in each.
func (x *excerpt) number(infos []index.Term) (int, error) {
	first := 0
	for infos[first].DF == 0 {
		first++
	}
	key := uint64(first)<<32 | uint64(infos[first].ID)
	x.mu.Lock()
	defer x.mu.Unlock()
	id, ok := x.ids[key]
	if !ok {
		if len(x.ids) == excerptWords {
			return 0, errManyWords
		}
		id = uint32(len(x.ids))
		x.ids[key] = id
		for i, info := range infos {
			if info.DF > 0 {
				x.numbers[int(id)*len(infos)+i] = uint32(info.ID) + 1
			}
		}
	}
	return int(id), nil
}

// lookUp looks up a word. Its entry has the number of the excerpt, and counts all documents of the
// parts.
func (x *excerpt) lookUp(e *eval.Engine, word []byte) (info index.Term, documents uint64, err error) {
	infos, documents, err := e.LookUpAll(word, len(x.parts))
	if err != nil || documents == 0 {
		return info, documents, err
	}
	info = infos[0]
	info.DF = 0
	for i := range infos {
		info.DF += infos[i].DF
	}
	if info.DF > 0 {
		info.ID, err = x.number(infos)
	}
	return info, documents, err
}

// restore gives the documents of answers the numbers that they have in the indexes.
func (g *Index) restore(hits []ask.Hit) {
	if g.x == nil {
		return
	}
	for i := range hits {
		hits[i].Doc = g.x.docs[hits[i].Doc]
	}
}

// prepareIn looks up the words of a request for an excerpt, as prepare does for an index.
func (g *Index) prepareIn(ctx context.Context, r *ask.Request) (q slotQuery, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	x := g.x
	checked, err := x.parts[0].s.NewQuery(ctx, r)
	if err != nil {
		return q, err
	}
	q.k, q.stats = min(checked.Heap.K, len(x.docs)), checked.Stats
	x.parts[0].s.Release(checked)
	var words eval.Words
	if err := g.s.LookUpWords(&words, r); err != nil {
		return q, err
	}
	w, err := g.s.Weigher(r.Model)
	if err != nil {
		return q, err
	}
	q.and = r.Mode == ask.And && len(words.Terms) > 1
	norm := w.QueryNorm(words.Terms)
	infos := make([]index.Term, len(x.parts))
	for i := range words.Terms {
		t, df := &words.Terms[i], int64(0)
		for p := range infos {
			infos[p] = words.Info(i, x.parts[p].s.Segment)
			df += int64(infos[p].DF)
		}
		if df == 0 {
			if q.and {
				q.words = nil
				return q, nil
			}
			continue
		}
		id, err := x.number(infos)
		if err != nil {
			return q, err
		}
		q.words = append(q.words, slotWord{id: id, scorer: w.ScorerOf(t, norm)})
		q.stats.Words++
		q.stats.Postings += df
		q.stats.Blocks += (df + index.BlockSize - 1) / index.BlockSize
	}
	return q, nil
}

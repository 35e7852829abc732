package weigh

import (
	"context"
	"errors"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// gpuChunk is documents to be weighed, as the papers have them: words with a blank
// or, at the end of a document, a newline behind each.
type gpuChunk struct {
	gpuSize
	text   gpu.Buffer[uint8] // on the device; or
	pinned gpu.Pinned[byte]  // on the host
	// numbers are those of the documents in the corpus; nil for 0, 1, 2 and so on.
	numbers []uint32
}

// gpuPairs is what a method makes of a chunk, on the host: words in byte order, one
// behind the other, and their pairs, those of word t from first[t] to first[t+1]. A
// document is the one before it plus a gap; a gap of 0 stands for the first document of
// a word or for a jump, and a frequency of 0 for a large one.
type gpuPairs struct {
	words     []byte
	ends      []uint64
	first     []uint64
	firstDocs []uint32
	gaps      []uint16
	jumps     []uint64 // pair<<32 | document, in order
	small     []uint8  // frequencies
	large     []uint64 // pair<<32 | frequency, in order
	weights   []float32

	posts []uint64           // instead of all but words, ends and first: doc<<32 | tf
	kept  gpu.Buffer[uint64] // the same on the device
}

// gpuTask is a chunk in device memory with all that a method needs.
type gpuTask struct {
	*card
	in      *gpuChunk
	text    gpu.Buffer[uint8]
	numbers gpu.Arg // of the documents, or null
	total   int     // documents of the corpus, with words or without
	scorer  *bm25.Scorer
	dict    *dict.OnDevice // for the method dictionary, or nil
	known   int            // words of dict
	posts   bool           // no weights, only posts
	keep    bool           // which stay on the device
}

// gpuMethod weighs a chunk.
type gpuMethod func(ctx context.Context, t *gpuTask) (*gpuPairs, error)

// gpuMethods, each with what it needs of temporary memory.
var gpuMethods = map[Method]struct {
	run  gpuMethod
	need func(bytes, words, docs int) int64
}{
	Inverting:  {gpuFused, needFused},
	MapReduce:  {gpuMapReduce, needSteps},
	Primitives: {gpuPrimitives, needSteps},
	Dictionary: {gpuDictionary, needSteps},
}

// needSteps is for the eight steps: the text, its flags and places, and up to 120
// bytes a word of which a quarter is the sort's.
func needSteps(bytes, words, docs int) int64 {
	return 6*int64(bytes) + 136*int64(words) + 24*int64(docs) + gpuSpare
}

// gpuSpare is for what does not grow with the text.
const gpuSpare = 1 << 20

// weighChunk weighs a chunk, and waits.
func (c *card) weighChunk(ctx context.Context, in *gpuChunk, t gpuTask, run gpuMethod) (out *gpuPairs, err error) {
	t.card, t.in, t.numbers, c.used = c, in, gpu.Null(), 0
	// A wait that can be called off sleeps now and then, and half a millisecond too
	// long; these are short.
	c.caller, ctx = ctx, context.WithoutCancel(ctx)
	if in.words == 0 {
		return &gpuPairs{first: []uint64{0}}, nil
	}
	if t.text = in.text; in.text.Len() == 0 {
		if err := c.text.reserve(c, in.bytes); err != nil {
			return nil, err
		}
		t.text = c.text.Slice(0, in.bytes)
	}
	mark := c.tmp.Mark()
	err = c.step("copy up")
	if err == nil && in.numbers != nil {
		b := take[uint32](c, &err, len(in.numbers))
		if err == nil {
			t.numbers, err = b.Arg(), b.Upload(c.s, in.numbers)
		}
	}
	if err == nil {
		out, err = run(ctx, &t)
	}
	if err == nil {
		err = c.step("end")
	}
	// Whatever happened, nothing may be under way when memory is given back.
	err = errors.Join(err, c.s.Sync(ctx), c.copies.Sync(ctx), c.caller.Err())
	if err != nil || !t.keep {
		err = errors.Join(err, c.tmp.Release(mark))
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// gpuPiece is how much text is copied at a time, so that work on it can begin while
// the next is on its way.
const gpuPiece = 16 << 20

// feed hands out the text in pieces, as they come to the device if they are not there
// yet. Pieces end behind a separator, at a multiple of 16.
func (t *gpuTask) feed(use func(piece gpu.Buffer[uint8]) error) error {
	all, done := t.in.pinned.Values(), 0
	for at := 0; at < len(all); {
		to := min(at+gpuPiece, len(all))
		if rest := len(all) - at; rest <= gpuPiece { // the last ones are waited for
			to = min(at+max(rest/2, gpuPiece/16), len(all))
		}
		if err := t.text.Slice(at, to).CopyIn(t.copies, t.in.pinned.Slice(at, to)); err != nil {
			return err
		}
		cut := to &^ 15
		for cut > at && !separates(all[cut-1]) {
			cut -= 16
		}
		at = to
		if cut <= done || to == len(all) {
			continue // one long word, or the end
		}
		if err := t.after(t.s, t.copies); err != nil {
			return err
		}
		if err := use(t.text.Slice(done, cut)); err != nil {
			return err
		}
		done = cut
	}
	if err := t.after(t.s, t.copies); err != nil {
		return err
	}
	return use(t.text.Slice(done, t.in.bytes))
}

// upload brings the text to the device, if it is not there.
func (t *gpuTask) upload() error { return t.feed(func(gpu.Buffer[uint8]) error { return nil }) }

// vocabulary brings the words at refs, which are in byte order, to the host.
func (t *gpuTask) vocabulary(ctx context.Context, tmp *gpu.Arena, text gpu.Buffer[uint8], refs gpu.Buffer[uint64], out *gpuPairs) error {
	n := refs.Len()
	return scratchOf(tmp, func() (err error) {
		lengths, ends := takeFrom[uint32](tmp, &err, n), takeFrom[uint64](tmp, &err, n)
		if err != nil {
			return err
		}
		if err := t.each("steps", "weigh_word_lengths", n, refs.Arg(), lengths.Arg(), gpu.U64(uint64(n))); err != nil {
			return err
		}
		if err := prim.InclusiveScan(t.s, tmp, lengths, ends); err != nil {
			return err
		}
		var total [1]uint64
		if err := ends.Slice(n-1, n).Download(ctx, t.s, total[:]); err != nil {
			return err
		}
		words := takeFrom[uint8](tmp, &err, int(total[0]))
		if err != nil {
			return err
		}
		if err := t.each("steps", "weigh_word_bytes", n, text.Arg(), refs.Arg(), ends.Arg(), words.Arg(), gpu.U64(uint64(n))); err != nil {
			return err
		}
		if err := t.after(t.copies, t.s); err != nil {
			return err
		}
		if out.words, err = fetchAll(ctx, t.card, t.copies, words, func(p *pinnedResult) *gpu.Pinned[uint8] { return &p.words }); err != nil {
			return err
		}
		out.ends, err = fetchAll(ctx, t.card, t.copies, ends, func(p *pinnedResult) *gpu.Pinned[uint64] { return &p.ends })
		return err
	})
}

// termWeights makes the part of the formula that is the same in all documents.
func (t *gpuTask) termWeights(first gpu.Buffer[uint64], terms int) (w gpu.Buffer[[2]float32], err error) {
	w = take[[2]float32](t.card, &err, terms)
	if err != nil {
		return w, err
	}
	args := append([]gpu.Arg{first.Arg(), w.Arg(), gpu.U64(uint64(terms)), gpu.F64(float64(t.total))}, scorerArgs(t.scorer)...)
	return w, t.each("steps", "weigh_terms", terms, args...)
}

// gpuSlice is how many pairs are weighed before they are copied, while the next are
// being weighed.
const gpuSlice = 8 << 20

// fetchPairs brings the result to the host; weigh, if not nil, makes the pairs [i, j).
func (t *gpuTask) fetchPairs(ctx context.Context, out *gpuPairs, first gpu.Buffer[uint64], docs, tfs gpu.Buffer[uint32], weights gpu.Buffer[float32], weigh func(i, j int) error) error {
	n, terms := docs.Len(), first.Len()-1
	err := t.step("copy down")
	small, gaps, firstDocs := take[uint8](t.card, &err, n), take[uint16](t.card, &err, n), take[uint32](t.card, &err, terms)
	// Gaps of a word add up to less than all documents, frequencies to all words.
	jumps := take[uint64](t.card, &err, min(n, terms*(t.total>>16))+1)
	large := take[uint64](t.card, &err, t.in.words/255+1)
	if err != nil {
		return err
	}
	toGaps, err1 := hostMemory(t.card, n, func(p *pinnedResult) *gpu.Pinned[uint16] { return &p.gaps })
	toWeights, err2 := hostMemory(t.card, n, func(p *pinnedResult) *gpu.Pinned[float32] { return &p.weights })
	toSmall, err3 := hostMemory(t.card, n, func(p *pinnedResult) *gpu.Pinned[uint8] { return &p.small })
	err = errors.Join(err1, err2, err3, t.count.Zero(t.s), small.Zero(t.s),
		t.each("count", "weigh_mark_firsts", terms, first.Arg(), small.Arg(), gpu.U64(uint64(terms))))
	if err != nil {
		return err
	}
	out.gaps, out.weights, out.small = toGaps.values, toWeights.values, toSmall.values
	for i := 0; i < n; i += gpuSlice {
		j := min(i+gpuSlice, n)
		if weigh != nil {
			if err := weigh(i, j); err != nil {
				return err
			}
		}
		if err := t.each("count", "weigh_shrink", (j-i+3)/4, docs.Arg(), tfs.Arg(), gaps.Arg(), small.Arg(), jumps.Arg(), large.Arg(), t.count.Arg(),
			gpu.U64(uint64(i)), gpu.U64(uint64(j))); err != nil {
			return err
		}
		err := errors.Join(t.after(t.copies, t.s), toGaps.fetch(ctx, t.copies, i, gaps.Slice(i, j)),
			toWeights.fetch(ctx, t.copies, i, weights.Slice(i, j)), toSmall.fetch(ctx, t.copies, i, small.Slice(i, j)))
		if err != nil {
			return err
		}
	}
	if err := t.each("count", "weigh_first_docs", terms, first.Arg(), docs.Arg(), firstDocs.Arg(), gpu.U64(uint64(terms))); err != nil {
		return err
	}
	many, err := t.counts(ctx)
	if err != nil {
		return err
	}
	if out.jumps, err = t.fetchList(ctx, jumps.Slice(0, int(many[0])), func(p *pinnedResult) *gpu.Pinned[uint64] { return &p.jumps }); err != nil {
		return err
	}
	if out.large, err = t.fetchList(ctx, large.Slice(0, int(many[1])), func(p *pinnedResult) *gpu.Pinned[uint64] { return &p.large }); err != nil {
		return err
	}
	if out.firstDocs, err = fetchAll(ctx, t.card, t.copies, firstDocs, func(p *pinnedResult) *gpu.Pinned[uint32] { return &p.firstDocs }); err != nil {
		return err
	}
	if out.first, err = fetchAll(ctx, t.card, t.copies, first, func(p *pinnedResult) *gpu.Pinned[uint64] { return &p.first }); err != nil {
		return err
	}
	return t.after(t.s, t.copies)
}

// fetchList sorts a list that was made in no order, and brings it to the host.
func (t *gpuTask) fetchList(ctx context.Context, list gpu.Buffer[uint64], slot func(*pinnedResult) *gpu.Pinned[uint64]) (v []uint64, err error) {
	alt := take[uint64](t.card, &err, list.Len())
	if err != nil {
		return nil, err
	}
	list, err = prim.SortKeys(t.s, t.tmp.Arena, list, alt, 32, 64)
	if err != nil {
		return nil, err
	}
	if err := t.after(t.copies, t.s); err != nil {
		return nil, err
	}
	return fetchAll(ctx, t.card, t.copies, list, slot)
}

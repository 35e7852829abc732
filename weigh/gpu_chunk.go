package weigh

import (
	"context"
	"errors"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// gpuChunk holds documents to be weighed, in the papers' format: each word is followed by a blank
// or, at the end of a document, by a newline.
type gpuChunk struct {
	gpuSize
	text   gpu.Buffer[uint8] // the text, if it is on the device
	pinned gpu.Pinned[byte]  // the text, if it is on the host
	parts  []gpuSize         // parts between which pinned can be cut; nil if it cannot
	// numbers holds the numbers of the documents in the corpus; nil means 0, 1, 2 and so on.
	numbers []uint32
}

// gpuPairs is the result of a method for a chunk, on the host: the concatenated words in byte
// order, and their pairs. Word t has first[t+1] - first[t] pairs.
//
// Pairs are stored in pieces, each for a range of documents. In a piece, the pairs of the word with
// number x are first[x] to first[x+1], where first is that of the piece, or of all words if the
// piece has none. Word t has the number numbers[t], or t if numbers is nil. A document is the
// previous one plus a gap; the first one of a word in a piece is base-1 plus a gap. A gap of 0
// stands for an entry in jumps, and a frequency of 0 for an entry in large.
type gpuPairs struct {
	words   []byte
	ends    []uint64
	first   []uint64
	numbers []uint32
	pieces  []pairPiece
	gaps    []uint16
	jumps   []uint64 // pair<<32 | document, in order
	small   []uint8  // frequencies
	large   []uint64 // pair<<32 | frequency, in order
	weights []float32

	// posts holds doc<<32 | tf for each pair; then only words, ends and first are set besides.
	posts []uint64
	kept  gpu.Buffer[uint64] // posts on the device, in place of posts
}

type pairPiece struct {
	base  uint32 // number of its first document, or less
	first []uint32
}

// gpuTask is a chunk in device memory, with everything that a method needs.
type gpuTask struct {
	*card
	in      *gpuChunk
	text    gpu.Buffer[uint8]
	numbers gpu.Arg            // numbers of the documents, or null
	listed  gpu.Buffer[uint32] // the same as a buffer
	total   int                // documents of the corpus, including empty ones
	scorer  *bm25.Scorer
	dict    prim.Dictionary // for the method dictionary, or nil
	known   int             // number of words of dict
	posts   bool            // compute posts, not weights
	keep    bool            // leave posts on the device
}

// gpuMethod weighs a chunk.
type gpuMethod func(ctx context.Context, t *gpuTask) (*gpuPairs, error)

// gpuMethods lists the methods, each with the temporary memory that it needs.
var gpuMethods = map[Method]struct {
	run  gpuMethod
	need func(bytes, words, docs int) int64
}{
	Inverting:  {gpuFused, needFused},
	MapReduce:  {gpuMapReduce, needSteps},
	Primitives: {gpuPrimitives, needSteps},
	Dictionary: {gpuDictionary, needSteps},
}

// needSteps returns the temporary memory of the eight steps: for the text, its flags and positions,
// and up to 120 bytes per word, a quarter of them for sorting.
func needSteps(bytes, words, docs int) int64 {
	return 6*int64(bytes) + 136*int64(words) + 24*int64(docs) + gpuSpare
}

// gpuSpare is memory for data that do not grow with the text.
const gpuSpare = 1 << 20

// weighChunk weighs a chunk, and waits for the result.
func (c *card) weighChunk(ctx context.Context, in *gpuChunk, t gpuTask, run gpuMethod) (out *gpuPairs, err error) {
	c.Reuse()
	t.card, t.in, t.numbers, c.overlaps = c, in, gpu.Null(), false
	// Waiting with a context that can be cancelled polls, and ends up to half a millisecond late.
	// The waits here are short, so they use a context without cancellation.
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
			t.listed, t.numbers, err = b, b.Arg(), b.Upload(c.s, in.numbers)
		}
	}
	if err == nil {
		out, err = run(ctx, &t)
	}
	if err == nil {
		err = c.step("end")
	}
	// Wait for all streams, also after errors, before memory is released.
	for _, s := range c.Streams {
		err = errors.Join(err, s.Sync(ctx))
	}
	err = errors.Join(err, c.caller.Err(), c.side.Clear())
	if err != nil || !t.keep {
		err = errors.Join(err, c.tmp.Release(mark))
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// gpuCopy is the number of bytes of text copied at a time, so that work on it can begin while more
// is being copied. Tests set it lower.
var gpuCopy = 16 << 20

// arrival is the event after which the text up to offset to is on the device.
type arrival struct {
	to int
	*gpu.Event
}

// send starts copying the text, if it is not on the device, and lists the arrivals. They are at
// multiples of 16 after a separator, and at the end.
func (t *gpuTask) send() (list []arrival, err error) {
	arrive := func(to int) error {
		e, err := t.Recorded(t.copies)
		list = append(list, arrival{to, e})
		return err
	}
	err = t.span(t.copies, "copy up", func() error {
		all, done := t.in.pinned.Values(), 0
		for at := 0; at < len(all); {
			to := min(at+gpuCopy, len(all))
			if rest := len(all) - at; rest <= gpuCopy { // the last ones are smaller
				to = min(at+max(rest/2, gpuCopy/16), len(all))
			}
			if err := t.text.Slice(at, to).CopyIn(t.copies, t.in.pinned.Slice(at, to)); err != nil {
				return err
			}
			at = to
			cut := to &^ 15
			for cut > done && !separates(all[cut-1]) {
				cut -= 16
			}
			if cut <= done || to == len(all) {
				continue // one long word, or the end
			}
			if err := arrive(cut); err != nil {
				return err
			}
			done = cut
		}
		return arrive(t.in.bytes)
	})
	return list, err
}

// upload copies the text to the device, if it is not there already, and makes the main stream wait.
func (t *gpuTask) upload() (err error) {
	if len(t.in.pinned.Values()) > 0 {
		err = t.text.CopyIn(t.copies, t.in.pinned)
	}
	return errors.Join(err, t.After(t.s, t.copies))
}

// vocabulary copies the words at refs, which are in byte order, to the host. Its temporary memory
// is in use until the copies are done.
func (t *gpuTask) vocabulary(ctx context.Context, tmp *gpu.Arena, text gpu.Buffer[uint8],
	refs gpu.Buffer[uint64], out *gpuPairs) (err error) {
	n := refs.Len()
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
	total, err := t.look(ctx, ends.Slice(n-1, n))
	if err != nil {
		return err
	}
	words := takeFrom[uint8](tmp, &err, int(total[0]))
	if err != nil {
		return err
	}
	if err := t.each("steps", "weigh_word_bytes", n, text.Arg(), refs.Arg(), ends.Arg(),
		words.Arg(), gpu.U64(uint64(n))); err != nil {
		return err
	}
	return t.fetchAfter(t.s, func() error {
		if out.words, err = fetchAll(ctx, t.card, t.down, words,
			func(p *pinnedResult) *gpu.Pinned[uint8] { return &p.words }); err != nil {
			return err
		}
		out.ends, err = fetchAll(ctx, t.card, t.down, ends,
			func(p *pinnedResult) *gpu.Pinned[uint64] { return &p.ends })
		return err
	})
}

// termWeights computes the part of the formula that is the same in all documents.
func (t *gpuTask) termWeights(first gpu.Buffer[uint64], terms int) (w gpu.Buffer[[2]float32], err error) {
	w = take[[2]float32](t.card, &err, terms)
	if err != nil {
		return w, err
	}
	args := append([]gpu.Arg{first.Arg(), w.Arg(), gpu.U64(uint64(terms)),
		gpu.F64(float64(t.total))}, scorerArgs(t.scorer)...)
	return w, t.each("steps", "weigh_terms", terms, args...)
}

// gpuSlice is the number of pairs that are weighed and then copied, while the next are weighed.
const gpuSlice = 8 << 20

// fetchPairs copies the result to the host, as one piece.
func (t *gpuTask) fetchPairs(ctx context.Context, out *gpuPairs, first gpu.Buffer[uint64], docs,
	tfs gpu.Buffer[uint32], weights gpu.Buffer[float32]) error {
	n, terms := docs.Len(), first.Len()-1
	if err := t.step("copy down"); err != nil {
		return err
	}
	r, err := t.newShrunk(n, terms)
	if err != nil {
		return err
	}
	if err := r.fetchTo(t, out, n); err != nil {
		return err
	}
	err = errors.Join(r.small.Zero(t.s),
		t.each("pieces", "weigh_mark_firsts", terms, first.Arg(), r.small.Arg(),
			gpu.U64(uint64(terms))))
	if err != nil {
		return err
	}
	out.pieces = []pairPiece{{}}
	for i := 0; i < n; i += gpuSlice {
		j := min(i+gpuSlice, n)
		args := append([]gpu.Arg{docs.Arg(), tfs.Arg()}, append(r.args(), gpu.U64(uint64(i)), gpu.U64(uint64(j)))...)
		if err := t.each("pieces", "weigh_shrink", (j-i+3)/4, args...); err != nil {
			return err
		}
		if err := errors.Join(r.fetch(ctx, t, i, j),
			t.fetchAfter(t.s, func() error { return r.toWeights.fetch(ctx, t.down, i, weights.Slice(i, j)) })); err != nil {
			return err
		}
	}
	if err := r.fetchLists(ctx, t, out); err != nil {
		return err
	}
	err = t.fetchAfter(t.s, func() (err error) {
		out.first, err = fetchAll(ctx, t.card, t.down, first,
			func(p *pinnedResult) *gpu.Pinned[uint64] { return &p.first })
		return err
	})
	return errors.Join(err, t.After(t.s, t.down))
}

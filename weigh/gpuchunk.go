package weigh

import (
	"context"
	"errors"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// gpuChunk is documents on their way to the device, as the papers have them: words
// with a blank or, at the end of a document, a newline behind each.
type gpuChunk struct {
	parts  [][]byte         // of the text, in order; or
	pinned gpu.Pinned[byte] // all of it
	bytes  int
	words  int
	docs   int // that have words
	// numbers are those of the documents in the corpus; nil for 0, 1, 2 and so on.
	numbers []uint32
}

// gpuPairs is what a method makes of a chunk, on the host: words in byte order, one
// behind the other, and their pairs, those of word t from first[t] to first[t+1].
type gpuPairs struct {
	words     []byte
	ends      []uint64
	first     []uint64
	docs, tfs []uint32
	weights   []float32
	posts     []uint64 // instead of these three: doc<<32 | tf
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

// needSteps is for the eight steps: the text, its flags and places, and up to 104
// bytes a word of which a third is the sort's.
func needSteps(bytes, words, docs int) int64 {
	return 6*int64(bytes) + 120*int64(words) + 24*int64(docs) + gpuSpare
}

// gpuSpare is for what does not grow with the text.
const gpuSpare = 1 << 20

// weighChunk uploads a chunk, weighs it, and waits.
func (c *card) weighChunk(ctx context.Context, in *gpuChunk, t gpuTask, run gpuMethod) (out *gpuPairs, err error) {
	t.card, t.in, t.numbers = c, in, gpu.Null()
	if in.words == 0 {
		return &gpuPairs{first: []uint64{0}}, nil
	}
	err = c.scratch(func() error {
		if err := c.step("copy up"); err != nil {
			return err
		}
		if err := t.upload(); err != nil {
			return err
		}
		if out, err = run(ctx, &t); err != nil {
			return err
		}
		return errors.Join(c.step("end"), c.s.Sync(ctx))
	})
	return out, err
}

// upload brings the text to the device.
func (t *gpuTask) upload() (err error) {
	t.text = take[uint8](t.card, &err, t.in.bytes)
	if err != nil {
		return err
	}
	if t.in.numbers != nil {
		b := take[uint32](t.card, &err, len(t.in.numbers))
		if err != nil {
			return err
		}
		if err := b.Upload(t.s, t.in.numbers); err != nil {
			return err
		}
		t.numbers = b.Arg()
	}
	if len(t.in.pinned.Values()) > 0 {
		return t.text.CopyIn(t.s, t.in.pinned)
	}
	at := 0
	for _, p := range t.in.parts {
		if err := t.text.Slice(at, at+len(p)).Upload(t.s, p); err != nil {
			return err
		}
		at += len(p)
	}
	return nil
}

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
		if out.words, err = fetch(ctx, t.card, words, func(p *pinnedResult) *gpu.Pinned[uint8] { return &p.words }); err != nil {
			return err
		}
		out.ends, err = fetch(ctx, t.card, ends, func(p *pinnedResult) *gpu.Pinned[uint64] { return &p.ends })
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

// fetchPairs brings the result to the host.
func (t *gpuTask) fetchPairs(ctx context.Context, out *gpuPairs, first gpu.Buffer[uint64], docs, tfs gpu.Buffer[uint32], weights gpu.Buffer[float32]) (err error) {
	if err = t.step("copy down"); err != nil {
		return err
	}
	if out.first, err = fetch(ctx, t.card, first, func(p *pinnedResult) *gpu.Pinned[uint64] { return &p.first }); err != nil {
		return err
	}
	if out.docs, err = fetch(ctx, t.card, docs, func(p *pinnedResult) *gpu.Pinned[uint32] { return &p.docs }); err != nil {
		return err
	}
	if out.tfs, err = fetch(ctx, t.card, tfs, func(p *pinnedResult) *gpu.Pinned[uint32] { return &p.tfs }); err != nil {
		return err
	}
	out.weights, err = fetch(ctx, t.card, weights, func(p *pinnedResult) *gpu.Pinned[float32] { return &p.weights })
	return err
}

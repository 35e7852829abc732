package weigh

import (
	"context"
	"math/bits"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// occurrences holds the words of a text on the device after the first three steps.
type occurrences struct {
	n      int
	starts gpu.Buffer[uint32] // start of each word in the text
	refs   gpu.Buffer[uint64] // start<<24 | length of each word
	docs   gpu.Buffer[uint32] // document of each word, counted from 1
	begins gpu.Buffer[uint64] // first word of each document, and the end
}

// extract does steps 1 to 3 of the papers for a piece of the text.
func (t *gpuTask) extract(ctx context.Context, p gpuPiece) (o occurrences, err error) {
	w := p.size().words
	o.starts, o.refs = take[uint32](t.card, &err, w), take[uint64](t.card, &err, w)
	o.docs, o.begins = take[uint32](t.card, &err, w), take[uint64](t.card, &err, w+1)
	if err != nil {
		return o, err
	}
	// 1: the words, and which of them begin a document.
	if err := t.step("1 words"); err != nil {
		return o, err
	}
	base := p.from.bytes &^ 15
	text := t.text.Slice(base, p.to.bytes)
	if o.n, err = t.begins(ctx, text, p.from.bytes-base, o.starts, false); err != nil {
		return o, err
	}
	err = t.each("steps", "weigh_refs", w, text.Arg(), gpu.U64(uint64(text.Len())),
		gpu.U64(uint64(base)), o.starts.Arg(), o.refs.Arg(), o.docs.Arg(), gpu.U64(uint64(w)))
	if err != nil {
		return o, err
	}
	// 2: the document of each word, from 1.
	if err := t.step("2 documents"); err != nil {
		return o, err
	}
	if err := prim.InclusiveScan(t.s, t.tmp.Arena, o.docs, o.docs); err != nil {
		return o, err
	}
	// 3: the length of each document.
	if err := t.step("3 lengths"); err != nil {
		return o, err
	}
	err = t.scratch(func() (err error) {
		keys := take[uint32](t.card, &err, w)
		if err != nil {
			return err
		}
		return prim.Runs(t.s, t.tmp.Arena, o.docs, keys, o.begins, t.count)
	})
	return o, err
}

// begins finds where words, or documents, begin in a text after its first skip bytes. There must be
// as many as the host counted.
func (t *gpuTask) begins(ctx context.Context, text gpu.Buffer[uint8], skip int,
	starts gpu.Buffer[uint32], documents bool) (n int, err error) {
	which, bytes := uint32(0), text.Len()
	if documents {
		which = 1
	}
	err = t.scratch(func() (err error) {
		flags := take[uint8](t.card, &err, bytes)
		// There is room for the maximum, so that a number that differs is detected below.
		all := take[uint32](t.card, &err, bytes/2+1)
		if err != nil {
			return err
		}
		if err := t.each("steps", "weigh_begins", (bytes+15)/16, text.Arg(), flags.Arg(),
			gpu.U64(uint64(bytes)), gpu.U32(uint32(skip)), gpu.U32(which)); err != nil {
			return err
		}
		if err := prim.SelectIndex(t.s, t.tmp.Arena, flags, all, t.count); err != nil {
			return err
		}
		if n, err = t.counted(ctx); err != nil {
			return err
		}
		if n != starts.Len() {
			return errSeparators
		}
		return all.Slice(0, n).CopyTo(t.s, starts)
	})
	return n, err
}

// gpuPrimitives is PP of the papers: the eight steps, words compared as strings.
func gpuPrimitives(ctx context.Context, t *gpuTask) (*gpuPairs, error) {
	if err := t.upload(); err != nil {
		return nil, err
	}
	o, err := t.extract(ctx, gpuPiece{to: t.in.gpuSize})
	if err != nil {
		return nil, err
	}
	// 4: sort by word. The document of a word is found again by the word's start.
	if err := t.step("4 sort"); err != nil {
		return nil, err
	}
	heads, err := t.sortWords(o.refs, func(places gpu.Buffer[uint32]) error {
		return t.each("steps", "weigh_place", o.n, o.starts.Arg(), o.docs.Arg(), places.Arg(), gpu.U64(uint64(o.n)))
	}, o.docs)
	if err != nil {
		return nil, err
	}
	return t.finish(ctx, &o, heads)
}

// sortWords sorts occurrences by their words and sets the document of each. It returns flags that
// are set where a word differs from the previous one. mark stores the document of each word at
// index start/2 of places: two words never start in the same two bytes.
func (t *gpuTask) sortWords(refs gpu.Buffer[uint64], mark func(places gpu.Buffer[uint32]) error,
	docs gpu.Buffer[uint32]) (heads gpu.Buffer[uint8], err error) {
	n := refs.Len()
	heads = take[uint8](t.card, &err, n)
	if err != nil {
		return heads, err
	}
	err = t.scratch(func() (err error) {
		places := take[uint32](t.card, &err, t.in.bytes/2+1)
		if err != nil {
			return err
		}
		if err := mark(places); err != nil {
			return err
		}
		if err := prim.SortStrings(t.s, t.tmp.Arena, t.text, refs, heads); err != nil {
			return err
		}
		return t.each("steps", "weigh_docs", n, refs.Arg(), places.Arg(), docs.Arg(), gpu.U64(uint64(n)))
	})
	return heads, err
}

// finish does steps 5 to 8. Occurrences are sorted by word, with documents counted from 0, and
// heads flags where a word differs from the previous one.
func (t *gpuTask) finish(ctx context.Context, o *occurrences, heads gpu.Buffer[uint8]) (out *gpuPairs, err error) {
	n := o.n
	// 5: tf, by counting equal (word, document).
	if err := t.step("5 tf"); err != nil {
		return nil, err
	}
	flags := take[uint8](t.card, &err, n)
	pairs := take[uint32](t.card, &err, n)
	if err != nil {
		return nil, err
	}
	if err := t.each("steps", "weigh_pair_heads", n, heads.Arg(), o.docs.Arg(), flags.Arg(),
		gpu.U64(uint64(n))); err != nil {
		return nil, err
	}
	if err := prim.SelectIndex(t.s, t.tmp.Arena, flags.Slice(0, n), pairs, t.count); err != nil {
		return nil, err
	}
	np, err := t.counted(ctx)
	if err != nil {
		return nil, err
	}
	// 6: df, by counting equal words of these pairs.
	if err := t.step("6 df"); err != nil {
		return nil, err
	}
	terms := take[uint32](t.card, &err, np)
	if err != nil {
		return nil, err
	}
	if err := t.each("steps", "weigh_term_heads", np, pairs.Arg(), heads.Arg(), flags.Arg(),
		gpu.U64(uint64(np))); err != nil {
		return nil, err
	}
	if err := prim.SelectIndex(t.s, t.tmp.Arena, flags.Slice(0, np), terms, t.count); err != nil {
		return nil, err
	}
	nt, err := t.counted(ctx)
	if err != nil {
		return nil, err
	}
	first := take[uint64](t.card, &err, nt+1)
	if err != nil {
		return nil, err
	}
	if err := t.each("steps", "weigh_widen", nt+1, terms.Arg(), first.Arg(), gpu.U64(uint64(nt)),
		gpu.U64(uint64(np))); err != nil {
		return nil, err
	}
	// 7: the term, and so the df, of each pair.
	if err := t.step("7 balance"); err != nil {
		return nil, err
	}
	term := take[uint32](t.card, &err, np)
	if err != nil {
		return nil, err
	}
	if err := prim.Balance(t.s, first.Slice(0, nt), np, term); err != nil {
		return nil, err
	}
	// 8: the formula.
	if err := t.step("8 formula"); err != nil {
		return nil, err
	}
	weights, err := t.termWeights(first, nt)
	if err != nil {
		return nil, err
	}
	docs, tfs, w := take[uint32](t.card, &err, np), take[uint32](t.card, &err, np), take[float32](t.card, &err, np)
	if err != nil {
		return nil, err
	}
	args := append([]gpu.Arg{pairs.Arg(), o.docs.Arg(), term.Arg(), gpu.U64(uint64(np)),
		gpu.U64(uint64(n)), weights.Arg(), o.begins.Arg(),
		t.numbers, docs.Arg(), tfs.Arg(), w.Arg()}, scorerArgs(t.scorer)...)
	if err := t.each("steps", "weigh_pairs", np, args...); err != nil {
		return nil, err
	}
	out = &gpuPairs{}
	if err := t.fetchPairs(ctx, out, first, docs, tfs, w); err != nil {
		return nil, err
	}
	refs := take[uint64](t.card, &err, nt)
	if err != nil {
		return nil, err
	}
	if err := t.each("steps", "weigh_word_refs", nt, o.refs.Arg(), pairs.Arg(), first.Arg(),
		refs.Arg(), gpu.U64(uint64(nt))); err != nil {
		return nil, err
	}
	return out, t.vocabulary(ctx, t.tmp.Arena, t.text, refs, out)
}

// bitsFor returns the number of bits of numbers below n.
func bitsFor(n int) int { return bits.Len(uint(max(1, n) - 1)) }

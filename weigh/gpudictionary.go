package weigh

import (
	"context"
	"errors"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// gpuDictionary is PPD of the papers: the eight steps, with a dictionary before the
// sort that makes words numbers.
func gpuDictionary(ctx context.Context, t *gpuTask) (*gpuPairs, error) {
	o, err := t.extract(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.step("dictionary"); err != nil {
		return nil, err
	}
	keys := take[uint32](t.card, &err, o.n)
	if err != nil {
		return nil, err
	}
	var numbers int
	if t.dict != nil {
		if err := t.dict.LookUp(t.s, t.tmp.Arena, t.text, o.refs, keys); err != nil {
			return nil, err
		}
		numbers, err = t.numberUnknown(ctx, &o, keys)
	} else {
		numbers, err = t.numberAll(ctx, keys)
	}
	if err != nil {
		return nil, err
	}
	refs, err := t.inByteOrder(ctx, &o, keys, numbers)
	if err != nil {
		return nil, err
	}
	// 4: sort by word.
	if err := t.step("4 sort"); err != nil {
		return nil, err
	}
	if err := t.each("steps", "weigh_from_zero", o.n, o.docs.Arg(), gpu.U64(uint64(o.n))); err != nil {
		return nil, err
	}
	altKeys, altDocs := take[uint32](t.card, &err, o.n), take[uint32](t.card, &err, o.n)
	if err != nil {
		return nil, err
	}
	keys, o.docs, err = prim.SortPairs(t.s, t.tmp.Arena, keys, altKeys, o.docs, altDocs, 0, bitsFor(refs.Len()))
	if err != nil {
		return nil, err
	}
	return t.finish(ctx, &o, sorted{keys: keys, words: refs})
}

// numberUnknown gives words that the dictionary lacks numbers behind its own, equal
// ones for equal words: they are sorted as strings, which only pays if they are few.
func (t *gpuTask) numberUnknown(ctx context.Context, o *occurrences, ids gpu.Buffer[uint32]) (numbers int, err error) {
	// Mostly there are none, which is soon found out.
	if err := errors.Join(t.count.Zero(t.s),
		t.each("steps", "weigh_count_unknown", min(o.n, 1<<20), ids.Arg(), gpu.U64(uint64(o.n)), t.count.Arg())); err != nil {
		return 0, err
	}
	if n, err := t.counted(ctx); err != nil || n == 0 {
		return t.known, err
	}
	err = t.scratch(func() (err error) {
		flags, at := take[uint8](t.card, &err, o.n), take[uint32](t.card, &err, o.n)
		if err != nil {
			return err
		}
		if err := t.each("steps", "weigh_unknown", o.n, ids.Arg(), flags.Arg(), gpu.U64(uint64(o.n))); err != nil {
			return err
		}
		if err := prim.SelectIndex(t.s, t.tmp.Arena, flags, at, t.count); err != nil {
			return err
		}
		n, err := t.counted(ctx)
		if err != nil {
			return err
		}
		refs, rank := take[uint64](t.card, &err, n), take[uint32](t.card, &err, n)
		if err != nil {
			return err
		}
		count := gpu.U64(uint64(n))
		if err := t.each("steps", "weigh_gather", n, o.refs.Arg(), at.Arg(), refs.Arg(), count); err != nil {
			return err
		}
		if err := prim.SortStrings(t.s, t.tmp.Arena, t.text, refs, flags); err != nil {
			return err
		}
		if err := t.each("steps", "weigh_flags", n, flags.Arg(), rank.Arg(), count); err != nil {
			return err
		}
		if err := prim.InclusiveScan(t.s, t.tmp.Arena, rank, rank); err != nil {
			return err
		}
		if err := t.each("steps", "weigh_number", n, refs.Arg(), rank.Arg(), count, o.starts.Arg(), gpu.U64(uint64(o.n)),
			gpu.U32(uint32(t.known)), ids.Arg()); err != nil {
			return err
		}
		var last [1]uint32
		err = rank.Slice(n-1, n).Download(ctx, t.s, last[:])
		numbers = int(last[0])
		return err
	})
	return t.known + numbers, err
}

// numberAll numbers all words, without a dictionary given, by a hash table.
func (t *gpuTask) numberAll(ctx context.Context, ids gpu.Buffer[uint32]) (numbers int, err error) {
	if err := t.tokenise(ctx, func(use func(gpu.Buffer[uint8]) error) error { return use(t.text) }); err != nil {
		return 0, err
	}
	items := t.seq.Items(0, t.in.words+t.in.docs)
	err = t.scratch(func() (err error) {
		flags := take[uint8](t.card, &err, items.Len())
		if err != nil {
			return err
		}
		if err := t.each("steps", "weigh_is_word", items.Len(), items.Arg(), flags.Arg(), gpu.U64(uint64(items.Len()))); err != nil {
			return err
		}
		if err := prim.Select(t.s, t.tmp.Arena, items, flags, ids, t.count); err != nil {
			return err
		}
		return t.each("steps", "weigh_from_zero", ids.Len(), ids.Arg(), gpu.U64(uint64(ids.Len())))
	})
	return t.words.Numbers(), err
}

// inByteOrder replaces the words' numbers by their places among all words in use,
// and returns references to these, in that order.
func (t *gpuTask) inByteOrder(ctx context.Context, o *occurrences, ids gpu.Buffer[uint32], numbers int) (refs gpu.Buffer[uint64], err error) {
	all := take[uint64](t.card, &err, min(numbers, o.n)) // more than are in use
	if err != nil {
		return refs, err
	}
	n := 0
	err = t.scratch(func() (err error) {
		used, flags := take[uint64](t.card, &err, numbers), take[uint8](t.card, &err, numbers)
		at := take[uint32](t.card, &err, numbers)
		if err != nil {
			return err
		}
		if err := used.FillBytes(t.s, 0xff); err != nil {
			return err
		}
		if err := t.each("steps", "weigh_use", o.n, ids.Arg(), o.refs.Arg(), used.Arg(), gpu.U64(uint64(o.n))); err != nil {
			return err
		}
		if err := t.each("steps", "weigh_is", numbers, used.Arg(), flags.Arg(), gpu.U64(uint64(numbers))); err != nil {
			return err
		}
		if err := prim.SelectIndex(t.s, t.tmp.Arena, flags, at, t.count); err != nil {
			return err
		}
		if n, err = t.counted(ctx); err != nil {
			return err
		}
		refs = all.Slice(0, n)
		heads := take[uint8](t.card, &err, n)
		numberAt := take[uint32](t.card, &err, t.in.bytes/2+1)
		if err != nil {
			return err
		}
		count := gpu.U64(uint64(n))
		if err := t.each("steps", "weigh_gather", n, used.Arg(), at.Arg(), refs.Arg(), count); err != nil {
			return err
		}
		if err := t.each("steps", "weigh_mark", n, refs.Arg(), at.Arg(), numberAt.Arg(), count); err != nil {
			return err
		}
		if err := prim.SortStrings(t.s, t.tmp.Arena, t.text, refs, heads); err != nil {
			return err
		}
		rank := gpu.As[uint32](used)
		if err := t.each("steps", "weigh_rank", n, refs.Arg(), numberAt.Arg(), rank.Arg(), count); err != nil {
			return err
		}
		return t.each("steps", "weigh_renumber", o.n, ids.Arg(), rank.Arg(), gpu.U64(uint64(o.n)))
	})
	return refs, err
}

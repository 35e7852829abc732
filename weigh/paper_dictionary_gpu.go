package weigh

import (
	"context"
	"errors"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// gpuDictionary is PPD of the papers: the eight steps, with a dictionary that turns words into
// numbers before the sort. These numbers are the same in all pieces of the text, so each piece goes
// through the first seven steps as soon as it has arrived.
func gpuDictionary(ctx context.Context, t *gpuTask) (*gpuPairs, error) {
	return t.inPieces(ctx, &numbered{gpuTask: t})
}

// numbered is the pieceMethod of gpuDictionary. It makes pairs by steps 1 to 5.
type numbered struct {
	*gpuTask
	numbers int
	used    gpu.Buffer[uint64] // by word number: an occurrence of the word, or all bits set
}

// unknownShare is the factor by which the hash table is smaller if it is only for words that a
// given dictionary lacks.
const unknownShare = 8

// start prepares the hash table. Without a given dictionary, it numbers all words. With one, it
// numbers the words that the dictionary lacks, after those of the dictionary.
func (d *numbered) start() (int, error) {
	slots, items := firstSlots(d.in.words), d.in.words+d.in.docs
	if d.dict != nil {
		slots, items = slots/unknownShare, 0
	}
	if err := d.startWords(slots, items); err != nil {
		return 0, err
	}
	d.numbers, d.used = d.known+d.table.Numbers(), gpu.Buffer[uint64]{}
	return d.numbers, nil
}

func (d *numbered) came(from, to int) error {
	if d.dict != nil {
		return nil
	}
	return d.span(d.reads, "dictionary", func() error { return d.queueWords(from, to) })
}

func (d *numbered) grow(ctx context.Context) error { return d.growWords(ctx) }

func (d *numbered) steps() (df, balance, formula string) { return "6 df", "7 balance", "8 formula" }

func (d *numbered) pairs(ctx context.Context, p gpuPiece, out gpu.Buffer[uint64],
	lengths gpu.Buffer[uint32]) (n int, pack packing, err error) {
	size, ok := p.size(), false
	if pack, ok = newPacking(d.numbers, size.docs, size.longest); !ok {
		return 0, pack, errPacking
	}
	err = d.scratch(func() error {
		o, err := d.extract(ctx, p)
		if err != nil {
			return err
		}
		if err := d.each("pieces", "weigh_lengths_of_begins", size.docs, o.begins.Arg(),
			lengths.Arg(), gpu.U64(uint64(size.docs))); err != nil {
			return err
		}
		if err := d.step("dictionary"); err != nil {
			return err
		}
		keys := take[uint32](d.card, &err, o.n)
		if err != nil {
			return err
		}
		if err := d.number(ctx, p, o.refs, keys); err != nil {
			return err
		}
		// 4: sort by word.
		if err := d.step("4 sort"); err != nil {
			return err
		}
		altKeys, altDocs := take[uint32](d.card, &err, o.n), take[uint32](d.card, &err, o.n)
		if err != nil {
			return err
		}
		docs := o.docs
		if d.mergeSort {
			keys, docs, err = prim.MergeSortPairs(d.s, keys, altKeys, docs, altDocs)
		} else {
			keys, docs, err = prim.SortPairs(d.s, d.tmp.Arena, keys, altKeys, docs, altDocs, 0, bitsFor(d.numbers))
		}
		if err != nil {
			return err
		}
		// 5: tf, by counting equal (word, document).
		if err := d.step("5 tf"); err != nil {
			return err
		}
		flags, at := take[uint8](d.card, &err, o.n), take[uint32](d.card, &err, o.n)
		if err != nil {
			return err
		}
		err = errors.Join(d.each("dictionary", "weigh_pair_keys", o.n, keys.Arg(), docs.Arg(),
			flags.Arg(), gpu.U64(uint64(o.n))),
			prim.SelectIndex(d.s, d.tmp.Arena, flags, at, d.count))
		if err != nil {
			return err
		}
		counts, err := d.counts(ctx)
		if err != nil {
			return err
		}
		if n = int(counts[0]); counts[missedWord] > 0 {
			return errNoRoom
		}
		args := []gpu.Arg{at.Arg(), gpu.U64(uint64(n)), keys.Arg(), docs.Arg(), gpu.U64(uint64(o.n)), out.Arg()}
		return d.each("dictionary", "weigh_pack", n, append(args, pack.args()...)...)
	})
	return n, pack, err
}

// missedWord is the index of the count of words for which there was no room.
const missedWord = countWords - 1

// number looks up the numbers of the words of a piece, and records an occurrence of each word.
func (d *numbered) number(ctx context.Context, p gpuPiece, refs gpu.Buffer[uint64],
	ids gpu.Buffer[uint32]) (err error) {
	n := gpu.U64(uint64(ids.Len()))
	missed := d.count.Slice(missedWord, missedWord+1)
	if err := missed.Zero(d.s); err != nil {
		return err
	}
	if d.dict != nil {
		args := append([]gpu.Arg{d.text.Arg(), refs.Arg(), ids.Arg(), n, gpu.U32(uint32(d.known))},
			d.table.Args(false)...)
		err = errors.Join(d.dict.LookUp(d.s, d.tmp.Arena, d.text, refs, ids),
			d.each("dictionary", "weigh_number_unknown", ids.Len(), append(args, missed.Arg())...))
	} else {
		err = d.numbersIn(ctx, p, ids)
	}
	if err != nil {
		return err
	}
	if d.used.Len() == 0 {
		d.used = takeFrom[uint64](d.side.Arena, &err, d.numbers)
		if err != nil {
			return err
		}
		if err := d.used.FillBytes(d.s, 0xff); err != nil {
			return err
		}
	}
	return d.each("dictionary", "weigh_use", ids.Len(), ids.Arg(), refs.Arg(), d.used.Arg(), n)
}

// numbersIn takes the numbers of a piece's words from the sequence.
func (d *numbered) numbersIn(ctx context.Context, p gpuPiece, ids gpu.Buffer[uint32]) error {
	if err := d.checkWords(ctx, p.to); err != nil {
		return err
	}
	items := d.seq.Items(p.from.words+p.from.docs, p.to.words+p.to.docs)
	return d.scratch(func() (err error) {
		flags := take[uint8](d.card, &err, items.Len())
		if err != nil {
			return err
		}
		return errors.Join(d.each("dictionary", "weigh_is_word", items.Len(), items.Arg(),
			flags.Arg(), gpu.U64(uint64(items.Len()))),
			prim.Select(d.s, d.tmp.Arena, items, flags, ids, d.count),
			d.each("dictionary", "weigh_from_zero", ids.Len(), ids.Arg(), gpu.U64(uint64(ids.Len()))))
	})
}

// balance is step 7: the word, and so the df, of each pair.
func (d *numbered) balance(pairs, first gpu.Buffer[uint64]) (term gpu.Buffer[uint32], err error) {
	term = take[uint32](d.card, &err, pairs.Len())
	if err != nil {
		return term, err
	}
	return term, prim.Balance(d.s, first.Slice(0, d.numbers), pairs.Len(), term)
}

func (d *numbered) words(ctx context.Context, out *gpuPairs,
	rest func(tmp *gpu.Arena, numbers gpu.Buffer[uint32]) error) (err error) {
	flags, at := take[uint8](d.card, &err, d.numbers), take[uint32](d.card, &err, d.numbers)
	if err != nil {
		return err
	}
	err = errors.Join(d.each("dictionary", "weigh_is_used", d.numbers, d.used.Arg(), flags.Arg(),
		gpu.U64(uint64(d.numbers))),
		prim.SelectIndex(d.s, d.tmp.Arena, flags, at, d.count))
	if err != nil {
		return err
	}
	n, err := d.counted(ctx)
	if err != nil {
		return err
	}
	refs, heads := take[uint64](d.card, &err, n), take[uint8](d.card, &err, n)
	numberAt, numbers := take[uint32](d.card, &err, d.in.bytes/2+1), take[uint32](d.card, &err, n)
	if err != nil {
		return err
	}
	count := gpu.U64(uint64(n))
	err = errors.Join(d.each("dictionary", "weigh_mark_used", n, d.used.Arg(), at.Arg(), refs.Arg(),
		numberAt.Arg(), count),
		prim.SortStrings(d.s, d.tmp.Arena, d.text, refs, heads),
		d.each("dictionary", "weigh_numbers_of", n, refs.Arg(), numberAt.Arg(), numbers.Arg(), count))
	if err != nil {
		return err
	}
	if err := d.vocabulary(ctx, d.tmp.Arena, d.text, refs, out); err != nil {
		return err
	}
	return rest(d.tmp.Arena, numbers)
}

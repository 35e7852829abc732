package weigh

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// needFused returns an upper bound on the temporary memory of gpuFused: for the text, for lists of
// documents, and for items (words and ends of documents). Items take two pairs of 8 bytes and a
// flag each. Then they need the table of a very long document, and later the result with its jumps
// and large frequencies. The dictionary and the sequence are not in the arena.
func needFused(bytes, words, docs int) int64 {
	return int64(bytes) + 64*int64(words+docs) + 32*int64(docs) + gpuSpare
}

// packing describes how a pair is packed into 64 bits: see kernels/packing.cuh.
type packing struct{ docShift, termShift, bits int }

func newPacking(terms, docs, longest int) (p packing, ok bool) {
	p.docShift = bits.Len(uint(longest))
	p.termShift = p.docShift + bitsFor(docs)
	p.bits = p.termShift + bitsFor(terms)
	return p, p.bits <= 64
}

func (p packing) args() []gpu.Arg {
	return []gpu.Arg{gpu.U32(uint32(p.docShift)), gpu.U32(uint32(p.termShift))}
}

// errPacking means that the documents are too many and too long, so that the chunk must be halved.
var errPacking = errors.New("a pair of word and document takes more than 64 bits: want fewer documents in one pass")

// gpuFused is our own method. One kernel finds the words and numbers them while more text is being
// copied. Documents are counted in shared memory, and their pairs are sorted by word, once. Of the
// numbered words, only those in use are sorted.
func gpuFused(ctx context.Context, t *gpuTask) (*gpuPairs, error) {
	if t.posts {
		return gpuPosts(ctx, t)
	}
	return t.inPieces(ctx, &fused{t})
}

// fused is the pieceMethod of gpuFused: it makes pairs sorted by word number.
type fused struct{ *gpuTask }

func (f *fused) start() (int, error) {
	if err := f.startWords(firstSlots(f.in.words), f.in.words+f.in.docs); err != nil {
		return 0, err
	}
	return f.table.Numbers(), nil
}

func (f *fused) came(from, to int) error {
	return f.span(f.reads, "words", func() error { return f.queueWords(from, to) })
}

func (f *fused) grow(ctx context.Context) error { return f.growWords(ctx) }

func (f *fused) steps() (df, balance, formula string) { return "df", "", "formula" }

func (f *fused) balance(_, _ gpu.Buffer[uint64]) (none gpu.Buffer[uint32], err error) {
	return none, nil
}

func (f *fused) pairs(ctx context.Context, p gpuPiece, out gpu.Buffer[uint64],
	lengths gpu.Buffer[uint32]) (n int, pack packing, err error) {
	if err := f.checkWords(ctx, p.to); err != nil {
		return 0, pack, err
	}
	size, ok := p.size(), false
	if pack, ok = newPacking(f.table.Numbers(), size.docs, size.longest); !ok {
		return 0, pack, errPacking
	}
	items := f.seq.Items(p.from.words+p.from.docs, p.to.words+p.to.docs)
	err = f.scratch(func() (err error) {
		ends, found := take[uint32](f.card, &err, size.docs), take[uint64](f.card, &err, size.words)
		if err != nil {
			return err
		}
		if n, err = f.countPairs(ctx, items, ends, found, gpu.Null(), pack); err != nil {
			return err
		}
		err = errors.Join(f.each("pieces", "weigh_lengths_of_ends", size.docs, ends.Arg(),
			lengths.Arg(), gpu.U64(uint64(size.docs))), f.step("sort"))
		if err != nil {
			return err
		}
		sorted, err := prim.SortKeys(f.s, f.tmp.Arena, found.Slice(0, n), out.Slice(0, n), pack.termShift, pack.bits)
		if err == nil && sorted.Arg() != out.Arg() {
			err = sorted.CopyTo(f.s, out.Slice(0, n))
		}
		return err
	})
	return n, pack, err
}

func (f *fused) words(ctx context.Context, out *gpuPairs,
	rest func(tmp *gpu.Arena, numbers gpu.Buffer[uint32]) error) error {
	return f.placeWords(ctx, out, gpu.Null(), rest)
}

// gpuPosts inverts a chunk. All pairs are sorted at once, by the ranks of the words in byte order.
func gpuPosts(ctx context.Context, t *gpuTask) (*gpuPairs, error) {
	if err := errors.Join(t.upload(), t.step("words"), t.numberWords(ctx)); err != nil {
		return nil, err
	}
	out := &gpuPairs{}
	if err := t.step("vocabulary"); err != nil {
		return nil, err
	}
	if t.places.Len() < t.table.Numbers() {
		err := t.places.Free()
		if err == nil {
			t.places, err = gpu.Alloc[uint32](t.Dev, t.table.Numbers())
		}
		if err != nil {
			return nil, err
		}
	}
	if err := t.side.Reserve(t.Dev, wordMemory(t.card), 0); err != nil {
		return nil, err
	}
	terms := 0
	err := t.placeWords(ctx, out, t.places.Arg(), func(_ *gpu.Arena, numbers gpu.Buffer[uint32]) error {
		terms = numbers.Len()
		return nil
	})
	if err != nil {
		return nil, err
	}
	pack, ok := newPacking(terms, t.in.docs, t.in.longest)
	if !ok {
		return nil, errPacking
	}
	items := t.seq.Items(0, t.in.words+t.in.docs)
	pairs, alt := take[uint64](t.card, &err, t.in.words), take[uint64](t.card, &err, t.in.words)
	if err != nil {
		return nil, err
	}
	n := 0
	err = t.scratch(func() (err error) {
		ends := take[uint32](t.card, &err, t.in.docs)
		if err == nil {
			n, err = t.countPairs(ctx, items, ends, pairs, t.places.Arg(), pack)
		}
		return err
	})
	if err == nil {
		err = t.step("sort")
	}
	if err != nil {
		return nil, err
	}
	pairs, alt = pairs.Slice(0, n), alt.Slice(0, n)
	sorted, err := prim.SortKeys(t.s, t.tmp.Arena, pairs, alt, pack.termShift, pack.bits)
	if err != nil {
		return nil, err
	}
	posts := alt // stored in the buffer that does not hold the sorted pairs
	if sorted.Arg() == alt.Arg() {
		posts = pairs
	}
	if err := t.step("df"); err != nil {
		return nil, err
	}
	first := take[uint64](t.card, &err, terms+1)
	if err != nil {
		return nil, err
	}
	err = errors.Join(t.firsts(sorted, 0, pack, terms, gpu.Null(), first.Arg(), gpu.Null()),
		t.each("count", "weigh_posts", n,
			append([]gpu.Arg{sorted.Arg(), gpu.U64(uint64(n)), t.numbers, posts.Arg()},
				pack.args()...)...),
		t.step("copy down"))
	if err != nil {
		return nil, err
	}
	if out.first, err = fetchAll(ctx, t.card, t.s, first,
		func(p *pinnedResult) *gpu.Pinned[uint64] { return &p.first }); err != nil {
		return nil, err
	}
	if t.keep {
		out.kept = posts
		return out, nil
	}
	out.posts, err = fetchAll(ctx, t.card, t.s, posts, func(p *pinnedResult) *gpu.Pinned[uint64] { return &p.posts })
	return out, err
}

// These constants must match count.cu: the maximum number of words of the documents in each class,
// and the block size of the kernels for the longest. Hash tables are at most three quarters full.
const (
	smallDocument  = 96
	middleDocument = 1024
	largeDocument  = 4500
	wideThreads    = 1024
)

// countPairs finds the ends of documents and makes their n pairs, in the order of documents.
func (t *gpuTask) countPairs(ctx context.Context, items, ends gpu.Buffer[uint32],
	out gpu.Buffer[uint64], places gpu.Arg, pack packing) (n int, err error) {
	if err := t.step("tf"); err != nil {
		return 0, err
	}
	err = t.scratch(func() (err error) {
		// A document has at most as many pairs as words; the unused places are removed below.
		pairs, flags := take[uint64](t.card, &err, items.Len()), take[uint8](t.card, &err, items.Len())
		if err != nil {
			return err
		}
		if err := t.countDocuments(ctx, items, ends, pairs, flags, places, pack); err != nil {
			return err
		}
		if err := t.step("select"); err != nil {
			return err
		}
		return prim.Select(t.s, t.tmp.Arena, pairs, flags, out, t.count)
	})
	if err != nil {
		return 0, err
	}
	return t.counted(ctx)
}

// countDocuments finds the ends of documents and counts the words of each. The pairs of a document
// are stored at the places of its items, and flagged.
func (t *gpuTask) countDocuments(ctx context.Context, items, ends gpu.Buffer[uint32],
	pairs gpu.Buffer[uint64], flags gpu.Buffer[uint8], places gpu.Arg, pack packing) error {
	n, nd := items.Len(), ends.Len()
	if err := t.each("count", "weigh_ends", (n+3)/4, items.Arg(), flags.Arg(), gpu.U64(uint64(n))); err != nil {
		return err
	}
	// The host has counted them, so nothing is written beyond the end of the buffer.
	if err := prim.SelectIndex(t.s, t.tmp.Arena, flags, ends, t.count); err != nil {
		return err
	}
	in := []gpu.Arg{items.Arg(), ends.Arg(), places}
	out := append([]gpu.Arg{pairs.Arg(), flags.Arg()}, pack.args()...)
	count := gpuKernels["count"].source
	small, err := t.Dev.Kernel(count, "weigh_count_small")
	if err != nil {
		return err
	}
	slots := (t.Dev.Info().SharedOptIn - 64) / 8
	wide := slots / 4 * 3
	classes := []struct {
		kernel         string
		threads, slots int // slots in dynamic shared memory
	}{{"weigh_count_middle", 128, 0}, {"weigh_count_large", 512, 0},
		{"weigh_count_wide", wideThreads, slots}, {"weigh_count_huge", wideThreads, 0}}
	return t.scratch(func() (err error) {
		lists, before := take[uint32](t.card, &err, len(classes)*nd), take[uint64](t.card, &err, nd)
		if err != nil {
			return err
		}
		err = errors.Join(t.count.Zero(t.s),
			t.each("count", "weigh_classes", nd, ends.Arg(), gpu.U64(uint64(nd)),
				gpu.U32(smallDocument),
				gpu.U32(middleDocument), gpu.U32(largeDocument),
				gpu.U32(uint32(max(wide, largeDocument))), lists.Arg(), t.count.Arg(),
				before.Arg()))
		if err != nil {
			return err
		}
		many, err := t.counts(ctx)
		if err != nil {
			return err
		}
		tables := take[uint32](t.card, &err, int(4*many[len(classes)])) // two slots of 8 bytes per word
		if err != nil {
			return err
		}
		if err := t.After(t.beside, t.s); err != nil {
			return err
		}
		// Long documents are few, so their kernels share the device with the others.
		for i, c := range classes {
			if many[i] == 0 {
				continue
			}
			k, err := t.Dev.Kernel(count, c.kernel)
			if err != nil {
				return err
			}
			args := slices.Concat(in, []gpu.Arg{lists.Slice(i*nd, (i+1)*nd).Arg()}, out)
			on := t.s
			switch c.kernel {
			case "weigh_count_wide":
				on = t.beside
				args = append(args, gpu.U32(uint32(c.slots)))
				err = k.AllowShared(8 * c.slots)
			case "weigh_count_huge":
				on = t.beside
				args = append(args, before.Arg(), tables.Arg())
			}
			if err != nil {
				return err
			}
			if err := on.Launch(k, gpu.GridShared(int(many[i]), c.threads, 8*c.slots), args...); err != nil {
				return err
			}
		}
		if err := t.After(t.s, t.beside); err != nil {
			return err
		}
		args := slices.Concat(in, []gpu.Arg{gpu.U64(uint64(nd))}, out)
		return t.s.Launch(small, gpu.Grid((nd+7)/8, 256), args...)
	})
}

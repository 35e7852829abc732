package weigh

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
	"github.com/collocate/collocate/internal/gpu/words"
)

// needFused is what gpuFused takes at most: the text; for each item, a word or a
// document's end, two pairs of 8 bytes and a flag, then the table of a very long
// document, later the result and what does not fit its bytes; lists of documents. The
// dictionary and the sequence are not in the arena.
func needFused(bytes, words, docs int) int64 {
	return int64(bytes) + 64*int64(words+docs) + 32*int64(docs) + gpuSpare
}

// packing says how a pair is packed into 64 bits: see kernels/count.cu.
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

// errPacking is for documents so many and so long that half of them must do.
var errPacking = errors.New("a pair of word and document takes more than 64 bits: a GPU weighs fewer documents at a time")

// gpuFused is our own way. One kernel finds the words and numbers them while the text
// is still coming in; words in use are sorted, the others' numbers forgotten;
// documents are counted in shared memory, and their pairs sorted by word once.
func gpuFused(ctx context.Context, t *gpuTask) (*gpuPairs, error) {
	if err := t.tokenise(ctx, t.feed); err != nil {
		return nil, err
	}
	out := &gpuPairs{}
	items := t.seq.Items(0, t.in.words+t.in.docs)

	// The words in use, in byte order, and the place of each number's word there.
	if err := t.step("vocabulary"); err != nil {
		return nil, err
	}
	terms, err := t.placeWords(ctx, out)
	if err != nil {
		return nil, err
	}
	pack, ok := newPacking(terms, t.in.docs, t.in.longest)
	if !ok {
		return nil, errPacking
	}

	// Counting leaves gaps: a document has no more pairs than words.
	ends := take[uint32](t.card, &err, t.in.docs)
	pairs, alt := take[uint64](t.card, &err, items.Len()), take[uint64](t.card, &err, items.Len())
	if err != nil {
		return nil, err
	}
	if err := t.step("tf"); err != nil {
		return nil, err
	}
	err = t.scratch(func() (err error) {
		flags := take[uint8](t.card, &err, items.Len())
		if err != nil {
			return err
		}
		if err := t.countDocuments(ctx, items, ends, alt, flags, pack); err != nil {
			return err
		}
		if err := t.step("select"); err != nil {
			return err
		}
		return prim.Select(t.s, t.tmp.Arena, alt, flags, pairs, t.count)
	})
	if err != nil {
		return nil, err
	}
	n, err := t.counted(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.step("sort"); err != nil {
		return nil, err
	}
	pairs, alt = pairs.Slice(0, n), alt.Slice(0, n)
	sorted, err := prim.SortKeys(t.s, t.tmp.Arena, pairs, alt, pack.termShift, pack.bits)
	if err != nil {
		return nil, err
	}
	free := alt
	if sorted.Arg() == alt.Arg() {
		free = pairs
	}
	if err := t.step("df"); err != nil {
		return nil, err
	}
	first := take[uint64](t.card, &err, terms+1)
	if err != nil {
		return nil, err
	}
	count := gpu.U64(uint64(n))
	if err := t.each("count", "weigh_firsts", n, sorted.Arg(), count, first.Arg(), gpu.U64(uint64(terms)), gpu.U32(uint32(pack.termShift))); err != nil {
		return nil, err
	}
	if t.posts {
		if err := t.each("count", "weigh_posts", n, append([]gpu.Arg{sorted.Arg(), count, t.numbers, free.Arg()}, pack.args()...)...); err != nil {
			return nil, err
		}
		if t.keep {
			out.kept = free
		}
		return out, t.fetchPosts(ctx, out, first, free)
	}

	weights, err := t.termWeights(first, terms)
	if err != nil {
		return nil, err
	}
	// The result goes where the sort's other half was, and beside it.
	half := gpu.As[uint32](free)
	docs, tfs, w := half.Slice(0, n), half.Slice(n, 2*n), take[float32](t.card, &err, n)
	if err != nil {
		return nil, err
	}
	return out, t.fetchPairs(ctx, out, first, docs, tfs, w, func(i, j int) error {
		args := append([]gpu.Arg{sorted.Slice(i, j).Arg(), gpu.U64(uint64(j - i)), weights.Arg(), ends.Arg(), t.numbers,
			docs.Slice(i, j).Arg(), tfs.Slice(i, j).Arg(), w.Slice(i, j).Arg()}, pack.args()...)
		return t.each("count", "weigh_scores", j-i, append(args, scorerArgs(t.scorer)...)...)
	})
}

func (t *gpuTask) fetchPosts(ctx context.Context, out *gpuPairs, first, posts gpu.Buffer[uint64]) (err error) {
	if err = t.step("copy down"); err != nil {
		return err
	}
	if out.first, err = fetchAll(ctx, t.card, t.s, first, func(p *pinnedResult) *gpu.Pinned[uint64] { return &p.first }); err != nil {
		return err
	}
	if t.keep {
		return nil
	}
	out.posts, err = fetchAll(ctx, t.card, t.s, posts, func(p *pinnedResult) *gpu.Pinned[uint64] { return &p.posts })
	return err
}

// firstSlots is how large the dictionary is made for so many words. The papers'
// texts, of 18 to 89 million words, have 450 thousand times the 0.615th power of what
// they are longer than the shortest; a third of the slots stay free, and some more.
func firstSlots(words int) int {
	return int(1.5 * 450e3 * math.Pow(float64(words)/17.9e6, 0.615))
}

// tokenise turns the text into a sequence of numbers by a hash table in device
// memory; both stay with the card. feed hands out the text in pieces that end with a
// separator.
func (t *gpuTask) tokenise(ctx context.Context, feed func(use func(gpu.Buffer[uint8]) error) error) (err error) {
	if t.words == nil {
		t.words, err = words.NewDictionary(t.s, firstSlots(t.in.words))
	} else {
		err = t.words.Clear(t.s)
	}
	if err != nil {
		return err
	}
	if n := t.in.words + t.in.docs; t.seq == nil || t.seq.Capacity() < n {
		if t.seq != nil {
			err = t.seq.Free()
			t.seq = nil
		}
		if err == nil {
			t.seq, err = words.NewSequence(t.s, n)
		}
	} else {
		err = t.seq.Clear(t.s)
	}
	if err != nil {
		return err
	}
	queue := func(text gpu.Buffer[uint8]) error { return t.words.Queue(t.s, words.Separated, text, t.seq, false) }
	if err := feed(queue); err != nil {
		return err
	}
	for {
		state, err := t.seq.State(ctx, t.s)
		if err != nil {
			return err
		}
		if state.Missed == 0 && !state.Huge {
			if int(state.Length) != t.in.words+t.in.docs || int(state.Documents) != t.in.docs {
				return errSeparators
			}
			return nil
		}
		// More different words than expected: all of the text again.
		if err := errors.Join(t.words.Recover(ctx, t.s, t.seq, state), t.seq.Clear(t.s)); err != nil {
			return err
		}
		if err := queue(t.text); err != nil {
			return err
		}
	}
}

// placeWords sorts the words in use and notes for each number the place of its
// word among them. The words go to the host. Nobody knows before how many there
// are, so this has memory of its own.
func (t *gpuTask) placeWords(ctx context.Context, out *gpuPairs) (n int, err error) {
	keys, numbers := t.words.Keys(), t.words.Numbers()
	if t.places.Len() < numbers {
		if err := t.places.Free(); err != nil {
			return 0, err
		}
		if t.places, err = gpu.Alloc[uint32](t.dev, numbers); err != nil {
			return 0, err
		}
	}
	// At most three quarters of the slots are in use, with 73 bytes each.
	if err := t.side.reserve(t.dev, 60*int64(numbers)+int64(2*t.words.Arena().Len())+1<<20); err != nil {
		return 0, err
	}
	tmp := t.side.Arena
	err = scratchOf(tmp, func() (err error) {
		slots, flags := takeFrom[uint32](tmp, &err, numbers), takeFrom[uint8](tmp, &err, numbers)
		if err != nil {
			return err
		}
		if err := t.each("words", "weigh_slots_used", numbers, keys.Arg(), flags.Arg(), gpu.U64(uint64(numbers))); err != nil {
			return err
		}
		if err := prim.SelectIndex(t.s, tmp, flags, slots, t.count); err != nil {
			return err
		}
		if n, err = t.counted(ctx); err != nil {
			return err
		}
		count := gpu.U64(uint64(n))
		lengths, offsets := takeFrom[uint32](tmp, &err, n+1), takeFrom[uint64](tmp, &err, n+1)
		refs, heads := takeFrom[uint64](tmp, &err, n), takeFrom[uint8](tmp, &err, n)
		if err != nil {
			return err
		}
		if err := lengths.Slice(n, n+1).Zero(t.s); err != nil {
			return err
		}
		if err := t.each("words", "weigh_slot_lengths", n, keys.Arg(), slots.Arg(), lengths.Arg(), count); err != nil {
			return err
		}
		if err := prim.ExclusiveScan(t.s, tmp, lengths, offsets); err != nil {
			return err
		}
		var total [1]uint64
		if err := offsets.Slice(n, n+1).Download(ctx, t.s, total[:]); err != nil {
			return err
		}
		text := takeFrom[uint8](tmp, &err, int(total[0]))
		if err != nil {
			return err
		}
		if err := t.each("words", "weigh_slot_bytes", n, keys.Arg(), t.words.Arena().Arg(), slots.Arg(), offsets.Arg(), lengths.Arg(),
			text.Arg(), refs.Arg(), count); err != nil {
			return err
		}
		if err := prim.SortStrings(t.s, tmp, text, refs, heads); err != nil {
			return err
		}
		if err := t.each("words", "weigh_slot_places", n, refs.Arg(), offsets.Arg(), slots.Arg(), t.places.Arg(), count); err != nil {
			return err
		}
		return t.vocabulary(ctx, tmp, text, refs, out)
	})
	return n, err
}

// As in count.cu: how many words the documents of a class have at most, and the
// shape of the kernel that counts them. Tables are full to three quarters at most.
const (
	smallDocument  = 96
	middleDocument = 1024
	largeDocument  = 4500
	wideThreads    = 1024
)

// countDocuments finds where documents end and counts each one's words: its pairs
// go to the places of its items, flagged.
func (t *gpuTask) countDocuments(ctx context.Context, items, ends gpu.Buffer[uint32], pairs gpu.Buffer[uint64], flags gpu.Buffer[uint8], pack packing) error {
	n, nd := items.Len(), t.in.docs
	if err := t.each("count", "weigh_ends", (n+3)/4, items.Arg(), flags.Arg(), gpu.U64(uint64(n))); err != nil {
		return err
	}
	// There are as many as the host counted, so nothing is written behind the last.
	if err := prim.SelectIndex(t.s, t.tmp.Arena, flags, ends, t.count); err != nil {
		return err
	}
	in := []gpu.Arg{items.Arg(), ends.Arg(), t.places.Arg()}
	out := append([]gpu.Arg{pairs.Arg(), flags.Arg()}, pack.args()...)
	count := gpuKernels["count"].source
	small, err := t.dev.Kernel(count, "weigh_count_small")
	if err != nil {
		return err
	}
	slots := (t.dev.Info().SharedOptIn - 64) / 8
	wide := slots / 4 * 3
	classes := []struct {
		kernel         string
		threads, slots int // slots in dynamic shared memory
	}{{"weigh_count_middle", 128, 0}, {"weigh_count_large", 512, 0}, {"weigh_count_wide", wideThreads, slots}, {"weigh_count_huge", wideThreads, 0}}
	return t.scratch(func() (err error) {
		lists, before := take[uint32](t.card, &err, len(classes)*nd), take[uint64](t.card, &err, nd)
		if err != nil {
			return err
		}
		err = errors.Join(t.count.Zero(t.s), t.each("count", "weigh_classes", nd, ends.Arg(), gpu.U64(uint64(nd)), gpu.U32(smallDocument),
			gpu.U32(middleDocument), gpu.U32(largeDocument), gpu.U32(uint32(max(wide, largeDocument))), lists.Arg(), t.count.Arg(), before.Arg()))
		if err != nil {
			return err
		}
		many, err := t.counts(ctx)
		if err != nil {
			return err
		}
		tables := take[uint32](t.card, &err, int(4*many[len(classes)])) // two slots of 8 bytes a word
		if err != nil {
			return err
		}
		if err := t.after(t.copies, t.s); err != nil {
			return err
		}
		// Long documents are few: they share the device with the others.
		for i, c := range classes {
			if many[i] == 0 {
				continue
			}
			k, err := t.dev.Kernel(count, c.kernel)
			if err != nil {
				return err
			}
			args := slices.Concat(in, []gpu.Arg{lists.Slice(i*nd, (i+1)*nd).Arg()}, out)
			on := t.s
			switch c.kernel {
			case "weigh_count_wide":
				on = t.copies
				args = append(args, gpu.U32(uint32(c.slots)))
				err = k.AllowShared(8 * c.slots)
			case "weigh_count_huge":
				on = t.copies
				args = append(args, before.Arg(), tables.Arg())
			}
			if err != nil {
				return err
			}
			if err := on.Launch(k, gpu.GridShared(int(many[i]), c.threads, 8*c.slots), args...); err != nil {
				return err
			}
		}
		if err := t.after(t.s, t.copies); err != nil {
			return err
		}
		args := slices.Concat(in, []gpu.Arg{gpu.U64(uint64(nd))}, out)
		return t.s.Launch(small, gpu.Grid((nd+7)/8, 256), args...)
	})
}

package words

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/collocate/collocate/internal/gpu"
)

// Dictionary holds the distinct words, in device memory. It is used by one stream.
type Dictionary struct {
	dev    *gpu.Device
	first  int // slots of the first table; each further one has twice as many
	tables int
	keys   gpu.Buffer[uint64] // two per slot
	counts gpu.Buffer[uint64] // by number
	arena  gpu.Buffer[uint8]  // bytes of long words
	used   gpu.Buffer[uint64] // words in the last table, bytes in the arena, finished blocks
	states gpu.Buffer[uint64] // look-back words of Queue
}

// slotBytes is the size of a slot: its key and its count.
const slotBytes = 16 + 8

// A table is filled to fullNum/fullDen of its slots; beyond that, probe sequences get long.
const fullNum, fullDen = 3, 4

// NewDictionary makes an empty dictionary whose first table has the given number of slots, rounded
// up to a power of two; it holds 3/4 as many words. A slot takes 25 bytes of device memory.
func NewDictionary(s *gpu.Stream, slots int) (*Dictionary, error) {
	d := &Dictionary{dev: s.Device(), first: 1 << bits.Len(uint(max(slots, 1024)-1))}
	if d.first > 1<<30 {
		return nil, fmt.Errorf("a dictionary of %d slots: want at most %d", slots, 1<<30)
	}
	var err error
	if d.used, err = gpu.Alloc[uint64](d.dev, 3); err == nil {
		if err = d.used.Zero(s); err == nil {
			err = d.addTable(s)
		}
	}
	if err != nil {
		return nil, errors.Join(err, d.Free())
	}
	return d, nil
}

// Free frees the dictionary.
func (d *Dictionary) Free() error {
	return errors.Join(d.keys.Free(), d.counts.Free(), d.arena.Free(), d.used.Free(), d.states.Free())
}

// Numbers returns an exclusive upper bound of word numbers.
func (d *Dictionary) Numbers() int { return d.first * (1<<d.tables - 1) }

// Keys returns two 64-bit halves for each number; see include/dictionary.cuh.
func (d *Dictionary) Keys() gpu.Buffer[uint64] { return d.keys }

// Counts returns what Count counted, by number.
func (d *Dictionary) Counts() gpu.Buffer[uint64] { return d.counts }

// Arena returns the bytes of words longer than 15 bytes.
func (d *Dictionary) Arena() gpu.Buffer[uint8] { return d.arena }

// GrowthBytes returns the most device memory that the next Grow takes beyond what the dictionary
// has.
func (d *Dictionary) GrowthBytes() int64 {
	return int64(d.first*(2<<d.tables-1))*slotBytes + 2*d.arena.Bytes()
}

// Grow adds a table twice as large as the last. Words keep their numbers.
func (d *Dictionary) Grow(ctx context.Context, s *gpu.Stream) error {
	if 2*d.Numbers()+d.first > 1<<31 {
		return fmt.Errorf("more than %d distinct words on the GPU", d.Numbers()*fullNum/fullDen)
	}
	return errors.Join(d.addTable(s), s.Sync(ctx)) // until then the old buffers are in use
}

func (d *Dictionary) addTable(s *gpu.Stream) error {
	k, err := d.dev.Kernel(listSource, "words_clear")
	if err != nil {
		return err
	}
	before := d.Numbers()
	slots := d.first*(2<<d.tables-1) - before
	if err := errors.Join(
		extend(s, &d.keys, 2*(before+slots)), extend(s, &d.counts, before+slots),
		extend(s, &d.arena, max(2*d.arena.Len(), d.first)),
	); err != nil {
		return fmt.Errorf("a dictionary of %d slots: %w", before+slots, err)
	}
	d.tables++
	// If the arena was full, its counter is beyond its end.
	var used [2]uint64
	if before > 0 {
		if err := d.used.Download(context.Background(), s, used[:]); err != nil {
			return err
		}
		used[0] = 0
		used[1] = min(used[1], uint64(d.arena.Len()/2))
	}
	return errors.Join(
		d.used.Upload(s, used[:]),
		d.counts.Slice(before, before+slots).Zero(s),
		s.Launch(k, gpu.Grid(divUp(slots, threads), threads),
			d.keys.Slice(2*before, 2*(before+slots)).Arg(), gpu.U64(uint64(slots))),
	)
}

// extend replaces a buffer by a longer one and copies the contents.
func extend[T any](s *gpu.Stream, b *gpu.Buffer[T], n int) error {
	longer, err := gpu.Alloc[T](s.Device(), n)
	if err != nil {
		return err
	}
	old := *b
	*b = longer
	return errors.Join(old.CopyTo(s, longer), s.Sync(context.Background()), old.Free())
}

// limit returns the number of words that the last table can hold.
func (d *Dictionary) limit() uint32 {
	return uint32(d.first << (d.tables - 1) / fullDen * fullNum)
}

// Queue starts the kernel that appends a text to a sequence, which must have room. Words that are
// not in the dictionary are inserted, or with find become None. The sequence's state says
// afterwards whether the text was appended.
func (d *Dictionary) Queue(s *gpu.Stream, kind Kind, text gpu.Buffer[uint8], q *Sequence, find bool) error {
	if text.Len() == 0 {
		return nil
	}
	k, err := d.dev.Kernel(appendSource, "words_append")
	if err != nil {
		return err
	}
	resident, err := k.Resident(threads)
	if err != nil {
		return err
	}
	tiles := divUp(text.Len(), tile)
	if n := tiles + 3; d.states.Len() < n {
		if err := errors.Join(s.Sync(context.Background()), d.states.Free()); err != nil {
			return err
		}
		if d.states, err = gpu.Alloc[uint64](d.dev, n); err != nil {
			return err
		}
	}
	args := append([]gpu.Arg{text.Arg(), gpu.U64(uint64(text.Len())), gpu.U32(uint32(kind))}, d.Args(find)...)
	return errors.Join(d.states.Slice(0, tiles+3).Zero(s),
		s.Launch(k, gpu.Grid(min(tiles, resident), threads),
			append(args, q.items.Arg(), q.state.Arg(), d.states.Arg())...))
}

// Args returns the members of struct Dictionary in dictionary.cuh, for kernels of other packages.
func (d *Dictionary) Args(find bool) []gpu.Arg {
	look := uint32(0)
	if find {
		look = 1
	}
	return []gpu.Arg{d.keys.Arg(), gpu.U32(uint32(d.first)), gpu.U32(uint32(d.tables)),
		gpu.U32(look), d.used.Arg(), gpu.U32(d.limit()),
		d.arena.Arg(), gpu.U64(uint64(d.arena.Len())), d.used.Slice(1, 2).Arg()}
}

// Used says how full a dictionary is.
type Used struct {
	Words int64 // in the last table
	Bytes int64 // of long words, in the arena
}

// CopyUsed starts a copy of two words to pinned memory, for ReadUsed.
func (d *Dictionary) CopyUsed(s *gpu.Stream, to gpu.Pinned[uint64]) error {
	return d.used.CopyOut(s, to)
}

// ReadUsed decodes what CopyUsed copied.
func ReadUsed(w []uint64) Used { return Used{int64(uint32(w[0])), int64(w[1])} }

// HasRoom reports whether the given number of further words, with the given number of bytes, are
// certain to fit.
func (d *Dictionary) HasRoom(u Used, more, bytes int) bool {
	return u.Words+int64(more) <= int64(d.limit()) && u.Bytes+int64(bytes) <= int64(d.arena.Len())
}

// Append appends a text to a sequence, grows the dictionary as often as necessary, and waits for
// the device.
func (d *Dictionary) Append(ctx context.Context, s *gpu.Stream, kind Kind, text gpu.Buffer[uint8],
	q *Sequence) (State, error) {
	before, err := q.State(ctx, s)
	if err != nil {
		return before, err
	}
	if room := int64(q.Capacity()) - before.Length; int64(text.Len()) > room {
		return before, fmt.Errorf("a text of %d bytes: the sequence has room for %d items", text.Len(), room)
	}
	for {
		if err := d.Queue(s, kind, text, q, false); err != nil {
			return before, err
		}
		after, err := q.State(ctx, s)
		if err != nil || after.Missed == 0 && !after.Huge {
			return after, err
		}
		if err := d.Recover(ctx, s, q, after); err != nil {
			return after, err
		}
	}
}

// Recover grows the dictionary after words did not fit. Then the text that contains them, and all
// texts queued after it, can be queued again.
func (d *Dictionary) Recover(ctx context.Context, s *gpu.Stream, q *Sequence, state State) error {
	if state.Huge {
		return ErrHuge
	}
	if err := d.Grow(ctx, s); err != nil {
		return err
	}
	return q.retry(s)
}

// Count adds the items to the counts of their words.
func (d *Dictionary) Count(s *gpu.Stream, items gpu.Buffer[uint32]) error {
	if items.Len() == 0 {
		return nil
	}
	k, err := d.dev.Kernel(listSource, "words_count")
	if err != nil {
		return err
	}
	resident, err := k.Resident(threads)
	if err != nil {
		return err
	}
	blocks := min(divUp(items.Len(), 16*threads), resident)
	return s.Launch(k, gpu.Grid(blocks, threads), items.Arg(), gpu.U64(uint64(items.Len())), d.counts.Arg())
}

// CountAdded counts, as Count does, the items appended since the sequence was empty or since the
// last call. Called after each Queue, it counts while later texts are still being copied.
func (d *Dictionary) CountAdded(s *gpu.Stream, q *Sequence) error {
	k, err := d.dev.Kernel(listSource, "words_count_added")
	if err != nil {
		return err
	}
	return s.Launch(k, gpu.Grid(d.dev.Info().Multiprocessors, addedThreads), q.items.Arg(),
		q.state.Arg(), d.counts.Arg(), d.used.Slice(2, 3).Arg())
}

// addedThreads is the block size of CountAdded: large, so that fewer blocks add the same words to
// global memory.
const addedThreads = 1024

// Put finds or inserts words and returns their numbers. The words are concatenated; word i ends at
// ends[i].
func (d *Dictionary) Put(ctx context.Context, s *gpu.Stream, text []byte, ends []uint64) (numbers []uint32, err error) {
	n := len(ends)
	if n == 0 {
		return nil, nil
	}
	k, err := d.dev.Kernel(listSource, "words_put")
	if err != nil {
		return nil, err
	}
	a, err1 := gpu.Alloc[uint8](d.dev, len(text))
	b, err2 := gpu.Alloc[uint64](d.dev, n)
	out, err3 := gpu.Alloc[uint32](d.dev, n)
	missed, err4 := gpu.Alloc[uint64](d.dev, 1)
	defer func() { err = errors.Join(err, a.Free(), b.Free(), out.Free(), missed.Free()) }()
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	if err := errors.Join(a.Upload(s, text), b.Upload(s, ends)); err != nil {
		return nil, err
	}
	numbers = make([]uint32, n)
	for {
		err := errors.Join(missed.Zero(s),
			s.Launch(k, gpu.Grid(divUp(n, threads), threads), a.Arg(), b.Arg(), gpu.U64(uint64(n)),
				d.keys.Arg(), gpu.U32(uint32(d.first)), gpu.U32(uint32(d.tables)), d.used.Arg(), gpu.U32(d.limit()),
				d.arena.Arg(), gpu.U64(uint64(d.arena.Len())), d.used.Slice(1, 2).Arg(), out.Arg(), missed.Arg()))
		if err != nil {
			return nil, err
		}
		var lost [1]uint64
		if err := missed.Download(ctx, s, lost[:]); err != nil {
			return nil, err
		}
		if lost[0] == 0 {
			return numbers, out.Download(ctx, s, numbers)
		}
		if err := d.Grow(ctx, s); err != nil {
			return nil, err
		}
	}
}

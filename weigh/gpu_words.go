package weigh

import (
	"context"
	"errors"
	"math"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
	"github.com/collocate/collocate/internal/gpu/words"
)

// firstSlots returns the initial size of the dictionary for a text of that many words. By Heaps'
// law, the papers' texts, of 18 to 89 million words, have 450,000 * (words/17.9e6)^0.615 distinct
// words. The factor 1.5 leaves at least a third of the slots free.
func firstSlots(words int) int {
	return int(1.5 * 450e3 * math.Pow(float64(words)/17.9e6, 0.615))
}

// startWords prepares an empty hash table of words, and an empty sequence with room for that many
// items. Both are kept with the card for the next chunk; the table keeps its size.
func (t *gpuTask) startWords(slots, items int) (err error) {
	if t.table == nil {
		t.table, err = words.NewDictionary(t.reads, slots)
	} else {
		err = t.table.Clear(t.reads)
	}
	if err != nil {
		return err
	}
	if t.seq != nil && t.seq.Capacity() >= items {
		return t.seq.Clear(t.reads)
	}
	if t.seq != nil {
		err = t.seq.Free()
		t.seq = nil
	}
	if err == nil {
		t.seq, err = words.NewSequence(t.reads, items)
	}
	return err
}

// queueWords queues the numbering of the words of a text on the stream reads.
func (t *gpuTask) queueWords(from, to int) error {
	return t.table.Queue(t.reads, words.Separated, t.text.Slice(from, to), t.seq, false)
}

// checkWords waits for the device, and checks that all words up to upTo have numbers. Later words
// may have numbers already, too.
func (t *gpuTask) checkWords(ctx context.Context, upTo gpuSize) error {
	now, err := t.look(ctx, t.seq.OnDevice())
	if err != nil {
		return err
	}
	state := words.ReadState(now)
	items, docs := state.Length-int64(upTo.words+upTo.docs), state.Documents-int64(upTo.docs)
	switch {
	case state.Huge:
		return words.ErrHuge
	case state.Missed > 0:
		return errNoRoom
	case items < 0 || docs < 0 || upTo.bytes == t.in.bytes && items+docs > 0:
		return errSeparators
	}
	return nil
}

// growWords enlarges the hash table of words.
func (t *gpuTask) growWords(ctx context.Context) error { return t.table.Grow(ctx, t.reads) }

// numberWords numbers the words of a text that is on the device.
func (t *gpuTask) numberWords(ctx context.Context) error {
	for {
		err := t.startWords(firstSlots(t.in.words), t.in.words+t.in.docs)
		if err == nil {
			err = errors.Join(t.After(t.reads, t.copies), t.queueWords(0, t.in.bytes), t.After(t.s, t.reads))
		}
		if err == nil {
			err = t.checkWords(ctx, t.in.gpuSize)
		}
		if !errors.Is(err, errNoRoom) {
			return err
		}
		if err := t.growWords(ctx); err != nil {
			return err
		}
	}
}

// wordMemory returns the memory that placeWords takes from side: at most three quarters of the
// slots are in use, with 77 bytes each.
func wordMemory(c *card) int64 {
	return 64*int64(c.table.Numbers()) + int64(2*c.table.Arena().Len()) + gpuSpare
}

// placeWords sorts the words in use and copies them to the host. If places is not null, it stores
// the rank of each word there, by word number. It calls rest with the words' numbers in that order,
// and with the arena of side, whose memory is in use until the end of the chunk.
func (t *gpuTask) placeWords(ctx context.Context, out *gpuPairs, places gpu.Arg,
	rest func(tmp *gpu.Arena, numbers gpu.Buffer[uint32]) error) (err error) {
	keys, slotCount, tmp := t.table.Keys(), t.table.Numbers(), t.side.Arena
	slots, flags := takeFrom[uint32](tmp, &err, slotCount), takeFrom[uint8](tmp, &err, slotCount)
	if err != nil {
		return err
	}
	if err := t.each("words", "weigh_slots_used", slotCount, keys.Arg(), flags.Arg(),
		gpu.U64(uint64(slotCount))); err != nil {
		return err
	}
	if err := prim.SelectIndex(t.s, tmp, flags, slots, t.count); err != nil {
		return err
	}
	n, err := t.counted(ctx)
	if err != nil {
		return err
	}
	count := gpu.U64(uint64(n))
	lengths, offsets := takeFrom[uint32](tmp, &err, n+1), takeFrom[uint64](tmp, &err, n+1)
	refs, heads := takeFrom[uint64](tmp, &err, n), takeFrom[uint8](tmp, &err, n)
	numbers := takeFrom[uint32](tmp, &err, n)
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
	total, err := t.look(ctx, offsets.Slice(n, n+1))
	if err != nil {
		return err
	}
	text := takeFrom[uint8](tmp, &err, int(total[0]))
	if err != nil {
		return err
	}
	if err := t.each("words", "weigh_slot_bytes", n, keys.Arg(), t.table.Arena().Arg(), slots.Arg(),
		offsets.Arg(), lengths.Arg(),
		text.Arg(), refs.Arg(), count); err != nil {
		return err
	}
	if err := prim.SortStrings(t.s, tmp, text, refs, heads); err != nil {
		return err
	}
	if err := t.each("words", "weigh_slot_places", n, refs.Arg(), offsets.Arg(), slots.Arg(),
		places, numbers.Arg(), count); err != nil {
		return err
	}
	if err := t.vocabulary(ctx, tmp, text, refs, out); err != nil {
		return err
	}
	return rest(tmp, numbers)
}

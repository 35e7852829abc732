package words

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// Found has the words of a dictionary on the device, in order of their numbers.
type Found struct {
	N       int
	Numbers gpu.Buffer[uint32]
	Keys    gpu.Buffer[uint64] // two per word, as in the dictionary
	Counts  gpu.Buffer[uint64]
}

// Free frees the lists.
func (f *Found) Free() error { return errors.Join(f.Numbers.Free(), f.Keys.Free(), f.Counts.Free()) }

// Find gathers the words that are in the dictionary. It waits for the device.
func (d *Dictionary) Find(ctx context.Context, s *gpu.Stream) (_ *Found, err error) {
	used, err1 := d.dev.Kernel(listSource, "words_used")
	gather, err2 := d.dev.Kernel(listSource, "words_gather")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	slots := d.Numbers()
	flags, err1 := gpu.Alloc[uint8](d.dev, slots)
	all, err2 := gpu.Alloc[uint32](d.dev, slots)
	count, err3 := gpu.Alloc[uint64](d.dev, 1)
	tmp, err4 := gpu.NewArena(d.dev, int64(slots)/256+(1<<16))
	defer func() {
		err = errors.Join(err, flags.Free(), all.Free(), count.Free())
		if tmp != nil {
			err = errors.Join(err, tmp.Free())
		}
	}()
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	if err := errors.Join(
		s.Launch(used, gpu.Grid(divUp(slots, threads), threads), d.keys.Arg(), gpu.U64(uint64(slots)), flags.Arg()),
		prim.SelectIndex(s, tmp, flags, all, count),
	); err != nil {
		return nil, err
	}
	var n [1]uint64
	if err := count.Download(ctx, s, n[:]); err != nil {
		return nil, err
	}
	f := &Found{N: int(n[0])}
	f.Numbers, err1 = gpu.Alloc[uint32](d.dev, f.N)
	f.Keys, err2 = gpu.Alloc[uint64](d.dev, 2*f.N)
	f.Counts, err3 = gpu.Alloc[uint64](d.dev, f.N)
	err = errors.Join(err1, err2, err3)
	if err == nil && f.N > 0 {
		err = errors.Join(all.Slice(0, f.N).CopyTo(s, f.Numbers),
			s.Launch(gather, gpu.Grid(divUp(f.N, threads), threads), d.keys.Arg(), d.counts.Arg(),
				f.Numbers.Arg(), gpu.U64(n[0]),
				f.Keys.Arg(), f.Counts.Arg()),
			s.Sync(ctx))
	}
	if err != nil {
		return nil, errors.Join(err, f.Free())
	}
	return f, nil
}

// List has the words of a dictionary on the host, in order of their numbers.
type List struct {
	Numbers []uint32
	Counts  []uint64
	keys    []uint64
	arena   []byte
}

// List downloads the words. It waits for the device.
func (d *Dictionary) List(ctx context.Context, s *gpu.Stream) (_ *List, err error) {
	f, err := d.Find(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Free()) }()
	l := &List{Numbers: make([]uint32, f.N), Counts: make([]uint64, f.N), keys: make([]uint64, 2*f.N)}
	if err := errors.Join(f.Numbers.Download(ctx, s, l.Numbers), f.Counts.Download(ctx, s, l.Counts),
		f.Keys.Download(ctx, s, l.keys)); err != nil {
		return nil, err
	}
	l.arena, err = d.LongWords(ctx, s)
	return l, err
}

// Len returns the number of words.
func (l *List) Len() int { return len(l.Numbers) }

// AppendWord appends the bytes of word i to dst.
func (l *List) AppendWord(dst []byte, i int) []byte {
	return AppendKey(dst, l.keys[2*i], l.keys[2*i+1], l.arena)
}

// AppendKey appends the word with the given key to dst.
func AppendKey(dst []byte, k0, k1 uint64, arena []byte) []byte {
	n := k1 >> 56
	if n == longMark {
		at := k0 >> refLength
		return append(dst, arena[at:at+k0&(1<<refLength-1)]...)
	}
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], k0)
	binary.LittleEndian.PutUint64(b[8:], k1)
	return append(dst, b[:min(n, inlineMax)]...)
}

// ShortKey returns the key of a word of up to 15 bytes.
func ShortKey(w []byte) (k0, k1 uint64) {
	var b [16]byte
	copy(b[:inlineMax], w)
	return binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:]) | uint64(len(w))<<56
}

// KeyLength returns the length of the word with the given key.
func KeyLength(k0, k1 uint64) int {
	if n := k1 >> 56; n != longMark {
		return int(n)
	}
	return int(k0 & (1<<refLength - 1))
}

// LongWords downloads the arena: the bytes of words that do not fit in their keys.
func (d *Dictionary) LongWords(ctx context.Context, s *gpu.Stream) ([]byte, error) {
	var used [2]uint64
	if err := d.used.Download(ctx, s, used[:]); err != nil {
		return nil, err
	}
	arena := make([]byte, min(used[1], uint64(d.arena.Len())))
	return arena, d.arena.Download(ctx, s, arena)
}

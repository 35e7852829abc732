package dict

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// GPU is a dictionary on a device, for texts of very many words, or on several that share the words
// of a text. It looks up one text at a time: concurrent calls wait.
type GPU struct {
	Log *slog.Logger // says what each of several devices did; nil means none

	named   gpu.Named
	others  []*GPU // that share the words
	session *gpu.Session
	dev     *gpu.Device // of the session
	file    *File
	s       *gpu.Stream
	on      *onDevice
	budget  int64    // bytes for texts
	memory  gpu.Kept // for one text

	mu sync.Mutex
}

// OpenGPU opens a device and copies the dictionary there, which must be an stt or one of the xbw
// kinds. Further devices, with a copy each, share the words of a text. The error wraps
// engine.ErrNoGPU if there is no device.
func (d *File) OpenGPU(which engine.Device, also ...engine.Device) (*GPU, error) {
	var all []*GPU
	for _, named := range gpu.Several(which, also) {
		s, err := named.OpenSession(1)
		var g *GPU
		if err == nil {
			g, err = d.useGPU(s, named.Memory)
		}
		if err != nil {
			for _, g := range all {
				err = errors.Join(err, g.Close())
			}
			return nil, err
		}
		g.named = named
		all = append(all, g)
	}
	all[0].others = all[1:]
	return all[0], nil
}

// useGPU is OpenGPU in a session, which it closes on errors.
func (d *File) useGPU(s *gpu.Session, memory int64) (*GPU, error) {
	g := &GPU{session: s, dev: s.Dev, file: d, s: s.Streams[0]}
	s.Keep(&g.memory)
	var err error
	if g.budget, err = s.Dev.Budget(memory); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if g.on, err = d.upload(g.s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if g.budget -= g.on.Bytes() + cacheMemory; g.budget < leastChunk {
		err = fmt.Errorf("the dictionary takes %v of the GPU's memory and leaves %v for words: "+
			"want at least %v", bytesize.Size(g.on.Bytes()), bytesize.Size(max(0, g.budget)),
			bytesize.Size(leastChunk))
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// Close frees the devices and their memory.
func (g *GPU) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	err := errors.Join(g.on.Free(), g.session.Close())
	for _, o := range g.others {
		err = errors.Join(err, o.Close())
	}
	return err
}

// Bytes returns the size of the dictionary on each device.
func (g *GPU) Bytes() int64 { return g.on.Bytes() }

// Texts are looked up in chunks that fit on the device.
const (
	mostChunk    = 512 << 20 // bytes, which take milliseconds to transfer
	leastChunk   = 32 << 20  // has room for a word of longestOnGPU
	cacheMemory  = 17 << 20
	longestOnGPU = 1<<24 - 1 // bytes of a word, the limit of a reference
	wordMemory   = 8 + 4     // a reference, and a number
)

// IDs is like File.IDs, on the devices. Each looks up a range of the words.
func (g *GPU) IDs(ctx context.Context, t *Text) ([]uint32, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	ids, all := make([]uint32, t.Len()), append([]*GPU{g}, g.others...)
	err := gpu.Together(ctx, len(all), func(ctx context.Context, i int) error {
		lo, hi := gpu.Share(t.Len(), i, len(all))
		err := all[i].find(ctx, t, lo, hi, ids)
		if len(all) > 1 {
			all[i].named.Log(g.Log, "words", hi-lo)
			if err != nil {
				err = fmt.Errorf("GPU %d: %w", all[i].named.Ordinal, err)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range ids { // words that were in no chunk
		if t.long(i) {
			ids[i] = g.file.number(t.Word(i))
		}
	}
	return ids, nil
}

// find looks up the words [from, to) on one device.
func (g *GPU) find(ctx context.Context, t *Text, from, to int, ids []uint32) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	chunks := t.chunks(from, to, min(g.budget, mostChunk))
	if len(chunks) == 0 {
		return nil
	}
	release, err := g.dev.Acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	var chars, words int
	for _, c := range chunks {
		chars, words = max(chars, c.chars(t)), max(words, c.to-c.from)
	}
	b := g.begin(ctx, chars, words)
	for _, c := range chunks {
		b.put(t, c)
		b.Do(func() error { return g.on.LookUp(b.Stream, b.Arena, b.chars, b.words, b.ids) })
		gpu.Read(b, b.ids, ids[c.from:c.to])
	}
	return b.End()
}

// long reports whether a word is too long for a reference.
func (t *Text) long(i int) bool { return t.ends[i]-t.start(i) > longestOnGPU }

// chunk is a range of words of a text that are on the device together.
type chunk struct{ from, to int }

func (c chunk) chars(t *Text) int { return int(t.ends[c.to-1] - t.start(c.from)) }

// chunks divides the words [from, last) of a text into chunks that each fit in the given number of
// bytes. A word that is too long for the device is in none of them.
func (t *Text) chunks(from, last int, memory int64) (list []chunk) {
	taken := int64(0)
	end := func(to int) {
		if to > from {
			list = append(list, chunk{from, to})
		}
		from, taken = to, 0
	}
	for i := from; i < last; i++ {
		if t.long(i) {
			end(i)
			from = i + 1
			continue
		}
		need := int64(t.ends[i]-t.start(i)) + wordMemory
		if taken+need > memory {
			end(i)
		}
		taken += need
	}
	end(last)
	return list
}

// batch looks up chunks. It has device memory for the largest.
type batch struct {
	*gpu.Job
	allChars gpu.Buffer[uint8]
	allWords gpu.Buffer[uint64]
	allIDs   gpu.Buffer[uint32]
	refs     []uint64

	// The parts that the current chunk takes.
	chars gpu.Buffer[uint8]
	words gpu.Buffer[uint64]
	ids   gpu.Buffer[uint32]
}

// begin begins a job with memory for the given number of characters and words, and for the cache.
func (g *GPU) begin(ctx context.Context, chars, words int) *batch {
	b := &batch{Job: g.session.Begin(ctx, g.s, nil, nil)}
	b.Do(g.memory.Clear)
	b.Do(func() error {
		bytes := int64(chars) + wordMemory*int64(words) + cacheMemory
		return g.memory.Reserve(g.dev, bytes, 2*bytes)
	})
	b.Arena = g.memory.Arena
	b.allChars = gpu.Make[uint8](b, chars)
	b.allWords, b.allIDs = gpu.Make[uint64](b, words), gpu.Make[uint32](b, words)
	return b
}

// put copies a chunk to the device.
func (b *batch) put(t *Text, c chunk) {
	start := t.start(c.from)
	b.refs = b.refs[:0]
	for i := c.from; i < c.to; i++ {
		ref, err := prim.StringRef(t.start(i)-start, int(t.ends[i]-t.start(i)))
		b.Fail(err)
		b.refs = append(b.refs, ref)
	}
	b.Do(func() error {
		b.chars, b.words = b.allChars.Slice(0, c.chars(t)), b.allWords.Slice(0, len(b.refs))
		b.ids = b.allIDs.Slice(0, len(b.refs))
		return errors.Join(b.chars.Upload(b.Stream, t.data[start:t.ends[c.to-1]]),
			b.words.Upload(b.Stream, b.refs))
	})
}

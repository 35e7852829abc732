package dict

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// GPU is a dictionary on a device, for texts of very many words. It looks up one text at a time:
// concurrent calls wait.
type GPU struct {
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
// kinds. The error wraps engine.ErrNoGPU if there is no device.
func (d *File) OpenGPU(which engine.Device) (*GPU, error) {
	s, err := gpu.OpenSession(which.Ordinal, 1)
	if err != nil {
		return nil, err
	}
	return d.useGPU(s, which.Memory)
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

// Close frees the device and its memory.
func (g *GPU) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return errors.Join(g.on.Free(), g.session.Close())
}

// Bytes returns the size of the dictionary on the device.
func (g *GPU) Bytes() int64 { return g.on.Bytes() }

// Texts are looked up in chunks that fit on the device.
const (
	mostChunk    = 512 << 20 // bytes, which take milliseconds to transfer
	leastChunk   = 32 << 20  // has room for a word of longestOnGPU
	cacheMemory  = 17 << 20
	longestOnGPU = 1<<24 - 1 // bytes of a word, the limit of a reference
	wordMemory   = 8 + 4     // a reference, and a number
)

// IDs is like File.IDs, on the device.
func (g *GPU) IDs(ctx context.Context, t *Text) (ids []uint32, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	ids = make([]uint32, t.Len())
	chunks := t.chunks(min(g.budget, mostChunk))
	if len(chunks) == 0 {
		return ids, nil
	}
	release, err := g.dev.Acquire(ctx)
	if err != nil {
		return nil, err
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
	if err := b.End(); err != nil {
		return nil, err
	}
	for i := range ids { // words that were in no chunk
		if t.long(i) {
			ids[i] = g.file.number(t.Word(i))
		}
	}
	return ids, nil
}

// long reports whether a word is too long for a reference.
func (t *Text) long(i int) bool { return t.ends[i]-t.start(i) > longestOnGPU }

// chunk is a range of words of a text that are on the device together.
type chunk struct{ from, to int }

func (c chunk) chars(t *Text) int { return int(t.ends[c.to-1] - t.start(c.from)) }

// chunks divides a text into chunks that each fit in the given number of bytes. A word that is too
// long for the device is in none of them.
func (t *Text) chunks(memory int64) (list []chunk) {
	from, taken := 0, int64(0)
	end := func(to int) {
		if to > from {
			list = append(list, chunk{from, to})
		}
		from, taken = to, 0
	}
	for i := range t.ends {
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
	end(t.Len())
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

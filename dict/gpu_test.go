package dict

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/gpu/prim"
	"github.com/collocate/collocate/internal/trials"
)

var deviceKinds = []Kind{STT, XBW, XBWPlain, XBWPaper}

// queries returns a text of n words of the list and of words near them, with their references.
func queries(t *testing.T, w *Words, n int, rng *rand.Rand) (text []byte, refs []uint64, words [][]byte) {
	t.Helper()
	for range n {
		var q []byte
		if w.Len() > 0 && rng.IntN(8) > 0 {
			q = bytes.Clone(w.At(int(float64(w.Len()) * rng.Float64() * rng.Float64())))
		}
		switch rng.IntN(6) {
		case 0:
			q = append(q, byte('a'+rng.IntN(4)))
		case 1:
			if len(q) > 0 {
				q = q[:rng.IntN(len(q))]
			}
		case 2:
			if len(q) > 0 {
				q[rng.IntN(len(q))] = byte(rng.IntN(256))
			}
		}
		ref, err := prim.StringRef(uint64(len(text)), len(q))
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, q...)
		if rng.IntN(2) == 0 {
			text = append(text, ' ')
		}
		refs, words = append(refs, ref), append(words, q)
	}
	return text, refs, words
}

// randomWords returns at most n different words of up to longest letters from an alphabet of the
// given size.
func randomWords(rng *rand.Rand, n, letters, longest int) *Words {
	var all bytes.Buffer
	for range n {
		for range 1 + rng.IntN(longest) {
			all.WriteByte(byte('!' + rng.IntN(letters)))
		}
		all.WriteByte('\n')
	}
	w, err := ReadWords(&all)
	if err != nil {
		return &Words{}
	}
	return w
}

// Every kind finds the same words on the device as on the CPU.
func TestDeviceFindsTheSameNumbers(t *testing.T) {
	dev, s := gputest.Device(t)
	rng := rand.New(rand.NewPCG(5, 5))
	all := map[string]*Words{
		"none":   {},
		"one":    list(t, "a"),
		"paper":  list(t, "aba", "ba", "bb", "cb", "cc"),
		"empty":  list(t, "", "a", "ab"),
		"bytes":  list(t, "\x00", "\x00\x00", "a\x00", "a\x00\x00b", "\xff\xfe", "z"),
		"random": randomWords(rng, trials.Of(1500), 6, 12),
		"large":  randomWords(rng, trials.Of(6000), 3, 14),
		"wide":   randomWords(rng, trials.Of(400), 250, 5),
	}
	for name, w := range all {
		text, refs, words := queries(t, w, trials.Of(3000), rng)
		for _, k := range deviceKinds {
			t.Run(fmt.Sprintf("%s/%v", name, k), func(t *testing.T) {
				d := build(t, w, k)
				on, err := d.upload(s)
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := on.Free(); err != nil {
						t.Error(err)
					}
				}()
				tmp := gputest.Arena(t, dev, 1<<20)
				b, r := gputest.Upload(t, s, text), gputest.Upload(t, s, refs)
				ids := gputest.Alloc[uint32](t, s, len(refs))
				compare := func(how string, err error) {
					t.Helper()
					if err != nil {
						t.Fatalf("%s: %v", how, err)
					}
					for i, got := range gputest.Download(t, s, ids) {
						want, ok := d.ID(words[i])
						if !ok {
							want = None
						}
						if got != want {
							t.Fatalf("%s: word %d, %q: number %d, want %d", how, i, words[i], got, want)
						}
					}
				}
				for _, buckets := range []int{0, 64} { // without and with the cache
					compare(fmt.Sprintf("%d buckets", buckets), on.lookUp(s, tmp, b, r, ids, buckets))
				}
				if k == XBWPlain { // not a kind of the papers
					return
				}
				for _, l := range []Launch{{}, {Threads: 33, Blocks: 1}, {Threads: 96, Compute: true}} {
					if l.Compute && k == STT {
						continue
					}
					compare(fmt.Sprintf("as the papers do, %+v", l), on.lookUpAsPaper(s, b, r, ids, l))
				}
			})
		}
	}
}

// Whole texts get the same numbers from one core, from several and from the device.
func TestTextsGetTheSameNumbers(t *testing.T) {
	dev, _ := gputest.Device(t)
	rng := rand.New(rand.NewPCG(6, 6))
	w := randomWords(rng, 800, 6, 12)
	_, _, words := queries(t, w, trials.Of(5000), rng)
	text := &Text{}
	for i, word := range words {
		if text.Add(word); i == len(words)/2 { // too long for the device
			text.Add(bytes.Repeat([]byte("a"), longestOnGPU+1))
		}
	}
	for _, k := range deviceKinds {
		d := build(t, w, k)
		want, err := d.IDs(t.Context(), text, LookUpOptions{Engine: engine.Sequential})
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range want {
			if n, ok := d.ID(text.Word(i)); id != n && (ok || id != None) {
				t.Fatalf("%v: word %d has number %d, want %d, %v", k, i, id, n, ok)
			}
		}
		got, err := d.IDs(t.Context(), text, LookUpOptions{Threads: 3})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: three threads find other numbers than one, or an error: %v", k, err)
		}
		g, err := d.useGPU(session(t, dev), 0)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // once more with the same device
			if got, err = g.IDs(t.Context(), text); err != nil || !slices.Equal(got, want) {
				t.Errorf("%v: the device finds other numbers than one core, or an error: %v", k, err)
			}
		}
		g.budget = 10_000 // in many chunks
		if got, err = g.IDs(t.Context(), text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: in chunks, the device finds other numbers than one core, or an error: %v", k, err)
		}
		if got, err = g.IDs(t.Context(), &Text{}); err != nil || len(got) != 0 {
			t.Errorf("%v: an empty text has numbers %v, %v", k, got, err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

// session returns a session with one stream on a device.
func session(t *testing.T, dev *gpu.Device) *gpu.Session {
	t.Helper()
	s, err := gpu.NewSession(dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Chunks are consecutive, fit in memory, and leave out only words that are too long.
func TestChunks(t *testing.T) {
	text := &Text{}
	long := bytes.Repeat([]byte("x"), longestOnGPU+1)
	for _, w := range [][]byte{long, []byte("one"), []byte("two"), long, long, []byte("three"), nil, []byte("five")} {
		text.Add(w)
	}
	for memory, want := range map[int64]string{1 << 30: "[{1 3} {5 8}]", 30: "[{1 3} {5 7} {7 8}]",
		20: "[{1 2} {2 3} {5 6} {6 7} {7 8}]"} {
		if got := fmt.Sprint(text.chunks(0, text.Len(), memory)); got != want {
			t.Errorf("%d bytes: %s, want %s", memory, got, want)
		}
	}
}

// OpenGPU opens a device by its number and keeps to a memory bound; Time measures look-ups.
func TestOpenGPU(t *testing.T) {
	gputest.Named(t)
	w := randomWords(rand.New(rand.NewPCG(7, 7)), 300, 6, 9)
	d := build(t, w, XBW)
	text := &Text{}
	for i := range w.Len() {
		text.Add(w.At(i))
	}
	want, err := d.IDs(t.Context(), text, LookUpOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := d.IDs(t.Context(), text, LookUpOptions{Engine: engine.GPU}); err != nil || !slices.Equal(got, want) {
		t.Errorf("the device finds other numbers than the cores, or an error: %v", err)
	}
	g, err := d.OpenGPU(engine.Device{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}()
	if m, err := g.Time(t.Context(), text, 200); err != nil || m.Plain <= 0 || m.Cached <= 0 || m.Total <= g.Bytes() {
		t.Errorf("%+v, %v, want times above 0 and more bytes than %d", m, err, g.Bytes())
	}
	if _, err := g.Time(t.Context(), &Text{}, 1); err == nil {
		t.Error("measuring an empty text: no error")
	}
	if _, err := d.OpenGPU(engine.Device{Memory: 1 << 20}); err == nil ||
		!strings.Contains(err.Error(), "want at least") {
		t.Errorf("too little memory: %v, want an error that says how much is needed", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range []engine.Kind{engine.Multicore, engine.GPU} {
		if _, err := d.IDs(cancelled, text, LookUpOptions{Engine: e}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, cancelled: %v, want context.Canceled", e, err)
		}
	}
}

// Uploading a kind that has no kernels is an error.
func TestHashHasNoDeviceForm(t *testing.T) {
	_, s := gputest.Device(t)
	if _, err := build(t, list(t, "a"), Hash).upload(s); err == nil {
		t.Error("uploading a hash: no error")
	}
}

// A dictionary with wrong content and correct checksums may find wrong numbers. It reads no memory
// outside its buffers, which the interpreter checks.
func TestDeviceSurvivesWrongContent(t *testing.T) {
	dev, s := gputest.Device(t)
	rng := rand.New(rand.NewPCG(9, 9))
	w := randomWords(rng, 1200, 5, 10)
	text, refs, _ := queries(t, w, 600, rng)
	b, r := gputest.Upload(t, s, text), gputest.Upload(t, s, refs)
	ids, tmp := gputest.Alloc[uint32](t, s, len(refs)), gputest.Arena(t, dev, 1<<20)
	for _, k := range []Kind{XBW, XBWPlain, XBWPaper, STT} {
		for range 6 {
			d := build(t, w, k)
			switch x := d.Dict.(type) {
			case *xbw:
				damage(rng, x.first)
				damage(rng, x.heads)
				damage(rng, x.terminal.lines)
				if x.inner != nil {
					damage(rng, x.inner.lines)
					damage(rng, x.tails.starts)
					damage(rng, x.tails.words)
				}
				if x.rrr != nil {
					damage(rng, x.rrr.records)
				}
			case *stt:
				damage(rng, x.next)
			}
			on, err := d.upload(s)
			if err != nil {
				t.Fatal(err)
			}
			if err := on.lookUp(s, tmp, b, r, ids, 0); err != nil {
				t.Fatal(err)
			}
			if k == XBWPaper {
				if err := on.lookUpAsPaper(s, b, r, ids, Launch{Compute: true}); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Sync(t.Context()); err != nil {
				t.Fatalf("%v: %v", k, err)
			}
			if err := on.Free(); err != nil {
				t.Error(err)
			}
		}
	}
}

// damage changes some of the numbers at random.
func damage[T uint32 | uint64 | int32](rng *rand.Rand, v []T) {
	for range 1 + len(v)/20 {
		if len(v) > 0 {
			v[rng.IntN(len(v))] ^= T(rng.Uint64() >> rng.IntN(64))
		}
	}
}

package device

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// withAllBlocks returns an index that has every kind of block: short ones of 1 to 127 postings,
// gaps and frequencies with and without patches, of one byte and of more, and bitmaps.
func withAllBlocks(rng *rand.Rand) *searchtest.Plain {
	p := &searchtest.Plain{Lengths: make([]uint32, 30_000)}
	for d := range p.Lengths {
		p.Lengths[d] = 1 + rng.Uint32N(400)
	}
	list := func(df, first int, gap func(i int) int, tf func(i int) int) {
		var docs, tfs []uint32
		doc := first
		for i := range df {
			if docs = append(docs, uint32(doc)); doc >= len(p.Lengths) {
				panic("too few documents")
			}
			tfs = append(tfs, uint32(tf(i)))
			doc += gap(i)
		}
		p.Words = append(p.Words, fmt.Sprintf("w%02d", len(p.Words)))
		p.Docs, p.TFs = append(p.Docs, docs), append(p.TFs, tfs)
	}
	one := func(int) int { return 1 }
	few := func(n int) func(int) int { return func(int) int { return 1 + rng.IntN(n) } }
	mostly := func(n, rest, every int) func(int) int {
		return func(i int) int {
			if i%every == every/2 {
				return rest
			}
			return 1 + rng.IntN(n)
		}
	}
	list(1, 29_999, one, one)
	list(1, 7, one, func(int) int { return 300 })
	list(2, 0, few(9000), few(3))
	list(127, 3, few(200), mostly(2, 70_000, 50))
	list(128, 40, few(200), few(2))
	list(129, 90, mostly(3, 9000, 64), few(300))
	list(20_000, 0, one, few(4))
	list(4_000, 11, few(7), mostly(1, 9000, 60))
	list(2_000, 5, mostly(4, 600, 60), mostly(2, 200_000, 40))
	list(900, 2, mostly(30, 31, 2), mostly(1, 130, 30))
	list(100, 64, func(int) int { return 256 }, one)
	return p
}

// kindsOf counts the kinds of blocks of an index.
func kindsOf(t *testing.T, r *index.Reader) map[string]int {
	t.Helper()
	kinds := map[string]int{}
	var c index.Cursor
	for term, err := range r.TermsIn(0, r.Terms()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := r.OpenBlocks(term, &c); err != nil {
			t.Fatal(err)
		}
		offsets, data := c.Stored()
		for b, at := range offsets {
			gaps, tfs := data[at], data[at+1]
			kind := "packed"
			if b == len(offsets)-1 && term.DF%index.BlockSize != 0 {
				kind = "short"
			} else if gaps == 255 {
				kind = "bitmap"
			}
			kinds[kind]++
			if gaps != 255 && gaps>>5 > 0 {
				kinds[kind+", gaps patched"]++
			}
			if tfs>>5 > 0 {
				kinds[kind+", frequencies patched"]++
			}
		}
	}
	return kinds
}

// The kernels that read compressed lists give the answers, and do the work, of those that read
// plain ones, for all algorithms, partitions and policies; exact ones give those of the cores.
func TestGPUThesisCompressed(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 9))
	root := searchtest.Scratch(t)
	for i := range max(2, trials.Of(8)) {
		p := searchtest.RandomPlain(rng, 2500, 6)
		if i == 0 {
			p = withAllBlocks(rng)
		}
		s := write(t, p, searchtest.IndexDir(root, i))
		if kinds := kindsOf(t, s.e.Index); i == 0 {
			for _, k := range []string{"packed", "packed, gaps patched", "packed, frequencies patched", "bitmap",
				"bitmap, frequencies patched", "short", "short, gaps patched", "short, frequencies patched"} {
				if kinds[k] == 0 {
					t.Errorf("no block is %s: %v", k, kinds)
				}
			}
		}
		use(t, s, Options{})
		for n := range 48 / trials.Every(3) {
			r := ask.Request{Words: searchtest.RandomWords(rng, p), Mode: ask.Mode(rng.IntN(2)),
				K:         []int{1, 10, 100, 1000}[rng.IntN(4)],
				Algorithm: []ask.Algorithm{ask.WAND, ask.MaxScore, ask.BMW}[n%3],
				Model:     searchtest.TestModels[rng.IntN(len(searchtest.TestModels))]}
			asked := ask.Parallel{Engine: engine.GPU, Partition: ask.Partition(n / 3 % 4),
				Policy: ask.Policy(n / 12 % 4), Size: []int{0, 32, 64, 100, 200}[rng.IntN(5)],
				Row: []int{0, 1, 3}[rng.IntN(3)], Slack: rng.IntN(7),
				Blocks: ask.Blocks{Threads: []int{0, 32, 64, 128}[rng.IntN(4)],
					Slice: 32 * rng.IntN(5), Insert: rng.IntN(2) == 0, Start: rng.IntN(2) == 0}}
			var got [2]*ask.Result
			for compressed := range got {
				with := asked
				with.Blocks.Compressed = compressed == 1
				r.Parallel = &with
				var err error
				if got[compressed], err = s.Search(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			r.Parallel = nil
			if asked.Exact() {
				want, err := s.Search(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got[1].Hits, want.Hits) {
					t.Fatalf("%+v, %+v: %v, want %v", r, asked, got[1].Hits, want.Hits)
				}
			}
			// Other policies depend on which block is first.
			if asked.Policy == ask.Local || asked.Row == 1 && asked.Exact() {
				if !slices.Equal(got[1].Hits, got[0].Hits) {
					t.Fatalf("%+v, %+v: %v, want %v", r, asked, got[1].Hits, got[0].Hits)
				}
			}
			if asked.Policy == ask.Local {
				for _, g := range got {
					if g.Stats.GPU != nil {
						g.Stats.GPU.Time = 0
					}
				}
				if !reflect.DeepEqual(got[0].Stats, got[1].Stats) {
					t.Fatalf("%+v, %+v: %+v, want %+v", r, asked, got[1].Stats, got[0].Stats)
				}
			}
		}
	}
}

// Lists that do not fit beside those of earlier queries replace them, and their block maxima.
func TestGPUThesisCompressedReplaced(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 45))
	p := withAllBlocks(rng)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	for round := range 2 {
		for i := range p.Words {
			r := ask.Request{Words: []ask.Word{{Text: p.Words[i], Weight: 1},
				{Text: p.Words[(i*7+4)%len(p.Words)], Weight: 1}}, K: 20, Algorithm: ask.BMW}
			want, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			r.Parallel = &ask.Parallel{Engine: engine.GPU, Partition: ask.Heterogeneous,
				Blocks: ask.Blocks{Compressed: true}}
			if round == 1 { // as if the buffer were full
				s.gpu.paper.packed.used = s.gpu.paper.packed.words.Len() - 50
				clear(s.gpu.paper.packed.at)
			}
			got, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Hits, want.Hits) {
				t.Fatalf("round %d, %v: %v, want %v", round, r.Words, got.Hits, want.Hits)
			}
		}
	}
	// Lists that do not fit at all are refused.
	packed := &s.gpu.paper.packed
	packed.used, s.gpu.pack.resident.budget = packed.words.Len(), 100
	clear(packed.at)
	if _, err := s.Search(t.Context(), ask.Request{Text: p.Words[6], Algorithm: ask.WAND,
		Parallel: &ask.Parallel{Engine: engine.GPU, Blocks: ask.Blocks{Compressed: true}}}); err == nil ||
		!strings.Contains(err.Error(), "do not fit") {
		t.Errorf("lists larger than the memory: error %v", err)
	}
}

// A list whose blocks cannot be decoded is an error before it reaches the device.
func TestGPUThesisCompressedDamaged(t *testing.T) {
	p := withAllBlocks(rand.New(rand.NewPCG(6, 45)))
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	for i, word := range p.Words {
		term, err := s.e.Index.Lookup([]byte(word))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.gpu.packedOf([]index.Term{term}, nil); err != nil {
			t.Fatal(err)
		}
		if n := len(p.Docs[i]); n < index.BlockSize || n%index.BlockSize < 2 {
			continue // the last document of a short list is not stored
		}
		term.DF-- // the last block has more postings than the list says
		if _, _, err := s.gpu.packedOf([]index.Term{term}, nil); err == nil {
			t.Errorf("%s: a list that was cut off gives no error", word)
		}
	}
}

package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/cpu/cputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/internal/simd"
)

// densePlain returns words that are in a half to a sixth of the documents, with gaps, so that some
// blocks are not dense.
func densePlain(rng *rand.Rand, docs, words int) *searchtest.Plain {
	p := &searchtest.Plain{}
	for range docs {
		p.Lengths = append(p.Lengths, 1+rng.Uint32N(200))
	}
	for w := range words {
		var list, tfs []uint32
		for d := 0; d < docs; d++ {
			if rng.IntN(3000) == 0 {
				d += rng.IntN(3000)
			} else if rng.IntN(w/2+2) == 0 {
				list, tfs = append(list, uint32(d)), append(tfs, uint32(rng.ExpFloat64()*3)+1)
			}
		}
		p.Words = append(p.Words, fmt.Sprintf("w%d", w))
		p.Docs, p.TFs = append(p.Docs, list), append(p.TFs, tfs)
	}
	return p
}

// The intersection of bitmaps gives the results of the definition, in any range of documents, and
// counts every used block once.
func TestDenseIntersection(t *testing.T) { cputest.Levels(t, testDenseIntersection) }

func testDenseIntersection(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	root := searchtest.Scratch(t)
	dense, blocks := 0, 0
	for i := range 12 / trials.Every(4) {
		p := densePlain(rng, 12_000, 9)
		s := write(t, p, searchtest.IndexDir(root, i))
		for range 12 {
			var words []ask.Word
			for _, w := range rng.Perm(len(p.Words))[:2+rng.IntN(4)] {
				words = append(words, ask.Word{Text: p.Words[w], Weight: 1})
			}
			k := []int{1, 10, 100, 1000}[rng.IntN(4)]
			model := searchtest.TestModels[rng.IntN(len(searchtest.TestModels))]
			q, err := s.e.Prepare(context.Background(), &ask.Request{Words: words, K: k, Mode: ask.And, Model: model})
			if err != nil {
				t.Fatal(err)
			}
			q.Begin(ask.Auto)
			from := uint32(rng.IntN(len(p.Lengths)))
			to := from + 1 + uint32(rng.IntN(len(p.Lengths)-int(from)))
			if rng.IntN(2) == 0 {
				from, to = 0, uint32(len(p.Lengths))
			}
			q.from, q.to = from, to
			lead := q.shortestFirst()[0]
			for b := range lead.Blocks() {
				if words, _ := lead.Words(b); words != nil {
					dense++
				}
				blocks++
			}
			r, err := q.Finish()
			if err != nil {
				t.Fatal(err)
			}
			want := p.Search(t, s.e.Index, words, len(p.Lengths), ask.And, model)
			want = slices.DeleteFunc(want, func(h ask.Hit) bool { return h.Doc < from || h.Doc >= to })
			want = want[:min(k, len(want))]
			if !slices.Equal(r.Hits, want) {
				t.Fatalf("index %d, %v, %v, k %d, documents %d to %d:\n got %v\nwant %v", i, words,
					model, k, from, to, searchtest.Head(r.Hits), searchtest.Head(want))
			}
			if r.Stats.Skipped < 0 || r.Stats.Decoded > r.Stats.Postings {
				t.Fatalf("index %d, %v: statistics count more blocks or postings than there are: %+v", i,
					words, r.Stats)
			}
			s.e.Release(q)
		}
		s.Close()
	}
	if 4*dense < blocks || dense == blocks {
		t.Errorf("%d of %d blocks are dense, want a quarter or more, and not all", dense, blocks)
	}
}

// locateBits finds the same documents in a bitmap as Locate does in the decoded block.
func TestLocateBitsIsLocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 74))
	var gotAt, gotPlaces, at, places andBuffer[uint32]
	var ranks [index.MaxWords]uint8
	for range 5000 / trials.Every(5) {
		docs := risingNumbers(rng, 1+rng.IntN(index.BlockSize), 1+rng.Uint32N(1<<uint(1+rng.IntN(6))))
		block := risingNumbers(rng, index.BlockSize, 1+rng.Uint32N(30))
		last := block[len(block)-1]
		base := min(docs[0], block[0]) &^ 63
		words := make([]byte, 8*(last/64-base/64+1))
		if len(words) > 8*index.MaxWords {
			continue
		}
		for _, d := range block {
			words[(d-base)/8] |= 1 << (d % 8)
		}
		n, used := locateBits(words, base, docs, last, &ranks, gotAt[:], gotPlaces[:])
		want, wantUsed := simd.PlainLocate(block, docs, last, at[:], places[:])
		if n != want || used != wantUsed || !slices.Equal(gotAt[:n], at[:n]) ||
			!slices.Equal(gotPlaces[:n], places[:n]) {
			t.Fatalf("%v in %v: found %v at %v, want %v at %v", docs, block, gotAt[:n],
				gotPlaces[:n], at[:want], places[:want])
		}
	}
}

package eval

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/cpu/cputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/simd"
)

// randomBlock returns a random scorer, and up to a block of postings for it.
func randomBlock(t testing.TB, rng *rand.Rand) (s *model.BM25Scorer, docs, tfs []uint32) {
	c := &model.Collection{Docs: uint64(1 + rng.IntN(5000))}
	for range c.Docs {
		l := rng.Uint32N(1 << uint(1+rng.IntN(20)))
		c.Lengths = append(c.Lengths, l)
		c.All.Tokens += uint64(l)
	}
	c.ClassLength, c.CodeTF = new([256]uint32), index.TFOfCode()
	if rng.IntN(2) == 0 { // few distinct lengths, stored as classes
		c.All.Tokens = 0
		for i := range c.ClassLength {
			c.ClassLength[i] = rng.Uint32N(1 << uint(1+rng.IntN(20)))
		}
		for d := range c.Lengths {
			class := uint8(rng.Uint32())
			c.Classes = append(c.Classes, class)
			c.Lengths[d] = c.ClassLength[class]
			c.All.Tokens += uint64(c.Lengths[d])
		}
	}
	p := model.BM25{K1: rng.Float64() * 3, B: rng.Float64(),
		Variant: []bm25.Variant{bm25.Papers, bm25.Lucene, bm25.Plus}[rng.IntN(3)]}
	w, err := model.WeigherOf(p, c)
	if err != nil {
		t.Fatal(err)
	}
	if c.Classes != nil {
		defer func(n int) { model.ManyDocuments = n }(model.ManyDocuments)
		model.ManyDocuments = 0
	}
	scorer := w.ScorerOf(&model.Term{Weight: 1, Info: index.Term{DF: uint32(1 + rng.IntN(int(c.Docs)))}}, 1)
	for _, d := range rng.Perm(int(c.Docs))[:rng.IntN(min(int(c.Docs), index.BlockSize)+1)] {
		tf := 1 + rng.Uint32N(40)
		switch rng.IntN(20) {
		case 0:
			tf = 1 + rng.Uint32N(300)
		case 1:
			tf = 1 + rng.Uint32()>>uint(1+rng.IntN(31))
		}
		docs, tfs = append(docs, uint32(d)), append(tfs, tf)
	}
	slices.Sort(docs)
	return scorer.(*model.BM25Scorer), docs, tfs
}

// Kernels of each CPU level and their plain Go versions agree to the bit. (Without kernels, this
// compares plain Go with itself.)
func TestKernelsAreTheirTwins(t *testing.T) { cputest.Levels(t, testKernelsAreTheirTwins) }

func testKernelsAreTheirTwins(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	same := func(what string, got, want []float32) {
		t.Helper()
		for i := range want {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Fatalf("%s %d of %d: %v, want %v", what, i, len(want), got[i], want[i])
			}
		}
	}
	for range trials.Cases(300) {
		s, docs, tfs := randomBlock(t, rng)
		got, want := make([]float32, len(docs)), make([]float32, len(docs))
		s.Xs(docs, tfs, got)
		s.PlainXs(docs, tfs, want)
		same("x", got, want)
		s.Batch(docs, tfs, got)
		s.PlainBatch(docs, tfs, want)
		same("score", got, want)

		var fast, plain window
		need := -1.0
		if len(want) > 0 && rng.IntN(4) > 0 {
			need = float64(want[rng.IntN(len(want))]) * []float64{1, 1 - 1e-9, 1 + 1e-9, 0.9}[rng.IntN(4)]
		}
		l := &list{bm25: s, Scorer: s}
		var fastDocs, plainDocs andBuffer[uint32]
		var fastScores, plainScores andBuffer[float32]
		n := l.pick(docs, tfs, need, fastDocs[:], fastScores[:])
		if picked := l.plainPick(docs, tfs, need, plainDocs[:], plainScores[:]); picked != n ||
			!slices.Equal(fastDocs[:n], plainDocs[:n]) {
			t.Fatalf("picked %v, want %v", fastDocs[:n], plainDocs[:picked])
		}
		same("picked score", fastScores[:n], plainScores[:n])
		fast.filter(docs, want, need)
		plain.plainFilter(docs, want, need)
		if !slices.Equal(fast.found, plain.found) {
			t.Fatalf("filtered %v, want %v", fast.found, plain.found)
		}
	}
}

func TestMergeIsItsTwin(t *testing.T) { cputest.Levels(t, testMergeIsItsTwin) }

func testMergeIsItsTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(49, 50))
	for range trials.Cases(1000) {
		gap := 1 + rng.Uint32N(20)
		b := buffer{docs: risingNumbers(rng, 1+rng.IntN(index.BlockSize), gap)}
		for range b.docs {
			b.scores = append(b.scores, rng.Float32())
		}
		b.lo = rng.IntN(len(b.docs))
		b.hi = b.lo + rng.IntN(len(b.docs)-b.lo+1)
		var fast, plain window
		for _, d := range risingNumbers(rng, 1+rng.IntN(index.BlockSize), 1+rng.Uint32N(20)) {
			plain.found = append(plain.found, simd.MakeCandidate(d, rng.Float32()))
		}
		fast.found = slices.Clone(plain.found)
		fast.merge(&b)
		plain.plainMerge(&b)
		if !slices.Equal(fast.found, plain.found) {
			t.Fatalf("merged %v, want %v", fast.found, plain.found)
		}
	}
}

func TestKeepIsItsTwin(t *testing.T) { cputest.Levels(t, testKeepIsItsTwin) }

func testKeepIsItsTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	for range trials.Cases(1000) {
		var fast, plain window
		for _, d := range risingNumbers(rng, 1+rng.IntN(index.BlockSize), 20) {
			plain.found = append(plain.found, simd.MakeCandidate(d, rng.Float32()-0.1))
		}
		need := rng.Float64()*1.2 - 0.2
		if len(plain.found) > 0 && rng.IntN(2) == 0 {
			need = float64(plain.found[rng.IntN(len(plain.found))].Sum()) * []float64{1, 1 - 1e-9,
				1 + 1e-9}[rng.IntN(3)]
		}
		fast.found = slices.Clip(slices.Clone(plain.found))
		fast.keep(need)
		plain.plainKeep(0, 0, need)
		if !slices.Equal(fast.found, plain.found) {
			t.Fatalf("kept %v, want %v", fast.found, plain.found)
		}
	}
}

func TestFoundIsSortedWithAndWithoutBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	var w window
	w.prepare()
	for range 300 {
		base := rng.Uint32() >> 1
		w.found = w.found[:0]
		for _, i := range rng.Perm(maxWindow)[:rng.IntN(4*fewFound)] {
			w.found = append(w.found, simd.MakeCandidate(base+uint32(i), rng.Float32()))
		}
		want := slices.Sorted(slices.Values(w.found))
		w.sortFound(base)
		if !slices.Equal(w.found, want) {
			t.Fatalf("found %v, want %v", w.found, want)
		}
	}
}

func TestScanIsItsTwin(t *testing.T) { cputest.Levels(t, testScanIsItsTwin) }

func testScanIsItsTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	var fast, plain window
	fast.prepare()
	plain.prepare()
	for range 500 / trials.Every(5) {
		n := rng.IntN(1 + rng.IntN(maxWindow))
		share := rng.Float32()
		for i := range n {
			if rng.Float32() < share {
				fast.sums[i] += float32(rng.IntN(4))
			}
		}
		plain.sums = fast.sums
		base, need := rng.Uint32()>>1, float64(rng.IntN(5)-1)
		fast.scan(base, n, need)
		plain.found = plain.found[:0]
		plain.plainScan(base, n, need)
		if !slices.Equal(fast.found, plain.found) {
			t.Fatalf("%d documents, need %v: found %d, want %d", n, need, len(fast.found), len(plain.found))
		}
		for i, sum := range fast.sums {
			if math.Float32bits(sum) != simd.SignBit {
				t.Fatalf("the sum of document %d is %v, want minus zero", i, sum)
			}
		}
	}
}

func TestLocateIsItsTwin(t *testing.T) { cputest.Levels(t, testLocateIsItsTwin) }

func testLocateIsItsTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 48))
	var fastAt, fastPlaces, at, places andBuffer[uint32]
	for range trials.Cases(2000) {
		docs := risingNumbers(rng, 1+rng.IntN(index.BlockSize), 1+rng.Uint32N(1<<uint(1+rng.IntN(20))))
		block := risingNumbers(rng, 1+rng.IntN(index.BlockSize), 1+rng.Uint32N(1<<uint(1+rng.IntN(20))))
		last := block[len(block)-1]
		n, used := simd.Locate(block, docs, last, fastAt[:], fastPlaces[:])
		want, wantUsed := simd.PlainLocate(block, docs, last, at[:], places[:])
		if n != want || used != wantUsed || !slices.Equal(fastAt[:n], at[:n]) ||
			!slices.Equal(fastPlaces[:n], places[:n]) {
			t.Fatalf("%v in %v: found %v at %v, want %v at %v", docs, block, fastAt[:n],
				fastPlaces[:n], at[:want], places[:want])
		}
		for i := range n {
			if docs[at[i]] != block[places[i]] {
				t.Fatalf("document %d was found at the place of %d", docs[at[i]], block[places[i]])
			}
		}
	}
}

// risingNumbers returns n numbers that increase by 1 to gap, as a decoded block: filled with End.
func risingNumbers(rng *rand.Rand, n int, gap uint32) []uint32 {
	block := new([index.BlockSize]uint32)
	d := rng.Uint32N(1000)
	for i := range block {
		if block[i] = index.End; i < n {
			block[i] = d
			d += 1 + rng.Uint32N(gap)
		}
	}
	return block[:n]
}

func BenchmarkKernels(b *testing.B) { cputest.Benchmarks(b, benchmarkKernels) }

func benchmarkKernels(b *testing.B) {
	rng := rand.New(rand.NewPCG(45, 46))
	s, docs, tfs := randomBlock(b, rng)
	for len(docs) < index.BlockSize {
		s, docs, tfs = randomBlock(b, rng)
	}
	for i := range tfs {
		tfs[i] = 1 + tfs[i]%8
	}
	out := make([]float32, index.BlockSize)
	b.Run("batch", func(b *testing.B) {
		for b.Loop() {
			s.Batch(docs, tfs, out)
		}
	})
	b.Run("batch, plain", func(b *testing.B) {
		for b.Loop() {
			s.PlainBatch(docs, tfs, out)
		}
	})
	w := &window{}
	w.prepare()
	need := float64(slices.Max(out)) * 0.98
	var outDocs andBuffer[uint32]
	var scores andBuffer[float32]
	l := &list{bm25: s, Scorer: s}
	b.Run("pick", func(b *testing.B) {
		for b.Loop() {
			l.pick(docs, tfs, need, outDocs[:], scores[:])
		}
	})
	b.Run("pick, plain", func(b *testing.B) {
		for b.Loop() {
			l.plainPick(docs, tfs, need, outDocs[:], scores[:])
		}
	})
	b.Run("scan", func(b *testing.B) {
		for b.Loop() {
			w.scan(0, 4096, need)
		}
	})
	b.Run("scan, plain", func(b *testing.B) {
		for b.Loop() {
			w.plainScan(0, 4096, need)
		}
	})
}

package vectors

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/vectors/vectorstest"
)

// No two blocks of a stratum share a row or a column, every cell is scheduled once, and groups have
// about the same number of cells.
func TestSchedule(t *testing.T) {
	defer func(cells int) { blockCells = cells }(blockCells)
	blockCells = 64 // so that a small matrix has many blocks
	m := vectorstest.Draw(300, 9000, 1)
	s, err := newSchedule(t.Context(), m, &GloVeOptions{XMax: 10, Alpha: 0.75, Seed: 1, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[2]uint32]bool{}
	for stratum := range s.groups {
		rows, cols := map[uint32]int{}, map[uint32]int{}
		for g := range s.groups {
			block := stratum*s.groups + g
			for _, c := range s.cells[s.begin(block):s.ends[block]] {
				if was, ok := rows[c.row]; ok && was != g {
					t.Fatalf("row %d is in two blocks", c.row)
				}
				if was, ok := cols[c.col]; ok && was != g {
					t.Fatalf("column %d is in two blocks", c.col)
				}
				rows[c.row], cols[c.col] = g, g
				seen[[2]uint32{c.row, c.col}] = true
			}
		}
	}
	if len(seen) != int(m.Entries()) || len(s.cells) != int(m.Entries()) {
		t.Errorf("%d cells, %d of them different, want %d", len(s.cells), len(seen), m.Entries())
	}
	load := make([]uint64, 4)
	counts := []uint64{9, 1, 1, 5, 4, 4, 8}
	for i, g := range balanced(counts, 4) {
		load[g] += counts[i]
	}
	slices.Sort(load)
	if !slices.Equal(load, []uint64{7, 8, 8, 9}) {
		t.Errorf("groups have %v cells, want 7, 8, 8 and 9", load)
	}
}

// GloVe is the same, to the bit, on one thread, on several, and on a GPU.
func TestGloVeOnAllEngines(t *testing.T) {
	gputest.Named(t)
	defer func(cells int) { blockCells = cells }(blockCells)
	blockCells = 16 // so that a small matrix has many blocks
	for _, dim := range []int{5, 50, 130, 300, 600} {
		m := vectorstest.Draw(40, 20_000/(dim+30), 2)
		o := GloVeOptions{Dim: dim, Epochs: 2, XMax: 10, Seed: 7, Engine: engine.Sequential}
		if dim == 130 {
			o.Rate = 1e-19 // for values with which the kernel's Root and quotient are not exact
		}
		var want []float64
		o.Progress = func(_ int, loss float64) { want = append(want, loss) }
		one, err := TrainGloVe(t.Context(), m, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []engine.Kind{engine.Multicore, engine.GPU} {
			var losses []float64
			var began engine.Kind
			o.Engine, o.Threads = kind, 3
			o.Progress = func(_ int, loss float64) { losses = append(losses, loss) }
			o.Began = func(k engine.Kind) { began = k }
			got, err := TrainGloVe(t.Context(), m, o)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Data, one.Data) || !slices.Equal(losses, want) || began != kind {
				t.Errorf("%d dimensions, %v, trained on %v: other vectors, or losses %v, want %v", dim,
					kind, began, losses, want)
			}
		}
	}
	m := vectorstest.Draw(40, 100, 2)
	o := GloVeOptions{Dim: 1017, Engine: engine.GPU}
	if _, err := TrainGloVe(t.Context(), m, o); err == nil {
		t.Error("1017 dimensions on a GPU: no error, though no kernel has room for them")
	}
	o.Engine, o.Epochs = engine.Auto, 1
	if _, err := TrainGloVe(t.Context(), m, o); err != nil {
		t.Error(err)
	}
}

// If auto tries a GPU in vain, the cores repeat the job from its beginning, and the log says why.
// A training that does not converge is not repeated.
func TestAutoRepeatsOnCores(t *testing.T) {
	var log bytes.Buffer
	c := (&training{schedule: new(schedule), o: &GloVeOptions{Engine: engine.Auto,
		Log: slog.New(slog.NewTextHandler(&log, nil))}}).choice()
	c.Pays = func() bool { return true }
	for _, e := range []struct {
		err     error
		repeats bool
	}{{nil, false}, {errors.New("the device is lost"), true}, {fmt.Errorf("%w: infinite", errDiverges), false}} {
		log.Reset()
		repeated := false
		err := c.Run(t.Context(), func() error { return e.err }, func() error { repeated = true; return nil })
		if repeated != e.repeats || (err == nil) != (e.err == nil || e.repeats) {
			t.Errorf("the GPU returns %v: the job %v, on cores %v, want %v", e.err, err, repeated, e.repeats)
		}
		if logged := strings.Contains(log.String(), "the device is lost"); logged != e.repeats {
			t.Errorf("the GPU returns %v: the log is %q", e.err, log.String())
		}
	}

	m := vectorstest.Draw(40, 400, 2)
	o := GloVeOptions{Dim: 5, Epochs: 2, XMax: 10, Seed: 7, Engine: engine.Multicore}
	want, err := TrainGloVe(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.settle(m); err != nil {
		t.Fatal(err)
	}
	s, err := newSchedule(t.Context(), m, &o)
	if err != nil {
		t.Fatal(err)
	}
	half := &training{schedule: s, o: &o, rows: m.Len()}
	half.draw()
	half.words.all[0] = 99 // as if a GPU had returned some vectors and then failed
	if err := half.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := half.sums(wordsOf(m))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Data, want.Data) {
		t.Error("a repeated training begins with what the GPU left")
	}
}

// The decomposition is the same, to the bit, on one thread, on several, and on a GPU.
func TestSVDOnAllEngines(t *testing.T) {
	gputest.Named(t)
	for _, words := range []int{30, 70} {
		if testing.Short() && words > 30 {
			break
		}
		m := vectorstest.Draw(words, 20*words, 3)
		for dim, power := range map[int]int{3: 0, words - 5: 1} { // 0 iterates until it is accurate
			o := SVDOptions{Dim: dim, Power: power, Seed: 7, Engine: engine.Sequential}
			want, err := TrainSVD(t.Context(), m, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range []engine.Kind{engine.Multicore, engine.GPU} {
				o.Engine, o.Threads = kind, 3
				got, err := TrainSVD(t.Context(), m, o)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Data, want.Data) {
					t.Errorf("%d words, %d dimensions: vectors of %v are not those of one thread", words, dim, kind)
				}
			}
		}
	}
}

// Similar words and analogies are the same on cores and on a GPU.
func TestSimilarOnAllEngines(t *testing.T) {
	gputest.Named(t)
	rng := rand.New(rand.NewPCG(9, 9))
	for _, dim := range []int{50, 129} {
		const n = 70
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprint("w", i)
		}
		data := randomFloats(rng, n*dim)
		copy(data[5*dim:6*dim], data[9*dim:10*dim]) // two equal vectors
		clear(data[7*dim : 8*dim])                  // and one of zeros
		v, err := New(list, dim, data)
		if err != nil {
			t.Fatal(err)
		}
		on, err := v.NewSearcher(engine.GPU, engine.Device{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		cores := &Searcher{v: v, threads: 2}
		for _, k := range []int{3, n} {
			asked := list[5:15]
			if k == n {
				asked = list[7:9]
			}
			got, err1 := on.Similar(t.Context(), asked, k)
			want, err2 := cores.Similar(t.Context(), asked, k)
			if err1 != nil || err2 != nil || !slices.EqualFunc(got, want, slices.Equal[[]Near]) {
				t.Errorf("%d dimensions, %d words: lists differ, %v, %v", dim, k, err1, err2)
			}
		}
		questions := []Question{{"w1", "w2", "w3", ""}, {"w5", "w9", "w7", ""}}
		got, err1 := on.Analogy(t.Context(), questions, 4)
		want, err2 := cores.Analogy(t.Context(), questions, 4)
		if err1 != nil || err2 != nil || !slices.EqualFunc(got, want, slices.Equal[[]Near]) {
			t.Errorf("%d dimensions: analogies differ, %v, %v", dim, err1, err2)
		}
		if _, err := on.Similar(t.Context(), []string{"nothing"}, 1); err == nil {
			t.Error("an unknown word: no error")
		}
		if err := on.Close(); err != nil {
			t.Error(err)
		}
	}
}

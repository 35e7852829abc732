package points

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/gputest"
)

// testGPU returns a device for the test: the interpreter or a real one.
func testGPU(t testing.TB, memory int64) *GPU {
	t.Helper()
	dev, _ := gputest.Device(t)
	s, err := gpu.NewSession(dev, gpuLanes)
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGPU(s, memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// crowd draws points in clusters. Some share a position, and one is far from all others.
func crowd(seed uint64, n, features int) *Set {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := &Set{}
	for f := range features {
		p.Features = append(p.Features, fmt.Sprintf("f%03d", f))
	}
	for i := range n {
		x, y := rng.Float64()*100, rng.Float64()*100
		switch {
		case i > 0 && rng.IntN(3) == 0:
			k := rng.IntN(i)
			x, y = p.X[k]+rng.NormFloat64(), p.Y[k]+rng.NormFloat64()
		case i > 0 && rng.IntN(5) == 0:
			k := rng.IntN(i)
			x, y = p.X[k], p.Y[k]
		}
		p.X, p.Y, p.Feature = append(p.X, x), append(p.Y, y), append(p.Feature, int32(rng.IntN(features)))
	}
	p.X[n-1], p.Y[n-1] = 150, -40
	if n == 1 {
		return p
	}
	// A rectangle, as the device corrects the edges of no other study area.
	p.Window = &Window{rings: rectangle(slices.Min(p.X), slices.Min(p.Y), slices.Max(p.X)-slices.Min(p.X),
		slices.Max(p.Y)-slices.Min(p.Y)).rings}
	return p
}

func TestCurvesOnTheGPU(t *testing.T) {
	g := testGPU(t, 0)
	for i, c := range []struct {
		n, features, bins, rounds int
		most                      float64
		null                      Null
	}{
		{300, 3, 10, 5, 8, Shift},
		{65, 2, 50, 3, 40, Relabel}, // nearly all points are neighbours
		{200, 5, 7, 3, 10, Cluster},
		{200, 2, 3, 3, 10, Inhomogeneous},
		{150, 40, 20, 2, 12, Shift},  // nearest points do not fit in the interpreter's shared memory
		{120, 100, 30, 2, 12, Shift}, // no sums fit
		{2, 2, 1, 2, 20, Shift},
	} {
		if testing.Short() && c.n > 100 {
			continue
		}
		p := crowd(uint64(i), c.n, c.features)
		o := CurveOptions{Most: c.most, Bins: c.bins, Rounds: c.rounds, Null: c.null, Seed: uint64(i),
			Engine: Engine{Kind: engine.Sequential}}
		want, err := Curves(t.Context(), p, o)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		o.Engine = Engine{Kind: engine.GPU, GPU: g, Threads: 2}
		got, err := Curves(t.Context(), p, o)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if !same(got, want) {
			t.Errorf("%+v: on the GPU\n%v\non the CPU\n%v", c, got[0], want[0])
		}
	}
}

// same compares to the bit, with NaN equal to itself.
func same(a, b any) bool { return fmt.Sprintf("%b", a) == fmt.Sprintf("%b", b) }

func TestCoOccurrenceOnTheGPU(t *testing.T) {
	g := testGPU(t, 0)
	for i, c := range []struct {
		n, features, steps int
		most               float64
	}{{400, 4, 10, 9}, {33, 2, 5, 500}, {200, 90, 12, 20}, {1, 1, 1, 1}} {
		p := crowd(uint64(i), c.n, c.features)
		o := CoOccurrenceOptions{Most: c.most, Steps: c.steps, Rings: i == 0,
			Engine: Engine{Kind: engine.Sequential}}
		want, err := CoOccurrences(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Engine = Engine{Kind: engine.GPU, GPU: g}
		got, err := CoOccurrences(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		if !same(*got, *want) {
			t.Errorf("%+v: on the GPU\n%v\non the CPU\n%v", c, *got, *want)
		}
	}
}

func TestEnrichmentOnTheGPU(t *testing.T) {
	g := testGPU(t, 0)
	for i, o := range []EnrichmentOptions{{Distance: 6, Rounds: 7}, {KNN: 5, Rounds: 9}, {KNN: 3, Rounds: 3}} {
		p := crowd(uint64(i), 150, []int{4, 3, 120}[i]) // pairs of 120 features do not fit in shared memory
		o.Engine = Engine{Kind: engine.Sequential}
		want, err := Enrich(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Engine = Engine{Kind: engine.GPU, GPU: g, Threads: 2}
		got, err := Enrich(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		if !same(*got, *want) {
			t.Errorf("%+v: on the GPU\n%v\non the CPU\n%v", o, *got, *want)
		}
	}
}

// Sums stay as they are when the memory that they were copied through is used again: by the next
// call, and by the next batch of rounds.
func TestGPUSumsAreTheCallersOwn(t *testing.T) {
	g := testGPU(t, 0)
	sum := func(seed uint64) *pairSums {
		l, err := newPlane(crowd(seed, 40, 2))
		if err != nil {
			t.Fatal(err)
		}
		sums, err := g.sumPairs(t.Context(), l, 4, 8, true)
		if err != nil {
			t.Fatal(err)
		}
		return sums
	}
	first := sum(1)
	before := fmt.Sprint(*first)
	if sum(2); fmt.Sprint(*first) != before {
		t.Errorf("the sums are %s before another call, and %v after it", before, *first)
	}
	p, o := crowd(3, 20, 2), EnrichmentOptions{KNN: 2, Rounds: 200, Engine: Engine{Kind: engine.Sequential}}
	want, err := Enrich(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Engine = Engine{Kind: engine.GPU, GPU: g}
	if got, err := Enrich(t.Context(), p, o); err != nil || !same(*got, *want) {
		t.Errorf("%d rounds on the GPU\n%v, %v\non the CPU\n%v", o.Rounds, *got, err, *want)
	}
}

// With little memory, rounds take several batches. With too little, the job returns an error.
func TestGPUInLittleMemory(t *testing.T) {
	p := crowd(9, 2000, 3)
	o := CurveOptions{Most: 1, Bins: 4, Rounds: 7, Engine: Engine{Kind: engine.Sequential}}
	want, err := Curves(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Engine = Engine{Kind: engine.GPU, GPU: testGPU(t, 3<<20)}
	got, err := Curves(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	if !same(got, want) {
		t.Error("curves computed in 3 MB of device memory differ from those of the CPU")
	}
	o.Engine.GPU = testGPU(t, 1<<20)
	if _, err := Curves(t.Context(), p, o); err == nil || !strings.Contains(err.Error(), "engine.Device.Memory") {
		t.Errorf("in 1 MB: got %v, want an error with engine.Device.Memory", err)
	}
}

// A sum that exceeds 32 bits is carried. About 300 pairs in one ring suffice.
func TestWeightsAreCarried(t *testing.T) {
	p := &Set{Features: []string{"a", "b"}}
	for i := range 60 {
		p.X, p.Y, p.Feature = append(p.X, float64(i%2)), append(p.Y, 0), append(p.Feature, int32(i%2))
	}
	p.X, p.Y, p.Feature = append(p.X, 10), append(p.Y, 10), append(p.Feature, 0)
	l, err := newPlane(p)
	if err != nil {
		t.Fatal(err)
	}
	want, err := l.sumPairs(t.Context(), 1, 2, 5, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want.weighted[0] < 1<<32 {
		t.Fatalf("sums %d: want the first to exceed 32 bits, or nothing is tested", want.weighted)
	}
	got, err := testGPU(t, 0).sumPairs(t.Context(), l, 2, 5, true)
	if err != nil {
		t.Fatal(err)
	}
	if !same(*got, *want) {
		t.Errorf("on the GPU %v, on the CPU %v", *got, *want)
	}
}

// BenchmarkShifts shows how long each stage of a null model takes on a real device.
func BenchmarkShifts(b *testing.B) {
	if os.Getenv("COLLOCATE_TEST_GPU") == "" {
		b.Skip("COLLOCATE_TEST_GPU names no device")
	}
	g := testGPU(b, 0)
	rng := rand.New(rand.NewPCG(1, 1))
	p := &Set{}
	for f := range 20 {
		p.Features = append(p.Features, fmt.Sprintf("f%03d", f))
	}
	for range 200_000 {
		p.X, p.Y = append(p.X, 1000*rng.Float64()), append(p.Y, 1000*rng.Float64())
		p.Feature = append(p.Feature, int32(rng.IntN(20)))
	}
	for i := range 3 {
		var mu sync.Mutex
		stages := map[string]time.Duration{}
		if i == 2 {
			g.trace = func(stage string, took time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				stages[stage] += took
			}
		}
		start := time.Now()
		_, err := Curves(b.Context(), p, CurveOptions{Most: 6, Bins: 50, Rounds: 999,
			Engine: Engine{Kind: engine.GPU, GPU: g}})
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("%v %v", time.Since(start), stages)
	}
}

package coloc

import (
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/points"

	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
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
	s, err := gpu.NewSession(dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := newGPU(s, memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// sameAsCPU mines on the device and on the CPU, and compares the results.
func sameAsCPU(t *testing.T, pts *Points, opt Options) *Result {
	t.Helper()
	cpu := opt
	cpu.Engine, cpu.GPU, cpu.Algorithm = engine.Sequential, nil, Auto
	want := mustMine(t, pts, cpu)
	opt.Engine = engine.GPU
	got := mustMine(t, pts, opt)
	if g, w := show(pts, got.Patterns), show(pts, want.Patterns); g != w {
		t.Fatalf("on the GPU\n%s\non the CPU\n%s", g, w)
	}
	if opt.Algorithm != SGCT && (got.Places != want.Places || got.Pairs != want.Pairs) {
		t.Fatalf("%d places and %d pairs on the GPU, %d and %d on the CPU", got.Places, got.Pairs,
			want.Places, want.Pairs)
	}
	return got
}

// crowdedPoints draws points, several of which may be at one position.
func crowdedPoints(rng *rand.Rand, n, features int, side float64) *Points {
	p := &Points{}
	for f := range features {
		p.Features = append(p.Features, fmt.Sprintf("f%02d", f))
	}
	for i := range n {
		x, y := rng.Float64()*side, rng.Float64()*side
		if i > 0 && rng.IntN(4) == 0 {
			k := rng.IntN(i)
			x, y = p.X[k], p.Y[k]
		}
		p.X, p.Y = append(p.X, x), append(p.Y, y)
		p.Feature = append(p.Feature, int32(rng.IntN(features)))
	}
	return p
}

func TestGPUFindsWhatTheCPUFinds(t *testing.T) {
	d := testGPU(t, 0)
	rng := rand.New(rand.NewPCG(12, 1))
	for i := range 8 {
		n, features := 20+rng.IntN(150), 2+rng.IntN(9)
		pts := crowdedPoints(rng, n, features, 10)
		opt := Options{Distance: 0.5 + 2*rng.Float64(), MinPrevalence: 0.1 + 0.4*rng.Float64(),
			GPU: d, All: i%3 == 0}
		sameAsCPU(t, pts, opt)
	}
}

// The cases are those of all engines: ties, crowds, the antimeridian, nearest neighbours.
func TestGPUGivesWhatTheDefinitionSays(t *testing.T) {
	cases := 60
	if testing.Short() {
		cases = 20
	}
	d := testGPU(t, 0)
	r := rand.New(rand.NewPCG(7, 8))
	for c := range cases {
		pts, opt := randomCase(r)
		opt.Within = 0 // not supported on a GPU
		want := showOracle(pts, opt)
		opt.Engine, opt.GPU = engine.GPU, d
		opt.evaluation = &evaluation{steps: profileSteps, byFeature: c%5 == 0,
			room: &latticeRoom{stack: 4096, round: 1 + c%3, found: 4096}}
		res, err := Mine(t.Context(), pts, opt)
		if err != nil {
			t.Fatalf("case %d: %v\n%s", c, err, describe(pts, opt))
		}
		if got := show(pts, res.Patterns); got != want {
			t.Fatalf("case %d:\n%s\ngot\n%s\nwant\n%s", c, describe(pts, opt), got, want)
		}
	}
}

// The fixtures have equality at the distance and at the threshold, duplicates, stars that are not
// cliques, and splitting.
func TestGPUOnPublishedExamples(t *testing.T) {
	d := testGPU(t, 0)
	raw, err := os.ReadFile("testdata/fixtures/fixtures.json")
	if err != nil {
		t.Fatal(err)
	}
	var fixtures map[string]struct{ D float64 }
	if err := json.Unmarshal(raw, &fixtures); err != nil {
		t.Fatal(err)
	}
	for name, fix := range fixtures {
		in, err := points.ReadFile("testdata/fixtures/"+name+".csv", points.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, algorithm := range []Algorithm{Auto, SGCT} {
			sameAsCPU(t, in.Set, Options{Distance: fix.D, MinPrevalence: 1e-9, All: true, GPU: d,
				Algorithm: algorithm})
		}
	}
}

// The ends of a quad are the last positions of its classes, which are aligned to their size.
func TestQuadKinds(t *testing.T) {
	for c, want := range map[int]quadKind{
		0: {ends: 0xffffffff}, 1: {ends: 0xaaaaaaaa}, 3: {ends: 0x80808080}, 5: {ends: 0x80000000},
		7: {form: 1}, 8: {form: 2, ends: 0xaaaaaaaa}, 10: {form: 2, ends: 0x80808080},
	} {
		want.digit = 4
		if got := newQuadKind(c, 4); got != want {
			t.Errorf("classes of 2^%d: %+v, want %+v", c, got, want)
		}
	}
	counts := make([]uint32, 2*classSizes*classDigits)
	counts[0] = 100                          // 100 classes of one set: four words
	counts[2*classDigits+1] = 9              // nine classes of four sets and weight 2: two words
	counts[(classSizes+8)*classDigits] = 3   // three classes of 256 sets of the second feature
	counts[(classSizes+0)*classDigits+3] = 1 // and one class of weight 8
	l := layOut(counts, 2)
	if l.start[2*classDigits+1] != 4 || l.first[1] != 128 || l.words[0] != 128 {
		t.Errorf("first group at %d of %d words, second bucket at %d, second group at %d, want 0, 128, 4, 128",
			l.first[0], l.words[0], l.start[2*classDigits+1], l.first[1])
	}
	if at := l.start[(classSizes+8)*classDigits]; at != 256 || l.total != 384 ||
		l.kind[at/4].form != 2 || l.kind[128/4].digit != 3 {
		t.Errorf("large classes at %d of %d words, want 256 of 384; kinds %+v", at, l.total, l.kind)
	}
	if len(l.kind) != l.total/4 {
		t.Errorf("%d kinds, want one for each of %d quads", len(l.kind), l.total/4)
	}
}

// Places with many candidates need the kernels with more memory. Classes with more than 32 sets
// take several words, and those with more than 128 sets several lanes.
func TestGPUInCrowds(t *testing.T) {
	trials.Long(t, "thousands of points in the interpreter")
	d := testGPU(t, 0)
	rng := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct {
		points, features int
		distance         float64
	}{
		{150, 6, 8},  // nearly all points are neighbours
		{90, 14, 4},  // dozens of sets per place
		{110, 24, 5}, // hundreds of sets per place
		{700, 3, 11}, // more than 256 candidates per place
	} {
		pts := crowdedPoints(rng, c.points, c.features, 10)
		stages := map[string]bool{}
		sameAsCPU(t, pts, Options{Distance: c.distance, MinPrevalence: 0.9, GPU: d,
			Trace: func(s string, _ time.Duration) { stages[s] = true }})
		if !stages["lattice"] {
			t.Errorf("%+v: the CPU searched the patterns, not the GPU", c)
		}
	}
}

// The host merges thousands of points in one cell into places.
func TestGPUWithThousandsAtOneSpot(t *testing.T) {
	trials.Long(t, "thousands of points in the interpreter")
	d := testGPU(t, 0)
	rng := rand.New(rand.NewPCG(5, 10))
	pts := crowdedPoints(rng, 20, 4, 10)
	for range 4200 {
		i := rng.IntN(20)
		pts.X, pts.Y, pts.Feature = append(pts.X, pts.X[i]), append(pts.Y, pts.Y[i]),
			append(pts.Feature, int32(rng.IntN(4)))
	}
	copied := false
	sameAsCPU(t, pts, Options{Distance: 20, MinPrevalence: 0.3, GPU: d,
		Trace: func(s string, _ time.Duration) { copied = copied || s == "copy places" }})
	if !copied {
		t.Error("the host did not join the points")
	}
}

// The host computes the profiles of places that exceed a warp.
func TestGPUWithHelpOfTheHost(t *testing.T) {
	trials.Long(t, "thousands of points in the interpreter")
	d := testGPU(t, 0)
	rng := rand.New(rand.NewPCG(5, 9))
	for _, geographic := range []bool{false, true} {
		pts := crowdedPoints(rng, 300, 7, 10)
		opt := Options{Distance: 1.5, MinPrevalence: 0.3, GPU: d, Geographic: geographic,
			evaluation: &evaluation{steps: 4}}
		if geographic {
			opt.Distance *= 111_000
		}
		helped := false
		opt.Trace = func(s string, _ time.Duration) { helped = helped || s == "host profiles" }
		sameAsCPU(t, pts, opt)
		if !helped {
			t.Errorf("geographic %v: the host computed no profiles", geographic)
		}
	}
}

// With little device memory, lists are made in chunks and the stack is short, but the result is the
// same. With too little, the job returns an error.
func TestGPUInLittleMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	pts := crowdedPoints(rng, 1500/trials.Every(5), 8, 10)
	lists := 0
	opt := Options{Distance: 0.9, MinPrevalence: 0.3, GPU: testGPU(t, 8<<20),
		evaluation: &evaluation{steps: profileSteps, entries: int64(10_000 / trials.Every(10))},
		Trace: func(s string, _ time.Duration) {
			if s == "lists" {
				lists++
			}
		}}
	sameAsCPU(t, pts, opt)
	if lists < 2 {
		t.Errorf("the lists were made in %d chunks, want several", lists)
	}
	opt.GPU, opt.Engine = testGPU(t, 1<<20), engine.GPU
	if _, err := Mine(t.Context(), pts, opt); err == nil || !strings.Contains(err.Error(), "engine.Device.Memory") {
		t.Errorf("1 MB of device memory: got %v, want an error with engine.Device.Memory", err)
	}
}

// With more features than a mask has bits, the host joins the points, and patterns are searched
// feature by feature.
func TestGPUWithManyFeatures(t *testing.T) {
	d := testGPU(t, 0)
	rng := rand.New(rand.NewPCG(5, 7))
	pts := crowdedPoints(rng, 400, 70, 10)
	res := sameAsCPU(t, pts, Options{Distance: 2.2, MinPrevalence: 0.7, GPU: d})
	if n := len(res.Patterns[len(res.Patterns)-1].Features); n < 3 {
		t.Errorf("the longest pattern has %d features, want at least 3", n)
	}
}

// The thesis' algorithm gives the same result, also if trees are made in parts.
func TestSGCTOnTheGPU(t *testing.T) {
	d := testGPU(t, 0)
	r := rand.New(rand.NewPCG(7, 9))
	for c := range max(3, trials.Of(24)) { // at least one case for each number of entries
		pts, opt := randomCase(r)
		opt.Within = 0 // not supported on a GPU
		want := showOracle(pts, opt)
		opt.Engine, opt.GPU = engine.GPU, d
		opt.evaluation = &evaluation{entries: []int64{0, 60, 300}[c%3]}
		for _, opt.Algorithm = range []Algorithm{SGCT, SGCTRows} {
			res, err := Mine(t.Context(), pts, opt)
			if err != nil {
				if opt.evaluation.entries > 0 && strings.Contains(err.Error(), "engine.Device.Memory") {
					continue
				}
				t.Fatalf("case %d, %v: %v\n%s", c, opt.Algorithm, err, describe(pts, opt))
			}
			if got := show(pts, res.Patterns); got != want {
				t.Fatalf("case %d, %v:\n%s\ngot\n%s\nwant\n%s", c, opt.Algorithm, describe(pts, opt), got, want)
			}
		}
	}
	rng := rand.New(rand.NewPCG(5, 8))
	crowd := crowdedPoints(rng, 300, 6, 10)
	sameAsCPU(t, crowd, Options{Distance: 1.2, MinPrevalence: 0.2, GPU: d, Algorithm: SGCT})
	want, err := Mine(t.Context(), crowd, Options{Distance: 1.2, MinPrevalence: 0.2, Engine: engine.Sequential})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Mine(t.Context(), crowd, Options{Distance: 1.2, MinPrevalence: 0.2, Engine: engine.GPU, GPU: d, Algorithm: SGCTRows})
	if err != nil || show(crowd, got.Patterns) != show(crowd, want.Patterns) {
		t.Errorf("crowded points with instances written out: %v, %v", got, err)
	}
	if _, err := Mine(t.Context(), crowd, Options{Distance: 1.2, MinPrevalence: 0.2, Algorithm: SGCTRows}); err == nil {
		t.Error("sgct-rows on cores: want an error")
	}
}

func TestJoinTimeCountsThePairs(t *testing.T) {
	trials.Long(t, "crowds")
	d := testGPU(t, 0)
	pts := crowdedPoints(rand.New(rand.NewPCG(3, 3)), 2000, 5, 100)
	took, pairs, err := d.JoinTime(t.Context(), pts, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := sameAsCPU(t, pts, Options{Distance: 4, MinPrevalence: 0.5,
		GPU: d}).Pairs; pairs != want || took <= 0 {
		t.Errorf("%d pairs in %v, want %d", pairs, took, want)
	}
}

// Opening a device takes longer than most jobs do.
func TestAutoTakesTheGPUWhereItWins(t *testing.T) {
	for _, c := range []struct {
		points, features int
		distance, p      float64
		pays             bool
	}{
		{3_000, 20, 6, 0.1, false},
		{200_000, 20, 3, 0.2, false},
		{200_000, 20, 3, 0.5, false},
		{200_000, 20, 12, 0.1, true},
		{200_000, 20, 12, 1, false}, // nothing is prevalent
		{5_000_000, 50, 0.8, 0.1, false},
		{50_000_000, 50, 0.25, 0.1, true},
	} {
		took := coresTime(c.points, c.features, 1000, 1000, Options{Distance: c.distance, MinPrevalence: c.p}, 16)
		if (took > 2*gpu.Opening) != c.pays {
			t.Errorf("%+v: CPU cores are estimated to take %v", c, took)
		}
	}
	if os.Getenv("COLLOCATE_TEST_GPU") != "" {
		return // the device is real and open, so auto may choose it
	}
	pts := crowdedPoints(rand.New(rand.NewPCG(1, 1)), 4000, 5, 1000)
	s, err := NewSurvey(pts, Options{Distance: 1, MinPrevalence: 0.5, GPU: testGPU(t, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if s.job.engine == engine.GPU {
		t.Error("auto chose the interpreter")
	}
}

package gpubench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/vectors"
	"github.com/collocate/collocate/vectors/vectorstest"
)

// vectorsJob compares and measures word vectors.
var vectorsJob = Job{
	Name: "vectors",
	Suites: []check.Suite{
		{Name: "vectors: glove", Run: tryGloVe},
		{Name: "vectors: svd", Run: trySVD},
		{Name: "vectors: similar words", Run: trySimilar},
	},
	Measure: measureVectors,
}

// eachMatrix draws matrices of the sizes of a trial.
func eachMatrix(t *check.Trial, most int, try func(m *vectorstest.Matrix) error) error {
	for _, n := range t.Sizes {
		cells := min(n, most)
		if cells < 31 {
			continue
		}
		m := vectorstest.Draw(max(20, cells/20), cells, uint64(n))
		if err := try(m); err != nil {
			return fmt.Errorf("%d words, %d cells: %w", m.Len(), m.Entries(), err)
		}
	}
	return nil
}

// tryGloVe compares the vectors and losses of training with those of one core, to the bit.
func tryGloVe(t *check.Trial) error {
	return eachMatrix(t, 1_000_000, func(m *vectorstest.Matrix) error {
		for _, dim := range []int{50, 300, 600} {
			train := func(kind engine.Kind) (*vectors.Vectors, []float64, error) {
				var losses []float64
				v, err := vectors.TrainGloVe(t.Ctx, m, vectors.GloVeOptions{Dim: dim, Epochs: 2, XMax: 10,
					Seed: 1, Engine: kind, Device: t.Dev.Which(0),
					Progress: func(_ int, loss float64) { losses = append(losses, loss) }})
				return v, losses, err
			}
			want, losses, err := train(engine.Sequential)
			if err != nil {
				return err
			}
			got, gotLosses, err := train(engine.GPU)
			if err != nil {
				return err
			}
			if err := errors.Join(check.Same(t, "vectors", got.Data, want.Data),
				check.Same(t, "losses", gotLosses, losses)); err != nil {
				return err
			}
		}
		return nil
	})
}

// trySVD compares the vectors of the decomposition with those of one core, to the bit.
func trySVD(t *check.Trial) error {
	return eachMatrix(t, 300_000, func(m *vectorstest.Matrix) error {
		for _, dim := range []int{10, min(100, m.Len())} {
			o := vectors.SVDOptions{Dim: dim, Seed: 1, Engine: engine.Sequential, Device: t.Dev.Which(0)}
			want, err := vectors.TrainSVD(t.Ctx, m, o)
			if err != nil {
				return err
			}
			o.Engine = engine.GPU
			got, err := vectors.TrainSVD(t.Ctx, m, o)
			if err != nil {
				return err
			}
			if err := check.Same(t, "vectors", got.Data, want.Data); err != nil {
				return err
			}
		}
		return nil
	})
}

// trySimilar compares lists of similar words.
func trySimilar(t *check.Trial) error {
	for _, n := range t.Sizes {
		n = min(n, 50_000)
		for _, dim := range []int{50, 100, 300} {
			if n < 2 {
				continue
			}
			v, err := drawVectors(n, dim, t.Rng)
			if err != nil {
				return err
			}
			var asked []string
			for range 4 {
				asked = append(asked, v.Words[t.Rng.IntN(n)])
			}
			want, _, err := similar(t.Ctx, v, asked, engine.Sequential, t.Dev.Which(0))
			if err != nil {
				return err
			}
			got, _, err := similar(t.Ctx, v, asked, engine.GPU, t.Dev.Which(0))
			if err != nil {
				return err
			}
			for i := range got {
				if err := sameNear(t, got[i], want[i]); err != nil {
					return fmt.Errorf("%d words of %d dimensions: %w", n, dim, err)
				}
			}
		}
	}
	return nil
}

func sameNear(t *check.Trial, got, want []vectors.Near) error {
	if !slices.Equal(got, want) {
		return fmt.Errorf("%v, want %v", got, want)
	}
	cosines := func(list []vectors.Near) (out []float64) {
		for _, n := range list {
			out = append(out, n.Cosine)
		}
		return out
	}
	return check.Same(t, "cosines", cosines(got), cosines(want))
}

// similar finds similar words twice, and returns the time of the second run.
func similar(ctx context.Context, v *vectors.Vectors, asked []string, kind engine.Kind,
	d engine.Device) (near [][]vectors.Near, _ time.Duration, err error) {
	s, err := v.NewSearcher(kind, d, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, err := s.Similar(ctx, asked[:1], 10); err != nil {
		return nil, 0, err
	}
	start := time.Now()
	near, err = s.Similar(ctx, asked, 10)
	return near, time.Since(start), err
}

func drawVectors(n, dim int, rng *rand.Rand) (*vectors.Vectors, error) {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint("w", i)
	}
	data := make([]float32, n*dim)
	for i := range data {
		data[i] = float32(rng.Float64() - 0.5)
	}
	return vectors.New(list, dim, data)
}

// vectorSizes are the sizes for the figures.
type vectorSizes struct {
	words, cells, dim, epochs, asked int
}

// measureVectors measures training, decomposition and similar words at 300 dimensions and 400,000
// words.
func measureVectors(ctx context.Context, dev *gpu.Device, quick bool) ([]check.Bench, error) {
	z := vectorSizes{400_000, 100_000_000, 300, 4, 64}
	if quick {
		z = vectorSizes{100, 2000, 20, 2, 3}
	}
	return z.measure(ctx, dev)
}

func (z vectorSizes) measure(ctx context.Context, dev *gpu.Device) (out []check.Bench, err error) {
	m := vectorstest.Draw(z.words, z.cells, 1)
	cells := int(m.Entries())
	of := fmt.Sprintf("%d words, %.3g cells, %d dimensions", z.words, float64(cells), z.dim)
	onGPU, err := z.epoch(ctx, m, engine.GPU, dev)
	if err != nil {
		return out, err
	}
	onCores, err := z.epoch(ctx, m, engine.Multicore, dev)
	if err != nil {
		return out, err
	}
	// For each cell two vectors and their sums of squares are read and written: 9.6 KB for 300
	// dimensions.
	bytes := int64(cells) * int64(z.dim) * 32
	speed := float64(bytes) / onGPU / 1e9
	met := speed >= 0.4*4800
	out = append(out, check.Bench{Name: "vectors: an epoch of glove, " + of, Items: cells, Seconds: onGPU,
		Bytes: bytes, GBs: float64(int(speed)), GItems: float64(cells) / onGPU / 1e9,
		Wanted: "40% of 4.8 TB/s", Met: &met})
	threads := runtime.GOMAXPROCS(0)
	out = append(out, atLeast(fmt.Sprintf("vectors: glove against %d cores", threads), onGPU, onCores, 30))

	start := time.Now()
	var began time.Time
	if _, err := vectors.TrainSVD(ctx, m, vectors.SVDOptions{Dim: z.dim, Seed: 1, Memory: 64e9,
		Engine: engine.GPU, Device: dev.Which(0),
		Began: func(engine.Kind) { began = time.Now() }}); err != nil {
		return out, err
	}
	out = append(out, check.Bench{Name: "vectors: the decomposition of svd, without PPMI before it, " + of,
		Items: cells, Seconds: time.Since(began).Seconds()},
		wanted("vectors: svd, "+of, cells, time.Since(start).Seconds(), 0, 30, "seconds"))

	v, err := drawVectors(z.words, z.dim, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		return out, err
	}
	cores, onCoresTime, err := similar(ctx, v, v.Words[:z.asked], engine.Multicore, dev.Which(0))
	if err != nil {
		return out, err
	}
	near, onGPUTime, err := similar(ctx, v, v.Words[:z.asked], engine.GPU, dev.Which(0))
	if err != nil {
		return out, err
	}
	if !slices.EqualFunc(near, cores, slices.Equal[[]vectors.Near]) {
		return out, errors.New("the lists of similar words differ")
	}
	name := fmt.Sprintf("vectors: similar words, %d asked of %d", z.asked, z.words)
	return append(out, check.Bench{Name: name, Items: z.asked, Seconds: onGPUTime.Seconds()},
		atLeast(fmt.Sprintf("%s, against %d cores", name, threads), onGPUTime.Seconds(),
			onCoresTime.Seconds(), 1)), nil
}

// epoch returns the time of the fastest epoch, without the first.
func (z vectorSizes) epoch(ctx context.Context, m vectors.Matrix, kind engine.Kind,
	dev *gpu.Device) (seconds float64, err error) {
	var last time.Time
	best := time.Hour
	epochs := z.epochs
	if kind != engine.GPU {
		epochs = 2 // the cores are slow
	}
	_, err = vectors.TrainGloVe(ctx, m, vectors.GloVeOptions{Dim: z.dim, Epochs: epochs, Seed: 1,
		Memory: 64e9, Engine: kind, Device: dev.Which(0), Progress: func(epoch int, _ float64) {
			if epoch > 1 {
				best = min(best, time.Since(last))
			}
			last = time.Now()
		}})
	return best.Seconds(), err
}

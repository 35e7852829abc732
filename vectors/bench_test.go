package vectors

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/vectors/vectorstest"
)

// gloveRate returns the speed of the fastest epoch after the first, in million cells a second, and
// the seconds before the first epoch.
func gloveRate(b *testing.B, m Matrix, o GloVeOptions) (rate, before float64) {
	var last time.Time
	best := time.Hour
	o.Memory = 64e9
	start := time.Now()
	o.Began = func(engine.Kind) { before = time.Since(start).Seconds() }
	o.Progress = func(epoch int, _ float64) {
		if epoch > 1 {
			best = min(best, time.Since(last))
		}
		last = time.Now()
	}
	if _, err := TrainGloVe(b.Context(), m, o); err != nil {
		b.Fatal(err)
	}
	return float64(m.Entries()) / 1e6 / best.Seconds(), before
}

func BenchmarkGloVe(b *testing.B) {
	m := vectorstest.Draw(20_000, 600_000, 1)
	for _, dim := range []int{50, 300} {
		for threads := 1; threads <= runtime.GOMAXPROCS(0); threads *= 2 {
			b.Run(fmt.Sprintf("dim=%d/threads=%d", dim, threads), func(b *testing.B) {
				rate := 0.0
				for range b.N {
					rate, _ = gloveRate(b, m, GloVeOptions{Dim: dim, Epochs: 3, Threads: threads,
						Engine: engine.Multicore})
				}
				b.ReportMetric(rate, "Mcells/s")
			})
		}
	}
}

// BenchmarkGloVeGroups measures on a real GPU how the speed depends on the number of groups.
func BenchmarkGloVeGroups(b *testing.B) {
	if os.Getenv("COLLOCATE_TEST_GPU") == "" {
		b.Skip("COLLOCATE_TEST_GPU names no device")
	}
	cells, most := blockCells, mostGroups
	defer func() { blockCells, mostGroups = cells, most }()
	for _, size := range [][2]int{{400_000, 50_000_000}, {100_000, 10_000_000}} {
		m := vectorstest.Draw(size[0], size[1], 1)
		for _, blockCells = range []int{64, 128, 256, 512} {
			mostGroups = 4096
			o := GloVeOptions{Dim: 300, Epochs: 3, Engine: engine.GPU}
			rate, before := gloveRate(b, m, o)
			fmt.Printf("%d words, %d cells, %d groups: %.0f M cells/s, %.0f GB/s, %.2f s before\n", size[0],
				m.Entries(), groupsOf(int(m.Entries()), m.Len()), rate, rate*9.6, before)
		}
	}
}

// BenchmarkSVD reports the times of the decomposition and of the steps before it. COLLOCATE_LARGE=1
// adds a quarter of the matrix that docs/performance.md has a time for.
func BenchmarkSVD(b *testing.B) {
	sizes, kind := [][3]int{{20_000, 1_000_000, 100}}, engine.Multicore
	if os.Getenv("COLLOCATE_TEST_GPU") != "" {
		sizes, kind = append(sizes, [3]int{400_000, 100_000_000, 300}), engine.GPU
	}
	if os.Getenv("COLLOCATE_LARGE") != "" {
		sizes = append(sizes, [3]int{100_000, 25_000_000, 300})
	}
	for _, z := range sizes {
		b.Run(fmt.Sprintf("words=%d/cells=%d/dim=%d", z[0], z[1], z[2]), func(b *testing.B) {
			m := vectorstest.Draw(z[0], z[1], 1)
			for range b.N {
				var began time.Time
				start := time.Now()
				if _, err := TrainSVD(b.Context(), m, SVDOptions{Dim: z[2], Memory: 64e9,
					Engine: kind, Began: func(engine.Kind) { began = time.Now() }}); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(began.Sub(start).Seconds(), "before-s")
				b.ReportMetric(time.Since(began).Seconds(), "decompose-s")
			}
		})
	}
}

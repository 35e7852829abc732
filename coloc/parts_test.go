package coloc

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/points"
)

func timedPoints(seed uint64, n int) *Points {
	rng := rand.New(rand.NewPCG(seed, 8))
	var b points.Builder
	for range n {
		b.Add(10*rng.Float64(), 10*rng.Float64(), string(rune('A'+rng.IntN(4))))
	}
	p := b.Set()
	for range n {
		p.Time = append(p.Time, rng.Int64N(100))
	}
	p.CRS = points.Plane
	return p
}

// With times, patterns of two features follow from the definition, and all algorithms agree on all
// patterns.
func TestNeighboursInTime(t *testing.T) {
	pts := timedPoints(1, 120)
	opt := Options{Distance: 2, MinPrevalence: 0.1, Within: 20, All: true}
	want := ""
	for _, algorithm := range []Algorithm{Auto, ICPITree, Joinless, Miner, SGCT} {
		for _, e := range []engine.Kind{engine.Sequential, engine.Multicore} {
			opt.Algorithm, opt.Engine = algorithm, e
			res := mustMine(t, pts, opt)
			if got := fmt.Sprint(res.Patterns); want == "" {
				want = got
			} else if got != want {
				t.Errorf("%s, %v: %s, want %s", algorithm, e, got, want)
			}
			for _, p := range res.Patterns {
				if len(p.Features) != 2 {
					continue
				}
				part := [2]map[int]bool{{}, {}}
				for i := range pts.X {
					for j := range pts.X {
						if pts.Feature[i] == p.Features[0] && pts.Feature[j] == p.Features[1] &&
							math.Hypot(pts.X[i]-pts.X[j], pts.Y[i]-pts.Y[j]) <= 2 &&
							near(pts.Time[i], pts.Time[j], 20) {
							part[0][i], part[1][j] = true, true
						}
					}
				}
				if p.Counts[0] != int64(len(part[0])) || p.Counts[1] != int64(len(part[1])) {
					t.Errorf("%v: counts %v, want %d and %d", p.Features, p.Counts, len(part[0]), len(part[1]))
				}
			}
		}
	}
	opt.Within = 0
	if got := fmt.Sprint(mustMine(t, pts, opt).Patterns); got == want {
		t.Error("Within does not change the patterns")
	}
	pts.Time = nil
	opt.Within = 1
	if _, err := Mine(t.Context(), pts, opt); err == nil {
		t.Error("no error for Within and points without times")
	}
}

// Local quotients with kernels are shares of weights divided by the expected share.
func TestLocalQuotientsWithKernels(t *testing.T) {
	pts := timedPoints(2, 60)
	total := pts.Totals()
	for _, kernel := range []Kernel{Box, Gaussian, Bisquare} {
		s := mustSurvey(t, pts, Options{Distance: 3})
		_, local, err := s.Quotients(t.Context(), QuotientOptions{Local: true, Kernel: kernel, Rounds: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range local {
			sum, all := 0.0, 0.0
			for j := range pts.X {
				d := math.Hypot(pts.X[q.Point]-pts.X[j], pts.Y[q.Point]-pts.Y[j])
				if j == int(q.Point) || d > 3 {
					continue
				}
				w := map[Kernel]float64{Box: 1, Gaussian: math.Exp(-d * d / 18),
					Bisquare: (1 - d*d/9) * (1 - d*d/9)}[kernel]
				all += w
				if pts.Feature[j] == q.To {
					sum += w
				}
			}
			others := total[q.To]
			if pts.Feature[q.Point] == q.To {
				others--
			}
			want := sum / all / (float64(others) / float64(pts.Len()-1))
			if math.IsNaN(want) != math.IsNaN(q.Value) || math.Abs(want-q.Value) > 1e-9 {
				t.Fatalf("%s: %+v, want %v", kernel, q, want)
			}
		}
		var svg bytes.Buffer
		if err := s.WriteLocalSVG(t.Context(), &svg, local); err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(&svg); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestReportsAsParquet(t *testing.T) {
	pts := timedPoints(3, 60)
	res := mustMine(t, pts, Options{Distance: 3, MinPrevalence: 0.3})
	var b bytes.Buffer
	if err := WriteParquet(&b, NewReport(pts, res)); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[reportRow](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 || rows[0].Index != res.Patterns[0].Index || rows[0].Expected != nil {
		t.Errorf("rows %+v, want the first with index %v and nothing expected", rows, res.Patterns[0].Index)
	}
}

// The study area of the whole map is not that of its parts.
func TestPartsLoseTheStudyAreaOfTheMap(t *testing.T) {
	p := &Points{Features: []string{"a", "b"}, Feature: []int32{0, 1, 0, 1}, X: []float64{1, 2, 8, 9}, Y: []float64{1, 2, 1, 2}}
	const area = "POLYGON ((0 0, 10 0, 10 3, 0 3))"
	var err error
	if p.Window, err = points.ParseWindow([]byte(area), nil); err != nil {
		t.Fatal(err)
	}
	regions, err := points.ParseRegions([]byte(`{"type": "Polygon", "coordinates": [[[0, 0], [5, 0], [5, 3], [0, 3], [0, 0]]]}`), points.Plane)
	if err != nil {
		t.Fatal(err)
	}
	inRegions, _ := Regions(p, regions)
	parts := append(Cells(p, 2, 1), inRegions...)
	if len(parts) != 3 || p.Window == nil {
		t.Fatalf("%d parts, window %v; want 3, and the map's window", len(parts), p.Window)
	}
	for _, part := range parts {
		if part.Points.Window != nil {
			t.Errorf("%s: has the study area of the map", part.Name)
		}
	}
}

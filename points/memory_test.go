package points

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Curves of some pairs are those of all pairs, with every null model, whichever way the sums are
// kept: of 66 pairs three are asked for.
func TestSomeCurvesAreThoseOfAll(t *testing.T) {
	p := drawn(1, 600, 12, 0.5)
	for _, null := range []Null{Shift, Relabel, Cluster, Inhomogeneous} {
		o := CurveOptions{Most: 200, Bins: 7, Rounds: 5, Null: null, Seed: 1, Engine: Engine{Threads: 2}}
		every, err := Curves(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		want := map[[2]int32]string{}
		text := func(c Curve) string {
			return fmt.Sprintln(c.R, c.K, c.L, c.PCF, c.Index, c.Expected, c.Low, c.High, c.IndexExpected, c.P, c.At, c.Z)
		}
		for _, c := range every {
			want[[2]int32{c.A, c.B}] = text(c)
		}
		o.Pairs = [][2]int32{{3, 7}, {3, 11}, {5, 9}}
		if some, err := o.fit(p, 3); err != nil || some == nil {
			t.Fatalf("three pairs of 66 are summed as all are: %v", err)
		}
		some, err := Curves(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range some {
			if [2]int32{c.A, c.B} != o.Pairs[i] || text(c) != want[o.Pairs[i]] {
				t.Errorf("null %v: the curve of %v is\n%swant\n%s", null, o.Pairs[i], text(c), want[o.Pairs[i]])
			}
		}
	}
}

// manyKinds has 20,000 features, of which all pairs would take hundreds of gigabytes.
func manyKinds() *Set {
	p := drawn(1, 20_000, 10, 0)
	p.Features = nil
	for i := range p.Feature {
		p.Features = append(p.Features, fmt.Sprintf("f%05d", i))
		p.Feature[i] = int32(i)
	}
	return p
}

// What does not fit the bound is refused before it is allocated, and a question about one pair of
// many kinds needs little memory.
func TestMemoryIsEstimatedFirst(t *testing.T) {
	p := manyKinds()
	const bound = 64e6
	engine := Engine{Threads: 2}
	for name, do := range map[string]func() error{
		"Curves": func() error {
			_, err := Curves(t.Context(), p, CurveOptions{Rounds: 9, Memory: bound, Engine: engine})
			return err
		},
		"CoOccurrences": func() error {
			_, err := CoOccurrences(t.Context(), p, CoOccurrenceOptions{Most: 10, Memory: bound, Engine: engine})
			return err
		},
		"Enrich": func() error {
			_, err := Enrich(t.Context(), p, EnrichmentOptions{KNN: 3, Rounds: 9, Memory: bound, Engine: engine})
			return err
		},
		"Enrich within a distance": func() error {
			_, err := Enrich(t.Context(), drawn(1, 20_000, 2, 0),
				EnrichmentOptions{Distance: 1500, Rounds: 9, Memory: bound, Engine: engine})
			return err
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := do()
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "memory bound") {
			t.Errorf("%s: %v, want an error that names the bound", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 4*bound {
			t.Errorf("%s took %d MB before it was refused", name, took/1e6)
		}
	}
	curves, err := Curves(t.Context(), p, CurveOptions{Most: 100, Rounds: 9, Memory: bound, Engine: engine,
		Pairs: [][2]int32{{7, 19_000}}})
	if err != nil || len(curves) != 1 {
		t.Errorf("one pair of %d features: %d curves, %v", len(p.Features), len(curves), err)
	}
}

// A bound that all threads exceed is kept by fewer of them.
func TestFewerThreadsWithinLittleMemory(t *testing.T) {
	p := drawn(1, 10_000, 2, 0)
	o := CurveOptions{Bins: 10, Rounds: 9, Engine: Engine{Threads: 64}, Memory: 4e6}
	if _, err := o.fit(p, 1); err != nil || o.Engine.Threads < 1 || o.Engine.Threads >= 64 {
		t.Errorf("%d threads, %v; want fewer than 64", o.Engine.Threads, err)
	}
	o.Memory, o.Engine.Threads = 1e9, 64
	if _, err := o.fit(p, 1); err != nil || o.Engine.Threads != 64 {
		t.Errorf("%d threads, %v; want all 64", o.Engine.Threads, err)
	}
}

// Reading stops at the first point that exceeds the bound, in one file and in several.
func TestReadingKeepsToTheBound(t *testing.T) {
	table := "x,y,feature\n" + strings.Repeat("1,2,a\n3,4,b\n", 500)
	read := func(memory int64) error {
		_, err := Read(strings.NewReader(table), ReadOptions{Memory: memory})
		return err
	}
	if err := read(20 * 1000); err != nil {
		t.Errorf("1,000 points in their 20,000 bytes: %v", err)
	}
	if err := read(20*1000 - 1); err == nil || !strings.Contains(err.Error(), "memory bound") {
		t.Errorf("1,000 points in one byte less: %v", err)
	}
	one := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(one, []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	for memory, fits := range map[int64]bool{20 * 2000: true, 20*2000 - 1: false} {
		_, err := ReadFiles(t.Context(), []string{one, one}, ReadOptions{Memory: memory})
		if (err == nil) != fits {
			t.Errorf("2,000 points of two files in %d bytes: %v", memory, err)
		}
	}
}

// stopped is a context that ends after it was asked some times: in the middle of a loop, not
// before.
type stopped struct {
	context.Context
	after int
}

func (s *stopped) Err() error {
	if s.after--; s.after < 0 {
		return context.Canceled
	}
	return nil
}

// Where everything is near, a block of points takes seconds, and so does fitting clusters to many
// features. Both stop inside.
func TestLongLoopsStopInside(t *testing.T) {
	p := drawn(1, 2*blockPoints, 2, 0.5)
	l, err := newPlane(p)
	if err != nil {
		t.Fatal(err)
	}
	s := newPairSums(2, 4, 400, true, nil)
	s.block(&stopped{t.Context(), 2}, l, newCells(l, 400), 0, len(l.x), 400, nil)
	part, all := int64(0), int64(0)
	for _, n := range s.nearest {
		part += n
	}
	s.block(t.Context(), l, newCells(l, 400), 0, len(l.x), 400, nil)
	for _, n := range s.nearest {
		all += n
	}
	if part == 0 || part > all/10 {
		t.Errorf("a block counted %d of %d after its context had ended", part, all-part)
	}
	if _, err := NewNullModel(&stopped{t.Context(), 1}, p, NullOptions{Null: Cluster}); !errors.Is(err, context.Canceled) {
		t.Errorf("fitting a null model: %v", err)
	}
}

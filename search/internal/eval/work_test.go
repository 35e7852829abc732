package eval

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/cpu/cputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// Skipping what cannot win does not change results, so a skip that gets lost fails no comparison.
// It shows in the work: testdata/work.txt has the postings scored and decoded, the blocks skipped
// and the documents that entered the k best, by each algorithm for the same queries. UPDATE=1
// writes the file; read the diff as a change of speed.
func TestWorkIsWhatItWas(t *testing.T) {
	const path = "testdata/work.txt"
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors may round estimates of costs differently")
	}
	var out strings.Builder
	p, s := leveled(t)
	queries := [][]int{{2}, {7}, {8}, {1, 2}, {5, 6}, {3, 9}, {0, 8}, {2, 3, 7}, {1, 4, 8, 9}}
	doWork(t, &out, "leveled", p, s.Search, queries, nil)
	few, many := docset.New(len(p.Lengths)), docset.New(len(p.Lengths))
	for d := range uint32(len(p.Lengths)) {
		if d%5 < 2 {
			many.Add(d)
		}
		if d%300 == 7 {
			few.Add(d)
		}
	}
	doWork(t, &out, "few of leveled", p, s.Search, queries, few)
	doWork(t, &out, "many of leveled", p, s.Search, queries, many)
	three := writeSegments(t, p, []uint32{0, 15_000, 90_000, uint32(len(p.Lengths))}, searchtest.Scratch(t)+"/three")
	doWork(t, &out, "leveled in three segments", p,
		func(ctx context.Context, r ask.Request) (*ask.Result, error) { return three.Search(ctx, &r) }, queries, nil)
	best, promise := promising(t)
	doWork(t, &out, "promising", best, promise.Search,
		[][]int{{0, 3}, {1, 3}, {2, 3}, {4, 3}, {3, 2, 5}, {5, 0}}, nil)
	alone, independence := independent(t, 20_000)
	pairs := [][]int{{0}, {0, 1}, {1, 2}, {0, 1, 2}}
	doWork(t, &out, "independent", alone, independence.Search, pairs, nil)
	alwaysMark(t)
	doWork(t, &out, "marks of leveled", p, s.Search, queries, nil)
	doWork(t, &out, "marks of independent", alone, independence.Search, pairs, nil)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was := strings.Split(string(want), "\n")
	for i, line := range strings.Split(out.String(), "\n") {
		if i >= len(was) || line != was[i] {
			t.Errorf("the work is not in %s, as: %s", path, line)
		}
	}
}

// doWork answers queries with all algorithms that skip, and writes a line for each.
func doWork(t *testing.T, out *strings.Builder, name string, p *searchtest.Plain,
	search func(context.Context, ask.Request) (*ask.Result, error), queries [][]int, within *docset.Set) {
	t.Helper()
	for _, mode := range []ask.Mode{ask.Or, ask.And} {
		for _, k := range []int{10, 300} {
			for _, a := range []ask.Algorithm{ask.Auto, ask.MaxScore, ask.WAND, ask.BMW, ask.VBMW} {
				if a != ask.Auto && (within != nil || mode == ask.And && a != ask.BMW) {
					continue
				}
				var sum ask.Stats
				for _, words := range queries {
					r := ask.Request{Words: wordsOf(p, words), K: k, Mode: mode, Algorithm: a}
					if within != nil {
						r.Within = &ask.Within{Sets: []*docset.Set{within}}
					}
					got, err := search(context.Background(), r)
					if err != nil {
						t.Fatal(err)
					}
					sum.Add(&got.Stats)
				}
				fmt.Fprintf(out, "%s, %v, k=%d, %v: scored %d, decoded %d, skipped %d, entered %d\n",
					name, mode, k, a, sum.Scored, sum.Decoded, sum.Skipped, sum.Entered)
			}
		}
	}
}

// Every level of vector instructions does the same work.
func TestWorkOnAllLevels(t *testing.T) {
	trials.Long(t, "the same work thrice")
	p, s := leveled(t)
	var first string
	cputest.Levels(t, func(t *testing.T) {
		var out strings.Builder
		doWork(t, &out, "leveled", p, s.Search, [][]int{{2}, {1, 2}, {2, 3, 7}}, nil)
		if first == "" {
			first = out.String()
		}
		if out.String() != first {
			t.Errorf("got %s\nwant %s", &out, first)
		}
	})
}

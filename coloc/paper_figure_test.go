package coloc

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
)

// figure3 is the thesis' figure 3: the sorted pairs of neighbours, in two tables.
var figure3 = [2]string{
	"a0 a0 a0 a1 b0 b1 b0 b0 b0 b1 b0 d2",
	"b1 b2 c0 c1 c0 c0 d0 d1 d2 d1 e1 e1",
}

// figurePoints are points with the neighbours of figure 3 at a distance of up to 1.
func figurePoints() *Points {
	p := &Points{Features: strings.Fields("a b c d e")}
	for _, x := range []struct {
		feature int32
		x, y    float64
	}{
		{0, 1.6, 0.4}, {0, 10, 0}, // a0, a1
		{1, 0, 0}, {1, 0.8, 0.6}, {1, 2.4, 0.5}, // b0, b1, b2
		{2, 0.95, 0}, {2, 10.5, 0}, // c0, c1
		{3, -0.47, 0.82}, {3, 0.4, 0.86}, {3, -0.95, 0}, // d0, d1, d2
		{4, 20, 20}, {4, -0.47, -0.82}, // e0, e1
	} {
		p.Feature, p.X, p.Y = append(p.Feature, x.feature), append(p.X, x.x), append(p.Y, x.y)
	}
	return p
}

// The figure is as the thesis prints it.
func TestFigure3IsTheThesis(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "shared", "seeds", "004_*.txt"))
	if err != nil || len(files) != 1 {
		t.Skip("no text of the thesis beside the checkout")
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, table := range []string{"A", "B"} {
		line := regexp.MustCompile(`(?m)^\$Pairs_` + table + `\$((?:\s+\$[a-e]_\d\$)+)$`).FindSubmatch(text)
		if line == nil {
			t.Fatalf("the thesis has no table Pairs_%s", table)
		}
		got := strings.NewReplacer("$", "", "_", "", "\t", " ").Replace(string(line[1]))
		if got = strings.Join(strings.Fields(got), " "); got != figure3[i] {
			t.Errorf("Pairs_%s is %q, want %q", table, got, figure3[i])
		}
	}
}

// Cores and the device find the pairs of the figure. The device sorts them as the figure does: by
// both features, then by both instances.
func TestSortedPairsOfTheThesis(t *testing.T) {
	pts := figurePoints()
	numbers, _ := instanceNumbers(pts)
	var want []string
	for i, a := range strings.Fields(figure3[0]) {
		want = append(want, a+" "+strings.Fields(figure3[1])[i])
	}
	name := func(i int32) string { return fmt.Sprint(pts.Features[pts.Feature[i]], numbers[i]) }

	j, err := newJob(pts, Options{Distance: 1, Algorithm: SGCT, Engine: engine.Sequential})
	if err != nil {
		t.Fatal(err)
	}
	var swept []string
	err = j.sweepPairs(t.Context(), pts, func(_ int, a, b int32) error {
		swept = append(swept, name(a)+" "+name(b))
		return nil
	})
	slices.Sort(swept)
	if sorted := slices.Sorted(slices.Values(want)); err != nil || !slices.Equal(swept, sorted) {
		t.Errorf("the sweep finds %q, %v; want %q", swept, err, sorted)
	}

	j, err = newJob(pts, Options{Distance: 1, Algorithm: SGCT, Engine: engine.GPU, GPU: testGPU(t, 0)})
	if err != nil {
		t.Fatal(err)
	}
	err = onGPU(t.Context(), j, func(r *gpuRun) error {
		g := &gpuSGCT{r: r, pts: pts}
		if _, err := g.findPairs(); err != nil {
			return err
		}
		g.indexPairs()
		var got []string
		for _, p := range gpu.Get(r, g.pairs, g.pairs.Len()) {
			a, b := p>>g.bits&(1<<g.bits-1), p&(1<<g.bits-1)
			types := p >> (2 * g.bits)
			got = append(got, fmt.Sprint(pts.Features[types>>g.typeBits], a, " ",
				pts.Features[types&(1<<g.typeBits-1)], b))
		}
		if !slices.Equal(got, want) {
			t.Errorf("the device sorts the pairs as\n%q\nwant\n%q", got, want)
		}
		return r.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
}

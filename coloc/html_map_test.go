package coloc

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/points"
)

// The page has the patterns with their points and edges, asks no server for anything, and cannot be
// broken by names.
func TestHTMLMap(t *testing.T) {
	pts := &points.Set{Features: []string{"</script><b>", "b", "c"}, X: []float64{0, 0, 1, 5, 9}, Y: make([]float64, 5),
		Feature: []int32{0, 1, 1, 0, 2}}
	s, err := NewSurvey(pts, Options{Distance: 1, MinPrevalence: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Mine(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := s.WriteHTML(context.Background(), &b, res.Patterns, NewReport(pts, res)); err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`(?i)https?:|\bsrc=|@import|url\(|fetch\(`).FindString(b.String()); found != "" {
		t.Errorf("the page has %q, which asks a server", found)
	}
	_, rest, _ := strings.Cut(b.String(), `id="data">`)
	data, _, _ := strings.Cut(rest, "</script>")
	var p page
	if err := json.Unmarshal([]byte(data), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.X) != 5 || len(p.Patterns) != 1 || !slices.Equal(p.Patterns[0].Points, []int32{0, 1, 2}) {
		t.Fatalf("the page has %d points and the patterns %+v", len(p.X), p.Patterns)
	}
	share := p.Patterns[0].Participation["b"]
	if share != (Share{2, 2}) || p.Axes[0] != "x, units of the file" || len(p.Patterns[0].Edges) != 2 {
		t.Errorf("shares %v, axes %q, edges %v", share, p.Axes, p.Patterns[0].Edges)
	}
}

package device

import (
	"context"
	"slices"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
)

// newModel is a model that only this test has, so that the device has no kernel for it.
type newModel struct{ model.DPH }

func (newModel) String() string { return "new" }

// The cores answer requests with a model that the device does not know: single ones, those of a
// batch and those with the thesis' algorithms.
func TestUnknownModelsGoToTheCores(t *testing.T) {
	ctx := context.Background()
	s := buildLines(t, "whitespace", "a b c", "a a", "c b b")
	use(t, s, Options{})
	r := ask.Request{Text: "a b", Model: newModel{}}
	want, err := s.Search(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Parallel = &ask.Parallel{Engine: engine.GPU}
	var all []*ask.Result
	for _, algorithm := range []ask.Algorithm{ask.Auto, ask.Tiles, ask.WAND} {
		r.Algorithm = algorithm
		found, err := s.Search(ctx, r)
		if err != nil {
			t.Fatalf("%v: %v", algorithm, err)
		}
		all = append(all, found)
	}
	r.Algorithm = ask.Auto
	mixed := []ask.Request{r, {Text: "a b"}, r, {Text: "c"}}
	batch := collect(t, s.SearchBatch(ctx, slices.Values(mixed), ask.Batch{Engine: engine.GPU}))
	for _, found := range append(all, batch[0], batch[2]) {
		if !slices.Equal(found.Hits, want.Hits) {
			t.Errorf("hits %v, want %v", found.Hits, want.Hits)
		}
		if gpu := found.Stats.GPU; gpu == nil || gpu.Fallback != noKernel {
			t.Errorf("statistics %+v, want that the cores answered", gpu)
		}
	}
	if _, err := s.gpu.Profile(ctx, mixed, 1, false); err == nil {
		t.Error("a model without a kernel was profiled")
	}
}

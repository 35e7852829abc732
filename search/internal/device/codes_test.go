package device

import (
	"fmt"
	"strings"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// Each model has its kernel number, and a scorer without kernels panics.
func TestScorersOfTheKernels(t *testing.T) {
	e, err := eval.NewEngine(searchtest.OpenLines(t, "whitespace", "a b", "a"))
	if err != nil {
		t.Fatal(err)
	}
	info, err := e.Index.Lookup([]byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	term := model.Term{Weight: 1, Info: info}
	for _, m := range searchtest.TestModels {
		if unknown(m) != "" {
			continue // the cores answer
		}
		w, err := model.WeigherOf(m, &e.Collection)
		if err != nil {
			t.Fatal(err)
		}
		want := uint32(gpuBM25)
		switch m := m.(type) {
		case model.BM25:
			if m.Variant == bm25.L {
				want = gpuBM25L
			}
		case model.Boolean, model.Cosine:
			want = gpuCosine
		case model.Dirichlet:
			want = gpuDirichlet
		case model.DPH:
			want = gpuDPH
		}
		if got := new(gpuTerm).set(w.ScorerOf(&term, 1)); got != want {
			t.Errorf("%v has kernel number %d, want %d", m, got, want)
		}
	}
	type unknown struct{ model.Scorer }
	defer func() {
		if why := fmt.Sprint(recover()); !strings.Contains(why, "device.unknown") {
			t.Errorf("a scorer without kernels: panic %s, want one that names device.unknown", why)
		}
	}()
	new(gpuTerm).set(unknown{})
}

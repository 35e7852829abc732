package model

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/trials"
)

// The models compute their formulas, which are given here in float64. Every model of Models must
// have one. The variants of BM25 are tested in package bm25, BM25F in package fielded.
func TestModelsAreTheirFormulas(t *testing.T) {
	c := &Collection{Docs: 1000, All: Totals{1000, 150_000},
		CodeTF: new([256]uint32), ClassLength: new([256]uint32)} // only for bounds
	term := Term{Weight: 2, Info: index.Term{DF: 40, CF: 90}}
	other := Term{Weight: 1, Info: index.Term{DF: 7, CF: 7}}
	rng := rand.New(rand.NewPCG(8, 9))
	compared := map[string]bool{}
	for range trials.Of(2000) {
		length := uint32(rng.IntN(100_000)) + 2
		tf := min(uint32(rng.ExpFloat64()*5)+1, length-1)
		f, l := float64(tf), float64(length)
		norm := math.Hypot(2*math.Log(1+1000.0/40), math.Log(1+1000.0/7))
		share := f / l
		for _, m := range []struct {
			model Model
			want  float64
		}{
			{BM25{}, 2 * math.Log(1000.0/40) * 2.2 * f / (1.2*(0.25+0.75*l/150) + f)},
			{Boolean{}, 0},
			{Impact{}, 2 * f},
			{Cosine{}, 2 * math.Log(1+1000.0/40) / norm * math.Sqrt(f/l)},
			{Dirichlet{Mu: 300}, 2 * max(0,
				math.Log((f+300*90/150_000.0)/(l+300))-math.Log(300*90/150_000.0/(l+300))+math.Log(300/(l+300)))},
			{DPH{}, 2 * max(0, (1-share)*(1-share)/(f+1)*(f*math.Log2(f*150/l*1000/90)+0.5*math.Log2(2*math.Pi*f*(1-share))))},
		} {
			name, _, _ := strings.Cut(m.model.String(), "(")
			compared[name] = true
			w, err := WeigherOf(m.model, c)
			if err != nil {
				t.Fatal(err)
			}
			got := float64(w.ScorerOf(&term, w.QueryNorm([]Term{term, other})).Score(tf, length))
			if math.Abs(got-m.want) > 1e-5*(1+m.want) {
				t.Fatalf("%v, tf %d, length %d: %v, want %v", m.model, tf, length, got, m.want)
			}
		}
	}
	for _, name := range Models() {
		if !compared[name] {
			t.Errorf("%s: no formula to compare it with", name)
		}
	}
}

func TestModelNames(t *testing.T) {
	for _, name := range Models() {
		m, err := ParseModel(name)
		if err != nil || len(m.String()) < len(name) || m.String()[:len(name)] != name {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	if _, err := ParseModel("nosuch"); err == nil {
		t.Error("model nosuch: no error")
	}
	c := &Collection{}
	for _, m := range []Model{BM25{K1: -1}, BM25{K1: 1, B: 2}, Dirichlet{Mu: -1}, Dirichlet{Mu: math.NaN()}} {
		if _, err := WeigherOf(m, c); err == nil {
			t.Errorf("%v: no error", m)
		}
	}
}

// Each parameter that is 0 means its default, and Zero means 0.
func TestZeroParameters(t *testing.T) {
	for m, want := range map[Model]string{
		BM25{}: "bm25(k1=1.2, b=0.75, papers)", BM25{B: 0.4}: "bm25(k1=1.2, b=0.4, papers)",
		BM25{K1: 2}: "bm25(k1=2, b=0.75, papers)", BM25{K1: Zero, B: Zero}: "bm25(k1=0, b=0, papers)",
		Dirichlet{}: "dirichlet(mu=1000)",
	} {
		if got := m.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if _, err := WeigherOf(Dirichlet{Mu: Zero}, &Collection{}); err == nil {
		t.Error("dirichlet with mu = 0: no error")
	}
}

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/search"
)

// modelFlags are the flags of retrieval models.
type modelFlags struct {
	model, variant string
	k1, b, mu, k3  float64
	fieldWeights   string
	expand         string
	proximity      string
	set            func(flag string) bool
}

func (f *modelFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	f.set = fl.Changed
	models := append(search.Models(), "bm25f")
	fl.StringVar(&f.model, "model", "bm25", "how documents are scored: "+described(models, modelWords))
	fl.StringVar(&f.fieldWeights, "field-weights", "",
		"bm25f: weights of text fields, such as title=3,body=1 (default those of the index's schema)")
	fl.Float64Var(&f.k1, "k1", 1.2, "BM25: term-frequency saturation (k1)")
	fl.Float64Var(&f.b, "b", 0.75, "BM25: length normalisation, 0 to 1 (b)")
	fl.StringVar(&f.variant, "variant", "papers", "BM25: "+strings.Join(bm25.SearchVariants(), ", "))
	fl.Float64Var(&f.k3, "k3", 0,
		"BM25: saturation of words that a query repeats (default none; 8 for --variant terrier)")
	fl.Float64Var(&f.mu, "mu", 1000, "dirichlet: smoothing, in words added to each document (mu)")
	fl.StringVar(&f.expand, "expand", "",
		"add words of the best documents to the query: rm3 (as Anserini) or bo1 (as Terrier), "+
			"with parameters or not, such as rm3:docs=10,terms=10,weight=0.5; 'index --store-text' makes it fast")
	fl.StringVar(&f.proximity, "proximity", "",
		"sdm, or with weights sdm:0.85,0.1,0.05: documents that have words of the query side by side score higher; needs 'index --positions'")
	choices(cmd, map[string][]string{"model": models, "variant": bm25.SearchVariants()})
}

// more sets query expansion and proximity of a request from --expand and --proximity.
func (f *modelFlags) more(r *search.Request) (err error) {
	if f.expand != "" {
		if r.Expand, err = search.ParseExpand(f.expand); err != nil {
			return usageError{fmt.Errorf("--expand: %w", err)}
		}
	}
	if f.proximity != "" {
		if r.Proximity, err = search.ParseProximity(f.proximity); err != nil {
			return usageError{fmt.Errorf("--proximity: %w", err)}
		}
		if r.Expand != nil {
			return usagef("--expand and --proximity: give only one of them")
		}
	}
	return nil
}

// modelWords describe the models for --help.
var modelWords = map[string]string{
	"bm25": "Okapi BM25", "boolean": "no ranking", "cosine": "TF-IDF vectors",
	"dirichlet": "query likelihood", "dph": "divergence from randomness", "bm25f": "BM25 over text fields",
}

// parse returns the model of the flags.
func (f *modelFlags) parse() (search.Model, error) {
	if f.fieldWeights != "" && !f.set("model") {
		f.model = "bm25f"
	}
	m, err := search.ParseModel(f.model)
	if err != nil {
		return nil, usageError{err}
	}
	variant, err := bm25.ParseVariant(f.variant)
	if err != nil {
		return nil, usageError{err}
	}
	switch m.(type) {
	case search.BM25:
		p := search.BM25{K1: bm25.Explicit(f.k1), B: bm25.Explicit(f.b), Variant: variant}
		if f.set("k3") {
			p.K3 = bm25.Explicit(f.k3)
		}
		if err := (bm25.Params{K1: f.k1, B: f.b, K3: f.k3, Variant: variant}).Check(); err != nil {
			return nil, usageError{err}
		}
		m = p
	case search.BM25F:
		if err := (bm25.Params{K1: f.k1, B: f.b, Variant: variant}).Check(); err != nil {
			return nil, usageError{err}
		}
		m = search.BM25F{K1: bm25.Explicit(f.k1), B: bm25.Explicit(f.b), Variant: variant, Weights: f.fieldWeights}
	case search.Dirichlet:
		if !(f.mu > 0 && f.mu <= 1e12) {
			return nil, usagef("--mu %v: want a positive number", f.mu)
		}
		m = search.Dirichlet{Mu: f.mu}
	}
	_, fielded := m.(search.BM25F)
	if f.fieldWeights != "" && !fielded {
		return nil, usagef("--field-weights needs --model bm25f, not %s", f.model)
	}
	if _, ok := m.(search.BM25); !ok && f.set("k3") {
		return nil, usagef("--k3 needs --model bm25, not %s", f.model)
	}
	if _, ok := m.(search.BM25); !ok && !fielded && (f.set("k1") || f.set("b") || f.set("variant")) {
		return nil, usagef("--k1, --b and --variant need --model bm25, not %s", f.model)
	}
	if _, ok := m.(search.Dirichlet); !ok && f.set("mu") {
		return nil, usagef("--mu needs --model dirichlet, not %s", f.model)
	}
	return m, nil
}

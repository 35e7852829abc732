package api

import (
	"reflect"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
)

// namesOf has the names of the values of enumerations, by type.
var namesOf = map[reflect.Type][]string{
	reflect.TypeFor[search.Mode]():      {search.Or.String(), search.And.String()},
	reflect.TypeFor[search.Algorithm](): search.Algorithms(),
	reflect.TypeFor[engine.Kind](): {engine.Auto.String(), engine.Sequential.String(),
		engine.Multicore.String(), engine.GPU.String()},
	reflect.TypeFor[bm25.Variant](): bm25.SearchVariants(),
}

// lists has the values that the tag one can name.
var lists = map[string][]string{
	"models": append(search.Models(), "bm25f"),
}

// wordsOn has a few words on each value of a list.
var wordsOn = map[string]map[string]string{
	"models": {
		"bm25": "Okapi BM25", "boolean": "no ranking", "cosine": "TF-IDF vectors",
		"dirichlet": "query likelihood", "dph": "divergence from randomness", "bm25f": "BM25 over text fields",
	},
}

// Questions lists all of them.
func Questions() []*Question { return []*Question{SearchQuestion} }

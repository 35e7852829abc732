package search

import (
	"fmt"
	"strings"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
)

// Model says how much a word says about a document. The models are [BM25], [Cosine],
// [Dirichlet] and [DPH].
type Model interface {
	// String is the model's name and parameters.
	String() string
	// weigher fixes the collection.
	weigher(c *collection) (weigher, error)
}

// collection is what models know of an index.
type collection struct {
	docs, tokens uint64
	lengths      []uint32
	classes      []uint8       // length class of each document, if each class is one length; else nil
	classLength  *[256]uint32  // shortest length of each length class
	buckets      *buckets      // of documents by length
	groups       *lengthGroups // the same, for guesses
	codeTF       *[256]uint32  // largest frequency of each code
	stored       bm25.Length   // of the model for which the index has the best postings
}

// weigher makes the scorers of a query's words. It may be used by several goroutines.
type weigher interface {
	// queryNorm is a factor of all weights; terms are those that the index knows.
	queryNorm(terms []queryTerm) float64
	scorer(t *queryTerm, norm float64) scorer
}

// scorer is the model for one word of one query.
type scorer interface {
	// score is what the word gives to a document of that length that has it tf times. It
	// is never negative.
	score(tf, length uint32) float32
	// bound is at least the score of every posting that b stands for.
	bound(b index.Bound) float32
	// batch scores a block of postings: out[i] belongs to docs[i].
	batch(docs, tfs []uint32, out []float32)
}

// ParseModel makes a model from its name: bm25, cosine, dirichlet or dph, with the default
// parameters.
func ParseModel(name string) (Model, error) {
	switch name {
	case "bm25":
		return BM25{}, nil
	case "cosine":
		return Cosine{}, nil
	case "dirichlet":
		return Dirichlet{}, nil
	case "dph":
		return DPH{}, nil
	}
	return nil, fmt.Errorf("unknown model %q: want %s", name, strings.Join(Models(), ", "))
}

// Models lists the names that ParseModel takes.
func Models() []string { return []string{"bm25", "cosine", "dirichlet", "dph"} }

// boundOfPairs is the bound of a model whose score never falls with tf and never rises with
// the length, up to rounding in the last places: it is raised by a hair.
func boundOfPairs(s scorer, c *collection, b index.Bound) float32 {
	best := float32(0)
	for i := range index.BoundPairs {
		tf, class := b.Pair(i)
		best = max(best, s.score(c.codeTF[tf], c.classLength[class]))
	}
	return best * (1 + 0x1p-20)
}

// batchOf scores a block posting by posting.
func batchOf(s scorer, c *collection, docs, tfs []uint32, out []float32) {
	tfs, out = tfs[:len(docs)], out[:len(docs)]
	for i, d := range docs {
		out[i] = s.score(tfs[i], c.lengths[d])
	}
}

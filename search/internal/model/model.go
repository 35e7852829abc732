package model

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/simd"
)

// Model says how much a word says about a document. The models are [BM25], [BM25F], [Boolean],
// [Cosine], [Dirichlet] and [DPH].
type Model interface {
	// String is the model's name and parameters.
	String() string
	// weigher fixes the collection.
	weigher(c *Collection) (Weigher, error)
}

// Zero is how to say 0 as a parameter of a model, for a field that is 0 stands for its default:
// BM25{B: 0.4} has the usual k1, and BM25{B: Zero} does not look at lengths. It is the smallest
// positive number, which gives scores the bits that 0 would.
const Zero = bm25.Zero

// Collection is what models know of an index.
type Collection struct {
	Docs uint64
	// All is what there is in all segments or shards, of which the index is one: scores go by
	// these.
	All     Totals
	Lengths []uint32
	// length class of each document, if each class is one length; else nil
	Classes     []uint8
	ClassLength *[256]uint32  // shortest length of each length class
	Buckets     *Buckets      // of documents by length
	Groups      *lengthGroups // the same, for guesses
	CodeTF      *[256]uint32  // largest frequency of each code
	stored      bm25.Length   // of the model for which the index has the best postings
}

// Totals count the documents and words of some indexes.
type Totals struct{ Docs, Tokens uint64 }

// TotalsOf are those of one index; of a shard, those of the whole.
func TotalsOf(r *index.Reader) Totals {
	docs, tokens := r.Whole()
	return Totals{docs, tokens}
}

func NewCollection(r *index.Reader) Collection {
	low, _, exact := r.ClassLengths()
	c := Collection{
		Docs: uint64(r.Docs()), All: TotalsOf(r),
		Lengths: r.Lengths(), ClassLength: low,
		Buckets: &Buckets{Classes: r.Classes(), Lengths: low}, Groups: &lengthGroups{},
		CodeTF: index.TFOfCode(), stored: r.StoredModel(),
	}
	if exact {
		c.Classes = r.Classes()
	}
	return c
}

// WeigherOf makes the weigher of a model for a collection.
func WeigherOf(m Model, c *Collection) (Weigher, error) { return m.weigher(c) }

// Weigher makes the scorers of a query's words. It may be used by several goroutines.
type Weigher interface {
	// queryNorm is a factor of all weights; terms are those that the index knows.
	QueryNorm(terms []Term) float64
	ScorerOf(t *Term, norm float64) Scorer
}

// Scorer is the model for one word of one query.
type Scorer interface {
	// score is what the word gives to a document of that length that has it tf times. It
	// is never negative.
	Score(tf, length uint32) float32
	// bound is at least the score of every posting that b stands for.
	Bound(b index.Bound) float32
	// batch scores a block of postings: out[i] belongs to docs[i].
	Batch(docs, tfs []uint32, out []float32)
}

// Rises says whether a score never falls where a document of the same length has the word more
// often. That of DPH does. Bounds hold for either kind.
func Rises(s Scorer) bool {
	_, dph := s.(*DPHScorer)
	return !dph
}

// ParseModel makes a model from its name: bm25, boolean, cosine, dirichlet or dph, or bm25f, with
// the default parameters.
func ParseModel(name string) (Model, error) {
	switch name {
	case "bm25":
		return BM25{}, nil
	case "bm25f":
		return BM25F{}, nil
	case "boolean":
		return Boolean{}, nil
	case "cosine":
		return Cosine{}, nil
	case "dirichlet":
		return Dirichlet{}, nil
	case "dph":
		return DPH{}, nil
	}
	return nil, fmt.Errorf("unknown model %q: want %s, or bm25f for an index with fields", name,
		strings.Join(Models(), ", "))
}

// Models lists the names that ParseModel takes, without bm25f, which is for indexes with fields.
func Models() []string { return []string{"bm25", "boolean", "cosine", "dirichlet", "dph"} }

// boundOfPairs is the bound of a model whose score never falls with tf and never rises with
// the length, up to rounding in the last places: it is raised by a small margin.
func boundOfPairs(s Scorer, c *Collection, b index.Bound) float32 {
	best := float32(0)
	for i := range index.BoundPairs {
		tf, class := b.Pair(i)
		best = max(best, s.Score(c.CodeTF[tf], c.ClassLength[class]))
	}
	return best * (1 + 0x1p-20)
}

// batchOf scores a block posting by posting.
func batchOf(s Scorer, c *Collection, docs, tfs []uint32, out []float32) {
	tfs, out = tfs[:len(docs)], out[:len(docs)]
	for i, d := range docs {
		out[i] = s.Score(tfs[i], c.Lengths[d])
	}
}

// LengthOf is the length of a document, by way of its class where that tells: there is less to
// fetch.
func (c *Collection) LengthOf(doc uint32) uint32 {
	if c.Classes != nil {
		return c.ClassLength[c.Classes[doc]]
	}
	return c.Lengths[doc]
}

// AskLength asks memory for what lengthOf needs.
func (c *Collection) AskLength(doc uint32) {
	if c.Classes != nil {
		simd.PrefetchLine(unsafe.Pointer(&c.Classes[doc]))
	} else {
		simd.PrefetchLine(unsafe.Pointer(&c.Lengths[doc]))
	}
}

// Term is a word of the query that the index knows.
type Term struct {
	Text   string
	Weight float64
	Info   index.Term
	// DF and CF are those of all segments together, if the index is one of several; 0: those of
	// Info. They count for the score.
	DF, CF uint64
	// Scored is what BM25 makes of them, the same in each of several segments; nil: it is not
	// known.
	Scored *bm25.Term
	// LowX is an x that no posting of the list is below, if the index stores x for the model and
	// this is known before the list is opened; else 0.
	LowX float32
}

// AllDF is the number of documents that have the word, in all segments.
func (t *Term) AllDF() uint64 {
	if t.DF != 0 {
		return t.DF
	}
	return uint64(t.Info.FullDF())
}

// cf is how often the word occurs, in all segments.
func (t *Term) cf() uint64 {
	if t.DF != 0 {
		return t.CF
	}
	return t.Info.CF
}

package model

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/simd"
)

// Model scores a word in a document: one of the list models or, for a function of one's own, a
// pointer to [Own].
type Model interface {
	// String returns the model's name and parameters.
	String() string
	// weigher applies the model to a collection.
	weigher(c *Collection) (Weigher, error)
}

// Zero stands for 0 as a parameter of a model, since a field that is 0 stands for its default:
// BM25{B: 0.4} has the default k1, and BM25{B: Zero} ignores lengths. It is the smallest positive
// number, which gives the same bits as 0.
const Zero = bm25.Zero

// Collection has the statistics of an index that models use.
type Collection struct {
	Docs uint64
	// All are the totals of all segments or shards, of which the index is one. Scores use these.
	All     Totals
	Lengths []uint32
	// Classes has the length class of each document, if every class is a single length; else nil.
	Classes     []uint8
	ClassLength *[256]uint32  // shortest length of each length class
	Buckets     *Buckets      // of documents, by length
	Groups      *lengthGroups // distribution of lengths, for guessing thresholds
	CodeTF      *[256]uint32  // largest frequency of each code
	stored      bm25.Length   // of the model for which the index stores the best postings
}

// Totals count the documents and words of some indexes.
type Totals struct{ Docs, Tokens uint64 }

// TotalsOf returns the totals of an index; for a shard, those of the whole index.
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

// WeigherOf returns the weigher of a model for a collection.
func WeigherOf(m Model, c *Collection) (Weigher, error) { return m.weigher(c) }

// Weigher makes the scorers of a query's words. It is safe for concurrent use.
type Weigher interface {
	// QueryNorm returns a factor of all weights; terms are those that the index has.
	QueryNorm(terms []Term) float64
	ScorerOf(t *Term, norm float64) Scorer
}

// Scorer is the model for one word of one query.
type Scorer interface {
	// Score returns the score of the word in a document of the given length with term frequency tf.
	// It is never negative.
	Score(tf, length uint32) float32
	// Bound returns an upper bound on the score of every posting that b covers.
	Bound(b index.Bound) float32
	// Batch scores a block of postings: out[i] belongs to docs[i].
	Batch(docs, tfs []uint32, out []float32)
}

// Rises reports whether the score never decreases with the term frequency for a fixed length. That
// of DPH may decrease, and that of a model of one's own. Bounds hold in all cases.
func Rises(s Scorer) bool {
	switch s := s.(type) {
	case *DPHScorer:
		return false
	case *OwnScorer:
		return s.monotonic
	}
	return true
}

// models are the models with default parameters, and a few words on each for help.
var models = []struct {
	Model
	help string
}{
	{BM25{}, "Okapi BM25"},
	{Boolean{}, "no ranking"},
	{Cosine{}, "TF-IDF vectors"},
	{Dirichlet{}, "query likelihood"},
	{DPH{}, "divergence from randomness"},
	{Impact{}, "dot product of weights"},
	{BM25F{}, "BM25 over text fields"},
}

// NameOf returns the name of a model without its parameters.
func NameOf(m Model) string {
	name, _, _ := strings.Cut(m.String(), "(")
	return strings.TrimSpace(name)
}

// ParseModel returns the model of a name, with default parameters.
func ParseModel(name string) (Model, error) {
	for _, m := range models {
		if NameOf(m) == name {
			return m.Model, nil
		}
	}
	return nil, fmt.Errorf("unknown model %q: want %s, or bm25f for an index with fields", name,
		strings.Join(Models(), ", "))
}

// Models lists the names that ParseModel accepts, except bm25f, which needs an index with fields.
func Models() (names []string) {
	for _, m := range models {
		if name := NameOf(m); name != "bm25f" {
			names = append(names, name)
		}
	}
	return names
}

// Help returns a few words on the model of a name, or "" if there is none.
func Help(name string) string {
	for _, m := range models {
		if NameOf(m) == name {
			return m.help
		}
	}
	return ""
}

// boundOfPairs returns the bound of a model whose score never decreases with tf and never increases
// with the length, except for rounding in the last places: the bound is raised by a small margin.
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

// LengthOf returns the length of a document. It reads the length class if that determines the
// length, since classes take less memory.
func (c *Collection) LengthOf(doc uint32) uint32 {
	if c.Classes != nil {
		return c.ClassLength[c.Classes[doc]]
	}
	return c.Lengths[doc]
}

// AskLength prefetches what LengthOf reads.
func (c *Collection) AskLength(doc uint32) {
	if c.Classes != nil {
		simd.PrefetchLine(unsafe.Pointer(&c.Classes[doc]))
	} else {
		simd.PrefetchLine(unsafe.Pointer(&c.Lengths[doc]))
	}
}

// Term is a query word that the index has.
type Term struct {
	Text   string
	Weight float64
	Info   index.Term
	// DF and CF are the counts in all segments, if the index is one of several; 0 means those of
	// Info. Scores use them.
	DF, CF uint64
	// Scored is the BM25 term computed from them, the same in all segments; nil if not computed.
	Scored *bm25.Term
	// LowX is a lower bound on the x of the list's postings, if the index stores x for the model
	// and the bound is known before the list is opened; else 0.
	LowX float32
}

// AllDF returns the document frequency in all segments.
func (t *Term) AllDF() uint64 {
	if t.DF != 0 {
		return t.DF
	}
	return uint64(t.Info.FullDF())
}

// AllCF returns the collection frequency in all segments.
func (t *Term) AllCF() uint64 {
	if t.DF != 0 {
		return t.CF
	}
	return t.Info.CF
}

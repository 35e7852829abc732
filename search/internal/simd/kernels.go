package simd

import (
	"math"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
)

// The inner loops of scoring and filtering have several versions: plain Go, which defines them, and
// assembly for each level of vector instructions. Documents come from decoded blocks, which
// guarantee that they are below the number of documents even if the file is damaged. So the
// assembly never reads a length out of bounds.

// Kernel is the part of a model.BM25Scorer that the kernels read. The assembly depends on the
// offsets of its fields.
type Kernel struct {
	A, B, Weight, Plus float32
	Reciprocals        *[32]float32
	Classes            *uint8   // of each document, or nil
	OfClass            *float32 // a + b*length of each class
	LastFour           uint32   // the fourth-last document
}

var SmallReciprocals = func() (r [32]float32) {
	for tf := range r {
		r[tf] = bm25.Reciprocal(uint32(tf))
	}
	return r
}()

const (
	NumLevels  = index.NumLevels
	NumBuckets = 16 // of documents by length
)

// KernelSlack is the number of elements beyond the last result that kernels may overwrite.
const KernelSlack = 16

// Floor32 returns the largest float32 that is not above x: a float32 exceeds it if and only if it
// exceeds x.
func Floor32(x float64) float32 {
	f := float32(x)
	if float64(f) > x {
		f = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return f
}

// Locate finds which of the increasing docs, up to last, are in a block. For each document found,
// at has its index in docs and places its index in the block; both need room for one more element
// than docs. Locate returns the number of documents found and the number looked for. The block must
// be a decoded one, with room for BlockSize documents and End after its last.
//
// Tried twice, and slower in queries: a table of the block's positions by document, in which
// documents are looked up 16 at a time. In isolation it takes half the time, but a gather stalls on
// values just stored, and the table displaces other data from the cache.
func Locate(block, docs []uint32, last uint32, at, places []uint32) (found, used int) {
	if len(block) == 0 || len(docs) == 0 {
		return 0, len(docs)
	}
	if HasWideKernels && cap(block) >= index.BlockSize && len(at) > len(docs) &&
		len(places) > len(docs) {
		return locate(&block[0], &docs[0], len(docs), last, &at[0], &places[0])
	}
	return PlainLocate(block, docs, last, at, places)
}

func PlainLocate(block, docs []uint32, last uint32, at, places []uint32) (found, used int) {
	p := 0
	for i, d := range docs {
		if d > last {
			return found, i
		}
		for p < len(block) && block[p] < d {
			p++
		}
		if p == len(block) {
			continue
		}
		at[found], places[found] = uint32(i), uint32(p)
		if block[p] == d {
			found++
		}
	}
	return found, len(docs)
}

// Candidate is a document with its partial sum of scores: the document in the upper half, so that
// candidates sort by document, and the bits of the sum in the lower.
type Candidate uint64

func MakeCandidate(doc uint32, sum float32) Candidate {
	return Candidate(doc)<<32 | Candidate(math.Float32bits(sum))
}

func (c Candidate) Doc() uint32 { return uint32(c >> 32) }

func (c Candidate) Sum() float32 { return math.Float32frombits(uint32(c)) }

const SignBit = 1 << 31

// LevelSieve holds the parameters of SiftLevels. The assembly depends on the offsets of its fields.
type LevelSieve struct {
	Maps        **uint8             // level maps of all lists but the first
	Scores      *[NumLevels]float32 // scores of the levels of these lists
	N           int                 // their number
	Halves      *uint8              // buckets of documents by length
	K           *[NumBuckets]float32
	Reciprocals *[32]float32
	// Best has the first list's score by term frequency in the shortest document; the last entry is
	// for all higher frequencies.
	Best         *[32]float32
	Weight, Plus float32 // of the first list
	Cut          float32 // the threshold to exceed
}

package simd

import (
	"math"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
)

// The inner loops of scoring and choosing have several forms: plain Go, which defines them, and
// assembly for each level of vector instructions. Documents come from decoded blocks, which are
// below the number of documents whatever the file holds, so that the assembly looks up no length
// that is not there.

// Kernel is what the kernels know of a model.BM25Scorer. They know where each field is.
type Kernel struct {
	A, B, Weight, Plus float32
	Reciprocals        *[32]float32
	Classes            *uint8   // of each document, or nil
	OfClass            *float32 // a + b*length of each class
	LastFour           uint32   // the document before the last three
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

// KernelSlack is how far beyond the last result kernels may write.
const KernelSlack = 16

// Floor32 is the largest float32 that is not above x, so that a float32 is above the one if it is
// above the other.
func Floor32(x float64) float32 {
	f := float32(x)
	if float64(f) > x {
		f = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return f
}

// Locate finds those of the rising docs, up to last, that a block holds: at says which, and places
// where, with room for one more than are found. It says how many it found, and how many it looked
// for. The block is a decoded one, with room for BlockSize documents and End behind its last.
//
// Tried twice and slower in queries: a table of the block's places by document, in which documents
// are looked up 16 at a time. On its own it takes half the time, but what was just stored cannot be
// gathered at once, and it takes cache from the rest.
func Locate(block, docs []uint32, last uint32, at, places []uint32) (found, used int) {
	if len(block) == 0 || len(docs) == 0 {
		return 0, len(docs)
	}
	if HasWideKernels && cap(block) >= index.BlockSize && len(at) > len(docs) && len(places) > len(docs) {
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

// Candidate is a document with what was added up for it: the document in the upper half, so that
// candidates sort by document, and the bits of the sum in the lower.
type Candidate uint64

func MakeCandidate(doc uint32, sum float32) Candidate {
	return Candidate(doc)<<32 | Candidate(math.Float32bits(sum))
}

func (c Candidate) Doc() uint32 { return uint32(c >> 32) }

func (c Candidate) Sum() float32 { return math.Float32frombits(uint32(c)) }

const SignBit = 1 << 31

// LevelSieve is what SiftLevels knows. It knows where each field is.
type LevelSieve struct {
	Maps        **uint8             // of the lists but the first
	Scores      *[NumLevels]float32 // the same lists'
	N           int                 // their number
	Halves      *uint8              // buckets of documents by length
	K           *[NumBuckets]float32
	Reciprocals *[32]float32
	// the first list's score by frequency in the shortest document; the last is for any higher
	// frequency
	Best         *[32]float32
	Weight, Plus float32 // of the first list
	Cut          float32 // what must be beaten
}

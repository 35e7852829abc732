package cooccur

import "math"

// sampler decides which occurrences of frequent words are kept; see Options.Subsample.
type sampler struct {
	seed uint64
	stay []uint64 // by ID: an occurrence is kept if its random number is at most this
}

func newSampler(v *Vocabulary, t float64, seed uint64) *sampler {
	s := &sampler{seed: seed, stay: make([]uint64, v.Len())}
	total := float64(v.Total())
	for id := range s.stay {
		s.stay[id] = math.MaxUint64
		f := float64(v.Count(id)) / total
		if p := math.Sqrt(t/f) + t/f; p < 1 {
			s.stay[id] = uint64(p * (1 << 63) * 2)
		}
	}
	return s
}

// document returns the random seed of a document, given its position in the corpus.
func (s *sampler) document(batch, doc int) uint64 {
	return mix(mix(s.seed^0x243f6a8885a308d3)+uint64(batch)) + uint64(doc)*0x9e3779b97f4a7c15
}

// keeps reports whether the n-th in-vocabulary word of a document is kept. The argument document is
// the result of the method document.
func (s *sampler) keeps(document uint64, n int, id uint32) bool {
	return mix(document+mix(uint64(n))) <= s.stay[id]
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

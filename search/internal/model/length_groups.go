package model

import (
	"slices"
	"sync"

	"github.com/collocate/collocate/search/internal/simd"
)

// lengthGroups is the distribution of document lengths, estimated from a sample.
type lengthGroups struct {
	once   sync.Once
	groups []lengthGroup
}

type lengthGroup struct {
	Share    float64 // of all documents
	Length   uint32  // mean length
	Relative float64 // mean length relative to that of all documents
}

// Of computes the groups on first use. They have the bounds of the buckets, which are finest for
// the shortest documents, since these score highest.
func (g *lengthGroups) Of(lengths []uint32) []lengthGroup {
	g.once.Do(func() {
		var sample []uint32
		for i := 0; i < len(lengths); i += max(len(lengths)/guessSample, 1) {
			sample = append(sample, lengths[i])
		}
		slices.Sort(sample)
		all, from := max(meanOf(sample), 1e-9), 0
		for i := range simd.NumBuckets {
			to := len(sample)
			if i < len(bucketEnds) {
				to = bucketEnds[i] * len(sample) / 1000
			}
			if to > from {
				mean := meanOf(sample[from:to])
				g.groups = append(g.groups,
					lengthGroup{float64(to-from) / float64(len(sample)), uint32(mean + 0.5),
						mean / all})
				from = to
			}
		}
	})
	return g.groups
}

func meanOf(v []uint32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x)
	}
	return sum / float64(max(len(v), 1))
}

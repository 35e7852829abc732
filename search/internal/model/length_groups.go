package model

import (
	"slices"
	"sync"

	"github.com/collocate/collocate/search/internal/simd"
)

// lengthGroups is documents by length, as a sample of them tells.
type lengthGroups struct {
	once   sync.Once
	groups []lengthGroup
}

type lengthGroup struct {
	Share    float64 // of all documents
	Length   uint32  // on the average
	Relative float64 // to that of all documents
}

// Of makes the groups when they are asked for first: those of buckets, for the shortest documents
// win.
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

package trec

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/collocate/collocate/internal/choice"
)

// Fusion is a way to make one run of several. An answer's score is the weighted sum of what each
// run gives it; rank counts from 1, and a run gives nothing to answers that it lacks.
type Fusion int

const (
	// RRF is reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): 1 / (K + rank).
	RRF Fusion = iota
	// CombSUM (Fox and Shaw 1994) is the score, scaled so that those of a topic in a run are
	// between 0 and 1; if all are equal, each is 1.
	CombSUM
	// CombMNZ is the sum of CombSUM times the number of runs that have the answer.
	CombMNZ
	// ZScore (Savoy 2004) is the distance to the lowest score of the topic in the run, in standard
	// deviations; 0 if all are equal.
	ZScore
	// Borda (Aslam and Montague 2001): of the n answers that any run has for a topic, the first of
	// a run gets n points, the second n-1, and so on; those that it lacks share the rest equally.
	Borda
)

var fusionNames = choice.New[Fusion]("fusion", "rrf", "combsum", "combmnz", "zscore", "borda")

// Fusions lists the names.
func Fusions() []string { return fusionNames.List() }

func (f Fusion) String() string { return fusionNames.Of(f) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (f Fusion) MarshalText() ([]byte, error) { return fusionNames.Text(f) }

// UnmarshalText is the inverse of MarshalText.
func (f *Fusion) UnmarshalText(name []byte) error { return fusionNames.Set(f, string(name)) }

// FuseOptions are the options of Fuse.
type FuseOptions struct {
	By      Fusion    // the zero value is RRF
	K       float64   // the constant of RRF; 0 means 60
	Weights []float64 // of the runs; nil means 1 for each
	Depth   int       // use only this many answers of each topic of a run; 0 means all
	Top     int       // keep only this many answers of each topic; 0 means all
	Tag     string    // of the fused run
}

// Fuse makes one run of several. Answers with the same score are in trec_eval's order: descending
// by ID. Which of them are equal does not depend on the order of the runs, since what the runs give
// is added from the smallest to the largest.
func Fuse(runs []*Run, o FuseOptions) (*Run, error) {
	if o.K == 0 {
		o.K = 60
	}
	switch {
	case len(runs) < 2:
		return nil, fmt.Errorf("fuse %d runs: want at least two", len(runs))
	case o.Weights != nil && len(o.Weights) != len(runs):
		return nil, fmt.Errorf("%d weights of %d runs: want one for each", len(o.Weights), len(runs))
	case !(o.K > 0) || math.IsInf(o.K, 1):
		return nil, fmt.Errorf("the constant %v of rrf: want a positive number", o.K)
	case o.Depth < 0 || o.Top < 0:
		return nil, errors.New("a depth or a number of answers is negative")
	}
	weight := func(run int) float64 {
		if o.Weights == nil {
			return 1
		}
		return o.Weights[run]
	}
	topics := map[string]struct{}{}
	for i, run := range runs {
		if w := weight(i); !(w >= 0) || math.IsInf(w, 1) {
			return nil, fmt.Errorf("weight %v: want 0 or more", w)
		}
		for topic := range run.Topics {
			topics[topic] = struct{}{}
		}
	}
	fused := &Run{Tag: o.Tag, Topics: make(map[string][]Result, len(topics))}
	for topic := range topics {
		gives := map[string][]float64{} // by document
		lists := make([][]Result, len(runs))
		for i, run := range runs {
			lists[i] = run.Topics[topic]
			if o.Depth > 0 {
				lists[i] = lists[i][:min(o.Depth, len(lists[i]))]
			}
			for _, r := range lists[i] {
				gives[r.Doc] = nil
			}
		}
		for i, list := range lists {
			points := o.points(list, len(gives))
			for k, r := range list {
				gives[r.Doc] = append(gives[r.Doc], weight(i)*points[k])
			}
			if o.By == Borda {
				rest := weight(i) * float64(len(gives)-len(list)+1) / 2
				for _, doc := range lacking(gives, list) {
					gives[doc] = append(gives[doc], rest)
				}
			}
		}
		fused.Topics[topic] = ranked(gives, o)
	}
	return fused, nil
}

// points returns what a run gives to each of its answers to a topic, for which all runs together
// have n answers.
func (o *FuseOptions) points(list []Result, n int) []float64 {
	points := make([]float64, len(list))
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range list {
		low, high = min(low, r.Score), max(high, r.Score)
	}
	unit := high - low // of scores
	if o.By == ZScore {
		unit = deviation(list)
	}
	for i, r := range list {
		switch {
		case o.By == RRF:
			points[i] = 1 / (o.K + float64(i+1))
		case o.By == Borda:
			points[i] = float64(n - i)
		case unit > 0:
			points[i] = (r.Score - low) / unit
		case o.By != ZScore:
			points[i] = 1
		}
	}
	return points
}

// deviation returns the standard deviation of scores.
func deviation(list []Result) float64 {
	mean, sum := 0.0, 0.0
	for _, r := range list {
		mean += r.Score / float64(len(list))
	}
	for _, r := range list {
		sum += (r.Score - mean) * (r.Score - mean)
	}
	return math.Sqrt(sum / float64(len(list)))
}

// lacking returns the documents that are not in a list.
func lacking(all map[string][]float64, list []Result) (docs []string) {
	has := make(map[string]bool, len(list))
	for _, r := range list {
		has[r.Doc] = true
	}
	for doc := range maps.Keys(all) {
		if !has[doc] {
			docs = append(docs, doc)
		}
	}
	return docs
}

// ranked adds up what the runs give, and sorts the answers.
func ranked(gives map[string][]float64, o FuseOptions) []Result {
	list := make([]Result, 0, len(gives))
	for doc, parts := range gives {
		slices.Sort(parts)
		r := Result{Doc: doc}
		for _, x := range parts {
			r.Score += x
		}
		if o.By == CombMNZ {
			r.Score *= float64(len(parts))
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Result) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Doc, a.Doc))
	})
	if o.Top > 0 {
		list = list[:min(o.Top, len(list))]
	}
	return list
}

// Write writes the run, topics in byte order. Scores that are not below the one before are lowered
// to the next smaller float32, as AppendTopic does.
func (r *Run) Write(w *RunWriter) error {
	for _, topic := range slices.Sorted(maps.Keys(r.Topics)) {
		list := r.Topics[topic]
		err := w.Topic(topic, len(list), func(i int) (string, float32) { return list[i].Doc, float32(list[i].Score) })
		if err != nil {
			return fmt.Errorf("topic %s: %w", topic, err)
		}
	}
	return w.Flush()
}

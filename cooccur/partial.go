package cooccur

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
)

// A corpus may be counted in parts, on several machines. Word counts can be added, and so can sums
// of weights as long as they are whole numbers of units. A partial matrix holds these sums instead
// of values.

// Units returns the number of units in 1, by which the sums of Partial must be divided. It returns
// an error for weights by distance in windows of more than 18 words, which have no such unit.
func Units(opt Options) (one float64, err error) {
	j, err := partialJob(new(Vocabulary), opt)
	if err != nil {
		return 0, err
	}
	return j.one, nil
}

func partialJob(v *Vocabulary, opt Options) (*job, error) {
	j, err := newJob(v, opt)
	switch {
	case err != nil:
		return nil, err
	case j.wide:
		return nil, fmt.Errorf("window of %d words, weighted by distance: want at most %d for a matrix made in parts, or weighting by count",
			opt.Window, lcmWindow)
	case opt.Subsample > 0:
		return nil, errors.New("subsampling needs the position of a word in the whole corpus, which its parts do not know")
	}
	return j, nil
}

// Partial is like Matrix for a part of a corpus: the values are integers below 2^53, in Units, so
// that parts can be added exactly. It runs on CPU cores, whatever the engine.
func Partial(ctx context.Context, corpus *text.Corpus, v *Vocabulary, opt Options, sink Sink) (Stats, error) {
	if err := given.Context(ctx); err != nil {
		return Stats{}, err
	}
	opt.Engine = engine.Multicore
	opt.Method = Ours
	j, err := partialJob(v, opt)
	if err != nil {
		return Stats{}, err
	}
	j.one = 1
	return j.onCores(ctx, corpus, engine.Multicore, wholeNumbers{sink})
}

// wholeNumbers is a sink that rejects sums that a float64 cannot represent exactly.
type wholeNumbers struct{ Sink }

func (s wholeNumbers) Rows(r *Rows) error {
	for _, x := range r.Values {
		if x >= 1<<53 {
			return fmt.Errorf("a sum of %g units: want sums below 2^53 in a part of the corpus: make parts smaller", x)
		}
	}
	return s.Sink.Rows(r)
}

// CountsOf makes a vocabulary from words with counts, such as those of the parts of a corpus. The
// counts of a word that occurs several times are added up. It runs on CPU cores, whatever the
// engine, on one if that is Sequential.
func CountsOf(counts iter.Seq2[[]byte, uint64], opt VocabularyOptions) (*Vocabulary, VocabularyStats, error) {
	c := &counter{opt: opt, workers: []countWorker{{words: newLexicon(0, 0)}}, budget: opt.Memory}
	if c.budget <= 0 {
		c.budget = defaultMemory
	}
	threads := opt.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	if opt.Engine == engine.Sequential {
		threads = 1
	} else {
		c.opt.Engine = engine.Multicore
	}
	w := &c.workers[0]
	n := 0
	for word, count := range counts {
		if len(word) == 0 {
			return nil, VocabularyStats{}, errors.New("an empty word")
		}
		at := w.words.at(keyOf(word, 0, len(word)), word)
		if *at > math.MaxInt64-min(count, math.MaxInt64) {
			return nil, VocabularyStats{}, fmt.Errorf("word %q occurs too often", shorten(word))
		}
		*at += count
		w.total += int64(count)
		if n++; n%4096 == 0 {
			if err := c.checkMemory(w); err != nil {
				return nil, VocabularyStats{}, err
			}
		}
	}
	return c.finish(threads)
}

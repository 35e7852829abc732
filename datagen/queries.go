package datagen

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"

	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/given"
)

// QueryClass selects the words of queries.
type QueryClass int

const (
	// Mixed imitates the log of a web search engine: queries of 1 to 10 words; words that are
	// frequent in documents are also frequent in queries, except for the most frequent; popular
	// queries recur.
	Mixed QueryClass = iota
	// Short and the next three choose words by the length of their postings lists. The classes are
	// those of the retrieval thesis, as shares of its 50.2 million documents.
	Short
	Medium // words in about one of 105 documents
	Long   // words in about one of 49 documents
	Extra  // words in about one of 9 documents
)

var classNames = choice.New[QueryClass]("class of queries", "mixed", "short", "medium", "long",
	"extra")

// classShares are the thesis' mean numbers of postings per list, divided by its number of
// documents.
var classShares = [...]float64{0, 89_615 / 50.2e6, 476_771 / 50.2e6, 1_032_795 / 50.2e6,
	5_494_285 / 50.2e6}

// The logarithms of the lengths of a class's lists are uniformly distributed, from the middle
// divided by classSpread to the middle times classSpread. The mean is spreadMean times the middle.
const classSpread = 1.5

var spreadMean = (classSpread - 1/classSpread) / (2 * math.Log(classSpread))

func (c QueryClass) String() string { return classNames.Of(c) }

// MarshalText returns the name of the class, which JSON has too.
func (c QueryClass) MarshalText() ([]byte, error) { return classNames.Text(c) }

// UnmarshalText is the inverse of MarshalText.
func (c *QueryClass) UnmarshalText(name []byte) error { return classNames.Set(c, string(name)) }

// QueryOptions are the options of Queries.
type QueryOptions struct {
	Count int64      // number of queries; 0 means 500, as in the thesis
	Class QueryClass // the words to choose; the zero value is Mixed
	Terms int        // words per query; 0 means 2, or 1 to 10 in a mixed log

	// Vocabulary lists the words to choose from; nil means those of Law. If Docs is set, counts are
	// the numbers of documents, out of Docs, that contain the word. Otherwise they are numbers of
	// occurrences, from which the numbers of documents are estimated.
	Vocabulary []WordCount
	// Docs is the number of documents of the collection that Vocabulary was counted in; 0 means
	// that its counts are of occurrences. It must be 0 without a Vocabulary.
	Docs int64

	// Law is the distribution of words in the text, as in TextOptions; the zero value means Web.
	Law Law
	// Mu and Sigma are the parameters of the lognormal distribution of the lengths of documents, as
	// in TextOptions. Both 0: 6.0 and 1.1.
	Mu, Sigma float64

	Seed    uint64 // of the random numbers: the same options and seed give the same queries
	Threads int    // 0 means all cores; the queries are the same for any number
}

// queryLengths is the number of queries with 1, 2, ... words among 1000 of a log. Their mean is
// 2.9: plausible for web queries, but not fitted to a log.
var queryLengths = [10]uint64{200, 300, 220, 130, 70, 40, 20, 10, 6, 4}

// popularity is the law by which queries recur: of twenty thousand lines a share of 0.85 are
// distinct, of a million 0.63.
var popularity = Law{Head: 0.85, Shift: 3, Knee: 1e5, Tail: 1.1}

const (
	queryWords = 1 << 17 // words of a law that queries choose from
	// A word in more than a share stopShare of documents is a stop word. It is less likely in
	// queries by a factor of stopFactor.
	stopShare, stopFactor = 0.2, 0.125
	// popularWords is an exponent: the probability of a word in queries of a log is proportional
	// to this power of its share of documents.
	popularWords   = 0.8
	queriesInShard = 4096
)

// Queries writes one query per line: its number, counted from 1, a tab, and its words, separated by
// blanks.
func Queries(ctx context.Context, w io.Writer, opts QueryOptions) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	q, err := newQueries(opts)
	if err != nil {
		return fmt.Errorf("generate queries: %w", err)
	}
	shards := (q.count + queriesInShard - 1) / queriesInShard
	err = writeShards(ctx, w, q.threads, shards, func(buf []byte, shard int64) []byte {
		lo := shard * queriesInShard
		for i := lo; i < min(lo+queriesInShard, q.count); i++ {
			buf = strconv.AppendInt(buf, i+1, 10)
			sep := byte('\t')
			for _, word := range q.query(i) {
				buf = append(append(buf, sep), q.words.word(word)...)
				sep = ' '
			}
			buf = append(buf, '\n')
		}
		return buf
	}, func(data []byte) ([]byte, bool) { return data, true })
	if err != nil {
		return fmt.Errorf("generate queries: %w", err)
	}
	return nil
}

type queries struct {
	words   *vocabulary
	count   int64
	threads int
	seed    uint64
	terms   int
	class   QueryClass
	lo, hi  int // range of the words of the class

	popular *sampler // draws queries of a mixed log
	cum     []uint64 // cumulative popularity of words
}

func newQueries(o QueryOptions) (*queries, error) {
	if o.Count < 0 || o.Terms < 0 || o.Terms > 100 || o.Class < 0 ||
		int(o.Class) >= len(classShares) {
		return nil, &OptionError{fmt.Errorf("%d queries of class %v with %d words: want numbers of 0 or more, and at most 100 words", o.Count, o.Class, o.Terms)}
	}
	q := &queries{count: o.Count, threads: o.Threads, seed: o.Seed, terms: o.Terms, class: o.Class}
	if q.count == 0 {
		q.count = 500
	}
	if q.threads <= 0 {
		q.threads = runtime.GOMAXPROCS(0)
	}
	var err error
	if q.words, err = newVocabulary(o); err != nil {
		return nil, err
	}
	if q.class == Mixed {
		return q, q.prepareLog()
	}
	return q, q.prepareClass()
}

// query returns the distinct words of line i.
func (q *queries) query(i int64) []int {
	if q.class != Mixed {
		rng := rand.New(stream(q.seed, forQueries, uint64(i)))
		return q.distinct(q.terms, func() int { return q.inClass(rng) }, q.lo, q.hi)
	}
	which := q.popular.draw(stream(q.seed, forPopularity, uint64(i)))
	rng := rand.New(stream(q.seed, forQueries, uint64(which)))
	n := q.terms
	if n == 0 {
		n = queryLength(rng.Uint64N(1000))
	}
	return q.distinct(n, func() int { return q.byPopularity(rng) }, 0, len(q.words.share))
}

// queryLength returns the number of words of the u-th of 1000 queries.
func queryLength(u uint64) int {
	for i, share := range queryLengths {
		if u < share {
			return i + 1
		}
		u -= share
	}
	return len(queryLengths)
}

// distinct draws n distinct words. If most draws repeat words, it stops and adds the first other
// words of [lo, hi).
func (q *queries) distinct(n int, draw func() int, lo, hi int) []int {
	n = min(n, hi-lo)
	words := make([]int, 0, n)
	for tries := 0; len(words) < n && tries < 64*n; tries++ {
		if w := draw(); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	for w := lo; len(words) < n; w++ {
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

// prepareClass finds the words whose lists are within a factor of two of the class's length.
func (q *queries) prepareClass() error {
	if q.terms == 0 {
		q.terms = 2
	}
	want := classShares[q.class]
	q.lo = q.words.firstBelow(want * 2)
	q.hi = q.words.firstBelow(want / 2)
	if q.hi-q.lo < q.terms {
		return fmt.Errorf("class %v needs %d words that occur in a share of %.2g to %.2g of the documents, but the vocabulary has %d",
			q.class, q.terms, want/2, want*2, q.hi-q.lo)
	}
	return nil
}

// inClass draws a length, and returns a word whose list has nearly that length.
func (q *queries) inClass(rng *rand.Rand) int {
	want := classShares[q.class] / spreadMean * math.Pow(classSpread, 2*rng.Float64()-1)
	share := q.words.share
	w := min(max(q.words.firstBelow(want), q.lo), q.hi-1)
	if w > q.lo && share[w-1]/want < want/share[w] {
		w--
	}
	// Choose among the words with the same share.
	lo := q.words.firstBelow(math.Nextafter(share[w], math.Inf(1)))
	hi := q.words.firstBelow(share[w])
	return lo + rng.IntN(hi-lo)
}

// prepareLog computes the cumulative popularity of words, in integers.
func (q *queries) prepareLog() error {
	q.popular = newSampler(popularity)
	q.cum = make([]uint64, len(q.words.share))
	total := uint64(0)
	for i, s := range q.words.share {
		weight := math.Pow(s, popularWords)
		if s > stopShare {
			weight *= stopFactor
		}
		total += uint64(math.Round(math.Ldexp(weight, 40))) + 1
		q.cum[i] = total
	}
	return nil
}

func (q *queries) byPopularity(rng *rand.Rand) int {
	at, _ := bits.Mul64(rng.Uint64(), q.cum[len(q.cum)-1])
	w, _ := slices.BinarySearch(q.cum, at+1)
	return w
}

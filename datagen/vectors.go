package datagen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"

	"github.com/collocate/collocate/internal/given"
)

// VectorOptions are the options of Vectors.
type VectorOptions struct {
	Count   int64 // number of vectors; 0 means 1000
	Queries bool  // make queries of the documents with the same seed
	// Sorted makes neighbours of the documents that share their first topic, as they are in a
	// collection that was ordered by similarity.
	Sorted  bool
	Entries int // tokens of a vector, on average; 0 means 119, or 43 of a query
	Tokens  int // size of the vocabulary; 0 means 30,522
	Topics  int // 0 means 1,000

	Seed    uint64 // of the random numbers: the same options and seed give the same vectors
	Threads int    // 0 means all cores; the vectors are the same for any number
}

// The shape is that of SPLADE on MS MARCO: the numbers of entries and tokens above, and lognormal
// weights. A vector has two topics. It draws a share topicShare of its tokens from the topicTokens
// of these, so that tokens occur together, and the others from all tokens. Both laws are uniform in
// the logarithm of the rank plus a shift, so a query's lists cover some 4% of the documents.
const (
	topicTokens    = 400
	topicShare     = 0.75
	tokenShift     = 60
	topicShift     = 400 // of the tokens of topics among all tokens
	placeShift     = 40  // of the tokens drawn among those of a topic
	entriesSpread  = 0.35
	weightMu       = 3.7 // the median weight is 40
	weightSigma    = 0.7
	strongest      = 1.8 // factor of the weight of a topic's first token; of the last it is 1
	mostWeight     = 255
	mostEntries    = 4 // times the mean
	vectorsInShard = 256
	mostTokens     = 1 << 24
)

// Vectors writes vectors of weighted tokens, as those of learned sparse retrieval. Documents are
// JSON lines of Anserini's form, {"id":"d1","vector":{"token":weight}}. Queries are lines of a
// number, a tab and the object.
func Vectors(ctx context.Context, w io.Writer, o VectorOptions) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	v, err := newVectorMaker(o)
	if err != nil {
		return fmt.Errorf("generate vectors: %w", err)
	}
	shards := (v.o.Count + vectorsInShard - 1) / vectorsInShard
	err = writeShards(ctx, w, v.o.Threads, shards, func(buf []byte, shard int64) []byte {
		lo := shard * vectorsInShard
		has := make([]int64, v.o.Tokens) // the vector that has a token last, from 1
		for i := lo; i < min(lo+vectorsInShard, v.o.Count); i++ {
			buf = v.append(buf, i, has)
		}
		return buf
	}, func(data []byte) ([]byte, bool) { return data, true })
	if err != nil {
		return fmt.Errorf("generate vectors: %w", err)
	}
	return nil
}

type vectorMaker struct {
	o      VectorOptions
	words  *lexicon
	topics [][]int32 // tokens of each
	mu     float64   // of the number of entries
}

func newVectorMaker(o VectorOptions) (*vectorMaker, error) {
	if o.Count < 0 || o.Entries < 0 || o.Tokens < 0 || o.Topics < 0 {
		return nil, &OptionError{errors.New("numbers of vectors, entries, tokens and topics: want 0 or more")}
	}
	orElse := func(n *int, usual int) {
		if *n == 0 {
			*n = usual
		}
	}
	if o.Count == 0 {
		o.Count = 1000
	}
	entries := 119
	if o.Queries {
		entries = 43
	}
	orElse(&o.Entries, entries)
	orElse(&o.Tokens, 30_522)
	orElse(&o.Topics, 1_000)
	if o.Tokens > mostTokens || o.Topics > mostTokens/topicTokens {
		return nil, &OptionError{fmt.Errorf("%d tokens, %d topics: want at most %d and %d", o.Tokens,
			o.Topics, mostTokens, mostTokens/topicTokens)}
	}
	if o.Entries*mostEntries*2 > o.Tokens {
		return nil, &OptionError{fmt.Errorf("%d entries of %d tokens: want at least %d times as many tokens",
			o.Entries, o.Tokens, 2*mostEntries)}
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	v := &vectorMaker{o: o, words: shortWords, topics: make([][]int32, o.Topics),
		mu: math.Log(float64(o.Entries)) - entriesSpread*entriesSpread/2}
	for t := range v.topics {
		rng := rand.New(stream(o.Seed, forTopics, uint64(t)))
		for range topicTokens {
			v.topics[t] = append(v.topics[t], int32(logUniform(rng, topicShift, o.Tokens)))
		}
	}
	return v, nil
}

// logUniform draws a rank below n, uniformly in the logarithm of the rank plus the shift.
func logUniform(rng *rand.Rand, shift float64, n int) int {
	x := shift * math.Expm1(rng.Float64()*math.Log1p(float64(n)/shift))
	return min(int(x), n-1)
}

// append appends the line of vector i. has is room for a number per token, of earlier vectors.
func (v *vectorMaker) append(buf []byte, i int64, has []int64) []byte {
	purpose := forVectors
	if v.o.Queries {
		purpose = forVectorQueries
		buf = append(strconv.AppendInt(buf, i+1, 10), '\t')
	} else {
		buf = append(strconv.AppendInt(append(buf, `{"id":"d`...), i+1, 10), `","vector":`...)
	}
	rng := rand.New(stream(v.o.Seed, purpose, uint64(i)))
	n := int(math.Exp(v.mu + float64(entriesSpread*rng.NormFloat64())))
	n = max(1, min(n, mostEntries*v.o.Entries))
	two := [2][]int32{v.topics[rng.IntN(v.o.Topics)], v.topics[rng.IntN(v.o.Topics)]}
	if v.o.Sorted {
		two[0] = v.topics[int(float64(i)/float64(v.o.Count)*float64(v.o.Topics))]
	}
	sep := byte('{')
	for tries := 8 * n; n > 0 && tries > 0; tries-- {
		factor, token := 1.0, 0
		if rng.Float64() < topicShare {
			topic := two[rng.IntN(2)]
			at := logUniform(rng, placeShift, topicTokens)
			token = int(topic[at])
			factor = strongest - float64((strongest-1)*float64(at)/topicTokens)
		} else {
			token = logUniform(rng, tokenShift, v.o.Tokens)
		}
		if has[token] == i+1 {
			continue
		}
		has[token] = i + 1
		n--
		weight := math.Exp(weightMu+float64(weightSigma*rng.NormFloat64())) * factor
		buf = v.words.appendWord(append(buf, sep, '"'), int64(token))
		buf = append(buf, '"', ':')
		buf = strconv.AppendInt(buf, max(1, min(int64(weight), mostWeight)), 10)
		sep = ','
	}
	buf = append(buf, '}')
	if !v.o.Queries {
		buf = append(buf, '}')
	}
	return append(buf, '\n')
}

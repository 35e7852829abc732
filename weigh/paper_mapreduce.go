package weigh

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/text"
)

// mapReduceBytes is the memory of an emitted pair: twice 8 bytes, including the slack of growing
// lists, and its share of the result.
const mapReduceBytes = 32

// mapper is a map worker. Its hash table maps each word to the documents it was emitted with, as
// (batch, position in it), once for each occurrence.
type mapper struct {
	lists         map[string]*[]uint64
	batches       []docBatch
	tokens, bytes int64
	tok           text.Tokens
}

// reduced is a word after reduction.
type reduced struct {
	word      string
	docs, tfs []uint32
	weights   []float32
}

// weighMapReduce is MRP of the papers.
func weighMapReduce(ctx context.Context, j *job) (*Weights, error) {
	mappers := make([]mapper, j.Threads)
	for i := range mappers {
		mappers[i].lists = map[string]*[]uint64{}
	}
	clock := time.Now()
	var steps []Step
	step := func(name string) {
		if j.Profile {
			steps = append(steps, Step{Name: name, Time: time.Since(clock)})
			clock = time.Now()
		}
	}
	err := j.each(ctx, func(worker int, b *text.Batch) error { return mappers[worker].mapBatch(j, b) })
	if err != nil {
		return nil, err
	}
	var list []docBatch
	var tokens, bytes int64
	for i := range mappers {
		m := &mappers[i]
		list = append(list, m.batches...)
		tokens, bytes = tokens+m.tokens, bytes+m.bytes
	}
	docs, err := newDocuments(list, tokens, bytes)
	if err != nil {
		return nil, err
	}
	scorer, err := docs.scorer(j.Params)
	if err != nil {
		return nil, err
	}

	step("map")
	// Shuffle: each reduce worker gets the words of one share of the hash values, and concatenates
	// their lists of all mappers. Then it reduces word by word.
	out := make([][]reduced, j.Threads)
	par.Do(j.Threads, func(worker int) {
		joined := map[string][]uint64{}
		for i := range mappers {
			for word, places := range mappers[i].lists {
				if hashShare(word, j.Threads) == worker {
					joined[word] = append(joined[word], *places...)
				}
			}
		}
		for word, places := range joined {
			if ctx.Err() != nil {
				return
			}
			r := reduce(docs, places)
			r.word = word
			r.weights = docs.score(scorer, len(r.docs), r.docs, r.tfs, nil)
			out[worker] = append(out[worker], r)
		}
		slices.SortFunc(out[worker], func(a, b reduced) int { return strings.Compare(a.word, b.word) })
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	step("reduce")
	merged := mergeReduced(out)
	step("merge")
	return &Weights{docs: docs, scorer: scorer, source: merged, steps: steps}, nil
}

// mapBatch emits (word, document) for every word of every document.
func (m *mapper) mapBatch(j *job, b *text.Batch) error {
	d := newDocBatch(b.Seq, len(b.Docs))
	for i, doc := range b.Docs {
		if err := j.Analyzer.Analyze(doc.Text, &m.tok); err != nil {
			return fmt.Errorf("document %s: %w", doc.ID, err)
		}
		d.add(doc.ID, len(m.tok.Words))
		if err := j.hold(mapReduceBytes * int64(len(m.tok.Words))); err != nil {
			return err
		}
		m.tokens += int64(len(m.tok.Words))
		m.bytes += int64(len(doc.Text))
		place := uint64(b.Seq)<<32 | uint64(i)
		for k := range m.tok.Words {
			word := m.tok.Word(k)
			list := m.lists[string(word)]
			if list == nil {
				list = new([]uint64)
				m.lists[string(word)] = list
			}
			*list = append(*list, place)
		}
	}
	m.batches = append(m.batches, d)
	return nil
}

// reduce sorts the places of a word and counts equal ones.
func reduce(docs *documents, places []uint64) (r reduced) {
	slices.Sort(places)
	for i := 0; i < len(places); {
		k := i
		for k < len(places) && places[k] == places[i] {
			k++
		}
		r.docs = append(r.docs, docs.base[places[i]>>32]+uint32(places[i]))
		r.tfs = append(r.tfs, uint32(k-i))
		i = k
	}
	return r
}

// hashShare returns which of n shares a word belongs to.
func hashShare(word string, n int) int {
	h := uint32(2166136261)
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * 16777619
	}
	return int(h>>8) % n
}

// mergeReduced gathers the sorted results of the reduce workers into one.
func mergeReduced(lists [][]reduced) *arrays {
	var words []string
	a := &arrays{first: []uint32{0}}
	pairs := 0
	for _, l := range lists {
		for _, r := range l {
			pairs += len(r.docs)
		}
	}
	a.docs, a.tfs, a.weights = make([]uint32, 0, pairs), make([]uint32, 0, pairs), make([]float32, 0, pairs)
	for {
		least := -1
		for i, l := range lists {
			if len(l) > 0 && (least < 0 || l[0].word < lists[least][0].word) {
				least = i
			}
		}
		if least < 0 {
			break
		}
		r := lists[least][0]
		lists[least] = lists[least][1:]
		words = append(words, r.word)
		a.docs = append(a.docs, r.docs...)
		a.tfs = append(a.tfs, r.tfs...)
		a.weights = append(a.weights, r.weights...)
		a.first = append(a.first, uint32(len(a.docs)))
	}
	a.word = func(i int) []byte { return []byte(words[i]) }
	return a
}

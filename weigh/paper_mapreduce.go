package weigh

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/text"
)

// mapReduceBytes is the memory of an emitted pair: twice 8 bytes, including the slack of growing
// lists, and its share of the result.
const mapReduceBytes = 32

// reducePartitions is the number of partitions of the words for each thread. More of them even out
// the work, because some words have very long lists.
const reducePartitions = 8

// mapper is a map worker. Its hash table numbers the words; the list of a word has the documents it
// was emitted with, as (batch, position in it), once for each occurrence.
type mapper struct {
	words         *table
	lists         [][]uint64
	batches       []docBatch
	tokens, bytes int64
	tok           text.Tokens
	shuffled      [][]uint32 // by partition: the numbers of its words
}

// weighMapReduce is MRP of the papers, with the steps of Phoenix++: map workers combine pairs in
// hash tables of their own, whose words are partitioned by hash; each reduce task gets one
// partition of all mappers; the results of the tasks are merged in parallel.
func weighMapReduce(ctx context.Context, j *job) (*Weights, error) {
	mappers := make([]mapper, j.Threads)
	for i := range mappers {
		mappers[i].words = newTable()
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
	partitions := j.Threads * reducePartitions
	par.Do(j.Threads, func(worker int) { mappers[worker].shuffle(partitions) })
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
	out := make([]reduced, partitions)
	par.For(j.Threads, partitions, 1, func(_, p, _ int) {
		if ctx.Err() == nil {
			out[p].reduce(mappers, p, docs, scorer)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	step("reduce")
	merged := mergeReduced(j.Threads, out)
	step("merge")
	return &Weights{docs: docs, scorer: scorer, source: merged, steps: steps}, ctx.Err()
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
			id := m.words.number(m.tok.Bytes, m.tok.Words[k])
			if int(id) == len(m.lists) {
				m.lists = append(m.lists, nil)
			}
			m.lists[id] = append(m.lists[id], place)
		}
	}
	m.batches = append(m.batches, d)
	return nil
}

// shuffle assigns each word of the mapper to a partition by its hash, which is the same in all
// mappers.
func (m *mapper) shuffle(partitions int) {
	m.shuffled = make([][]uint32, partitions)
	for id := range uint32(m.words.len()) {
		p := partitionOf(m.words.word(id), partitions)
		m.shuffled[p] = append(m.shuffled[p], id)
	}
}

// partitionOf returns which of n partitions a word belongs to.
func partitionOf(word []byte, n int) int {
	h := uint32(2166136261)
	for _, c := range word {
		h = (h ^ uint32(c)) * 16777619
	}
	return int(uint64(h) * uint64(n) >> 32)
}

// reduced is the result of a reduce task: the weights of the words of a partition. The pairs of
// word i are first[i] to first[i+1].
type reduced struct {
	words     *table
	first     []uint32
	docs, tfs []uint32
	weights   []float32
}

// reduce concatenates the lists of each word of a partition, sorts each list, and counts equal
// documents.
func (r *reduced) reduce(mappers []mapper, partition int, docs *documents, scorer *bm25.Scorer) {
	r.words = newTable()
	var lists [][]uint64
	for i := range mappers {
		m := &mappers[i]
		for _, id := range m.shuffled[partition] {
			word := m.words.word(id)
			joined := int(r.words.number(word, text.Span{End: uint32(len(word))}))
			if joined == len(lists) {
				lists = append(lists, m.lists[id])
			} else {
				lists[joined] = append(lists[joined], m.lists[id]...)
			}
			m.lists[id] = nil
		}
		m.shuffled[partition] = nil
	}
	// The first scan of the lists gives df, and so the size of the result.
	r.first = make([]uint32, 1, len(lists)+1)
	pairs := uint32(0)
	for _, places := range lists {
		sortPlaces(places)
		for i, at := range places {
			if i == 0 || at != places[i-1] {
				pairs++
			}
		}
		r.first = append(r.first, pairs)
	}
	// The second one gives tf and the weights.
	r.docs, r.tfs = make([]uint32, 0, pairs), make([]uint32, 0, pairs)
	r.weights = make([]float32, pairs)
	for i, places := range lists {
		for k, at := range places {
			if k > 0 && at == places[k-1] {
				r.tfs[len(r.tfs)-1]++
				continue
			}
			r.docs = append(r.docs, docs.base[at>>32]+uint32(at))
			r.tfs = append(r.tfs, 1)
		}
		lo, hi := r.first[i], r.first[i+1]
		docs.score(scorer, int(hi-lo), r.docs[lo:hi], r.tfs[lo:hi], r.weights[lo:lo:hi])
	}
}

// sortPlaces sorts the places of a word. A list with one or more places in every document is long,
// and one worker has to sort it alone: radix sort takes linear time.
func sortPlaces(places []uint64) {
	if slices.IsSorted(places) {
		return
	}
	if len(places) < 1<<12 {
		slices.Sort(places)
		return
	}
	par.RadixSort(1, places, nil, 0, 64)
}

// mergeReduced gathers the results of the reduce tasks into one list, in byte order of the words.
func mergeReduced(threads int, tasks []reduced) *arrays {
	type wordOf struct {
		word     []byte
		task, id uint32
	}
	from := make([]int, len(tasks)+1) // index of each task's first word
	for i := range tasks {
		from[i+1] = from[i] + tasks[i].words.len()
	}
	words := make([]wordOf, from[len(tasks)])
	par.For(threads, len(tasks), 1, func(_, i, _ int) {
		for id := range uint32(tasks[i].words.len()) {
			words[from[i]+int(id)] = wordOf{tasks[i].words.word(id), uint32(i), id}
		}
	})
	par.MergeSort(threads, words, nil, func(a, b wordOf) bool { return bytes.Compare(a.word, b.word) < 0 })
	a := &arrays{word: func(i int) []byte { return words[i].word }, first: make([]uint32, len(words)+1)}
	pairs := uint32(0)
	for i, w := range words {
		a.first[i] = pairs
		pairs += tasks[w.task].first[w.id+1] - tasks[w.task].first[w.id]
	}
	a.first[len(words)] = pairs
	a.docs, a.tfs, a.weights = make([]uint32, pairs), make([]uint32, pairs), make([]float32, pairs)
	// Lists differ in length by orders of magnitude, so few words make a chunk.
	const chunk = 64
	par.For(threads, len(words), chunk, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			r, id, at := &tasks[words[i].task], words[i].id, a.first[i]
			begin, end := r.first[id], r.first[id+1]
			copy(a.docs[at:], r.docs[begin:end])
			copy(a.tfs[at:], r.tfs[begin:end])
			copy(a.weights[at:], r.weights[begin:end])
		}
	})
	return a
}

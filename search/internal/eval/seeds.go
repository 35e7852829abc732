package eval

import (
	"slices"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/simd"
	"github.com/collocate/collocate/search/internal/topk"
)

// seeds finds a floor for a query of many words. The rarest words give the highest scores and have
// few postings. So the scores of the rarest words are added up, and the documents with the highest
// sums are the candidates. These are looked up in all lists, and the k-th best score is the floor.
//
// Without it nearly every posting is scored before the best documents are found, by each core in
// its own range. On eLife paragraphs, 50 words of a paragraph, 10 answers, the floor is 0.83 to 1
// of the last threshold.
type seeds struct {
	// A hash table of documents with their sums over the rarest words. Of two documents with the
	// same slot the one with the higher score stays.
	slots  [seedSlots]simd.Candidate
	order  []*list // the shortest first
	best   topk.Heap
	docs   []uint32  // candidates, rising
	sums   []float32 // their scores
	visits []visit
	block  [index.BlockSize]uint32
	tfs    [index.BlockSize]uint32
	scores [index.BlockSize]float32
	ranks  [index.MaxWords]uint8
	at     [mostSeeds + 1]uint32 // places in docs of the candidates that a list has
	places [mostSeeds + 1]uint32 // their places in the block
	found  [mostSeeds]uint32     // their documents
	hasTFs [mostSeeds]uint32     // their frequencies
	has    [mostSeeds]float32    // their scores
}

// useSeeds raises the floor of a query that is worth it.
func (q *Query) useSeeds() {
	n := seedsEach * q.Heap.K
	if q.Mode == ask.Or && q.Stats.Algorithm == ask.BMM && len(q.Lists) >= seedWords &&
		n <= mostSeeds && int64(n*len(q.Lists)*seedLooks) <= q.Stats.Postings && !q.worthImpacts() {
		q.raiseFloor(n, int(q.Stats.Postings)/seedAdds)
	}
}

// raiseFloor raises the floor to the k-th best score of n candidates. To find these it adds up the
// rarest lists, as many as have the given number of postings together.
func (q *Query) raiseFloor(n, postings int) {
	if q.or.seeds == nil {
		q.or.seeds = new(seeds)
	}
	s := q.or.seeds
	s.addRarest(q.Lists, min(postings, seedSlots))
	s.pick(n, &q.limits)
	if len(s.docs) < q.Heap.K {
		return
	}
	for _, l := range q.Lists { // in the order of the query: sums are the scores
		s.lookUp(l)
	}
	s.best.Reset(q.Heap.K)
	for i, d := range s.docs {
		s.best.Add(d, s.sums[i])
	}
	if floor := below(s.best.Worst()); floor > q.floor {
		q.floor = floor
		q.rewind()
	}
}

// addRarest adds the rarest lists up in the slots, as many as have the given number of postings
// together.
func (s *seeds) addRarest(lists []*list, postings int) {
	clear(s.slots[:])
	s.order = append(s.order[:0], lists...)
	slices.SortFunc(s.order, func(a, b *list) int { return int(a.Term.DF) - int(b.Term.DF) })
	for _, l := range s.order {
		if postings -= int(l.Term.DF); postings < 0 {
			return
		}
		for b := range l.Last {
			n := l.DecodeDocs(b, &s.block)
			if n == 0 || l.DecodeTFs(b, &s.tfs) != n {
				return // damaged: l.Err says so
			}
			l.scored += int64(n)
			l.batch(s.block[:n], s.tfs[:n], s.scores[:n])
			for i, d := range s.block[:n] {
				score := s.scores[i]
				slot := &s.slots[d*0x9e3779b1>>(32-seedBits)]
				if c := *slot; c.Doc() == d {
					*slot = simd.MakeCandidate(d, c.Sum()+score)
				} else if score > c.Sum() {
					*slot = simd.MakeCandidate(d, score)
				}
			}
		}
	}
}

// pick makes the n documents with the highest sums that may be answers the candidates.
//
// Postcondition: they rise, and none is twice; else the k-th best of them would not be a floor.
func (s *seeds) pick(n int, may *limits) {
	s.best.Reset(n)
	worst := float32(0)
	for _, c := range &s.slots {
		if c.Sum() > worst && (!may.limited || may.admits(c.Doc())) &&
			s.best.Add(c.Doc(), c.Sum()) && s.best.Full() {
			worst = s.best.Worst()
		}
	}
	s.docs, s.sums = s.docs[:0], s.sums[:0]
	for _, key := range s.best.Keys {
		s.docs, s.sums = append(s.docs, ^uint32(key)), append(s.sums, 0)
	}
	slices.Sort(s.docs)
	if assert.On && !rising(s.docs) {
		assert.Fail("a seed is twice")
	}
}

// lookUp adds the scores of a list to the sums of the candidates. The list stays where it is.
func (s *seeds) lookUp(l *list) {
	s.visits = s.visits[:0]
	for i, b := 0, 0; i < len(s.docs); {
		if b = l.FindBlock(b, s.docs[i]); b >= len(l.Last) {
			break
		}
		l.Prefetch(b)
		end := i
		for end < len(s.docs) && s.docs[end] <= l.Last[b] {
			end++
		}
		s.visits = append(s.visits, visit{b, i, end})
		i = max(end, i+1)
	}
	n := 0
	for _, v := range s.visits {
		n += s.lookInto(l, v, n)
	}
	l.scored += int64(n)
	l.batch(s.found[:n], s.hasTFs[:n], s.has[:n])
	for i, at := range s.at[:n] {
		s.sums[at] += s.has[i]
	}
}

// lookInto finds the candidates of a visit that its block has, and appends them to the n that were
// found before.
func (s *seeds) lookInto(l *list, v visit, n int) (found int) {
	docs := s.docs[v.i:v.end]
	if words, base := l.Words(v.block); words != nil {
		found, _ = locateBits(words, base, docs, l.Last[v.block], &s.ranks, s.at[n:], s.places[n:])
	} else {
		got := l.DecodeDocs(v.block, &s.block)
		found, _ = simd.Locate(s.block[:got], docs, l.Last[v.block], s.at[n:], s.places[n:])
	}
	if found == 0 {
		return 0
	}
	l.TFsAt(v.block, s.places[n:n+found], s.hasTFs[n:n+found])
	for i := n; i < n+found; i++ {
		s.at[i] += uint32(v.i)
		s.found[i] = s.docs[s.at[i]]
	}
	return found
}

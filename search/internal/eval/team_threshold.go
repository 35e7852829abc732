package eval

import (
	"math"
	"sync"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/topk"
)

// workerState is a worker's view of the team's threshold. An answer is a key that sorts like the
// result, see package topk. Only answers above the bar can be in the result; 0 means no bar yet.
type workerState struct {
	bar     uint64
	at      uint32    // the last document that was offered
	end     uint32    // of the last piece that was taken
	low     uint64    // the worst answer so far (SharedHalf)
	pending []float32 // scores that entered the heap and are not yet in the tally (Early)
}

// offer is push for a worker of a team.
func (q *Query) offer(doc uint32, score float32) {
	t, m := q.team, &q.worker
	m.at = doc
	key := topk.KeyOf(doc, score)
	if key <= m.bar || !q.Heap.Add(doc, score) {
		return
	}
	q.Stats.Entered++
	full := q.Heap.Full()
	if full {
		m.bar = max(m.bar, q.Heap.Keys[0])
	}
	switch t.policy {
	case ask.SharedFull:
		if full {
			t.raise(m.bar)
		}
	case ask.SharedHalf:
		m.low = min(m.low, key)
		if full {
			m.low = q.Heap.Keys[0]
		}
		if q.halfFull() {
			t.raise(m.low)
		}
	case ask.Early:
		if full {
			t.raise(m.bar)
		}
		if m.pending = append(m.pending, score); len(m.pending) >= t.pending {
			q.count()
		}
	}
	q.refresh()
}

func (q *Query) halfFull() bool { return 2*len(q.Heap.Keys) >= q.Heap.K }

// count adds the pending scores to the tally, which may raise the bar.
func (q *Query) count() {
	if len(q.worker.pending) > 0 {
		q.team.raise(q.team.tally.add(q.worker.pending))
		q.worker.pending = q.worker.pending[:0]
	}
}

// refresh reads the bar of the team and sets the threshold. So the threshold passes from worker to
// worker: raise publishes it, refresh reads it.
//
// A bar is a score with a document: of the answers with that score, those with a lower document
// win. If such documents can still come, scores equal to that of the bar must not be skipped.
func (q *Query) refresh() {
	m := &q.worker
	if p := q.team.policy; p != ask.Local && (p != ask.SharedHalf || q.halfFull()) {
		m.bar = max(m.bar, q.team.bar.Load())
	}
	if m.bar == 0 {
		return
	}
	score := math.Float32frombits(uint32(m.bar >> 32))
	if ^uint32(m.bar) > m.at {
		score = below(score)
	}
	if score > q.theta {
		q.theta = score
		q.cut = q.cutOf(score)
	}
}

// below returns the next lower float; -1 for 0.
func below(score float32) float32 {
	if score == 0 {
		return -1
	}
	return math.Float32frombits(math.Float32bits(score) - 1)
}

// raise publishes a bar, unless the team has a higher one.
func (t *Team) raise(bar uint64) {
	for {
		old := t.bar.Load()
		if bar <= old || t.bar.CompareAndSwap(old, bar) {
			return
		}
	}
}

const (
	tallyGroups = 64
	tallySize   = tallyGroups * tallyGroups
)

// tally counts the scores of different documents in a histogram of two levels. As soon as there are
// k, the k-th largest is bounded from below by the lowest score in its bin.
type tally struct {
	mu     sync.Mutex
	k      int
	scale  float32
	total  int
	groups [tallyGroups]int
	bins   [tallySize]int32
	lows   [tallySize]float32
}

// reset empties the histogram; no score is above most.
func (h *tally) reset(k int, most float64) {
	h.k, h.total = k, 0
	h.scale = 0
	if most > 0 {
		h.scale = min(float32((tallySize-1)/most), math.MaxFloat32)
	}
	clear(h.groups[:])
	clear(h.bins[:])
}

// add counts scores and returns a bar: there are k documents above it, or it is 0.
func (h *tally) add(scores []float32) (bar uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range scores {
		i := min(int(s*h.scale), tallySize-1)
		if h.bins[i] == 0 || s < h.lows[i] {
			h.lows[i] = s
		}
		h.bins[i]++
		h.groups[i/tallyGroups]++
	}
	if h.total += len(scores); h.total < h.k {
		return 0
	}
	group, above := tallyGroups-1, 0
	for above+h.groups[group] < h.k {
		above += h.groups[group]
		group--
	}
	bin := group*tallyGroups + tallyGroups - 1
	for above+int(h.bins[bin]) < h.k {
		above += int(h.bins[bin])
		bin--
	}
	if h.lows[bin] == 0 {
		return 0
	}
	return uint64(math.Float32bits(h.lows[bin]))<<32 - 1
}

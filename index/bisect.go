package index

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/internal/par"
)

// Recursive graph bisection (Dhulipala et al. 2016, with the practice of Mackenzie,
// Petri and Moffat 2021) brings documents with the same words together. The documents
// are halved; pairs, one from each half, change places as long as that shortens the
// lists; then each half is treated alike.
//
// The cost of a half of n documents is what its gaps will take: a word in d of them costs
// d log2(n/(d+1)) bits. With f(d) = d log2(d+1), moving a document with the word from a half
// that has l of them into one of the same size that has r saves
//
//	f(l-1) + f(r+1) - f(l) - f(r) = g(r) - g(l-1),   g(d) = f(d+1) - f(d),
//
// so that a word needs two looks into a table of g, and a document one sum over its
// words. All numbers are whole: sums do not depend on the order, so that the result
// depends neither on threads nor on the machine.
const (
	// bisectRounds is how often pairs may change places at one level, and settled the share of the
	// documents, one in this many, below which a half counts as settled. On eLife paragraphs that
	// were shuffled the mean gap takes 4.85 bits; 3.31 after up to 20 rounds until nothing changes
	// (39 s), 3.36 with these (23 s); 3.45 after 6 rounds, settled at 32, with leaves of 32 and
	// without words in a fifth of the documents (17 s).
	bisectRounds = 10
	settled      = 128
	// bisectLeaf is how many documents are no longer halved.
	bisectLeaf = 16
	// gainUnit is 1 bit.
	gainUnit = 1 << 12
	// wideTasks is how many parts there should be for each thread before threads work on
	// parts of their own, not together on one.
	wideTasks = 4

	// Memory: order, gains, candidates twice and start of a document; counts, gains, number and
	// place among the seen of a word in each thread.
	bytesPerDoc  = 8 + 4 + 8 + 2*8
	bytesPerWord = 4 * 6
)

// extractDocs is the size from which on a part gets lists of its own, without the words that cannot
// change anything in it.
var extractDocs = 1 << 14 // tests lower it

// bisectBytes is the memory that bisecting takes beside the lists themselves. A part with lists of
// its own has, at all depths together, twice its postings at most; documents there may be longer
// than others, so four times the mean counts.
func bisectBytes(postings int64, docs, words, threads int) int64 {
	part := min(postings, 4*postings/int64(max(docs, 1))*int64(extractDocs))
	return int64(docs)*bytesPerDoc + int64(threads)*(int64(words)*bytesPerWord+2*4*part)
}

// bisector finds an order of the documents.
type bisector struct {
	g, below []int32 // gainUnit g(d) and gainUnit g(d-1), for small d
	docs     int
	threads  int
	workers  []*bisectWorker
	done     atomic.Int64 // documents times levels
	progress func(done, total int64)
}

// docLists are documents in an order that changes: all of them, or those of a part under numbers of
// their own.
type docLists struct {
	forwardIndex
	order         []uint32 // the document at each place
	gains         []int64  // of the document at each place
	keys, scratch []uint64 // candidates for a change, in the part that they come from
}

// bisectWorker is what a thread needs.
type bisectWorker struct {
	left, right         []int32 // documents in each half, by word
	fromLeft, fromRight []int32 // what moving a document out of a half gains
	number              []int32 // of a word in lists of a part
	seen                []uint32
	levels              []docLists // of the parts in which this thread is, each in the one before
}

// bisect returns the documents in their new order.
func (f *forwardIndex) bisect(ctx context.Context, threads int,
	progress func(done, total int64)) ([]uint32, error) {
	b := &bisector{docs: f.docs, threads: threads, progress: progress}
	b.g = make([]int32, min(f.docs+1, 1<<20))
	b.below = make([]int32, len(b.g))
	for d := range b.g {
		b.g[d] = gainOf(d)
		if d > 0 {
			b.below[d] = b.g[d-1]
		}
	}
	for range threads {
		b.workers = append(b.workers, &bisectWorker{
			left: make([]int32, f.words), right: make([]int32, f.words),
			fromLeft: make([]int32, f.words), fromRight: make([]int32, f.words),
			number: make([]int32, f.words),
		})
	}
	all := &docLists{forwardIndex: *f}
	all.reset(f.docs)
	// At first all threads work on each part, then each on its own.
	parts := []span{{0, f.docs}}
	for len(parts) < wideTasks*threads && threads > 1 && parts[0].size() > extractDocs {
		var next []span
		for _, p := range parts {
			b.count(all, p, b.workers)
			if err := b.halve(ctx, all, p, b.workers[0], threads); err != nil {
				return nil, err
			}
			next = append(next, p.left(), p.right())
		}
		parts = next
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, w := range b.workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(parts) {
					return
				}
				b.recurse(ctx, all, parts[i], w, 0)
			}
		})
	}
	wg.Wait()
	return all.order, ctx.Err()
}

// reset makes room for so many documents, and puts them in order.
func (l *docLists) reset(docs int) {
	l.docs = docs
	l.order = slices.Grow(l.order[:0], docs)[:docs]
	l.gains = slices.Grow(l.gains[:0], docs)[:docs]
	l.keys = slices.Grow(l.keys[:0], docs)[:docs]
	l.scratch = slices.Grow(l.scratch[:0], docs)[:docs]
	for d := range l.order {
		l.order[d] = uint32(d)
	}
}

func gainOf(d int) int32 {
	x := float64(d)
	f := func(x float64) float64 { return x * math.Log2(x+1) }
	return int32(math.Round((f(x+1) - f(x)) * gainUnit))
}

func (b *bisector) gain(d int32) int32 {
	if int(d) < len(b.g) {
		return b.g[d]
	}
	return gainOf(int(d))
}

// span is a range of places in the order.
type span struct{ from, to int }

func (s span) size() int   { return s.to - s.from }
func (s span) middle() int { return s.from + s.size()/2 }
func (s span) left() span  { return span{s.from, s.middle()} }
func (s span) right() span { return span{s.middle(), s.to} }

// recurse orders the documents of a part, at a depth of parts with lists of their own.
func (b *bisector) recurse(ctx context.Context, l *docLists, p span, w *bisectWorker, depth int) {
	if p.size() <= bisectLeaf {
		slices.Sort(l.order[p.from:p.to]) // as they came
		return
	}
	if p.size() > extractDocs {
		b.count(l, p, []*bisectWorker{w})
		if b.halve(ctx, l, p, w, 1) != nil {
			return // the caller looks at ctx
		}
		b.recurse(ctx, l, p.left(), w, depth)
		b.recurse(ctx, l, p.right(), w, depth)
		return
	}
	if depth == len(w.levels) {
		w.levels = append(w.levels, docLists{})
	}
	own := w.levels[depth]
	w.extract(l, p, &own)
	w.levels[depth] = own // it may have grown
	all := span{0, own.docs}
	if b.halve(ctx, &own, all, w, 1) != nil {
		return
	}
	b.recurse(ctx, &own, all.left(), w, depth+1)
	b.recurse(ctx, &own, all.right(), w, depth+1)
	// Gains are of no use any more.
	for i, d := range own.order {
		own.gains[i] = int64(l.order[p.from+int(d)])
	}
	for i, d := range own.gains {
		l.order[p.from+i] = uint32(d)
	}
}

// extract makes lists of a part, and counts the words of its halves. A word in one of its documents
// or in all of them gains nothing, in whatever half they are, and is left out.
func (w *bisectWorker) extract(l *docLists, p span, own *docLists) {
	order := l.order[p.from:p.to]
	slices.Sort(order) // as they came
	seen := w.seen[:0]
	for _, d := range order {
		for _, t := range l.of(d) {
			if w.number[t] == 0 {
				seen = append(seen, t)
			}
			w.number[t]++
		}
	}
	words := int32(0)
	for _, t := range seen {
		if n := w.number[t]; n == 1 || int(n) == len(order) {
			w.number[t] = -1
			continue
		}
		w.number[t] = words
		words++
	}
	own.reset(len(order))
	own.words = int(words)
	own.starts = append(own.starts[:0], 0)
	own.list = own.list[:0]
	half := w.left
	for i, d := range order {
		if i == len(order)/2 {
			half = w.right
		}
		for _, t := range l.of(d) {
			if n := w.number[t]; n >= 0 {
				own.list = append(own.list, uint32(n))
				half[n]++
			}
		}
		own.starts = append(own.starts, uint64(len(own.list)))
	}
	for _, t := range seen {
		w.number[t] = 0
	}
	w.seen = seen
}

// halve makes the halves of a part as different as it can. Its words are counted in w.
func (b *bisector) halve(ctx context.Context, l *docLists, p span, w *bisectWorker,
	threads int) error {
	for round := range bisectRounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		b.weigh(w, l.words, threads)
		l.sumGains(p, w, threads)
		if l.swap(p, w, round, threads)*settled <= p.size() {
			break
		}
	}
	clear(w.left[:l.words])
	clear(w.right[:l.words])
	n := b.done.Add(int64(p.size()))
	if b.progress != nil {
		b.progress(n, b.total())
	}
	return nil
}

// total is about how large done will be.
func (b *bisector) total() int64 {
	levels := math.Ceil(math.Log2(max(float64(b.docs)/bisectLeaf, 1)))
	return int64(levels) * int64(b.docs)
}

// count counts the words of the halves of a part in the first worker.
func (b *bisector) count(l *docLists, p span, workers []*bisectWorker) {
	par.Do(len(workers), func(i int) {
		w := workers[i]
		lo, hi := par.Block(p.size(), len(workers), i)
		for at := p.from + lo; at < p.from+hi; at++ {
			half := w.left
			if at >= p.middle() {
				half = w.right
			}
			for _, t := range l.of(l.order[at]) {
				half[t]++
			}
		}
	})
	sum := workers[0]
	for _, w := range workers[1:] {
		for t := range w.left {
			sum.left[t] += w.left[t]
			sum.right[t] += w.right[t]
		}
		clear(w.left)
		clear(w.right)
	}
}

// weigh computes the gains of the words.
func (b *bisector) weigh(w *bisectWorker, words, threads int) {
	par.For(threads, words, 1<<14, func(_, lo, hi int) {
		left, right := w.left[lo:hi], w.right[lo:hi]
		fromLeft, fromRight := w.fromLeft[lo:hi], w.fromRight[lo:hi]
		for t, l := range left {
			r := right[t]
			if max(int(l), int(r)) < len(b.g) {
				fromLeft[t] = b.g[r] - b.below[l]
				fromRight[t] = b.g[l] - b.below[r]
				continue
			}
			fromLeft[t] = b.gain(r) - b.gain(max(l-1, 0))
			fromRight[t] = b.gain(l) - b.gain(max(r-1, 0))
		}
	})
}

// sumGains computes the gains of the documents.
func (l *docLists) sumGains(p span, w *bisectWorker, threads int) {
	half := func(s span, gain []int32) {
		par.For(threads, s.size(), 1<<12, func(_, lo, hi int) {
			for at := s.from + lo; at < s.from+hi; at++ {
				sum := int64(0)
				for _, t := range l.of(l.order[at]) {
					sum += int64(gain[t])
				}
				l.gains[at] = sum
			}
		})
	}
	half(p.left(), w.fromLeft)
	half(p.right(), w.fromRight)
}

// swap lets the documents that gain most change places, and tells how many pairs did.
func (l *docLists) swap(p span, w *bisectWorker, round, threads int) (pairs int) {
	left := l.candidates(p.left(), slices.Max(l.gains[p.middle():p.to]))
	right := l.candidates(p.right(), slices.Max(l.gains[p.from:p.middle()]))
	sortKeys(left, l.scratch[p.from:p.middle()], threads)
	sortKeys(right, l.scratch[p.middle():p.to], threads)
	// Both gains together are too good by a little: each was computed as if the other
	// document stayed. Asking for more every round makes the halves settle. With an
	// earlier version the mean gap of eLife paragraphs took 3.41 bits with one bit more a round, and
	// 3.44 with a quarter of a bit or two bits.
	enough := int64(round * gainUnit)
	for pairs < min(len(left), len(right)) {
		i := p.from + int(left[pairs]&keyPlace)
		j := p.middle() + int(right[pairs]&keyPlace)
		if l.gains[i]+l.gains[j] <= enough {
			break
		}
		for _, t := range l.of(l.order[i]) {
			w.left[t]--
			w.right[t]++
		}
		for _, t := range l.of(l.order[j]) {
			w.left[t]++
			w.right[t]--
		}
		l.order[i], l.order[j] = l.order[j], l.order[i]
		pairs++
	}
	return pairs
}

// A key sorts candidates by falling gain, then by place: the gain below its largest value,
// and the place in the half in the low 31 bits.
const (
	keyPlace = 1<<31 - 1
	maxGain  = 1<<32 - 1 // larger gains are equal
)

// candidates are the documents of a half that gain something together with the best of the other.
func (l *docLists) candidates(s span, best int64) []uint64 {
	keys := l.keys[s.from:s.from]
	for i, gain := range l.gains[s.from:s.to] {
		if gain+best > 0 {
			gain = min(max(gain, -maxGain), maxGain)
			keys = append(keys, uint64(maxGain-gain)<<31|uint64(i))
		}
	}
	return keys
}

// sortKeys sorts candidates, which come by place.
func sortKeys(keys, scratch []uint64, threads int) {
	if len(keys) < 1<<9 {
		slices.Sort(keys)
		return
	}
	par.RadixSort(threads, keys, scratch[:len(keys)], 31, 64)
}

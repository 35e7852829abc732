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
//
// The parts that are left as they are have one in leafShare documents. Smaller ones would shorten
// gaps further, but not the lists: blocks of 128 gaps have one width each, which suits gaps of
// about the same size best. docs/experiments.md has the bytes for other choices.
const (
	// bisectRounds is how often pairs may change places at one level, and settled the share of the
	// documents, one in this many, below which a half counts as settled.
	bisectRounds = 3
	settled      = 16
	leafShare    = 100
	minLeaf      = 16
	// gainUnit is 1 bit.
	gainUnit = 1 << 12
	// wideTasks is how many parts there should be for each thread before threads work on
	// parts of their own, not together on one.
	wideTasks = 4

	// Memory: start twice, order, place of the list, gain and candidates twice of a document; its
	// words twice; counts and gains of words in each thread.
	bytesPerDoc  = 8 + 8 + 4 + 4 + 8 + 2*8
	bytesPerPair = 2 * 2
	threadBytes  = 4 * 4 * maxForwardWords
)

// bisectBytes is the memory that lists of words and bisecting them takes.
func bisectBytes(postings int64, docs, threads int) int64 {
	return postings*bytesPerPair + int64(docs)*bytesPerDoc + int64(threads)*threadBytes
}

// bisector finds an order of the documents.
type bisector struct {
	g, below []int32 // gainUnit g(d) and gainUnit g(d-1), for small d
	docs     int
	leaf     int // documents of the largest part that is left as it is
	threads  int
	workers  []*bisectWorker
	done     atomic.Int64 // documents times levels
	progress func(done, total int64)
}

// docLists are documents in an order that changes. Their lists lie in that order when a part is
// about to be halved, so that memory is read from front to back.
type docLists struct {
	forwardIndex           // by place
	order         []uint32 // the document at each place
	from          []uint32 // the place where its list lies
	gains         []int64  // of the document at each place
	keys, scratch []uint64 // candidates for a change, in the part that they come from
}

// of is the words of the document at a place.
func (l *docLists) of(place int) []uint16 {
	at := l.from[place]
	return l.list[l.starts[at]:l.starts[at+1]]
}

// byWord is a number for each word.
type byWord [maxForwardWords]int32

// bisectWorker is what a thread needs.
type bisectWorker struct {
	left, right         byWord // documents in each half
	fromLeft, fromRight byWord // what moving a document out of a half gains
	list                []uint16
	ends                []uint64
}

// bisect returns the documents in their new order.
func (f *forwardIndex) bisect(ctx context.Context, threads int,
	progress func(done, total int64)) ([]uint32, error) {
	b := &bisector{docs: f.docs, threads: threads, progress: progress}
	b.leaf = max(f.docs/leafShare, minLeaf)
	b.g = make([]int32, min(f.docs+1, 1<<20))
	b.below = make([]int32, len(b.g))
	for d := range b.g {
		b.g[d] = gainOf(d)
		if d > 0 {
			b.below[d] = b.g[d-1]
		}
	}
	for range threads {
		b.workers = append(b.workers, &bisectWorker{})
	}
	all := f.inOrder()
	// At first all threads work on each part, then each on its own.
	parts := []span{{0, f.docs}}
	for len(parts) < wideTasks*threads && threads > 1 && parts[0].size() > b.leaf {
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
				b.recurse(ctx, all, parts[i], w)
			}
		})
	}
	wg.Wait()
	return all.order, ctx.Err()
}

// inOrder puts documents in their order.
func (f *forwardIndex) inOrder() *docLists {
	l := &docLists{
		forwardIndex: *f,
		order:        make([]uint32, f.docs), from: make([]uint32, f.docs), gains: make([]int64, f.docs),
		keys: make([]uint64, f.docs), scratch: make([]uint64, f.docs),
	}
	for d := range l.order {
		l.order[d], l.from[d] = uint32(d), uint32(d)
	}
	return l
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

// recurse orders the documents of a part.
func (b *bisector) recurse(ctx context.Context, l *docLists, p span, w *bisectWorker) {
	if p.size() <= b.leaf {
		slices.Sort(l.order[p.from:p.to]) // as they came
		return
	}
	b.count(l, p, []*bisectWorker{w})
	if b.halve(ctx, l, p, w, 1) != nil {
		return // the caller looks at ctx
	}
	b.recurse(ctx, l, p.left(), w)
	b.recurse(ctx, l, p.right(), w)
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
		if l.swap(p, w, round, round == bisectRounds-1, threads)*settled <= p.size() {
			break
		}
	}
	clear(w.left[:l.words])
	clear(w.right[:l.words])
	l.settle(p, w)
	n := b.done.Add(int64(p.size()))
	if b.progress != nil {
		b.progress(n, b.total())
	}
	return nil
}

// settle puts the lists of a part where their documents are now.
func (l *docLists) settle(p span, w *bisectWorker) {
	list, ends := w.list[:0], w.ends[:0]
	start := l.starts[p.from]
	for at := p.from; at < p.to; at++ {
		list = append(list, l.of(at)...)
		ends = append(ends, start+uint64(len(list)))
	}
	for at := p.from; at < p.to; at++ {
		l.from[at] = uint32(at)
	}
	copy(l.list[start:], list)
	copy(l.starts[p.from+1:], ends)
	w.list, w.ends = list, ends
}

// total is about how large done will be.
func (b *bisector) total() int64 {
	levels := math.Ceil(math.Log2(max(float64(b.docs)/float64(b.leaf), 1)))
	return int64(levels) * int64(b.docs)
}

// count counts the words of the halves of a part in the first worker.
func (b *bisector) count(l *docLists, p span, workers []*bisectWorker) {
	par.Do(len(workers), func(i int) {
		w := workers[i]
		lo, hi := par.Block(p.size(), len(workers), i)
		for at := p.from + lo; at < p.from+hi; at++ {
			half := &w.left
			if at >= p.middle() {
				half = &w.right
			}
			for _, t := range l.of(at) {
				half[t]++
			}
		}
	})
	sum := workers[0]
	for _, w := range workers[1:] {
		for t := range l.words {
			sum.left[t] += w.left[t]
			sum.right[t] += w.right[t]
		}
		clear(w.left[:l.words])
		clear(w.right[:l.words])
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
	half := func(s span, gain *byWord) {
		par.For(threads, s.size(), 1<<12, func(_, lo, hi int) {
			for at := s.from + lo; at < s.from+hi; at++ {
				sum := int64(0)
				for _, t := range l.of(at) {
					sum += int64(gain[t])
				}
				l.gains[at] = sum
			}
		})
	}
	half(p.left(), &w.fromLeft)
	half(p.right(), &w.fromRight)
}

// swap lets the documents that gain most change places, and tells how many pairs did. After the
// last round nobody asks for the words of the halves.
func (l *docLists) swap(p span, w *bisectWorker, round int, last bool, threads int) (pairs int) {
	left := l.candidates(p.left(), slices.Max(l.gains[p.middle():p.to]))
	right := l.candidates(p.right(), slices.Max(l.gains[p.from:p.middle()]))
	sortKeys(left, l.scratch[p.from:p.middle()], threads)
	sortKeys(right, l.scratch[p.middle():p.to], threads)
	// Both gains together are too good by a little: each was computed as if the other document
	// stayed. Asking for more every round makes the halves settle. With an earlier version the mean
	// gap of eLife paragraphs took 3.41 bits with one bit more a round, and 3.44 with a quarter of
	// a bit or two bits.
	enough := int64(round * gainUnit)
	for pairs < min(len(left), len(right)) {
		i := p.from + int(left[pairs]&keyPlace)
		j := p.middle() + int(right[pairs]&keyPlace)
		if l.gains[i]+l.gains[j] <= enough {
			break
		}
		if !last {
			w.move(l.of(i), -1)
			w.move(l.of(j), 1)
		}
		l.order[i], l.order[j] = l.order[j], l.order[i]
		l.from[i], l.from[j] = l.from[j], l.from[i]
		pairs++
	}
	return pairs
}

// move counts words that come to the left half, or leave it if by is -1.
func (w *bisectWorker) move(words []uint16, by int32) {
	for _, t := range words {
		w.left[t] += by
		w.right[t] -= by
	}
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

package index

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/internal/par"
)

// Recursive graph bisection (Dhulipala et al. 2016, with the improvements of Mackenzie,
// Petri and Moffat 2021) brings documents with the same words together. It splits the documents
// into halves, swaps pairs of documents, one from each half, as long as that shortens the lists,
// and recurses into each half. Within a part, documents keep their relative order, so their word
// lists are read and moved sequentially.
//
// The cost of a half of n documents is the estimated size of its gaps: a word in d of them costs
// d log2(n/(d+1)) bits. With f(d) = d log2(d+1), moving a document with the word from a half
// where l documents have it into a half of the same size where r documents have it saves
//
//	f(l-1) + f(r+1) - f(l) - f(r) = g(r) - g(l-1),   g(d) = f(d+1) - f(d),
//
// so that a word needs two lookups in a table of g, and a document one sum over its
// words. All arithmetic is on integers, so sums do not depend on their order, and the result
// depends neither on the number of threads nor on the machine.
//
// The recursion stops at parts of one in leafShare documents. Smaller parts would shorten the gaps
// further, but not the lists: a block of 128 gaps has a single bit width, which favours gaps of
// similar size. docs/experiments.md has the sizes for other choices.
const (
	// bisectRounds is the maximum number of rounds of swaps at one level. A part is settled
	// earlier, once a round swaps at most one pair per settled documents.
	bisectRounds = 3
	settled      = 16
	leafShare    = 100
	minLeaf      = 16
	// gainUnit is a gain of 1 bit: gains are fixed-point numbers.
	gainUnit = 1 << 12
	// wideTasks is the number of parts per thread from which each thread works on parts of its
	// own. Until then all threads work on the same part.
	wideTasks = 4

	// Memory. Per document: start, order, a copy of both for half of the documents, gain class and
	// half. Per pair of document and word: the word, and a copy for half of them. Per thread:
	// counts, gains and gain classes.
	bytesPerDoc  = 8 + 4 + (8+4)/2 + 2 + 1
	bytesPerPair = 2 + 1
	threadBytes  = 4*4*maxForwardWords + 2*4*gainClasses
)

// bisectBytes returns the memory that a forward index and its bisection take.
func bisectBytes(postings int64, docs, threads int) int64 {
	return postings*bytesPerPair + int64(docs)*bytesPerDoc + int64(threads)*threadBytes
}

// bisector finds a new order of the documents.
type bisector struct {
	g, below []int32 // gainUnit*g(d) and gainUnit*g(d-1), for small d
	docs     int
	leaf     int // parts of at most this many documents are not split
	threads  int
	workers  []*bisectWorker
	done     atomic.Int64 // sum of the sizes of the parts that were split
	progress func(done, total int64)
}

// docLists holds the documents and their word lists in the order found so far. All its slices are
// indexed by the position in that order.
type docLists struct {
	forwardIndex
	order []uint32 // the document at each position
	class []uint16 // gain class of the document
	half  []uint8  // the half that the document is in: 0 or 1
}

// byWord holds a number for each word.
type byWord [maxForwardWords]int32

// bisectWorker is the working memory of a thread.
type bisectWorker struct {
	count [2]byWord             // documents in each half that have the word
	gain  [2]byWord             // gain of moving a document with the word out of a half
	have  [2][gainClasses]int32 // documents of each gain class in each half
	// A copy of the documents of the right half, while those of the left one are moved.
	order  []uint32
	starts []uint64
	list   []uint16
}

// bisect returns the documents in their new order, and brings the lists of f into it. The order
// consists of at most maxParts parts, within each of which document numbers ascend.
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
	// At first all threads work on the same part, later each on parts of its own.
	parts := []span{{0, f.docs}}
	for len(parts) < wideTasks*threads && threads > 1 && parts[0].size() > b.leaf {
		var next []span
		for _, p := range parts {
			if err := b.halve(ctx, all, p, b.workers); err != nil {
				return nil, err
			}
			next = append(next, p.left(), p.right())
		}
		parts = next
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for i := range b.workers {
		wg.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(parts) {
					return
				}
				b.recurse(ctx, all, parts[n], b.workers[i:i+1])
			}
		})
	}
	wg.Wait()
	return all.order, ctx.Err()
}

// inOrder returns the documents in their original order.
func (f *forwardIndex) inOrder() *docLists {
	l := &docLists{forwardIndex: *f, order: make([]uint32, f.docs), class: make([]uint16, f.docs),
		half: make([]uint8, f.docs)}
	for d := range l.order {
		l.order[d] = uint32(d)
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

// span is a range of positions in the order.
type span struct{ from, to int }

func (s span) size() int   { return s.to - s.from }
func (s span) middle() int { return s.from + s.size()/2 }
func (s span) left() span  { return span{s.from, s.middle()} }
func (s span) right() span { return span{s.middle(), s.to} }

// recurse splits a part, and its halves, until they are small.
func (b *bisector) recurse(ctx context.Context, l *docLists, p span, workers []*bisectWorker) {
	if p.size() <= b.leaf || b.halve(ctx, l, p, workers) != nil {
		return // the caller checks ctx
	}
	b.recurse(ctx, l, p.left(), workers)
	b.recurse(ctx, l, p.right(), workers)
}

// halve splits a part into two halves with words as different as possible.
func (b *bisector) halve(ctx context.Context, l *docLists, p span, workers []*bisectWorker) error {
	w := workers[0]
	clear(l.half[p.from:p.middle()])
	for at := p.middle(); at < p.to; at++ {
		l.half[at] = 1
	}
	l.count(p, workers)
	for round := range bisectRounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		b.weigh(w, l.words, len(workers))
		l.classify(p, workers)
		// The sum of both gains overestimates the gain of a swap slightly: each was computed as if
		// the other document stayed. A threshold that rises every round makes the halves converge.
		// In an earlier version the mean gap of eLife paragraphs took 3.41 bits with a rise of one
		// bit per round, and 3.44 with a quarter of a bit or with two bits.
		movers, pairs := w.choose(round * classesPerBit)
		l.move(p, w, movers, round == bisectRounds-1)
		if pairs*settled <= p.size() {
			break
		}
	}
	for half := range w.count {
		clear(w.count[half][:l.words])
	}
	l.settle(p, w)
	n := b.done.Add(int64(p.size()))
	if b.progress != nil {
		b.progress(n, b.total())
	}
	return nil
}

// total estimates the final value of done.
func (b *bisector) total() int64 {
	levels := math.Ceil(math.Log2(max(float64(b.docs)/float64(b.leaf), 1)))
	return int64(levels) * int64(b.docs)
}

// count counts the documents of each word in the halves of a part, for the first worker.
func (l *docLists) count(p span, workers []*bisectWorker) {
	par.Do(len(workers), func(i int) {
		lo, hi := par.Block(p.size(), len(workers), i)
		for at := p.from + lo; at < p.from+hi; at++ {
			count := &workers[i].count[l.half[at]&1]
			for _, t := range l.list[l.starts[at]:l.starts[at+1]] {
				count[t]++
			}
		}
	})
	sum := workers[0]
	for _, w := range workers[1:] {
		for half := range w.count {
			for t, n := range w.count[half][:l.words] {
				sum.count[half][t] += n
			}
			clear(w.count[half][:l.words])
		}
	}
}

// weigh computes the gain of each word from its counts.
func (b *bisector) weigh(w *bisectWorker, words, threads int) {
	par.For(threads, words, 1<<14, func(_, lo, hi int) {
		left, right := w.count[0][lo:hi], w.count[1][lo:hi]
		fromLeft, fromRight := w.gain[0][lo:hi], w.gain[1][lo:hi]
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

// Gains of documents are quantised to classes of 1/32 bit, from -64 to 64 bits. The documents with
// the largest gains are then found by counting, without sorting.
const (
	classesPerBit = 32
	classShift    = 7 // gainUnit >> classShift is classesPerBit
	gainClasses   = 1 << 12
	noGain        = gainClasses / 2 // the class of a gain of 0
)

// classify computes the gain class of each document, and the histogram of classes in the first
// worker.
func (l *docLists) classify(p span, workers []*bisectWorker) {
	gain := &workers[0].gain
	par.Do(len(workers), func(i int) {
		have := &workers[i].have
		clear(have[0][:])
		clear(have[1][:])
		lo, hi := par.Block(p.size(), len(workers), i)
		for at := p.from + lo; at < p.from+hi; at++ {
			half := l.half[at] & 1
			sum, byWord := int64(0), &gain[half]
			for _, t := range l.list[l.starts[at]:l.starts[at+1]] {
				sum += int64(byWord[t])
			}
			class := min(max(sum>>classShift+noGain, 0), gainClasses-1)
			l.class[at] = uint16(class)
			have[half][class]++
		}
	})
	sum := workers[0]
	for _, w := range workers[1:] {
		for half := range w.have {
			for class, n := range w.have[half] {
				sum.have[half][class] += n
			}
		}
	}
}

// movers selects the documents of a half that move to the other one: all of a class above class,
// and the first some of that class.
type movers struct {
	class uint16
	some  int32
}

// choose pairs the documents of the two halves in descending order of gain, as long as the classes
// of a pair add up to a gain above enough. It returns which documents move, and the number of
// pairs.
func (w *bisectWorker) choose(enough int) (m [2]movers, pairs int) {
	class := [2]int{gainClasses - 1, gainClasses - 1}
	left := [2]int32{w.have[0][class[0]], w.have[1][class[1]]} // still unpaired in these classes
	for {
		for half := range class {
			for left[half] == 0 {
				if class[half] == 0 {
					break
				}
				class[half]--
				left[half] = w.have[half][class[half]]
			}
		}
		n := min(left[0], left[1])
		if n == 0 || class[0]+class[1] <= 2*noGain+enough {
			break
		}
		left[0] -= n
		left[1] -= n
		pairs += int(n)
	}
	for half, c := range class {
		m[half] = movers{uint16(c), w.have[half][c] - left[half]}
	}
	return m, pairs
}

// move moves documents to the other half and updates the counts, which are not needed after the
// last round.
func (l *docLists) move(p span, w *bisectWorker, m [2]movers, last bool) {
	for at := p.from; at < p.to; at++ {
		half := l.half[at] & 1
		if l.class[at] <= m[half].class {
			if l.class[at] < m[half].class || m[half].some == 0 {
				continue
			}
			m[half].some--
		}
		l.half[at] = 1 - half
		if last {
			continue
		}
		from, to := &w.count[half], &w.count[1-half]
		for _, t := range l.list[l.starts[at]:l.starts[at+1]] {
			from[t]--
			to[t]++
		}
	}
}

// settle rearranges the documents of a part and their lists by half.
func (l *docLists) settle(p span, w *bisectWorker) {
	w.order, w.starts, w.list = w.order[:0], w.starts[:0], w.list[:0]
	left, end := p.from, l.starts[p.from]
	start := end
	for at := p.from; at < p.to; at++ {
		next := l.starts[at+1]
		list := l.list[start:next]
		start = next
		if l.half[at] != 0 {
			w.order = append(w.order, l.order[at])
			w.list = append(w.list, list...)
			w.starts = append(w.starts, uint64(len(w.list)))
			continue
		}
		l.order[left] = l.order[at]
		end += uint64(copy(l.list[end:], list))
		left++
		l.starts[left] = end
	}
	copy(l.order[left:], w.order)
	copy(l.list[end:], w.list)
	for i, n := range w.starts {
		l.starts[left+1+i] = end + n
	}
}

// A new order pays if it saves more in the lists than it adds elsewhere: IDs that were sorted now
// need a rank table in both directions, idBits per document each. The saving is estimated from the
// words of the forward index. The whole lists shrank by 2.6 times that amount for eLife in corpus
// order, 1.9 times for eLife shuffled, and 1.2 times for generated sentences; wholeLists is the
// factor assumed. From sampleFrom documents on, one in sampleEvery is tried first. That estimate
// was off by 12 to 15% for eLife, and by 11% for the sentences.
const (
	wholeLists  = 2
	sampleEvery = 16
	sampleFrom  = 1 << 16
)

// better returns the documents in a better order, or nil if none pays.
func (f *forwardIndex) better(ctx context.Context, threads int, idsInOrder bool,
	progress func(done, total int64)) ([]uint32, error) {
	added := int64(0)
	if idsInOrder {
		added = 2 * int64(idBits(f.docs)) * int64(f.docs)
	}
	if f.docs >= sampleFrom {
		s := f.sample(sampleEvery)
		before := s.bits()
		if _, err := s.bisect(ctx, threads, nil); err != nil {
			return nil, err
		}
		if sampleEvery*wholeLists*(before-s.bits()) <= added {
			return nil, nil
		}
	}
	before := f.bits()
	order, err := f.bisect(ctx, threads, progress)
	if err != nil || wholeLists*(before-f.bits()) <= added {
		return nil, err
	}
	return order, nil
}

// bits estimates the size of the gaps by the cost function above, with the documents in their
// current order, divided into as many parts as the bisection makes.
func (f *forwardIndex) bits() int64 {
	parts := 1
	for f.docs/parts > max(f.docs/leafShare, minLeaf) {
		parts *= 2
	}
	sum := int64(0)
	count := make([]int32, f.words)
	for i := range parts {
		lo, hi := par.Block(f.docs, parts, i)
		for _, t := range f.list[f.starts[lo]:f.starts[hi]] {
			count[t]++
		}
		for t, d := range count {
			sum += int64(math.Round(float64(d) * math.Log2(float64(hi-lo)/float64(d+1))))
			count[t] = 0
		}
	}
	return sum
}

// sample returns the forward index of every n-th document, n being every.
func (f *forwardIndex) sample(every int) *forwardIndex {
	s := &forwardIndex{words: f.words, starts: []uint64{0}}
	for d := 0; d < f.docs; d += every {
		s.list = append(s.list, f.list[f.starts[d]:f.starts[d+1]]...)
		s.starts = append(s.starts, uint64(len(s.list)))
		s.docs++
	}
	return s
}

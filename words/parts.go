package words

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"sync"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/text"
)

// Parts selects the parts over which dispersion is measured. The zero value means documents.
type Parts struct {
	Equal int            // this number of equally long parts of the corpus
	Group *regexp.Regexp // documents whose IDs have the same match, such as ^[^.]+ for x.1 and x.2
}

// tally counts items, which are words or pairs, in the parts of a corpus. Documents come from
// several goroutines. All sums are integers, so their order does not matter.
type tally struct {
	Parts
	words  uint64              // of the corpus
	totals func(int) uint64    // occurrences of each item in the corpus
	sums   []spreadSum         // of each item, if parts are documents
	counts [][]uint32          // by part and item, if they are not
	sizes  []uint64            // words of each part, if they are not documents
	groups map[string]int      // parts by the match of Group
	all    sizesSum            // of all documents, if parts are documents
	locks  [stripes]sync.Mutex // of sums, by item
	mu     sync.Mutex          // of the rest
	items  int
}

const stripes = 64

func newTally(parts Parts, items int, words uint64, totals func(int) uint64) *tally {
	t := &tally{Parts: parts, items: items, words: words, totals: totals}
	switch {
	case parts.Group != nil:
		t.groups = map[string]int{}
	case parts.Equal > 0:
		t.sizes = make([]uint64, parts.Equal)
		t.counts = make([][]uint32, parts.Equal)
		for i := range t.counts {
			t.counts[i] = make([]uint32, items)
		}
	default:
		t.sums = make([]spreadSum, items)
	}
	return t
}

// seen is an item with the number of its occurrences in a document.
type seen struct{ item, count int }

// document adds the items of a document of the given number of words.
func (t *tally) document(id string, words uint64, list []seen) {
	if t.groups == nil {
		t.mu.Lock()
		t.all.add(words)
		t.mu.Unlock()
		for _, s := range list {
			lock := &t.locks[s.item%stripes]
			lock.Lock()
			sum := &t.sums[s.item]
			sum.count += uint64(s.count)
			sum.add(uint64(s.count), words, t.totals(s.item), t.words)
			lock.Unlock()
		}
		return
	}
	name := id
	if match := t.Group.FindString(id); match != "" {
		name = match
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	g, ok := t.groups[name]
	if !ok {
		g = len(t.groups)
		t.groups[name] = g
		t.sizes = append(t.sizes, 0)
		t.counts = append(t.counts, make([]uint32, t.items))
	}
	t.sizes[g] += words
	for _, s := range list {
		t.counts[g][s.item] += uint32(s.count)
	}
}

// result returns the dispersion of an item.
func (t *tally) result(item int) Dispersion {
	if t.sums != nil {
		return t.sums[item].dispersion(t.all)
	}
	counts := make([]uint64, len(t.sizes))
	for i := range counts {
		counts[i] = uint64(t.counts[i][item])
	}
	return Disperse(counts, t.sizes)
}

// reading turns the documents of a corpus into IDs of words, several at a time.
type reading struct {
	analyzer text.Analyzer
	vocab    *cooccur.Vocabulary
	// only, unless it is nil, has the words whose IDs matter. All others get the length of the
	// vocabulary as their ID and are not looked up. The vocabulary must have all words.
	only *fewWords
	// ordered computes page.before, for equal parts. Then batches take turns: the number of words
	// before a batch is known when all batches before it are analysed.
	ordered bool
	mu      sync.Mutex
	turn    *sync.Cond
	next    int    // number of the batch whose turn it is
	before  uint64 // words of the batches before it
}

// page is a document as IDs of words; words that are not in the vocabulary are left out.
type page struct {
	id     string
	ids    []uint32
	fields []int  // where the IDs of each field end, unless there is one field or none
	before uint64 // words of the corpus before it, if ordered
}

// windows calls fn for the IDs of each field, which begin at from.
func (p *page) windows(fn func(ids []uint32, from int)) {
	from := 0
	for _, end := range p.fields {
		fn(p.ids[from:end], from)
		from = end
	}
	fn(p.ids[from:], from)
}

// each calls fn for every document, from several goroutines.
func (r *reading) each(ctx context.Context, corpus *text.Corpus, threads int,
	fn func(worker int, p *page) error) error {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	with := *corpus
	with.Options.Threads = threads
	r.turn = sync.NewCond(&r.mu)
	tokens := make([]text.Tokens, threads)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { // wakes workers that wait for a turn that never comes
		r.mu.Lock()
		r.turn.Broadcast()
		r.mu.Unlock()
	})()
	return with.Batches(ctx, func(worker int, b *text.Batch) (err error) {
		defer func() {
			if err != nil {
				cancel()
			}
		}()
		var ids []uint32
		ends, fields := make([]int, len(b.Docs)), make([][]int, len(b.Docs))
		t := &tokens[worker]
		var sections []int
		for i := range b.Docs {
			t.WantSource = len(b.Docs[i].Breaks) > 0
			if err := r.analyzer.Analyze(b.Docs[i].Text, t); err != nil {
				return fmt.Errorf("document %s: %w", b.Docs[i].ID, err)
			}
			begin := len(ids)
			if sections = sections[:0]; t.WantSource {
				sections = t.Sections(sections, b.Docs[i].Breaks)
			}
			for w := range t.Words {
				if len(sections) > 0 && sections[0] == w {
					fields[i], sections = append(fields[i], len(ids)-begin), sections[1:]
				}
				word := t.Word(w)
				if r.only != nil && !r.only.mayHave(word) {
					ids = append(ids, uint32(r.vocab.Len()))
				} else if id, ok := r.vocab.Lookup(word); ok {
					ids = append(ids, uint32(id))
				}
			}
			t.Trim()
			ends[i] = len(ids)
		}
		before := uint64(0)
		if r.ordered {
			if before, err = r.myTurn(ctx, b.Seq, uint64(len(ids))); err != nil {
				return err
			}
		}
		start := 0
		for i, end := range ends {
			if err := fn(worker, &page{b.Docs[i].ID, ids[start:end], fields[i], before + uint64(start)}); err != nil {
				return err
			}
			start = end
		}
		return ctx.Err()
	})
}

// myTurn waits until all earlier batches had their turn and returns the number of their words.
func (r *reading) myTurn(ctx context.Context, seq int, words uint64) (uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.next != seq {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		r.turn.Wait()
	}
	before := r.before
	r.before += words
	r.next++
	r.turn.Broadcast()
	return before, nil
}

// counter counts the items of a document.
type counter struct {
	counts []uint32 // by item
	list   []int    // items with a count above 0
}

func newCounter(items int) *counter { return &counter{counts: make([]uint32, items)} }

func (c *counter) add(item int) {
	if c.counts[item] == 0 {
		c.list = append(c.list, item)
	}
	c.counts[item]++
}

// take returns the counts in ascending order of items, and resets them.
func (c *counter) take(into []seen) []seen {
	slices.Sort(c.list)
	into = into[:0]
	for _, item := range c.list {
		into = append(into, seen{item, int(c.counts[item])})
		c.counts[item] = 0
	}
	c.list = c.list[:0]
	return into
}

package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/sections"
)

// CheckOptions are the options of Reader.Check. The zero value is useful.
type CheckOptions struct {
	Threads  int                     // 0 means GOMAXPROCS
	Progress func(done, total int64) // called with the bytes of postings checked
}

// Check reads the whole index and returns the first fault it finds: a wrong checksum, or data that
// break a rule of the format. If Check returns nil, every method of Reader returns what was
// written.
func (r *Reader) Check(ctx context.Context, o CheckOptions) (err error) {
	if r.closed {
		return ErrClosed
	}
	if err := given.Context(ctx); err != nil {
		return err
	}
	defer mmap.Recover(mmap.Guard(), &err)
	if err := r.verify(ctx); err != nil {
		return err
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	for _, step := range []struct {
		file  string
		check func() error
	}{
		{docsFile, r.checkLengths},
		{docsFile, func() error { return r.checkIDs(ctx) }},
		{termsFile, func() error { return r.checkLists(ctx, o) }},
		{textFile, func() error { return checkText(ctx, r.text) }},
		{"", func() error { return r.checkFields(ctx, o) }},
	} {
		if err := step.check(); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if step.file == "" {
				return err
			}
			return fmt.Errorf("%s: %w", filepath.Join(r.dir, step.file), err)
		}
	}
	return nil
}

// Verify reads the whole index and verifies all checksums. If parts of it are in an object store,
// they are fetched.
func (r *Reader) Verify(ctx context.Context) (err error) {
	if r.closed {
		return ErrClosed
	}
	if err := given.Context(ctx); err != nil {
		return err
	}
	defer mmap.Recover(mmap.Guard(), &err)
	return r.verify(ctx)
}

// verify verifies all checksums.
func (r *Reader) verify(ctx context.Context) error {
	// What every query needs comes first, for files that are fetched meanwhile.
	for _, name := range []string{metaFile, termsFile, docsFile, skipsFile, levelsFile, schemaFile,
		columnsFile, postingsFile, impactsFile, vectorsFile, positionsFile, textFile, storedFile} {
		if f := r.files[name]; f != nil {
			if err := f.Verify(); err != nil {
				return fmt.Errorf("%s: %w", filepath.Join(r.dir, name), err)
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if r.fields != nil {
		for _, sub := range r.fields.texts {
			if err := sub.verify(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Reader) checkLengths() error {
	var tokens uint64
	for d := range r.classes {
		l := r.Length(d)
		tokens += uint64(l)
		c := int(r.classes[d])
		if c >= r.numLow || r.classLow[c] > l || c+1 < r.numLow && r.classLow[c+1] <= l ||
			r.meta.flags&flagExactClasses != 0 && r.classLow[c] != l {
			return fmt.Errorf("corrupted: document %d of length %d is in the wrong class", d, l)
		}
	}
	if named := r.meta.flags&flagNamedMean != 0; (tokens != r.meta.tokens) != named {
		return fmt.Errorf("corrupted: the documents have %d words, want %d", tokens, r.meta.tokens)
	}
	return nil
}

func (r *Reader) checkIDs(ctx context.Context) error {
	s := r.ids
	w := idWalker{s: s}
	var before []byte
	for rank := range s.docs {
		if !w.next() {
			return fmt.Errorf("corrupted: ID %d cannot be decoded", rank)
		}
		d := s.byRankAt(rank)
		if d >= s.docs || s.rank(d) != rank {
			return fmt.Errorf("corrupted: ID %d, %q, leads to another document", rank, w.id)
		}
		if rank > 0 {
			if c := compareIDs(before, w.id); c > 0 || c == 0 && s.byRankAt(rank-1) > d {
				return fmt.Errorf("corrupted: ID %d, %q, comes after %q: not in order", rank, w.id, before)
			}
		}
		before = append(before[:0], w.id...)
		// At the end of a block all of its bytes must be used.
		if w.rank == w.end && (len(w.r.b) > 0 || w.run > 0) {
			return fmt.Errorf("corrupted: block %d of the IDs is too long", w.block-1)
		}
		if rank%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func checkText(ctx context.Context, t *textReader) error {
	if t == nil {
		return nil
	}
	if t.first[0] != 0 || t.starts[0] != 0 || t.starts[len(t.starts)-1] != uint64(len(t.blocks)) {
		return errors.New("corrupted: the blocks of text do not fill their section")
	}
	for b := range len(t.first) - 1 {
		if t.first[b] >= t.first[b+1] {
			return fmt.Errorf("corrupted: block %d of the text has no documents", b)
		}
		if _, err := t.get(nil, int(t.first[b])); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// checkLists checks dictionary, lists and bounds, with ranges of the dictionary in parallel.
func (r *Reader) checkLists(ctx context.Context, o CheckOptions) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	const step = 256 // dictionary blocks
	blocks := len(r.dict.prefix)
	var next, words, postings, occurrences, done atomic.Int64
	var wg sync.WaitGroup
	for range o.Threads {
		wg.Go(func() {
			c := listChecker{r: r, tfOf: TFOfCode(), levels: levelMaker{docs: r.meta.docs}}
			if r.HasImpacts() {
				c.impacts.docs = r.meta.docs
			}
			for ctx.Err() == nil {
				from := int(next.Add(step)) - step
				if from >= blocks {
					break
				}
				if err := mmap.Safely(func() error { return c.blocks(from, min(from+step, blocks)) }); err != nil {
					cancel(err)
					return
				}
				words.Add(int64(c.words))
				postings.Add(int64(c.postings))
				occurrences.Add(int64(c.occurrences))
				if n := done.Add(int64(c.bytes)); o.Progress != nil {
					o.Progress(n, int64(len(r.postings)-tailPad))
				}
				c.words, c.postings, c.occurrences, c.bytes = 0, 0, 0, 0
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if words.Load() != int64(r.meta.terms) || postings.Load() != int64(r.meta.postings) ||
		occurrences.Load() != int64(r.meta.occurrences) {
		return fmt.Errorf("corrupted: %d words, %d postings, %d occurrences; want %d, %d, %d",
			words.Load(), postings.Load(), occurrences.Load(),
			r.meta.terms, r.meta.postings, r.meta.occurrences)
	}
	return nil
}

// listChecker checks ranges of the dictionary with their lists.
type listChecker struct {
	r       *Reader
	tfOf    *[256]uint32
	cursor  Cursor
	last    []byte
	rank    ranking
	levels  levelMaker
	impacts impactMaker
	xs      [BlockSize]uint32
	less    [BlockSize]uint32 // frequencies less 1
	places  positionChecker

	words                        int
	postings, occurrences, bytes uint64
}

func (k *listChecker) blocks(from, to int) error {
	d := k.r.dict
	w := termWalker{d: d, id: from * termsPerBlock}
	k.last = k.last[:0]
	if from > 0 { // a word of the block before, to check the order across ranges
		first, err := d.firstWord(from - 1)
		if err != nil {
			return err
		}
		k.last = append(k.last, first...)
	}
	end := min(to*termsPerBlock, d.terms)
	for w.id < end {
		word, t, _, err := w.next()
		if err != nil {
			return err
		}
		if len(word) == 0 || bytes.Compare(word, k.last) <= 0 {
			return fmt.Errorf("corrupted: word %d, %q, comes after %q: not in byte order", t.ID, word, k.last)
		}
		k.last = append(k.last[:0], word...)
		if t.ID%termsPerBlock == 0 && prefixOf(word) != d.prefix[t.ID/termsPerBlock] {
			return fmt.Errorf("corrupted: the prefix of word %d, %q, is wrong", t.ID, word)
		}
		if err := k.list(t); err != nil {
			return fmt.Errorf("word %q: %w", word, err)
		}
		if k.r.positions != nil {
			if err := k.places.list(k.r, t, &k.cursor); err != nil {
				return fmt.Errorf("word %q: %w", word, err)
			}
		}
		k.words++
		// At the end of a block all of its bytes must be used, and the offsets of the next block
		// must continue where it ends.
		if w.id%termsPerBlock == 0 || w.id == d.terms {
			if err := k.blockEnd(&w); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *listChecker) blockEnd(w *termWalker) error {
	postings, skips := uint64(len(k.r.postings)-tailPad), uint64(len(k.r.skips))
	if w.id < w.d.terms {
		_, records, err := w.d.block(w.id / termsPerBlock)
		if err != nil {
			return err
		}
		next := recordCursor{r: records}
		next.start()
		postings, skips = next.postings, next.skips
	}
	if len(w.words.b) > 0 || len(w.records.r.b) > 0 || w.records.postings != postings || w.records.skips != skips {
		return fmt.Errorf("corrupted: the dictionary or the postings have a gap after word %d", w.id-1)
	}
	return nil
}

// list checks that all blocks of a list can be decoded, that they add up to DF and CF, and that the
// bounds hold.
func (k *listChecker) list(t Term) error {
	c, r := &k.cursor, k.r
	if err := r.Open(t, c); err != nil {
		return err
	}
	var df int
	var cf uint64
	used := uint64(0)
	best := noPosting
	k.impacts.begin(t.DF)
	for b := range c.Blocks() {
		low := noPosting
		docs := c.Load(b)
		tfs := c.TFs()
		if c.err != nil || len(docs) != len(tfs) {
			return errors.Join(c.err, errBlock(t.ID, b))
		}
		if t.DF > 1 {
			if uint64(c.offsets[b]) != used {
				return fmt.Errorf("corrupted: block %d begins at %d, not at %d", b, c.offsets[b], used)
			}
			used += uint64(blockSize(c.data[used:], len(docs)))
		}
		for i, d := range docs {
			tf := tfs[i]
			class := r.classes[d]
			if tf == 0 || tf > maxTF {
				return fmt.Errorf("corrupted: frequency %d in document %d", tf, d)
			}
			if !k.covers(c.Bounds[b], tf, class) || !k.covers(c.Super[b/SuperBlocks], tf, class) ||
				!k.covers(c.Bound, tf, class) {
				return fmt.Errorf("corrupted: document %d is better than the bound of its block %d", d, b)
			}
			cf += uint64(tf)
			if c.LowX != nil {
				x := xOf(r.coef, tf, r.Length(int(d)))
				low = min(low, x)
				k.xs[i], k.less[i] = math.Float32bits(x), tf-1
			}
		}
		if c.LowX != nil {
			k.rank.add(k.xs[:len(docs)])
			k.levels.add(docs, k.less[:len(docs)], k.xs[:len(docs)])
			k.impacts.add(docs, k.less[:len(docs)])
		}
		if b%SuperBlocks == 0 {
			best = noPosting
		}
		best = min(best, low)
		endOfRun := b%SuperBlocks == SuperBlocks-1 || b == c.Blocks()-1
		if c.LowX != nil && (c.LowX[b] != low || endOfRun && c.SuperX[b/SuperBlocks] != best) {
			return fmt.Errorf("corrupted: wrong best posting of block %d, or of the blocks before", b)
		}
		df += len(docs)
	}
	if r.Pruned() || r.meta.shard.Of > 0 {
		t.CF = min(t.CF, cf) // CF includes postings that are not in this index
	}
	if df != int(t.DF) || cf != t.CF || used != t.postingsLen {
		return fmt.Errorf("corrupted: %d documents, %d occurrences, %d bytes; want %d, %d, %d", df,
			cf, used, t.DF, t.CF, t.postingsLen)
	}
	if c.LowX != nil && (c.BestX != slices.Min(c.SuperX) || c.Ranked != k.rank.take()) {
		return errors.New("corrupted: wrong ranked postings")
	}
	wantPairs, wantX, _ := k.levels.pairs(nil)
	want, wantTop, mapped := k.levels.take(nil, nil)
	if mapped && r.meta.flags&flagLevels != 0 {
		if c.Levels == nil {
			return errors.New("corrupted: the map of levels is missing")
		}
		if !bytes.Equal(sections.Bytes(c.LevelX[:]), want[:4*NumLevels]) || !bytes.Equal(c.Levels, want[4*NumLevels:]) {
			return errors.New("corrupted: wrong map of levels")
		}
	}
	top, err := r.Top(t)
	if err != nil {
		return err
	}
	if len(r.levels.top.words) > 0 && !slices.Equal(top, wantTop) {
		return errors.New("corrupted: wrong top postings")
	}
	pairs, x, err := r.Pairs(t)
	if err != nil {
		return err
	}
	if len(r.levels.top.paired) > 0 && (!slices.Equal(pairs, wantPairs) || math.Float32bits(x) != wantX) {
		return errors.New("corrupted: wrong map of pairs")
	}
	if want, ok := k.impacts.take(nil); ok {
		i, found := slices.BinarySearch(r.impacts.words, uint32(t.ID))
		if !found || !bytes.Equal(r.impacts.list(i), want) {
			return errors.New("corrupted: wrong impacts")
		}
	}
	k.postings += uint64(df)
	k.occurrences += cf
	k.bytes += used
	return nil
}

func (k *listChecker) covers(b Bound, tf uint32, class uint8) bool {
	for i := range BoundPairs {
		code, low := b.Pair(i)
		if k.tfOf[code] >= tf && low <= class {
			return true
		}
	}
	return false
}

// positionChecker checks lists of positions by encoding them again.
type positionChecker struct {
	p    Positions
	made positionEncoder
	gaps []uint32
}

func (k *positionChecker) list(r *Reader, t Term, c *Cursor) error {
	if err := errors.Join(r.Open(t, c), r.OpenPositions(t, &k.p)); err != nil {
		return err
	}
	k.made.out = k.made.out[:0]
	k.made.begin()
	for i := 0; c.Doc() != End; i++ {
		if i%BlockSize == 0 {
			k.made.block()
		}
		places := k.p.Of(c)
		if k.p.err != nil {
			return k.p.err
		}
		var rise bool
		if k.gaps, rise = appendGaps(k.gaps[:0], places); !rise || !k.made.take(k.gaps) {
			return fmt.Errorf("corrupted: wrong positions in document %d", c.Doc())
		}
		c.Next()
	}
	if _, err := k.made.end(uint64(t.DF)); err != nil {
		return err
	}
	list, err := r.positions.list(t.ID)
	if err != nil {
		return err
	}
	if !bytes.Equal(list[:len(list)-tailPad], k.made.out) {
		return errors.New("corrupted: wrong list of positions")
	}
	return nil
}

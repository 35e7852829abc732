package words

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
)

// Line is a line of a concordance: a match with its context.
type Line struct {
	Document string `json:"document"` // the ID of the document
	Place    int    `json:"place"`    // number of the match's first word there, from 0
	// Left, Match and Right are text of the document, with single blanks for white space.
	Left  string `json:"left"`  // up to ConcordanceOptions.Window words before the match
	Match string `json:"match"` // the words that the query matches, as they are written there
	Right string `json:"right"` // up to ConcordanceOptions.Window words after the match

	order  uint64   // position of the document in the corpus
	sortBy []string // the words that lines are sorted by
}

// ConcordanceOptions are the options of Concord and ConcordIndex.
type ConcordanceOptions struct {
	Window int // words of context on each side; 0 means 10
	Top    int // number of lines; 0 means 50
	// Sort lists the keys to sort lines by: "L1" is the first word to the left of the match, "R2"
	// the second to the right, "M" the match itself. Without keys, lines are in corpus order.
	Sort []string
	// Sample is the number of lines to choose at random before sorting; 0 means all.
	Sample int
	Seed   uint64 // of this choice; the same seed chooses the same lines
	// With keeps only lines whose context, on either side, has a match of this query; Without drops
	// such lines. nil keeps all lines.
	With, Without *Query

	Threads int // 0 means GOMAXPROCS
}

// Concordance holds the lines of a concordance and the number of matches.
type Concordance struct {
	Lines []Line `json:"lines"` // at most ConcordanceOptions.Top; never nil
	// Total is the number of matches in what was searched, including those that are not shown.
	Total int `json:"total"`
	// All is true if everything was searched. If it is false, there were enough lines before the
	// end of the index, and Total and Documents are lower bounds.
	All       bool `json:"all"`
	Documents int  `json:"documents"` // number of documents with a match
	// Unknown lists words of the query that do not occur in the corpus, if there is no match.
	Unknown []UnknownWord `json:"unknown,omitempty"`
}

type sortKey struct {
	side byte // 'L', 'M' or 'R'
	n    int
}

func (o *ConcordanceOptions) keys() (keys []sortKey, err error) {
	for _, s := range o.Sort {
		u := strings.ToUpper(s)
		if u == "M" {
			keys = append(keys, sortKey{'M', 0})
			continue
		}
		n := 0
		if len(u) > 1 {
			n, _ = strconv.Atoi(u[1:])
		}
		if n < 1 || n > 9 || u[0] != 'L' && u[0] != 'R' {
			return nil, fmt.Errorf("sort by %q: want M, L1 to L9 or R1 to R9", s)
		}
		keys = append(keys, sortKey{u[0], n})
	}
	return keys, nil
}

// ParseQueries parses a query for an analyzer and returns it. If with and without are not empty, it
// also parses these and sets With and Without.
func (o *ConcordanceOptions) ParseQueries(query, with, without string,
	an text.Analyzer) (q *Query, err error) {
	if q, err = ParseQuery(query, an); err != nil {
		return nil, err
	}
	if with != "" {
		if o.With, err = ParseQuery(with, an); err != nil {
			return nil, fmt.Errorf("with: %w", err)
		}
	}
	if without != "" {
		if o.Without, err = ParseQuery(without, an); err != nil {
			return nil, fmt.Errorf("without: %w", err)
		}
	}
	return q, nil
}

// Check returns an error if the options are not valid.
func (o *ConcordanceOptions) Check() error {
	_, err := o.keys()
	return err
}

func (o *ConcordanceOptions) defaults() error {
	if o.Window <= 0 {
		o.Window = 10
	}
	if o.Top <= 0 {
		o.Top = 50
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	_, err := o.keys()
	return err
}

// gatherer collects the lines of a concordance.
type gatherer struct {
	ConcordanceOptions
	keySort []sortKey
	q       *Query
	result  Concordance
	kept    []Line
}

func newGatherer(q *Query, o ConcordanceOptions) (*gatherer, error) {
	if err := o.defaults(); err != nil {
		return nil, err
	}
	keys, err := o.keys()
	return &gatherer{ConcordanceOptions: o, keySort: keys, q: q}, err
}

// document returns the lines of a document and their number.
func (g *gatherer) document(order uint64, id string, doc []byte, t *text.Tokens) (lines []Line,
	matches int, err error) {
	t.WantSource = true
	if err := g.q.analyzer.Analyze(doc, t); err != nil {
		return nil, 0, fmt.Errorf("document %s: %w", id, err)
	}
	for i := 0; i < len(t.Words); i++ {
		n := g.q.match(doc, t, i)
		if n == 0 {
			continue
		}
		if g.With != nil && !g.near(g.With, doc, t, i, n) ||
			g.Without != nil && g.near(g.Without, doc, t, i, n) {
			continue
		}
		matches++
		lines = append(lines, g.line(order, id, doc, t, i, n))
	}
	return lines, matches, nil
}

// near reports whether another query matches in the context of a match, n words from word i on.
func (g *gatherer) near(other *Query, doc []byte, t *text.Tokens, i, n int) bool {
	has := func(lo, hi int) bool {
		for at := lo; at < hi; at++ {
			if m := other.match(doc, t, at); m > 0 && at+m <= hi {
				return true
			}
		}
		return false
	}
	return has(max(0, i-g.Window), i) || has(i+n, min(len(t.Words), i+n+g.Window))
}

func (g *gatherer) line(order uint64, id string, doc []byte, t *text.Tokens, i, n int) Line {
	first, last := t.Source[i], t.Source[i+n-1]
	lo, hi := max(0, i-g.Window), min(len(t.Words), i+n+g.Window)
	start, end := t.Source[lo].Start, t.Source[hi-1].End
	if lo == 0 {
		start -= uint32(len(markBefore(doc[:start])))
	}
	if hi == len(t.Words) {
		end += uint32(len(markAfter(doc[end:])))
	}
	l := Line{Document: id, Place: i, order: order, Left: oneLine(doc[start:first.Start]),
		Match: oneLine(doc[first.Start:last.End]), Right: oneLine(doc[last.End:end])}
	for _, k := range g.keySort {
		switch k.side {
		case 'L':
			l.sortBy = append(l.sortBy, wordAt(doc, t, i-k.n))
		case 'R':
			l.sortBy = append(l.sortBy, wordAt(doc, t, i+n-1+k.n))
		case 'M':
			l.sortBy = append(l.sortBy, strings.ToLower(l.Match))
		}
	}
	return l
}

// markBefore and markAfter return the quotes, brackets and full stops at the ends of a document,
// right before its first word and right after its last.
func markBefore(b []byte) []byte {
	n := len(b)
	for range mostMarks {
		r, size := utf8.DecodeLastRune(b[:n])
		if !unicode.IsPunct(r) {
			break
		}
		n -= size
	}
	return b[n:]
}

func markAfter(b []byte) []byte {
	n := 0
	for range mostMarks {
		r, size := utf8.DecodeRune(b[n:])
		if !unicode.IsPunct(r) {
			break
		}
		n += size
	}
	return b[:n]
}

const mostMarks = 4

func wordAt(doc []byte, t *text.Tokens, i int) string {
	if i < 0 || i >= len(t.Words) {
		return ""
	}
	return strings.ToLower(string(doc[t.Source[i].Start:t.Source[i].End]))
}

// oneLine returns the text with single blanks for any white space.
func oneLine(b []byte) string { return strings.Join(strings.Fields(string(b)), " ") }

// needsAll reports whether every match must be seen before the first line is known.
func (g *gatherer) needsAll() bool { return len(g.keySort) > 0 || g.Sample > 0 }

// add adds the lines of a document.
func (g *gatherer) add(lines []Line, matches int) {
	g.result.Total += matches
	if matches > 0 {
		g.result.Documents++
	}
	if !g.needsAll() {
		g.kept = append(g.kept, lines[:min(len(lines), max(0, g.Top-len(g.kept)))]...)
		return
	}
	g.kept = append(g.kept, lines...)
	most := g.Top
	if g.Sample > 0 {
		most = g.Sample
	}
	if len(g.kept) >= 4*most+1024 {
		g.shrink()
	}
}

// shrink drops lines that can no longer be in the sample or, without one, among the first Top.
func (g *gatherer) shrink() {
	if g.Sample > 0 {
		slices.SortFunc(g.kept, func(a, b Line) int {
			return cmp.Or(cmp.Compare(g.lot(a), g.lot(b)), cmp.Compare(a.order, b.order),
				cmp.Compare(a.Place, b.Place))
		})
		g.kept = g.kept[:min(len(g.kept), g.Sample)]
		return
	}
	slices.SortFunc(g.kept, g.compare)
	g.kept = g.kept[:min(len(g.kept), g.Top)]
}

// lot returns a pseudorandom number for a line: a hash of the seed, the document and the place. The
// sample consists of the lines with the lowest numbers.
func (g *gatherer) lot(l Line) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s %d", g.Seed, l.Document, l.Place)
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}

func (g *gatherer) compare(a, b Line) int {
	return cmp.Or(slices.Compare(a.sortBy, b.sortBy), cmp.Compare(a.order, b.order),
		cmp.Compare(a.Place, b.Place))
}

// finish returns the lines.
func (g *gatherer) finish(all bool) *Concordance {
	if g.Sample > 0 {
		g.shrink()
	}
	slices.SortFunc(g.kept, g.compare)
	g.kept = g.kept[:min(len(g.kept), g.Top)]
	g.result.Lines, g.result.All = g.kept, all
	if g.result.Lines == nil {
		g.result.Lines = []Line{}
	}
	return &g.result
}

// Concord finds a query in the documents of a corpus. It reads the whole corpus, so Total is exact.
func Concord(ctx context.Context, corpus *text.Corpus, q *Query,
	o ConcordanceOptions) (*Concordance, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	g, err := newGatherer(q, o)
	if err != nil {
		return nil, err
	}
	with := *corpus
	with.Options.Threads = g.Threads
	type found struct {
		lines   []Line
		matches int
	}
	var (
		mu      sync.Mutex
		waiting = map[int][]found{}
		next    int
		tokens  = make([]text.Tokens, g.Threads)
	)
	err = with.Batches(ctx, func(w int, b *text.Batch) error {
		list := make([]found, 0, len(b.Docs))
		for i := range b.Docs {
			lines, n, err := g.document(uint64(b.Seq)<<32|uint64(i), b.Docs[i].ID, b.Docs[i].Text,
				&tokens[w])
			if err != nil {
				return err
			}
			tokens[w].Trim()
			if n > 0 {
				if !g.needsAll() { // no more than the first Top are ever shown
					lines = lines[:min(len(lines), g.Top)]
				}
				list = append(list, found{lines, n})
			}
		}
		mu.Lock()
		defer mu.Unlock()
		waiting[b.Seq] = list
		for {
			list, ok := waiting[next]
			if !ok {
				return ctx.Err()
			}
			delete(waiting, next)
			next++
			for _, f := range list {
				g.add(f.lines, f.matches)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	result := g.finish(true)
	if result.Total == 0 && corpus.Source == nil && !slices.Contains(corpus.Paths, "-") {
		result.Unknown, err = unknownWords(ctx, corpus, g.Threads, q, g.With)
	}
	return result, err
}

// ErrNoText is returned if an index has no stored text.
var ErrNoText = errors.New("the index stores no text: build it again with index.BuildOptions.StoreText")

// ConcordIndex finds a query in the stored text of an index. It reads only documents that may have
// a match. Unless lines are sorted or sampled, it stops when it has enough of them; see
// Concordance.All.
func ConcordIndex(ctx context.Context, r *segments.Reader, q *Query,
	o ConcordanceOptions) (*Concordance, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if !r.HasText() {
		return nil, ErrNoText
	}
	g, err := newGatherer(q, o)
	if err != nil {
		return nil, err
	}
	all := true
	for _, s := range r.Segments() {
		if all, err = g.segment(ctx, &s); err != nil {
			return nil, err
		}
		if !all {
			break
		}
	}
	found := g.finish(all)
	if found.Total == 0 {
		found.Unknown, err = unknownInIndex(ctx, r, q, g.With)
	}
	return found, err
}

// segment adds the lines of a segment; all is false if there are enough before its end.
func (g *gatherer) segment(ctx context.Context, s *segments.Segment) (all bool, err error) {
	var t text.Tokens
	for doc, err := range g.q.documents(ctx, s.Reader) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return false, err
		}
		if s.Live != nil && !s.Live.Has(doc) {
			continue
		}
		if !g.needsAll() && len(g.kept) >= g.Top {
			return false, nil
		}
		body, err := s.Text(int(doc))
		if err != nil {
			return false, err
		}
		id, err := s.DocID(int(doc))
		if err != nil {
			return false, err
		}
		lines, n, err := g.document(uint64(s.Base)+uint64(doc), id, body, &t)
		if err != nil {
			return false, err
		}
		g.add(lines, n)
	}
	return true, nil
}

// documents yields the documents that may have a match, in ascending order.
func (q *Query) documents(ctx context.Context, r *index.Reader) iter.Seq2[uint32, error] {
	return func(yield func(uint32, error) bool) {
		fail := func(err error) { yield(0, err) }
		var lists []docList
		for _, p := range q.patterns {
			l, err := q.patternDocs(ctx, r, p)
			if err != nil {
				fail(err)
				return
			}
			lists = append(lists, l)
		}
		for {
			doc := uint32(index.End)
			for _, l := range lists {
				doc = min(doc, l.doc())
			}
			if doc == index.End {
				for _, l := range lists {
					if err := l.err(); err != nil {
						fail(err)
						return
					}
				}
				return
			}
			if !yield(doc, nil) {
				return
			}
			for _, l := range lists {
				l.seek(doc + 1)
			}
		}
	}
}

// docList is an ascending list of documents.
type docList interface {
	doc() uint32        // the current document, or index.End
	seek(target uint32) // moves to the first document from target on
	err() error
}

// wordDocs lists the documents of a word.
type wordDocs struct{ c *index.Cursor }

func (l wordDocs) doc() uint32   { return l.c.Doc() }
func (l wordDocs) seek(d uint32) { l.c.Seek(d) }
func (l wordDocs) err() error    { return l.c.Err() }

// sliceDocs lists documents from memory.
type sliceDocs struct{ list []uint32 }

func (l *sliceDocs) doc() uint32 {
	if len(l.list) == 0 {
		return index.End
	}
	return l.list[0]
}

func (l *sliceDocs) seek(d uint32) {
	i, _ := slices.BinarySearch(l.list, d)
	l.list = l.list[i:]
}
func (l *sliceDocs) err() error { return nil }

// everyDoc lists all documents.
type everyDoc struct{ next, end uint32 }

func (l *everyDoc) doc() uint32 {
	if l.next >= l.end {
		return index.End
	}
	return l.next
}
func (l *everyDoc) seek(d uint32) { l.next = max(l.next, d) }
func (l *everyDoc) err() error    { return nil }

// allDocs lists the documents that are in every list.
type allDocs struct{ lists []docList }

func (l allDocs) doc() uint32 {
	doc := l.lists[0].doc()
	for again := true; again && doc != index.End; {
		again = false
		for _, each := range l.lists {
			each.seek(doc)
			if d := each.doc(); d != doc {
				doc, again = d, true
			}
		}
	}
	return doc
}

func (l allDocs) seek(d uint32) {
	for _, each := range l.lists {
		each.seek(d)
	}
}

func (l allDocs) err() error {
	for _, each := range l.lists {
		if err := each.err(); err != nil {
			return err
		}
	}
	return nil
}

// textDocs lists the documents of another list whose stored text contains all parts, in lower case.
type textDocs struct {
	from   docList
	ctx    context.Context
	r      *index.Reader
	parts  [][]byte
	found  uint32 // the last document that contains them
	text   []byte
	lower  []byte
	failed error
}

func (l *textDocs) doc() uint32 {
	for {
		doc := l.from.doc()
		if doc == index.End || doc == l.found {
			return doc
		}
		if l.failed = l.ctx.Err(); l.failed == nil {
			l.text, l.failed = l.r.AppendText(l.text[:0], int(doc))
		}
		if l.failed != nil {
			return index.End
		}
		l.lower = appendLower(l.lower[:0], l.text)
		if !slices.ContainsFunc(l.parts, func(p []byte) bool { return !bytes.Contains(l.lower, p) }) {
			l.found = doc
			return doc
		}
		l.from.seek(doc + 1)
	}
}

// appendLower appends bytes.ToLower(text) to dst. Where most of the text is ASCII, it is faster.
func appendLower(dst, text []byte) []byte {
	for len(text) > 0 {
		c := text[0]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst, text = append(dst, c), text[1:]
			continue
		}
		r, n := utf8.DecodeRune(text)
		dst, text = utf8.AppendRune(dst, unicode.ToLower(r)), text[n:]
	}
	return dst
}

func (l *textDocs) seek(d uint32) { l.from.seek(d) }
func (l *textDocs) err() error    { return cmp.Or(l.failed, l.from.err()) }

// patternDocs lists the documents that may match a pattern.
//
// Wildcards and regular expressions match whole words, and many indexes have only stems. Which
// words a stem stands for is not known: that of trying is tri, and that of Öl is ol. There the
// stored text is searched for the letters of the wildcards, which is faster than analysing it.
func (q *Query) patternDocs(ctx context.Context, r *index.Reader, p pattern) (docList, error) {
	stems := q.folded != q.analyzer
	var all allDocs
	var parts [][]byte
	for _, e := range p {
		switch {
		case e.kind == exactWord:
			term, err := r.Lookup(e.text)
			if err != nil {
				return nil, err
			}
			c := new(index.Cursor)
			if err := r.Open(term, c); err != nil {
				return nil, err
			}
			all.lists = append(all.lists, wordDocs{c})
		case e.kind == anyWord:
		case stems:
			parts = append(append(parts, e.text), e.wild...)
		default:
			l, err := docsOfWords(r, &e)
			if err != nil {
				return nil, err
			}
			all.lists = append(all.lists, l)
		}
	}
	if len(all.lists) == 0 {
		all.lists = append(all.lists, &everyDoc{0, uint32(r.Docs())})
	}
	parts = slices.DeleteFunc(parts, func(p []byte) bool { return len(p) == 0 })
	if len(parts) == 0 {
		return all, nil
	}
	return &textDocs{from: all, ctx: ctx, r: r, parts: parts, found: index.End}, nil
}

// docsOfWords lists the documents of all words of an index that an element matches.
func docsOfWords(r *index.Reader, e *element) (docList, error) {
	var list []uint32
	var c index.Cursor
	for w, err := range r.WordsFrom(e.text) {
		if err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(w.Text, e.text) {
			break
		}
		if !e.matches(w.Text) {
			continue
		}
		if err := r.Open(w.Term, &c); err != nil {
			return nil, err
		}
		for d := c.Doc(); d != index.End; d = c.Next() {
			list = append(list, d)
		}
		if err := c.Err(); err != nil {
			return nil, err
		}
	}
	slices.Sort(list)
	return &sliceDocs{slices.Compact(list)}, nil
}

package words

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/extsort"
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
}

// ConcordanceOptions are the options of Concord and ConcordIndex.
type ConcordanceOptions struct {
	Window int // words of context on each side; 0 means 10
	Top    int // number of lines; 0 means 50
	// From is the number of lines, in order, to leave out before those that are wanted: they were
	// seen already.
	From int
	// Count makes ConcordIndex count all matches, also where it has enough lines.
	Count bool
	// Sort lists the keys to sort lines by: "L1" is the first word to the left of the match, "R2"
	// the second to the right, "M" the match itself. Without keys, lines are in corpus order.
	Sort []string
	// Sample is the number of lines to choose at random before sorting; 0 means all.
	Sample int
	Seed   uint64 // of this choice; the same seed chooses the same lines
	// With keeps only lines whose context, on either side, has a match of this query; Without drops
	// such lines. nil keeps all lines.
	With, Without *Query
	// Within limits ConcordIndex to some documents, with one set per segment of the index; nil
	// means all of them.
	Within []*docset.Set

	// Each, unless it is nil, is called for each line in order, instead of collecting them in
	// Concordance.Lines.
	Each func(Line) error

	Threads int    // 0 means GOMAXPROCS
	Memory  int64  // bytes for lines; those beyond it go to a temporary file. 0 means 256 MB
	TempDir string // for this file; empty means the system's
}

// Concordance holds the lines of a concordance and the number of matches.
type Concordance struct {
	Lines []Line `json:"lines"` // at most ConcordanceOptions.Top, after From others; never nil
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

// Check returns an error if the options are not valid.
func (o *ConcordanceOptions) Check() error {
	if o.From < 0 {
		return fmt.Errorf("from %d: want 0 or more lines", o.From)
	}
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
	if o.Memory <= 0 {
		o.Memory = 256_000_000
	}
	if o.Top > math.MaxInt-max(0, o.From) {
		o.Top = math.MaxInt - o.From
	}
	return o.Check()
}

// gatherer collects the lines of a concordance, from several goroutines. Lines are records that
// sort in the order of lines: see line.
type gatherer struct {
	ConcordanceOptions
	keySort []sortKey
	q       *Query

	mu      sync.Mutex
	result  Concordance
	lines   *extsort.Sorter // in the order of the result, or of lots
	matched int             // lines that were added
}

func newGatherer(q *Query, o ConcordanceOptions) (*gatherer, error) {
	if err := o.defaults(); err != nil {
		return nil, err
	}
	keys, err := o.keys()
	g := &gatherer{ConcordanceOptions: o, keySort: keys, q: q}
	g.lines = g.sorter(o.From + o.Top)
	if o.Sample > 0 {
		g.lines = g.sorter(o.Sample)
	}
	return g, err
}

// sorter returns a sorter of lines that keeps the first limit of them. There are at most two.
func (g *gatherer) sorter(limit int) *extsort.Sorter {
	return &extsort.Sorter{Room: g.Memory / 4, Dir: g.TempDir, Limit: limit}
}

// found has the lines of some documents: records and where they end.
type found struct {
	records []byte
	ends    []int
	matches int
	docs    int // documents with a match

	head    []byte // buffers
	ofField []int
}

// span is a range of words: a field, which has the contexts of its matches.
type span struct{ from, end int }

// flushAt is the number of bytes of lines that a worker holds.
const flushAt = 1 << 18

// document adds the lines of a document to f. Matches and their contexts do not cross breaks.
func (g *gatherer) document(order uint64, d text.Document, t *text.Tokens, f *found) error {
	doc := d.Text
	t.WantSource = true
	if err := g.q.analyzer.Analyze(doc, t); err != nil {
		return fmt.Errorf("document %s: %w", d.ID, err)
	}
	lot, has := g.lot(d.ID), false
	f.ofField = t.Sections(f.ofField[:0], d.Breaks)
	field := span{}
	for i, at := 0, 0; i < len(t.Words); i++ {
		if i == field.end {
			field = span{field.end, f.ofField[at]}
			at++
		}
		n := g.q.match(doc, t, i, field.end)
		if n == 0 {
			continue
		}
		if g.With != nil && !g.near(g.With, doc, t, i, n, field) ||
			g.Without != nil && g.near(g.Without, doc, t, i, n, field) {
			continue
		}
		f.matches++
		has = true
		f.head = f.head[:0]
		if g.Sample > 0 {
			f.head = binary.BigEndian.AppendUint64(f.head, lot(i))
		}
		if len(g.keySort) == 0 {
			f.head = appendPlace(f.head, order, i)
		}
		if len(f.head) > 0 && g.beyond(f.head) {
			continue
		}
		f.records = g.line(f.records, lot, order, d.ID, doc, t, i, n, field)
		f.ends = append(f.ends, len(f.records))
		if len(f.records) >= flushAt {
			if err := g.add(f); err != nil {
				return err
			}
		}
	}
	if has {
		f.docs++
	}
	return nil
}

// beyond reports whether a line whose record begins with head is not wanted.
func (g *gatherer) beyond(head []byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lines.Beyond(head)
}

// near reports whether another query matches in the context of a match, n words from word i on.
func (g *gatherer) near(other *Query, doc []byte, t *text.Tokens, i, n int, field span) bool {
	has := func(lo, hi int) bool {
		for at := lo; at < hi; at++ {
			if m := other.match(doc, t, at, hi); m > 0 {
				return true
			}
		}
		return false
	}
	return has(max(field.from, i-g.Window), i) || has(i+n, min(field.end, i+n+g.Window))
}

// line appends the record of a line. It consists of parts that sort bytewise: the line's lot if
// lines are sampled, the words that lines are sorted by, and the place. Then come the texts of the
// line, each after its length as uvarint, and the length of all these in 4 bytes.
func (g *gatherer) line(b []byte, lot func(int) uint64, order uint64, id string, doc []byte,
	t *text.Tokens, i, n int, field span) []byte {
	if g.Sample > 0 {
		b = binary.BigEndian.AppendUint64(b, lot(i))
	}
	first, last := t.Source[i], t.Source[i+n-1]
	match := oneLine(doc[first.Start:last.End])
	for _, k := range g.keySort {
		switch k.side {
		case 'L':
			b = appendKey(b, wordAt(doc, t, i-k.n, field))
		case 'R':
			b = appendKey(b, wordAt(doc, t, i+n-1+k.n, field))
		case 'M':
			b = appendKey(b, strings.ToLower(match))
		}
	}
	b = appendPlace(b, order, i)
	texts := len(b)
	lo, hi := max(field.from, i-g.Window), min(field.end, i+n+g.Window)
	from, to := t.Source[lo].Start, t.Source[hi-1].End
	if lo == field.from {
		from -= uint32(len(markBefore(doc[:from])))
	}
	if hi == field.end {
		to += uint32(len(markAfter(doc[to:])))
	}
	for _, text := range []string{id, oneLine(doc[from:first.Start]), match, oneLine(doc[last.End:to])} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	return binary.BigEndian.AppendUint32(b, uint32(len(b)-texts))
}

func appendPlace(b []byte, order uint64, word int) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(b, order), uint32(word))
}

// appendKey appends a word so that records sort by it, and by what follows where words are equal: a
// zero byte becomes 0 255, and the word ends with 0 1.
func appendKey[T string | []byte](b []byte, word T) []byte {
	for i := range len(word) {
		if b = append(b, word[i]); word[i] == 0 {
			b = append(b, 255)
		}
	}
	return append(b, 0, 1)
}

// cutKey appends the word at the beginning of a record to dst, and returns the rest.
func cutKey(dst, record []byte) (word, rest []byte) {
	for i := 0; ; i++ {
		switch {
		case record[i] != 0:
			dst = append(dst, record[i])
		case record[i+1] == 1:
			return dst, record[i+2:]
		default:
			dst = append(dst, 0)
			i++
		}
	}
}

// lineOf is the inverse of line.
func lineOf(record []byte) Line {
	end := len(record) - 4
	texts := end - int(binary.BigEndian.Uint32(record[end:]))
	l := Line{Place: int(binary.BigEndian.Uint32(record[texts-4:]))}
	rest := record[texts:end]
	for _, to := range []*string{&l.Document, &l.Left, &l.Match, &l.Right} {
		n, m := binary.Uvarint(rest)
		*to, rest = string(rest[m:m+int(n)]), rest[m+int(n):]
	}
	return l
}

// markBefore and markAfter return the quotes, brackets and full stops at the ends of a field,
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

func wordAt(doc []byte, t *text.Tokens, i int, field span) string {
	if i < field.from || i >= field.end {
		return ""
	}
	return strings.ToLower(string(doc[t.Source[i].Start:t.Source[i].End]))
}

// oneLine returns the text with single blanks for any white space.
func oneLine(b []byte) string { return strings.Join(strings.Fields(string(b)), " ") }

// needsAll reports whether every match must be seen, to know the lines or to count.
func (g *gatherer) needsAll() bool { return len(g.keySort) > 0 || g.Sample > 0 || g.Count }

// add adds lines, and empties f.
func (g *gatherer) add(f *found) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.result.Total += f.matches
	g.result.Documents += f.docs
	g.matched += len(f.ends)
	start := 0
	for _, end := range f.ends {
		if err := g.lines.Add(f.records[start:end]); err != nil {
			return err
		}
		start = end
	}
	f.records, f.ends, f.matches, f.docs = f.records[:0], f.ends[:0], 0, 0
	return nil
}

const lotBytes = 8

// lot returns the pseudorandom numbers of the lines of a document, by their place: hashes of the
// seed, the document and the place. The sample consists of the lines with the lowest numbers.
func (g *gatherer) lot(id string) func(place int) uint64 {
	fnv1a := func(h uint64, s []byte) uint64 {
		for _, c := range s {
			h = (h ^ uint64(c)) * 1099511628211
		}
		return h
	}
	var digits [20]byte
	start := fnv1a(14695981039346656037, append(strconv.AppendUint(digits[:0], g.Seed, 10), ' '))
	start = fnv1a(start, append([]byte(id), ' '))
	return func(place int) uint64 {
		x := fnv1a(start, strconv.AppendInt(digits[:0], int64(place), 10))
		x ^= x >> 33
		x *= 0xff51afd7ed558ccd
		return x ^ x>>33
	}
}

// finish returns the lines.
func (g *gatherer) finish(all bool) (*Concordance, error) {
	g.result.All = all
	g.result.Lines = []Line{}
	lines := g.lines
	if g.Sample > 0 { // sort those that were chosen
		lines = g.sorter(g.From + g.Top)
		defer lines.Close()
		for record, err := range g.lines.All() {
			if err == nil {
				err = lines.Add(record[lotBytes:])
			}
			if err != nil {
				return nil, err
			}
		}
	}
	before := g.From
	for record, err := range lines.All() {
		if err != nil {
			return nil, err
		}
		if before > 0 {
			before--
			continue
		}
		l := lineOf(record)
		if g.Each == nil {
			g.result.Lines = append(g.result.Lines, l)
		} else if err := g.Each(l); err != nil {
			return nil, err
		}
	}
	return &g.result, nil
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
	defer g.lines.Close()
	with := *corpus
	with.Options.Threads = g.Threads
	tokens, lists := make([]text.Tokens, g.Threads), make([]found, g.Threads)
	err = with.Batches(ctx, func(w int, b *text.Batch) error {
		for i := range b.Docs {
			err := g.document(uint64(b.Seq)<<32|uint64(i), b.Docs[i], &tokens[w],
				&lists[w])
			if err != nil {
				return err
			}
			tokens[w].Trim()
		}
		return cmp.Or(g.add(&lists[w]), ctx.Err())
	})
	if err != nil {
		return nil, err
	}
	result, err := g.finish(true)
	if err != nil {
		return nil, err
	}
	if result.Total == 0 && corpus.Source == nil && !slices.Contains(corpus.Paths, "-") {
		result.Unknown, err = unknownWords(ctx, corpus, g.Threads, q, g.With)
	}
	return result, err
}

// ErrNoText is returned if an index has no stored text.
var ErrNoText = errors.New("the index stores no text: build it again with index.BuildOptions.StoreText")

// ConcordIndex finds a query in the stored text of an index. It reads only documents that may have
// a match. Unless lines are sorted, sampled or counted, it stops when it has enough; see
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
	defer g.lines.Close()
	all := true
	if o.Within != nil && len(o.Within) != len(r.Segments()) {
		return nil, fmt.Errorf("%d sets of documents: want %d, one per segment", len(o.Within), len(r.Segments()))
	}
	for i, s := range r.Segments() {
		var within *docset.Set
		if o.Within != nil {
			within = o.Within[i]
		}
		if all, err = g.segment(ctx, &s, within); err != nil {
			return nil, err
		}
		if !all {
			break
		}
	}
	found, err := g.finish(all)
	if err != nil {
		return nil, err
	}
	if found.Total == 0 {
		found.Unknown, err = unknownInIndex(ctx, r, q, g.With)
	}
	return found, err
}

// segment adds the lines of some documents of a segment; all is false if there are enough before
// its end.
func (g *gatherer) segment(ctx context.Context, s *segments.Segment, within *docset.Set) (all bool, err error) {
	var t text.Tokens
	var f found
	for doc, err := range g.q.documents(ctx, s.Reader) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return false, err
		}
		if !has(s.Live, doc) || !has(within, doc) {
			continue
		}
		if !g.needsAll() && g.matched >= g.From+g.Top {
			return false, nil
		}
		body, breaks, err := storedText(s.Reader, int(doc))
		if err != nil {
			return false, err
		}
		id, err := s.DocID(int(doc))
		if err != nil {
			return false, err
		}
		if err := g.document(uint64(s.Base)+uint64(doc), text.Document{ID: id, Text: body, Breaks: breaks}, &t, &f); err != nil {
			return false, err
		}
		if err := g.add(&f); err != nil {
			return false, err
		}
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

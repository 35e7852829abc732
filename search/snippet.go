package search

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"math"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/lookup"
	"github.com/collocate/collocate/search/internal/tree"
	"github.com/collocate/collocate/text"
)

// Snippet is an excerpt of a document's text with the words and phrases of the query marked.
type Snippet struct {
	Text  string      `json:"text"`  // white space is collapsed to single blanks, unless lines are kept
	Marks []text.Span `json:"marks"` // positions of the words and phrases in Text
	// Before reports whether the document has words before Text.
	Before bool `json:"before"`
	// After reports whether the document has words after Text.
	After bool `json:"after"`
	// Start and End are where Text is in the stored text of the document, in bytes.
	Start int `json:"start"`
	End   int `json:"end"` // where it ends
	// First is where the first mark is in the stored text, or Start if there is none.
	First int `json:"-"`
	// Heading has the headings above First, the outermost first, with " > " between them, if they
	// are known. Package api fills it.
	Heading string `json:"heading,omitempty"`
}

// SnippetOptions says what snippets are like.
type SnippetOptions struct {
	Size      int  // about the length of each, in bytes
	Number    int  // of a document, at most; 0 means 1
	KeepLines bool // keep white space as it is
	// Field is the text field that they come from; "" means the whole stored text. Start and End
	// are then places in that field, and a document without it has no snippets.
	Field string
}

// MaxSnippets is the most snippets of a document.
const MaxSnippets = 100

// Marked returns the snippet as text, with each mark between on and off. It escapes nothing: the
// text of a document may contain tags. For a page use HTML.
func (s *Snippet) Marked(on, off string) string {
	return s.marked(on, off, func(text string) string { return text })
}

// HTML is Marked for a page: the text is escaped, and on and off, such as <mark> and </mark>, are
// not. Bytes that are not UTF-8 become U+FFFD.
func (s *Snippet) HTML(on, off string) string {
	return s.marked(on, off, func(text string) string {
		return html.EscapeString(strings.ToValidUTF8(text, "\uFFFD"))
	})
}

func (s *Snippet) marked(on, off string, escape func(string) string) string {
	var b strings.Builder
	if s.Before {
		b.WriteString("... ")
	}
	at := uint32(0)
	for _, m := range s.Marks {
		b.WriteString(escape(s.Text[at:m.Start]) + on + escape(s.Text[m.Start:m.End]) + off)
		at = m.End
	}
	b.WriteString(escape(s.Text[at:]))
	if s.After {
		b.WriteString(" ...")
	}
	return b.String()
}

// snippetReach is the number of bytes of a document that are read for a snippet. Longer documents
// are truncated, which bounds the cost of a snippet.
const snippetReach = 1 << 20

// Snippet returns an excerpt of about size bytes of a document: the one with the most distinct
// words and phrases of the query, then with the most occurrences of them, then the first. A phrase
// is one mark, and its words alone are not marked; words of a Near, or of a phrase with ~, are
// marked where they are part of one. Only the first megabyte of a document is considered. The
// index must store the text.
func (s *Searcher) Snippet(ctx context.Context, r Request, doc uint32, size int) (*Snippet, error) {
	found, err := s.Snippets(ctx, r, []uint32{doc}, size)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// Snippets is Snippet for several documents of one query; it looks up the words only once.
func (s *Searcher) Snippets(ctx context.Context, r Request, docs []uint32,
	size int) (list []*Snippet, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	found, err := s.Excerpts(ctx, r, docs, SnippetOptions{Size: size})
	for _, one := range found {
		list = append(list, one[0])
	}
	return list, err
}

// Excerpts returns the snippets of each of several documents, the best first. They do not overlap.
// Those after the first have words of the query.
func (s *Searcher) Excerpts(ctx context.Context, r Request, docs []uint32,
	o SnippetOptions) (list [][]*Snippet, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, fmt.Errorf("snippet: %w", err)
	}
	if o.Field != "" {
		if list, err = s.excerptsOf(ctx, r, docs, o); err != nil {
			return nil, fmt.Errorf("snippet: %w", err)
		}
		return list, nil
	}
	defer mmap.Recover(mmap.Guard(), &err)
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if !s.index.HasText() {
		return nil, ask.Refuse("snippet: the index stores no text")
	}
	if o.Size < 1 {
		return nil, ask.Refuse("snippet: size %d: want at least 1", o.Size)
	}
	if o.Number < 0 || o.Number > MaxSnippets {
		return nil, ask.Refuse("snippet: %d of a document: want 1 to %d", o.Number, MaxSnippets)
	}
	for _, doc := range docs {
		if int(doc) >= s.index.Numbers() {
			return nil, ask.Refuse("snippet: document %d: the index has %d", doc, s.index.Numbers())
		}
	}
	if err := s.rewrite(&r); err != nil {
		return nil, err
	}
	r.Expand, r.Filter = nil, nil // only the words of the original query are marked
	m := s.snippets.Get()
	defer s.snippets.Put(m)
	if m.wants, err = nil, nil; r.Query != nil {
		if m.wants, err = tree.Wants(ctx, s.tree, &r); err != nil {
			return nil, fmt.Errorf("snippet: %w", err)
		}
		r.Text, r.Words, r.Query = "", nil, nil
	}
	r.Mode = Or // a word that is not in the index must not hide the others
	if s.many != nil {
		var words lookup.Across
		if err := s.many.LookUp(&words, &r); err != nil {
			return nil, fmt.Errorf("snippet: %w", err)
		}
		m.query = words.Wording
	} else if err := m.query.Find(&s.e.Lexicon, &r); err != nil {
		return nil, fmt.Errorf("snippet: %w", err)
	}
	out := make([][]*Snippet, len(docs))
	for i, doc := range docs {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("snippet: %w", err)
		}
		if out[i], err = m.make(ctx, s, doc, o); err != nil {
			return nil, fmt.Errorf("snippet: %w", err)
		}
	}
	return out, nil
}

// snippetMaker holds the buffers for making snippets. They are reused by later queries, since
// building the stemmer's table for each query took a third of the time.
type snippetMaker struct {
	query  lookup.Wording
	wants  []tree.Wanted // instead of query, if it is not plain words
	tokens text.Tokens
	marks  []mark
	places []uint32 // of the tokens, if phrases are wanted
	body   []byte
}

func newSnippetMaker() *snippetMaker {
	return &snippetMaker{tokens: text.Tokens{WantSource: true}}
}

// make returns the snippets of a document.
func (m *snippetMaker) make(ctx context.Context, s *Searcher, doc uint32,
	o SnippetOptions) ([]*Snippet, error) {
	body, err := s.index.AppendText(m.body[:0], int(doc))
	if err != nil {
		return nil, err
	}
	var breaks []uint32
	if schema := s.index.Schema(); schema != nil && m.wants != nil {
		values, err := s.index.Stored(int(doc))
		if err != nil {
			return nil, err
		}
		for _, field := range schema.Of(fields.Text) {
			if at := schema.TextAt(values, field); at > 0 {
				breaks = append(breaks, uint32(at))
			}
		}
	}
	made, err := m.of(ctx, s.analyzer, body, breaks, o)
	if err != nil {
		return nil, fmt.Errorf("document %d: %w", doc, err)
	}
	if m.body = body; cap(body) > snippetReach {
		m.body = nil // too large to keep
	}
	m.tokens.Trim()
	return made, nil
}

// of returns the snippets of a text, in which phrases do not go across breaks.
func (m *snippetMaker) of(ctx context.Context, a text.Analyzer, body []byte, breaks []uint32,
	o SnippetOptions) ([]*Snippet, error) {
	body, more := cutText(body)
	if err := a.Analyze(body, &m.tokens); err != nil {
		return nil, err
	}
	m.marks = m.marks[:0]
	wanted := len(m.query.Terms)
	if m.wants != nil {
		wanted = len(m.wants)
		if err := m.mark(ctx, breaks, func(*tree.Wanted) bool { return true }); err != nil {
			return nil, err
		}
		m.sort()
	} else {
		for t := range m.tokens.Words {
			if w := m.query.Position(string(m.tokens.Word(t))); w >= 0 {
				m.marks = append(m.marks, mark{m.tokens.Source[t], w})
			}
		}
		if len(m.tokens.At) > 0 { // a name and its parts overlap
			m.sort()
		}
	}
	return m.pick(body, wanted, o, more), nil
}

// pick returns the snippets of a text that was analyzed and marked. more says that it goes on.
func (m *snippetMaker) pick(body []byte, wanted int, o SnippetOptions, more bool) []*Snippet {
	size := uint32(min(o.Size, math.MaxInt32))
	whole := span{0, uint32(len(body)), m.tokens.Source, m.marks}
	best := bestPiece(whole.marks, wanted, size)
	list := []*Snippet{whole.cut(body, whole.words, best, size, o.KeepLines)}
	for rest := []span{whole}; len(list) < o.Number; {
		rest = without(rest, list[len(list)-1])
		var from span
		best = piece{}
		for _, part := range rest {
			if p := bestPiece(part.marks, wanted, size); p.better(best) {
				from, best = part, p
			}
		}
		if best.count == 0 {
			break
		}
		made := from.cut(body, whole.words, best, size, o.KeepLines)
		if made.End <= made.Start {
			break
		}
		list = append(list, made)
	}
	for _, made := range list {
		made.After = made.After || more
	}
	return list
}

// span is a part of a text with its words and marks.
type span struct {
	start, end uint32
	words      []text.Span
	marks      []mark
}

// without returns what is left of spans without a snippet.
func without(list []span, s *Snippet) (rest []span) {
	for _, p := range list {
		if uint32(s.End) <= p.start || uint32(s.Start) >= p.end {
			rest = append(rest, p)
			continue
		}
		rest = append(rest, p.part(p.start, uint32(s.Start)), p.part(uint32(s.End), p.end))
	}
	return rest
}

// part returns what lies between two offsets as a whole.
func (p span) part(start, end uint32) span {
	inside := func(s text.Span) bool { return s.Start >= start && s.End <= end }
	out := span{start: start, end: end}
	for _, w := range p.words {
		if inside(w) {
			out.words = append(out.words, w)
		}
	}
	for _, m := range p.marks {
		if inside(m.Span) {
			out.marks = append(out.marks, m)
		}
	}
	return out
}

// cutText returns the part of a text that snippets are made from: all of it, or up to the last
// blank before snippetReach, if there is one.
func cutText(body []byte) (part []byte, cut bool) {
	if len(body) <= snippetReach {
		return body, false
	}
	if end := bytes.LastIndexAny(body[:snippetReach], " \t\n"); end > 0 {
		return body[:end], true
	}
	end := snippetReach
	for end > snippetReach-utf8.UTFMax && !utf8.RuneStart(body[end]) {
		end--
	}
	return body[:end], true
}

// mark is an occurrence of a query word in a document.
type mark struct {
	text.Span
	word int
}

// piece is a range of marks that fits in an excerpt.
type piece struct{ from, to, distinct, count int }

func (p piece) better(q piece) bool {
	return p.distinct > q.distinct || p.distinct == q.distinct && p.count > q.count
}

// bestPiece returns the range of the marks in the best excerpt.
func bestPiece(marks []mark, words int, size uint32) (best piece) {
	count := make([]int, words)
	distinct, lo := 0, 0
	for hi, m := range marks {
		if count[m.word]++; count[m.word] == 1 {
			distinct++
		}
		for lo < hi && m.End-marks[lo].Start > size {
			if count[marks[lo].word]--; count[marks[lo].word] == 0 {
				distinct--
			}
			lo++
		}
		if p := (piece{lo, hi + 1, distinct, hi + 1 - lo}); p.better(best) {
			best = p
		}
	}
	return best
}

// cut cuts the excerpt around a piece out of the document, whose words are all, at word boundaries,
// with a third of the remaining room before the first mark.
func (p span) cut(body []byte, all []text.Span, best piece, size uint32, lines bool) *Snippet {
	words, marks, from, to := p.words, p.marks, best.from, best.to
	end := p.end
	first, last := p.start, min(p.start+size, end)
	if to > from {
		first, last = marks[from].Start, marks[to-1].End
		for _, m := range marks[from:to] {
			last = max(last, m.End) // a part ends before its name
		}
		room := size - min(size, last-first)
		first -= min(first-p.start, room/3)
		last = min(end, max(last, first+size))
		first = min(first, max(p.start, last-min(last, size)))
		first = min(first, marks[from].Start)
	}
	start, stop := end, uint32(0) // bounds of the whole words inside
	for _, w := range words {
		if w.Start >= first && w.End <= last {
			start, stop = min(start, w.Start), max(stop, w.End)
		}
	}
	if start >= stop {
		return &Snippet{After: len(words) > 0}
	}
	s := &Snippet{Before: start > all[0].Start, After: stop < all[len(all)-1].End}
	if !s.After {
		stop = end // include the closing punctuation, but not the white space after it
		for stop > start && isBlank(body[stop-1]) {
			stop--
		}
	}
	if stop-start > 2*size { // an overlong word
		stop = start + 2*size
		for stop > start+1 && !utf8.RuneStart(body[stop]) {
			stop--
		}
		s.After = true
	}
	s.Start, s.End, s.First = int(start), int(stop), int(start)
	for _, m := range marks {
		if m.Start >= start {
			if m.Start < stop {
				s.First = int(m.Start)
			}
			break
		}
	}
	s.copy(body, marks, start, stop, lines)
	return s
}

// copy fills Text with body[start:stop], white space collapsed unless lines are kept, and Marks.
func (s *Snippet) copy(body []byte, marks []mark, start, stop uint32, lines bool) {
	out := make([]byte, 0, stop-start)
	next := 0
	for next < len(marks) && marks[next].Start < start {
		next++
	}
	var open, end uint32
	inside := false
	for i := start; i <= stop; i++ {
		for next < len(marks) && i == marks[next].Start && (inside && i < end) {
			end = max(end, marks[next].End) // marks that overlap become one
			next++
		}
		if inside && (i == end || i == stop) {
			s.Marks = append(s.Marks, text.Span{Start: open, End: uint32(len(out))})
			inside = false
		}
		if i == stop {
			break
		}
		for next < len(marks) && i == marks[next].Start {
			if !inside {
				inside, open, end = true, uint32(len(out)), 0
			}
			end = max(end, marks[next].End)
			next++
		}
		switch c := body[i]; {
		case !lines && isBlank(c):
			if n := len(out); n > 0 && out[n-1] != ' ' {
				out = append(out, ' ')
			}
		default:
			out = append(out, c)
		}
	}
	for n := len(out); n > 0 && isBlank(out[n-1]); n-- {
		out = out[:n-1]
	}
	s.Text = unsafe.String(unsafe.SliceData(out), len(out)) // out is not modified afterwards
}

func isBlank(c byte) bool {
	return c == ' ' || '\t' <= c && c <= '\r'
}

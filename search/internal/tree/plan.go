package tree

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/columns"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// kind is the kind of a node.
type kind uint8

const (
	words   kind = iota // one word, or the words of a pattern
	phrase              // words in order
	fixed               // a known set of documents
	boolean             // several parts
)

// role is the role of a part in its parent.
type role uint8

const (
	should role = iota
	must
	not
	filter
)

// node is a part of a query, compiled for one segment.
type node struct {
	kind kind
	role role // in its parent
	// scale is the weight of the field of weighted tokens that the node is in.
	scale float64
	from  query.Node
	src   *eval.Engine // for words and phrases: the index, or that of a field

	// For words and phrases: the words and their scorers. A pattern is scored as the single word
	// whole.
	terms   []model.Term
	one     [1]model.Term // storage for the term of a word
	scorers []model.Scorer
	usual   []model.BM25Scorer // storage for scorers
	pattern bool
	whole   model.Term

	places matcher // for phrases

	set   *docset.Set // for fixed; it must not be changed
	live  bool        // for fixed: the set has only documents that were not deleted
	parts []*node     // for boolean
	// seen has the plain words of parts if there are many, so that add finds equal ones.
	seen map[wordRole]*node
}

// wordRole is a word in the index, or in that of a field, with its role.
type wordRole struct {
	wordList
	role role
}

// manyWords is the number of words of a query from which equal ones are found by a map, so that the
// time does not grow with the square of their number. Below, comparing them all is faster.
const manyWords = 32

// scores reports whether a part adds to the score of its parent.
func (n *node) scores() bool { return n.role == should || n.role == must }

// exec evaluates one query on one segment.
type exec struct {
	ctx    context.Context
	e      *eval.Engine
	base   uint32          // the number of its first document in the index
	src    *eval.Engine    // where words are looked up: e, or the engine of a field
	col    *columns.Column // where values are looked up instead, if not nil
	docs   int
	most   int // maximum number of words of a pattern
	ticks  int
	list   []string // buffer of wordsOf
	counts []uint32 // of these words, if their analyzer reads weights
	at     []uint32 // positions of these words, from the first on; empty if they are 0, 1, 2, ...
	over   []bool   // which of these words only cover others, as a name does its parts

	name     string         // field of src; "" means the text
	patterns []ask.Pattern  // counts of patterns in the index that a shard was cut from
	found    *[]ask.Pattern // where patterns are collected instead, if not nil
	asked    *asked         // filters that may be kept; nil if they are looked at
}

// MaxExpansions is the maximum number of words that a pattern may expand to.
const MaxExpansions = 1024

// compile returns the node of a part of a query; nil if the part is empty, such as a stop word.
func (x *exec) compile(from query.Node, weight float64) (*node, error) {
	if x.col != nil {
		if n, err := x.value(from); n != nil || err != nil {
			return n, err
		}
	}
	switch q := from.(type) {
	case query.Term:
		list, err := x.wordsOf(q.Text)
		if err != nil || len(list) == 0 {
			return nil, err
		}
		if len(list) == 1 {
			return x.word(from, list[0], x.times(weight, 0))
		}
		return x.bool(from, must, weight, list)
	case query.Phrase:
		list, err := x.wordsOf(q.Text)
		if list = x.needed(list); err != nil || len(list) == 0 {
			return nil, err
		}
		if len(list) == 1 {
			return x.word(from, list[0], weight)
		}
		return x.phrase(from, list, weight, matcher{slop: q.Slop, places: true, offsets: slices.Clone(x.at)})
	case query.Near:
		var list []string
		for _, w := range q.Words {
			more, err := x.wordsOf(w)
			if err != nil {
				return nil, err
			}
			list = append(list, x.needed(more)...)
		}
		if len(list) == 0 {
			return nil, nil
		}
		if len(list) == 1 {
			return x.word(q, list[0], weight)
		}
		return x.phrase(q, list, weight, matcher{slop: q.Within, ordered: q.Ordered, near: true})
	case query.Boost:
		if f, ok := q.Part.(query.Field); ok && x.hasValues(f.Name) {
			return nil, ask.Refuse("%v: values of fields are weighed at the top of a query only, not within other parts", q)
		}
		return x.compile(q.Part, weight*q.By)
	case query.And:
		return x.group(from, q.Parts, must, weight)
	case query.Or:
		return x.group(from, q.Parts, should, weight)
	case query.Not, query.Filter:
		return x.group(from, []query.Node{from}, should, weight)
	case query.Must:
		return x.compile(q.Part, weight)
	case query.Prefix, query.Wildcard, query.Fuzzy, query.Same:
		return x.expand(q, weight)
	case query.IDs:
		return x.ids(q)
	case query.All:
		return &node{kind: fixed, from: q, set: x.all()}, nil
	case query.Field:
		return x.field(q, weight)
	case query.Range, query.Box:
		if x.src != x.e {
			return nil, ask.Refuse("%v: a text field has no ranges: want a keyword, number, date or geo field", q)
		}
		return nil, ask.Refuse("%v: a range needs a field before it, as in year:%v", q, q)
	case nil:
		return nil, nil
	}
	return nil, ask.Refuse("unknown part of a query: %T", from)
}

// all returns all documents or, in a text field, those with a word in it.
func (x *exec) all() *docset.Set {
	if x.src == x.e {
		return docset.Full(x.docs)
	}
	s := docset.New(x.docs)
	for doc, n := range x.src.Collection.Lengths {
		if n > 0 {
			s.Add(uint32(doc))
		}
	}
	return s
}

// times returns the weight of a word of the last call of wordsOf.
func (x *exec) times(weight float64, word int) float64 {
	if len(x.counts) == 0 {
		return weight
	}
	return weight * float64(x.counts[word])
}

// wordsOf returns the analyzed words of a text. They are valid until the next call, as are their
// positions.
func (x *exec) wordsOf(s string) (list []string, err error) {
	tok := tokens.Get().(*text.Tokens)
	defer tokens.Put(tok)
	tok.At, tok.Counts, x.at, x.over = tok.At[:0], tok.Counts[:0], x.at[:0], x.over[:0]
	if err := x.src.Analyzer.Analyze(bytesOf(s), tok); err != nil {
		return nil, fmt.Errorf("analyze the query: %w", err)
	}
	list = slices.Grow(x.list[:0], len(tok.Words))[:len(tok.Words)]
	x.list, x.counts = list, append(x.counts[:0], tok.Counts...)
	for i, at := range tok.Words {
		word := tok.Word(i)
		if int(at.End) <= len(s) && s[at.Start:at.End] == string(word) {
			list[i] = s[at.Start:at.End]
		} else {
			list[i] = string(word)
		}
	}
	for i, at := range tok.At {
		x.at = append(x.at, at-tok.At[0])
		x.over = append(x.over, tok.Covers(i))
	}
	return list, nil
}

// needed returns the words of wordsOf that a document must have: without those that only cover
// others. It drops the positions of the others, too.
func (x *exec) needed(list []string) []string {
	n := 0
	for i := range x.at {
		if !x.over[i] {
			list[n], x.at[n] = list[i], x.at[i]
			n++
		}
	}
	if len(x.at) > 0 {
		list, x.at, x.over = list[:n], x.at[:n], x.over[:0]
	}
	return list
}

// tokens are reused.
var tokens = sync.Pool{New: func() any { return new(text.Tokens) }}

// bytesOf returns a string as bytes, which must not be modified.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// term looks up a word. A word that is not in the index has DF 0.
func (x *exec) term(word string, weight float64) (model.Term, error) {
	info, err := x.src.Term(bytesOf(word))
	return model.Term{Text: word, Weight: weight, Info: info}, err
}

func (x *exec) word(q query.Node, word string, weight float64) (*node, error) {
	n := &node{kind: words, from: q, src: x.src}
	var err error
	n.one[0], err = x.term(word, weight)
	n.terms = n.one[:]
	return n, err
}

// phraseNode is the node of a phrase with storage for its first words.
type phraseNode struct {
	node
	terms   [4]model.Term
	scorers [4]model.Scorer
	usual   [4]model.BM25Scorer
}

func (x *exec) phrase(q query.Node, list []string, weight float64, m matcher) (*node, error) {
	if !x.src.Index.HasPositions() {
		return nil, ask.Refuse("%v: %w", q, index.ErrNoPositions)
	}
	room := new(phraseNode)
	n := &room.node
	*n = node{kind: phrase, from: q, src: x.src, places: m,
		terms: room.terms[:0], scorers: room.scorers[:0], usual: room.usual[:]}
	for _, w := range list {
		t, err := x.term(w, weight)
		if err != nil {
			return nil, err
		}
		n.terms = append(n.terms, t)
	}
	return n, nil
}

// bool returns a node of words, all in one role; but words that only cover others are optional.
func (x *exec) bool(q query.Node, r role, weight float64, list []string) (*node, error) {
	n := &node{kind: boolean, from: q}
	for i, w := range list {
		part, err := x.word(query.Term{Text: w}, w, x.times(weight, i))
		if err != nil {
			return nil, err
		}
		if part.role = r; len(x.over) > 0 && x.over[i] {
			part.role = should
		}
		n.add(part)
	}
	return n, nil
}

// group returns a node of parts, which have the role usual unless they are marked otherwise.
func (x *exec) group(q query.Node, parts []query.Node, usual role, weight float64) (*node, error) {
	n := &node{kind: boolean, from: q, parts: make([]*node, 0, len(parts))}
	for _, p := range parts {
		r := usual
		var part *node
		var err error
		switch signed := p.(type) {
		case query.Not:
			p, r = signed.Part, not
		case query.Filter:
			p, r = signed.Part, filter
		case query.Must:
			p, r = signed.Part, must
		}
		if r == filter {
			part, err = x.filter(p)
		} else {
			part, err = x.compile(p, weight)
		}
		if err != nil {
			return nil, err
		}
		if part == nil {
			continue
		}
		if _, ok := p.(query.Term); ok && r == should && part.kind == boolean {
			for _, word := range part.parts { // each word is a part of its own
				word.role = should
				n.add(word)
			}
			continue
		}
		part.role = r
		n.add(part)
	}
	if len(n.parts) == 0 {
		return nil, nil
	}
	if len(n.parts) == 1 && n.parts[0].scores() {
		n.parts[0].role = should
		return n.parts[0], nil
	}
	return n, nil
}

// add appends a part. Equal words in the same role are merged.
func (n *node) add(part *node) {
	if part.plainWord() && part.scores() {
		if old := n.equal(part); old != nil {
			old.terms[0].Weight += part.terms[0].Weight
			return
		}
	}
	n.parts = append(n.parts, part)
}

// equal returns the part with the same word in the same role. If there is none and words are many,
// it remembers this one.
func (n *node) equal(part *node) *node {
	key := func(p *node) wordRole { return wordRole{wordList{p.src, p.terms[0].Text}, p.role} }
	if len(n.parts) < manyWords {
		for _, old := range n.parts {
			if old.plainWord() && key(old) == key(part) {
				return old
			}
		}
		return nil
	}
	if n.seen == nil {
		n.seen = map[wordRole]*node{}
		for _, old := range n.parts {
			if old.plainWord() {
				n.seen[key(old)] = old
			}
		}
	}
	old := n.seen[key(part)]
	if old == nil {
		n.seen[key(part)] = part
	}
	return old
}

// plainWord reports whether a node is a single word.
func (n *node) plainWord() bool { return n.kind == words && !n.pattern }

func (x *exec) ids(q query.IDs) (*node, error) {
	n := &node{kind: fixed, from: q, set: docset.New(x.docs)}
	for _, id := range q.IDs {
		docs, err := x.e.Index.FindDocs(id)
		if err != nil {
			return nil, err
		}
		for _, doc := range docs {
			if x.e.Live == nil || x.e.Live.Has(doc) {
				n.set.Add(doc)
			}
		}
	}
	return n, nil
}

// weighed has the weigher of a query's words in an index, or in that of a field.
type weighed struct {
	src   *eval.Engine
	terms []model.Term
	model.Weigher
	norm float64
}

// scorers sets the scorers of the words in a tree. Each field has its own collection and norm.
func (x *exec) scorers(root *node, m model.Model) (err error) {
	var few [2]weighed
	all := few[:0]
	in := func(src *eval.Engine) *weighed {
		for i := range all {
			if all[i].src == src {
				return &all[i]
			}
		}
		all = append(all, weighed{src: src})
		return &all[len(all)-1]
	}
	root.each(func(n *node) {
		if terms := n.scoring(); len(terms) > 0 {
			w := in(n.src)
			if w.terms == nil {
				w.terms = slices.Clip(terms)
			} else {
				w.terms = append(w.terms, terms...)
			}
		}
	})
	for i := range all {
		w := &all[i]
		for _, t := range w.terms {
			if !(t.Weight > 0 && t.Weight <= 1e9) {
				return ask.Refuse("word %q: weight %v: want a positive number up to 1e9", t.Text,
					t.Weight)
			}
		}
		if w.Weigher, err = w.src.Weigher(m); err != nil {
			return err
		}
		w.norm = w.QueryNorm(w.terms)
	}
	root.each(func(n *node) {
		n.scorers = n.scorers[:0]
		if terms := n.scoring(); len(terms) > 0 {
			w := in(n.src)
			usual, _ := w.Weigher.(*model.BM25Weigher)
			for i := range terms {
				var s model.Scorer
				if usual != nil && i < len(n.usual) {
					s = usual.ScorerIn(&n.usual[i], &terms[i])
				} else {
					s = w.ScorerOf(&terms[i], w.norm)
				}
				n.scorers = append(n.scorers, s)
			}
		}
	})
	return nil
}

// scoring returns the words by which a leaf scores, in order; none if it cannot match in any
// segment.
func (n *node) scoring() []model.Term {
	if n.pattern {
		if n.whole.AllDF() == 0 {
			return nil
		}
		return []model.Term{n.whole}
	}
	for i := range n.terms {
		if n.terms[i].AllDF() == 0 {
			return nil
		}
	}
	return n.terms
}

// each calls fn for the leaves that score, in order.
func (n *node) each(fn func(*node)) {
	if n.kind != boolean {
		fn(n)
	}
	for _, p := range n.parts {
		if p.scores() {
			p.each(fn)
		}
	}
}

// steps looks at a context after every so many steps of a loop.
type steps struct {
	ctx   context.Context
	err   error // of the context
	since int   // steps since the last look
	all   int64 // steps so far, for tests
}

// lookEvery is the number of steps between two looks at the context: about a millisecond.
const lookEvery = 1 << 19

// step counts steps, and reports whether to go on.
func (s *steps) step(n int) bool {
	s.all += int64(n)
	if s.since += n; s.since >= lookEvery {
		s.since = 0
		s.err = s.ctx.Err()
	}
	return s.err == nil
}

// tick checks for cancellation every 64 calls.
func (x *exec) tick() error {
	if x.ticks++; x.ticks&0x3f == 0 {
		return x.ctx.Err()
	}
	return nil
}

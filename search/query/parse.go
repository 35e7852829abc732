package query

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Options say how text is parsed. With the zero value there are no fields: a name before a colon is
// part of a word, except id.
type Options struct {
	// And requires all parts of a list without operators, instead of any.
	And bool
	// Fields are the names that may precede a colon. If there are any, another name there is an
	// error, since it may be misspelled.
	Fields []string
	// AnyField treats every name before a colon as a field.
	AnyField bool
}

// Error says where and why a query cannot be parsed.
type Error struct {
	Query  string // the whole text that was to be parsed
	Column int    // from 1, in characters
	Reason string // what was expected
}

func (e *Error) Error() string {
	return fmt.Sprintf("query, column %d: %s", e.Column, e.Reason)
}

// Parse parses a query. It returns nil for text without words.
func Parse(text string, o Options) (Node, error) {
	p := parser{text: text, o: o}
	return p.list()
}

// maxDepth bounds how deeply groups may be nested, so that no query exhausts the stack.
const maxDepth = 100

type parser struct {
	text  string
	at    int
	open  int // number of open groups
	depth int
	o     Options

	marks struct { // question marks, and whether a word continues after them: see wordAt
		from, to int
		word     bool
	}
}

func (p *parser) fail(at int, format string, args ...any) error {
	return &Error{Query: p.text, Column: utf8.RuneCountInString(p.text[:at]) + 1,
		Reason: fmt.Sprintf(format, args...)}
}

// blanks skips blanks.
func (p *parser) blanks() {
	for p.at < len(p.text) {
		if c := p.text[p.at]; c > ' ' && c < utf8.RuneSelf {
			return
		}
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		if !unicode.IsSpace(r) {
			return
		}
		p.at += size
	}
}

// ended reports whether a list ends here: at the end of the text or at the parenthesis that closes
// its group.
func (p *parser) ended() bool {
	p.blanks()
	return p.at == len(p.text) || p.open > 0 && p.text[p.at] == ')'
}

// keyword consumes an operator, in capitals or as a symbol, if it is here as a word of its own.
func (p *parser) keyword(name string) bool {
	p.blanks()
	if p.at < len(p.text) && !mayBeOperator(p.text[p.at]) {
		return false
	}
	rest, ok := strings.CutPrefix(p.text[p.at:], name)
	if sign := inSigns[name]; !ok && sign != "" {
		name = sign
		rest, ok = strings.CutPrefix(p.text[p.at:], name)
	}
	if !ok {
		return false
	}
	if r, _ := utf8.DecodeRuneInString(rest); rest != "" && !unicode.IsSpace(r) && r != '(' &&
		!(r == ')' && p.open > 0) {
		return false
	}
	p.at += len(name)
	return true
}

// operatorAt returns the operator at the current position, or "". It consumes nothing.
func (p *parser) operatorAt() string {
	at := p.at
	defer func() { p.at = at }()
	if p.blanks(); p.at < len(p.text) && !mayBeOperator(p.text[p.at]) {
		return ""
	}
	for _, name := range operators {
		if p.keyword(name) {
			return name
		}
	}
	return ""
}

// mayBeOperator reports whether an operator can begin with c. Few words do, so this test is fast.
func mayBeOperator(c byte) bool {
	return c == 'A' || c == 'O' || c == 'N' || c == '&' || c == '|'
}

var operators = []string{"AND", "OR", "NOT"}

// inSigns are the symbols for operators that other search engines also accept.
var inSigns = map[string]string{"AND": "&&", "OR": "||"}

func isOperator(word string) bool {
	if slices.Contains(operators, word) || word == "&&" || word == "||" {
		return true
	}
	for _, name := range []string{"NEAR/", "BEFORE/"} {
		if strings.HasPrefix(word, name) {
			return true
		}
	}
	return false
}

func (p *parser) list() (Node, error) {
	var few [4]Node // room for most lists
	parts := few[:0]
	for !p.ended() {
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		if n != nil {
			parts = append(parts, n)
		}
	}
	if p.o.And {
		return and(parts), nil
	}
	return or(parts), nil
}

func (p *parser) or() (Node, error) { return p.joined("OR") }

func (p *parser) and() (Node, error) { return p.joined("AND") }

// joined parses parts separated by an operator. It takes no functions, so that the parser stays on
// the stack.
func (p *parser) joined(name string) (n Node, err error) {
	var only Node
	var parts []Node // if there are two or more
	for first := true; first || p.keyword(name); first = false {
		if p.ended() && first {
			break
		}
		if at := p.at; p.ended() {
			return nil, p.fail(at, "expected a word, a phrase or a group after %s", name)
		}
		if found := p.operatorAt(); found != "" && found != "NOT" {
			return nil, p.fail(p.at, "expected a word, a phrase or a group before %s; write %q for the word",
				found, strings.ToLower(found))
		}
		if name == "OR" {
			n, err = p.and()
		} else {
			n, err = p.clause()
		}
		if err != nil {
			return nil, err
		}
		switch {
		case n == nil:
		case only == nil:
			only = n
		case parts == nil:
			parts = []Node{only, n}
		default:
			parts = append(parts, n)
		}
	}
	if parts == nil { // keep its prefix operator, which the enclosing list interprets
		return only, nil
	}
	if name == "OR" {
		return or(parts), nil
	}
	return and(parts), nil
}

// or and and make one node from parsed parts. They drop redundant prefix operators and flatten
// nested nodes of the same kind.
func or(parts []Node) Node {
	if len(parts) == 1 {
		return single(parts[0])
	}
	flat := make([]Node, 0, len(parts))
	for _, n := range parts {
		if inner, ok := n.(Or); ok && !signed(inner.Parts) {
			flat = append(flat, inner.Parts...)
		} else {
			flat = append(flat, n)
		}
	}
	if len(flat) == 1 {
		return single(flat[0])
	}
	if len(flat) == 0 {
		return nil
	}
	return Or{flat}
}

func and(parts []Node) Node {
	if len(parts) == 1 {
		return single(parts[0])
	}
	flat := make([]Node, 0, len(parts))
	for _, n := range parts {
		if must, ok := n.(Must); ok {
			n = must.Part
		}
		if inner, ok := n.(And); ok {
			flat = append(flat, inner.Parts...)
		} else {
			flat = append(flat, n)
		}
	}
	if len(flat) == 1 {
		return flat[0]
	}
	if len(flat) == 0 {
		return nil
	}
	return And{flat}
}

// single returns the node for a list of one part.
func single(n Node) Node {
	if must, ok := n.(Must); ok {
		return must.Part
	}
	return n
}

func signed(parts []Node) bool {
	for _, n := range parts {
		switch n.(type) {
		case Must, Not, Filter:
			return true
		}
	}
	return false
}

func (p *parser) clause() (Node, error) {
	if p.keyword("NOT") {
		if p.ended() {
			return nil, p.fail(p.at, "expected a word, a phrase or a group after NOT; write %q for the word", "not")
		}
		if found := p.operatorAt(); found != "" {
			return nil, p.fail(p.at, "expected a word, a phrase or a group after NOT, not %s",
				found)
		}
		return p.signed('-')
	}
	p.blanks()
	if sign := p.text[p.at]; strings.IndexByte("+-#!", sign) >= 0 && p.beginsPart(p.at+1) {
		p.at++
		return p.signed(sign)
	}
	return p.boost()
}

// beginsPart reports whether something that a prefix operator can apply to begins at a position.
func (p *parser) beginsPart(at int) bool {
	r, size := utf8.DecodeRuneInString(p.text[at:])
	switch {
	case size == 0:
		return false
	case r == '"' || r == '(':
		return true
	case r == '\\' || r == '*':
		return at+size < len(p.text) || r == '*'
	case r == '?':
		return p.wildcardAt(at)
	case r < utf8.RuneSelf:
		return isAlnum(byte(r)) || r == '_'
	}
	return !unicode.IsSpace(r)
}

// signed parses the operand of a prefix operator.
func (p *parser) signed(sign byte) (Node, error) {
	n, err := p.boost()
	if n == nil || err != nil {
		return nil, err
	}
	switch sign {
	case '-', '!':
		return Not{n}, nil
	case '#':
		return Filter{n}, nil
	}
	return Must{n}, nil
}

func (p *parser) boost() (Node, error) {
	n, err := p.near()
	if err != nil || p.at >= len(p.text) || p.text[p.at] != '^' {
		return n, err
	}
	at := p.at
	p.at++
	number := p.untilBlank()
	by, err := strconv.ParseFloat(number, 64)
	if err != nil || !(by > 0) || by > 1e9 {
		return nil, p.fail(at+1, "expected a positive number after ^, not %.40q", number)
	}
	if n == nil {
		return nil, nil
	}
	return Boost{n, by}, nil
}

// untilBlank consumes everything up to the next blank or the end of the group.
func (p *parser) untilBlank() string {
	start := p.at
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		if unicode.IsSpace(r) || r == ')' && p.open > 0 {
			break
		}
		p.at += size
	}
	return p.text[start:p.at]
}

func (p *parser) near() (Node, error) {
	n, err := p.part()
	if err != nil {
		return nil, err
	}
	for {
		within, ordered, ok, err := p.nearOperator()
		if !ok || err != nil {
			return n, err
		}
		at := p.at
		if n, err = p.nearWith(n, within, ordered); err != nil {
			if _, ours := err.(*Error); !ours {
				err = p.fail(at, "%s", err)
			}
			return nil, err
		}
	}
}

// nearOperator consumes NEAR/n or BEFORE/n.
func (p *parser) nearOperator() (within int, ordered, ok bool, err error) {
	start := p.at
	p.blanks()
	for _, name := range []string{"NEAR/", "BEFORE/"} {
		if !strings.HasPrefix(p.text[p.at:], name) {
			continue
		}
		at := p.at + len(name)
		p.at = at
		number := p.untilBlank()
		within, err = strconv.Atoi(number)
		if err != nil || within < 1 || within > maxWithin {
			return 0, false, false, p.fail(at,
				"expected a number of words from 1 to %d after %s, not %.40q", maxWithin, name, number)
		}
		return within, name == "BEFORE/", true, nil
	}
	p.at = start
	return 0, false, false, nil
}

// maxWithin is the largest allowed distance and slop.
const maxWithin = 1000000

func (p *parser) nearWith(left Node, within int, ordered bool) (Node, error) {
	var n Near
	switch left := left.(type) {
	case Term:
		n = Near{[]string{left.Text}, within, ordered}
	case Near:
		n = left
		if n.Within != within || n.Ordered != ordered {
			return nil, fmt.Errorf("expected the same operator between all words of a NEAR or BEFORE")
		}
	default:
		return nil, fmt.Errorf("expected a single word before NEAR or BEFORE")
	}
	p.blanks()
	if p.ended() {
		return nil, p.fail(p.at, "expected a word after NEAR or BEFORE")
	}
	at := p.at
	right, err := p.part()
	if err != nil {
		return nil, err
	}
	t, ok := right.(Term)
	if !ok || isOperator(t.Text) && p.text[at] != '\\' {
		return nil, p.fail(at, "expected a single word after NEAR or BEFORE")
	}
	n.Words = append(n.Words, t.Text)
	return n, nil
}

// part parses a group, a phrase, or a word with its field and suffixes.
func (p *parser) part() (Node, error) {
	p.blanks()
	if p.at == len(p.text) {
		return nil, nil
	}
	switch p.text[p.at] {
	case '(':
		return p.group()
	case '"':
		return p.phrase()
	}
	if strings.HasPrefix(p.text[p.at:], exists) && len(p.o.Fields) > 0 {
		return p.exists()
	}
	if name, ok, err := p.field(); err != nil {
		return nil, err
	} else if ok {
		return p.fieldPart(name)
	}
	return p.word()
}

func (p *parser) group() (Node, error) {
	start := p.at
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(start, "groups are nested more than %d deep", maxDepth)
	}
	p.at++
	p.open++
	n, err := p.list()
	if err != nil {
		return nil, err
	}
	if p.at == len(p.text) {
		return nil, p.fail(start, "expected a closing parenthesis for this one")
	}
	p.at++
	p.open--
	p.depth--
	return n, nil
}

// quotedText consumes text in quotes.
func (p *parser) quotedText() (string, error) {
	start := p.at
	p.at++
	if n := strings.IndexAny(p.text[p.at:], "\"\\"); n >= 0 && p.text[p.at+n] == '"' {
		p.at += n + 1
		return p.text[start+1 : p.at-1], nil
	}
	var b strings.Builder
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return b.String(), nil
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
		}
		b.WriteByte(p.text[p.at])
		p.at++
	}
	return "", p.fail(start, "expected a closing quotation mark for this one")
}

func (p *parser) phrase() (Node, error) {
	text, err := p.quotedText()
	if err != nil {
		return nil, err
	}
	n := Phrase{Text: text}
	if p.at < len(p.text) && p.text[p.at] == '~' {
		at := p.at + 1
		p.at = at
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		if n.Slop, err = strconv.Atoi(p.text[at:p.at]); err != nil || n.Slop > maxWithin {
			return nil, p.fail(at, "expected a number of words from 0 to %d after ~", maxWithin)
		}
	}
	return n, nil
}

// field consumes a field name and its colon, if they are here.
func (p *parser) field() (name string, ok bool, err error) {
	end := p.at
	for end < len(p.text) && (isAlnum(p.text[end]) || strings.IndexByte("_.-", p.text[end]) >= 0) {
		end++
	}
	if end == p.at || end == len(p.text) || p.text[end] != ':' || !isLetter(p.text[p.at]) &&
		!(p.text[p.at] == '_' && slices.Contains(p.o.Fields, p.text[p.at:end])) {
		return "", false, nil
	}
	if p.wordEnds(end+1) && slices.Contains(p.o.Fields, p.text[p.at:end]) {
		return "", false, p.fail(end+1, "expected a word or a value directly after %q; "+
			"write \"%s\" for the word", p.text[p.at:end+1], p.text[p.at:end])
	}
	next, size := utf8.DecodeRuneInString(p.text[end+1:])
	if size == 0 || unicode.IsSpace(next) || next == '/' || next == ':' || next == ')' {
		return "", false, nil // "note: this", "http://", "std::sort" and smileys
	}
	name = p.text[p.at:end]
	if name != "id" && !p.o.AnyField && !slices.Contains(p.o.Fields, name) {
		if len(p.o.Fields) == 0 {
			return "", false, nil
		}
		return "", false, p.fail(p.at, "no field %.40q; expected %s or id before the colon, or a word in quotes",
			name, strings.Join(p.o.Fields, ", "))
	}
	p.at = end + 1
	return name, true, nil
}

// exists is Elasticsearch's notation for what is year:* here.
const exists = "_exists_:"

func (p *parser) exists() (Node, error) {
	p.at += len(exists)
	at := p.at
	name, err := p.value(")")
	if err != nil || !slices.Contains(p.o.Fields, name) {
		return nil, p.fail(at, "no field %.40q; expected %s after %s", name,
			strings.Join(p.o.Fields, ", "), exists)
	}
	return Field{name, All{}}, nil
}

func (p *parser) fieldPart(name string) (Node, error) {
	if name == "id" {
		return p.ids()
	}
	var n Node
	var err error
	switch c := p.text[p.at]; c {
	case '(':
		at := p.at + 1
		if n, err = p.group(); n == nil && err == nil && !p.o.AnyField {
			return nil, p.fail(at, "expected a word or a value")
		}
	case '"':
		n, err = p.phrase()
	case '[', '{':
		n, err = p.between()
	case '<', '>':
		n, err = p.comparison()
	default:
		n, err = p.word()
	}
	if n == nil || err != nil {
		return nil, err
	}
	return Field{name, n}, nil
}

// ids parses an ID, or several in parentheses. IDs are not analyzed.
func (p *parser) ids() (Node, error) {
	if p.text[p.at] != '(' {
		id, err := p.id()
		return IDs{[]string{id}}, err
	}
	start := p.at
	p.at++
	var list []string
	for {
		p.blanks()
		if p.at == len(p.text) {
			return nil, p.fail(start, "expected a closing parenthesis for this one")
		}
		if p.text[p.at] == ')' {
			p.at++
			if len(list) == 0 {
				return nil, p.fail(start+1, "expected an ID")
			}
			return IDs{list}, nil
		}
		id, err := p.id()
		if err != nil {
			return nil, err
		}
		list = append(list, id)
	}
}

func (p *parser) id() (string, error) {
	start := p.at
	id, err := p.value(")")
	if err == nil && p.text[start] != '"' && strings.HasSuffix(id, "*") {
		return "", p.fail(start, "expected a whole ID: there are no patterns of IDs; put it in quotes if its * is part of it")
	}
	return id, err
}

// value consumes a value that is not analyzed: in quotes, or up to a blank or one of the characters
// in stop.
func (p *parser) value(stop string) (string, error) {
	if p.at < len(p.text) && p.text[p.at] == '"' {
		return p.quotedText()
	}
	start := p.at
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		if unicode.IsSpace(r) || r < utf8.RuneSelf && strings.IndexByte(stop, byte(r)) >= 0 {
			break
		}
		p.at += size
	}
	if p.at == start {
		return "", p.fail(start, "expected a value")
	}
	return p.text[start:p.at], nil
}

// between parses [a TO b].
func (p *parser) between() (Node, error) {
	start := p.at
	n := Range{OpenFrom: p.text[p.at] == '{'}
	p.at++
	var ends [2]string
	var bare [2]bool
	for i := range ends {
		p.blanks()
		bare[i] = p.at < len(p.text) && p.text[p.at] != '"'
		v, err := p.value("]}")
		if err != nil {
			return nil, p.fail(p.at, "expected an end of the range: a value or *")
		}
		if ends[i] = v; v == "*" && bare[i] {
			ends[i] = ""
		}
		if i > 0 {
			break
		}
		p.blanks()
		if !strings.HasPrefix(p.text[p.at:], "TO") {
			return nil, p.fail(p.at, "expected TO and the other end of the range")
		}
		p.at += len("TO")
	}
	p.blanks()
	if p.at == len(p.text) || p.text[p.at] != ']' && p.text[p.at] != '}' {
		return nil, p.fail(p.at, "expected ] or } at the end of the range that begins at column %d",
			utf8.RuneCountInString(p.text[:start])+1)
	}
	n.OpenTo = p.text[p.at] == '}'
	p.at++
	n.From, n.To = ends[0], ends[1]
	if n.From == "" && n.To == "" {
		n.OpenFrom, n.OpenTo = false, false
	}
	if bare[0] && bare[1] {
		if box, ok := boxOf(n); ok {
			if box.South > box.North || math.Abs(box.South) > 90 || math.Abs(box.North) > 90 ||
				math.Abs(box.West) > 180 || math.Abs(box.East) > 180 {
				return nil, p.fail(start, "expected a box from south-west to north-east, latitude,longitude in degrees")
			}
			return box, nil
		}
	}
	return n, nil
}

// boxOf converts a range between two points to a box.
func boxOf(n Range) (Box, bool) {
	var v [4]float64
	if n.OpenFrom || n.OpenTo {
		return Box{}, false
	}
	for i, end := range []string{n.From, n.To} {
		lat, lon, ok := strings.Cut(end, ",")
		if !ok {
			return Box{}, false
		}
		for j, s := range []string{lat, lon} {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil || math.IsNaN(x) {
				return Box{}, false
			}
			v[2*i+j] = x + 0 // turns -0 into 0
		}
	}
	return Box{South: v[0], West: v[1], North: v[2], East: v[3]}, true
}

// comparison parses >a, >=a, <a or <=a.
func (p *parser) comparison() (Node, error) {
	less := p.text[p.at] == '<'
	p.at++
	open := true
	if p.at < len(p.text) && p.text[p.at] == '=' {
		open = false
		p.at++
	}
	v, err := p.value(")")
	if err != nil {
		return nil, err
	}
	if v == "" {
		return nil, p.fail(p.at, "expected a value")
	}
	if less {
		return Range{To: v, OpenTo: open}, nil
	}
	return Range{From: v, OpenFrom: open}, nil
}

// word parses a word, a pattern or a fuzzy word.
func (p *parser) word() (Node, error) {
	start := p.at
	w := p.scanWord()
	switch {
	case w.all:
		return All{}, nil
	case w.fuzzy > 0:
		return Fuzzy{w.text, w.fuzzy}, nil
	case w.prefix:
		return Prefix{w.text}, nil
	case w.pattern:
		return Wildcard{w.text}, nil
	case w.badFuzzy:
		return nil, p.fail(start, "expected at most 2 typing errors in a fuzzy word: word~, word~1 or word~2")
	case w.text == "":
		return nil, nil
	}
	return Term{w.text}, nil
}

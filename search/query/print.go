package query

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Binding strengths. A part that binds less tightly than its context requires is printed in
// parentheses.
const (
	bindList   = iota // words without an operator between them
	bindOr            // OR
	bindAnd           // AND
	bindClause        // with a prefix operator
	bindBoost
	bindPart
)

func (n Term) String() string     { return printed(n) }
func (n Phrase) String() string   { return printed(n) }
func (n Near) String() string     { return printed(n) }
func (n And) String() string      { return printed(n) }
func (n Or) String() string       { return printed(n) }
func (n Not) String() string      { return printed(n) }
func (n Must) String() string     { return printed(n) }
func (n Filter) String() string   { return printed(n) }
func (n Boost) String() string    { return printed(n) }
func (n Field) String() string    { return printed(n) }
func (n Prefix) String() string   { return printed(n) }
func (n Wildcard) String() string { return printed(n) }
func (n Fuzzy) String() string    { return printed(n) }
func (n Same) String() string     { return printed(n) }
func (n Range) String() string    { return printed(n) }
func (n Box) String() string      { return printed(n) }
func (n IDs) String() string      { return printed(n) }
func (n All) String() string      { return printed(n) }

func printed(n Node) string {
	var b strings.Builder
	print(&b, n, bindList)
	return b.String()
}

// bindingOf returns the binding strength of a node as it is printed.
func bindingOf(n Node) int {
	switch n.(type) {
	case Or:
		return bindList
	case And:
		return bindAnd
	case Not, Must, Filter:
		return bindClause
	case Boost, Near:
		return bindBoost
	}
	return bindPart
}

// print writes a node in a context that requires at least the given binding strength.
func print(b *strings.Builder, n Node, want int) {
	if bindingOf(n) < want {
		b.WriteByte('(')
		print(b, n, bindList)
		b.WriteByte(')')
		return
	}
	switch n := n.(type) {
	case Term:
		b.WriteString(escape(n.Text, true))
	case Phrase:
		b.WriteByte('"')
		b.WriteString(inQuotes.Replace(n.Text))
		b.WriteByte('"')
		if n.Slop > 0 {
			b.WriteByte('~')
			b.WriteString(strconv.Itoa(n.Slop))
		}
	case Near:
		name := " NEAR/"
		if n.Ordered {
			name = " BEFORE/"
		}
		for i, w := range n.Words {
			if i > 0 {
				b.WriteString(name + strconv.Itoa(n.Within) + " ")
			}
			b.WriteString(escape(w, true))
		}
	case And:
		if len(n.Parts) == 1 { // the language has no And of one part
			print(b, n.Parts[0], want)
			return
		}
		for i, p := range n.Parts {
			if i > 0 {
				b.WriteString(" AND ")
			}
			print(b, p, bindClause)
		}
	case Or:
		for i, p := range n.Parts {
			if i > 0 {
				b.WriteByte(' ')
			}
			print(b, p, bindOr)
		}
	case Not:
		b.WriteByte('-')
		print(b, n.Part, bindBoost)
	case Must:
		b.WriteByte('+')
		print(b, n.Part, bindBoost)
	case Filter:
		b.WriteByte('#')
		print(b, n.Part, bindBoost)
	case Boost:
		print(b, n.Part, bindPart)
		b.WriteByte('^')
		b.WriteString(strconv.FormatFloat(n.By, 'g', -1, 64))
	case Field:
		b.WriteString(n.Name)
		b.WriteByte(':')
		switch n.Part.(type) {
		case Field, IDs: // they print a colon of their own
			b.WriteString("(" + n.Part.String() + ")")
		default:
			print(b, n.Part, bindPart)
		}
	case Prefix:
		b.WriteString(escape(n.Text, false))
		b.WriteByte('*')
	case Wildcard:
		b.WriteString(escapePattern(n.Pattern))
	case Fuzzy:
		b.WriteString(escape(n.Text, false))
		b.WriteByte('~')
		b.WriteString(strconv.Itoa(n.Edits))
	case Same:
		for i, w := range n.Words {
			if i > 0 {
				b.WriteByte('|')
			}
			b.WriteString(escape(w, true))
		}
	case Range:
		printRange(b, n)
	case Box:
		b.WriteByte('[')
		b.WriteString(degrees(n.South) + "," + degrees(n.West) + " TO " + degrees(n.North) + "," + degrees(n.East))
		b.WriteByte(']')
	case IDs:
		b.WriteString("id:(")
		for i, id := range n.IDs {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(quoted(id))
		}
		b.WriteByte(')')
	case All:
		b.WriteByte('*')
	}
}

func degrees(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func printRange(b *strings.Builder, n Range) {
	open, shut := "[", "]"
	if n.OpenFrom {
		open = "{"
	}
	if n.OpenTo {
		shut = "}"
	}
	end := func(s string) string {
		if s == "" {
			return "*"
		}
		return quoted(s)
	}
	b.WriteString(open + end(n.From) + " TO " + end(n.To) + shut)
}

// quoted returns a value, in quotes if it needs them.
func quoted(s string) string {
	simple := s != "" && s != "TO"
	for i := range len(s) {
		simple = simple && (isAlnum(s[i]) || s[i] == '-' && i > 0 || s[i] == '.' || s[i] == ':' || s[i] == '_')
	}
	if simple {
		return s
	}
	return `"` + inQuotes.Replace(s) + `"`
}

var inQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// escape returns text that the parser reads as one word. If bare is set and the parser would read
// the text unescaped, it stays as it is; otherwise every special character is escaped.
func escape(text string, bare bool) string {
	if bare && isPlainWord(text) {
		return text
	}
	return escapeBut(text, "")
}

// escapePattern escapes all special characters except * and ?.
func escapePattern(pattern string) string { return escapeBut(pattern, "*?") }

func escapeBut(text, but string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		sign := r < utf8.RuneSelf && !isAlnum(byte(r)) && strings.IndexByte(but, byte(r)) < 0
		wild := r < utf8.RuneSelf && strings.IndexByte(but, byte(r)) >= 0
		if sign || unicode.IsSpace(r) ||
			i == 0 && !wild && (isOperator(text) || !unicode.IsLetter(r) && !unicode.IsDigit(r)) {
			b.WriteByte('\\')
		}
		b.WriteString(text[i : i+size])
		i += size
	}
	return b.String()
}

// isPlainWord reports whether the parser reads text as this Term in every context.
func isPlainWord(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	if !unicode.IsLetter(first) && !unicode.IsDigit(first) || isOperator(text) || strings.Contains(text, `\`) ||
		strings.Count(text, "(") != strings.Count(text, ")") {
		return false
	}
	p := parser{text: text, open: 1, o: Options{AnyField: true}}
	n, err := p.list()
	t, ok := n.(Term)
	return err == nil && ok && t.Text == text
}

package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanned is a word and its kind.
type scanned struct {
	text     string
	all      bool // * alone
	prefix   bool // text*
	pattern  bool // * and ? in text
	fuzzy    int  // text~1, text~2
	badFuzzy bool // text~9
}

// scanWord consumes a word: up to a blank, the parenthesis that closes the group, or a boost. A
// parenthesis that opens in the word closes there.
func (p *parser) scanWord() scanned {
	end := p.at
	for end < len(p.text) && isAlnum(p.text[end]) {
		end++
	}
	if end > p.at && (end == len(p.text) || p.text[end] == ' ') { // the common case
		word := p.text[p.at:end]
		p.at = end
		return scanned{text: word}
	}
	var (
		b     strings.Builder
		inner int
		wild  []int // positions of unescaped * and ? in b
		lead  bool  // the word begins with a letter, a digit or an escaped character
		from  = p.at
	)
	for p.at < len(p.text) {
		c := p.text[p.at]
		if c == '\\' && p.at+1 < len(p.text) {
			_, size := utf8.DecodeRuneInString(p.text[p.at+1:])
			lead = lead || b.Len() == 0
			b.WriteString(p.text[p.at+1 : p.at+1+size])
			p.at += 1 + size
			continue
		}
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		switch {
		case unicode.IsSpace(r):
			return p.finish(b.String(), wild, from)
		case c == '(':
			inner++
		case c == ')' && inner > 0:
			inner--
		case c == ')' && p.open > 0:
			return p.finish(b.String(), wild, from)
		case c == '^' && p.boostAt(p.at):
			return p.finish(b.String(), wild, from)
		case c == '~' && b.Len() > 0 && lead:
			if w, ok := p.fuzzyAt(b.String(), wild); ok {
				return w
			}
		case c == '*' && lead, c == '?' && lead && p.wordAt(p.at+1):
			wild = append(wild, b.Len())
		case b.Len() == 0 && p.wildcardAt(p.at):
			wild, lead = append(wild, 0), true
		}
		if b.Len() == 0 && len(wild) == 0 {
			lead = c >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || isAlnum(c)
		}
		b.WriteString(p.text[p.at : p.at+size])
		p.at += size
	}
	return p.finish(b.String(), wild, from)
}

// finish distinguishes patterns from words.
func (p *parser) finish(text string, wild []int, from int) scanned {
	switch {
	case (text == "*" || text == "*:*") && p.text[from] == '*':
		return scanned{all: true}
	case len(wild) == 0:
		return scanned{text: text}
	case len(wild) == 1 && wild[0] == len(text)-1 && text[wild[0]] == '*':
		return scanned{text: text[:wild[0]], prefix: true}
	}
	// A pattern cannot contain a literal * or ?, so an escaped one makes it a word.
	if strings.Count(text, "*")+strings.Count(text, "?") != len(wild) {
		return scanned{text: text}
	}
	return scanned{text: text, pattern: true}
}

// boostAt reports whether ^ and a number end the word at a position.
func (p *parser) boostAt(at int) bool {
	at++
	start := at
	for at < len(p.text) && (p.text[at] >= '0' && p.text[at] <= '9' || strings.IndexByte(".e+-", p.text[at]) >= 0) {
		at++
	}
	return at > start && (p.text[start] >= '0' && p.text[start] <= '9' || p.text[start] == '.') &&
		p.wordEnds(at)
}

// wordEnds reports whether any word ends at a position.
func (p *parser) wordEnds(at int) bool {
	if at >= len(p.text) {
		return true
	}
	r, _ := utf8.DecodeRuneInString(p.text[at:])
	return unicode.IsSpace(r) || r == ')' && p.open > 0
}

// wordAt reports whether a word continues at a position, so that a question mark before it is a
// wildcard. The answer is the same at each of several question marks, and remembered.
func (p *parser) wordAt(at int) bool {
	if at < p.marks.from || at >= p.marks.to {
		end := at
		for end < len(p.text) && p.text[end] == '?' {
			end++
		}
		r, size := utf8.DecodeRuneInString(p.text[end:])
		p.marks.from, p.marks.to = at, end
		p.marks.word = size > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '*')
	}
	return p.marks.word
}

// wildcardAt reports whether a word that begins here begins with a wildcard, as in *ology and ?un,
// unlike **strong** and a lone question mark.
func (p *parser) wildcardAt(at int) bool {
	if at >= len(p.text) || p.text[at] != '*' && p.text[at] != '?' {
		return false
	}
	if p.text[at] == '*' && at+1 < len(p.text) && p.text[at+1] == '*' {
		return false
	}
	return p.wordAt(at + 1)
}

// fuzzyAt consumes ~, ~1 or ~2 at the end of a word.
func (p *parser) fuzzyAt(text string, wild []int) (scanned, bool) {
	at := p.at + 1
	digits := at
	for at < len(p.text) && p.text[at] >= '0' && p.text[at] <= '9' {
		at++
	}
	if len(wild) > 0 || !p.wordEnds(at) && !(p.text[at] == '^' && p.boostAt(at)) {
		return scanned{}, false
	}
	number := p.text[digits:at]
	p.at = at
	switch number {
	case "", "2":
		return scanned{text: text, fuzzy: 2}, true
	case "1":
		return scanned{text: text, fuzzy: 1}, true
	case "0":
		return scanned{text: text}, true
	}
	return scanned{badFuzzy: true}, true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' }

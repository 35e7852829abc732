package query

import (
	"fmt"
	"strings"
)

// Notes returns sentences about parts of a text that Parse, with the same options, may understand
// in another way than the user intended; usually there are none. It needs no index: the method
// Notes of search.Searcher tells what an index lacks.
func Notes(text string, o Options) (notes []string) {
	if OnlyWords(text) {
		return nil
	}
	if strings.Contains(text, "*") && strings.Contains(insideQuotes(text), "*") {
		notes = append(notes, "* in a phrase is taken for text: only words outside of quotes can be patterns")
	}
	if name := fieldWithout(text, o); name != "" {
		notes = append(notes, fmt.Sprintf(
			"%.60s: is taken for a word, since the documents of this index have no fields", name))
	}
	return notes
}

// fieldWithout returns what looks like the name of a field outside of quotes, if there are no
// fields.
func fieldWithout(text string, o Options) string {
	if len(o.Fields) > 0 || o.AnyField || !strings.Contains(text, ":") {
		return ""
	}
	text = outsideQuotes(text)
	for at := range len(text) - 1 {
		if text[at] != ':' || !strings.ContainsRune(`"[({<>*`, rune(text[at+1])) && !isNameByte(text[at+1]) {
			continue
		}
		if name := nameBefore(text[:at]); name != "" && name != "id" {
			return name
		}
	}
	return ""
}

// nameBefore returns the name that a text ends with: a letter, which begins the text or follows a
// blank, a parenthesis or an operator, and letters, digits, dots and dashes. It is "" if there is
// none.
func nameBefore(text string) string {
	name := ""
	for at := len(text) - 1; at >= 0; at-- {
		c := text[at]
		if !isNameByte(c) && c != '.' && c != '-' {
			break
		}
		if isLetter := c|0x20 >= 'a' && c|0x20 <= 'z'; isLetter &&
			(at == 0 || strings.ContainsRune(" \t\n\f\r(+#!-", rune(text[at-1]))) {
			name = text[at:]
		}
	}
	return name
}

// isNameByte reports whether a byte is an ASCII letter or digit, or _.
func isNameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_'
}

// insideQuotes returns the parts of a text in quotes, one after the other.
func insideQuotes(text string) string { return parts(text, 1) }

// outsideQuotes returns a text with nothing inside of quotes.
func outsideQuotes(text string) string { return parts(text, 0) }

// parts returns every second part of a text between quotes, with the quotes. What follows a quote
// that is not closed is outside.
func parts(text string, inside int) string {
	all := strings.Split(text, `"`)
	if n := len(all); n%2 == 0 {
		all[n-2] += `"` + all[n-1]
		all = all[:n-1]
	}
	var b strings.Builder
	for i, part := range all {
		if i%2 == inside {
			b.WriteString(part)
		}
		if i%2 == 1 {
			b.WriteString(`""`)
		}
	}
	return b.String()
}

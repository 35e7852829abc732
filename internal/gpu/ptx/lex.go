package ptx

import (
	"fmt"
	"strings"
)

// token is a word (names and opcodes with their dots and percent signs, and
// numbers), a quoted string, or one punctuation mark.
type token struct {
	text string
	line int
}

const eof = ""

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' ||
		c == '$' || c == '%' || c == '.'
}

// isName reports whether a word may be a name: numbers and directives may not.
func isName(t string) bool {
	return t != eof && isWord(t[0]) && t[0] != '.' && (t[0] < '0' || t[0] > '9')
}

// lex splits a PTX text into tokens, without comments.
func lex(src string) ([]token, error) {
	toks := make([]token, 0, len(src)/5)
	line := 1
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == '\n':
			line++
			i++
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case strings.HasPrefix(src[i:], "//"):
			for i < len(src) && src[i] != '\n' {
				i++
			}
		case strings.HasPrefix(src[i:], "/*"):
			end := strings.Index(src[i+2:], "*/")
			if end < 0 {
				return nil, &Error{line, "comment without end"}
			}
			line += strings.Count(src[i:i+2+end], "\n")
			i += end + 4
		case c == '"':
			end := strings.IndexByte(src[i+1:], '"')
			if end < 0 {
				return nil, &Error{line, "string without end"}
			}
			toks = append(toks, token{src[i : i+end+2], line})
			line += strings.Count(src[i:i+end+1], "\n")
			i += end + 2
		case isWord(c):
			j := i + 1
			for j < len(src) {
				if isWord(src[j]) {
					j++
				} else if strings.HasPrefix(src[j:], "::") { // ld.global.L1::no_allocate
					j += 2
				} else {
					break
				}
			}
			toks = append(toks, token{src[i:j], line})
			i = j
		case strings.IndexByte(",;{}[]()|@!:<>+=-", c) >= 0:
			toks = append(toks, token{src[i : i+1], line})
			i++
		default:
			return nil, &Error{line, fmt.Sprintf("unexpected character %q", src[i:i+1])}
		}
	}
	return append(toks, token{eof, line}), nil
}

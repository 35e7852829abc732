package text

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// wordTokens are the words that unicode finds, with their case.
type wordTokens struct{}

func (wordTokens) Name() string { return "words" }

func (wordTokens) Analyze(doc []byte, t *Tokens) error {
	wanted := t.WantSource
	t.WantSource = true
	err := (segmenter{fold: foldWithQuote}).segment(doc, t)
	t.WantSource = wanted
	if err != nil {
		return err
	}
	out := t.room()
	for i, s := range t.Source {
		start := len(out)
		out = appendAsWritten(out, doc[s.Start:s.End])
		t.Words[i] = Span{uint32(start), uint32(len(out))}
	}
	t.use(out)
	if !wanted {
		t.Source = t.Source[:0]
	}
	return nil
}

// appendAsWritten appends a word in NFC, with plain apostrophes.
func appendAsWritten(dst, word []byte) []byte {
	return appendLower(dst, word, func(r rune) rune {
		if r == '’' {
			return '\''
		}
		return r
	})
}

// codeTokens are the names in code and in text about it: runs of letters, digits, underscores and
// dollar signs, joined by single dots, :: and ->, that have a letter or a digit.
type codeTokens struct{}

func (codeTokens) Name() string { return "code" }

func (codeTokens) Analyze(doc []byte, t *Tokens) error {
	if err := checkSize(doc); err != nil {
		return err
	}
	t.Words, t.Source = t.Words[:0], t.Source[:0]
	out := t.room()
	for at := 0; at < len(doc); {
		n, good := nameLength(doc[at:])
		if n == 0 {
			_, size := utf8.DecodeRune(doc[at:])
			at += size
			continue
		}
		end := at + n
		for {
			joint := jointLength(doc[end:])
			more, alnum := nameLength(doc[end+joint:])
			if joint == 0 || more == 0 {
				break
			}
			end, good = end+joint+more, good || alnum
		}
		if good {
			start := len(out)
			out = appendAsWritten(out, doc[at:end])
			t.Words = append(t.Words, Span{uint32(start), uint32(len(out))})
			if t.WantSource {
				t.Source = append(t.Source, Span{uint32(at), uint32(end)})
			}
		}
		at = end
	}
	t.use(out)
	return nil
}

// nameLength returns the length of the simple name that a text begins with, and whether there is a
// letter or a digit in it.
func nameLength(b []byte) (n int, good bool) {
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		alnum := unicode.IsLetter(r) || unicode.IsNumber(r)
		if !alnum && r != '_' && r != '$' && (n == 0 || !unicode.IsMark(r)) {
			break
		}
		n, good = n+size, good || alnum
	}
	return n, good
}

// jointLength returns the length of the sign that a text begins with, if it joins names.
func jointLength(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("::")), bytes.HasPrefix(b, []byte("->")):
		return 2
	case bytes.HasPrefix(b, []byte(".")):
		return 1
	}
	return 0
}

// valueTokens is the whole text as one word, without white space around it.
type valueTokens struct{}

func (valueTokens) Name() string { return "value" }

func (valueTokens) Analyze(doc []byte, t *Tokens) error {
	if err := checkSize(doc); err != nil {
		return err
	}
	t.Words, t.Source = t.Words[:0], t.Source[:0]
	word := bytes.TrimSpace(doc)
	if len(word) == 0 {
		return nil
	}
	out := appendAsWritten(t.room(), word)
	t.use(out)
	t.Words = append(t.Words, Span{0, uint32(len(out))})
	if t.WantSource {
		start := uint32(bytes.Index(doc, word))
		t.Source = append(t.Source, Span{start, start + uint32(len(word))})
	}
	return nil
}

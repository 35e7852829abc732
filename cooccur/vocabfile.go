package cooccur

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// WriteTo writes the vocabulary in GloVe's format: a line `word count` for each
// word, in order. It implements io.WriterTo.
func (v *Vocabulary) WriteTo(w io.Writer) (int64, error) {
	buf := make([]byte, 0, 1<<16)
	total := int64(0)
	for id := range v.counts {
		word := v.Word(id)
		if holdsBlank(word) {
			return total, fmt.Errorf("word %q contains white space, which a vocabulary file cannot represent", word)
		}
		buf = append(buf, word...)
		buf = append(buf, ' ')
		buf = strconv.AppendUint(buf, v.counts[id], 10)
		buf = append(buf, '\n')
		if len(buf) > 1<<16-2*maxWord || id == v.Len()-1 {
			n, err := w.Write(buf)
			total += int64(n)
			if err != nil {
				return total, err
			}
			buf = buf[:0]
		}
	}
	return total, nil
}

// holdsBlank reports whether a word contains white space. For short words, the setup of
// bytes.ContainsAny would take longer than this loop.
func holdsBlank(word []byte) bool {
	for _, c := range word {
		if c <= ' ' && (isBlank(c) || c == '\r') {
			return true
		}
	}
	return false
}

// ReadVocabulary reads GloVe's format: on each line a word, a blank and its count. Words keep the
// order of the lines. A repeated word, an empty line, and a missing or invalid count are errors,
// which name the line and call the file name.
func ReadVocabulary(r io.Reader, name string) (*Vocabulary, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read vocabulary: %w", err)
	}
	lines := bytes.Count(data, []byte{'\n'}) + 1
	v := &Vocabulary{ends: make([]uint64, 0, lines), counts: make([]uint64, 0, lines)}
	for number := 1; len(data) > 0; number++ {
		if number > maxWords {
			return nil, fmt.Errorf("%s: more than %d words", name, maxWords)
		}
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		data = rest
		line = bytes.TrimSuffix(line, []byte{'\r'})
		word, count, err := parseVocabularyLine(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		v.add(word, count)
	}
	// Line numbers are IDs + 1, so the table that finds duplicates also becomes the index.
	seen := v.newIndex()
	for id := range v.counts {
		word := v.Word(id)
		first := seen.at(keyOf(word, 0, len(word)), word)
		if *first != 0 {
			return nil, fmt.Errorf("%s:%d: word %q is already on line %d", name, id+1, shorten(word), *first)
		}
		*first = uint64(id) + 1
	}
	v.index = func() *lexicon { return seen }
	return v, nil
}

func parseVocabularyLine(line []byte) (word []byte, count uint64, err error) {
	cut := bytes.LastIndexAny(line, " \t")
	if cut <= 0 {
		return nil, 0, fmt.Errorf("want a word, a blank and its count, got %q", shorten(line))
	}
	word = line[:cut]
	if bytes.ContainsAny(word, " \t\r") {
		return nil, 0, fmt.Errorf("want one word and its count, got several blanks in %q", shorten(line))
	}
	count, err = strconv.ParseUint(string(line[cut+1:]), 10, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("count of %q: want a whole number, got %q", shorten(word), shorten(line[cut+1:]))
	}
	return word, count, nil
}

// shorten keeps error messages readable whatever the file holds.
func shorten(b []byte) []byte {
	if len(b) > 60 {
		return append(bytes.Clone(b[:57]), "..."...)
	}
	return b
}

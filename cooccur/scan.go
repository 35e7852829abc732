package cooccur

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/collocate/collocate/text"
)

// pieceSize is how much of a document is turned into keys at once: 2,048 keys of
// 16 bytes stay in the first-level cache until they are looked up.
const pieceSize = 4 << 10

// maxPieceWords bounds the words of one piece: every second byte a blank.
const maxPieceWords = pieceSize/2 + 1

// maxWord is where the whitespace analyzer cuts a word, as GloVe does.
const maxWord = 999

// scanner turns documents into keys, a piece at a time. For the whitespace
// analyzer it finds the words itself, eight bytes at a step; for others it asks
// the analyzer. One scanner serves one goroutine.
type scanner struct {
	analyzer text.Analyzer // nil: whitespace
	tokens   text.Tokens
	buf      []byte
	keys     []wordKey
}

func newScanner(a text.Analyzer) *scanner {
	s := &scanner{analyzer: a, buf: make([]byte, 0, pieceSize+64), keys: make([]wordKey, 0, maxPieceWords)}
	if a != nil && a.Name() == "whitespace" {
		s.analyzer = nil
	}
	return s
}

// scan calls emit with the keys of the document's words in order, at most
// maxPieceWords at a time. The slices are good until emit returns.
func (s *scanner) scan(doc []byte, emit func(keys []wordKey, buf []byte) error) error {
	if s.analyzer != nil {
		return s.analyze(doc, emit)
	}
	for len(doc) > 0 {
		n := pieceEnd(doc)
		if s.piece(doc[:n]); len(s.keys) > 0 {
			if err := emit(s.keys, s.buf); err != nil {
				return err
			}
		}
		doc = doc[n:]
	}
	return nil
}

func (s *scanner) analyze(doc []byte, emit func(keys []wordKey, buf []byte) error) error {
	t := &s.tokens
	if err := s.analyzer.Analyze(doc, t); err != nil {
		return err
	}
	for at := 0; at < len(t.Words); {
		s.keys = s.keys[:0]
		for ; at < len(t.Words) && len(s.keys) < maxPieceWords; at++ {
			if w := t.Words[at]; w.End > w.Start {
				s.keys = append(s.keys, keyOf(t.Bytes, int(w.Start), int(w.End)))
			}
		}
		if err := emit(s.keys, t.Bytes); err != nil {
			return err
		}
	}
	return nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// pieceEnd is where to cut: after a blank, within pieceSize bytes unless one word
// is longer than that.
func pieceEnd(doc []byte) int {
	if len(doc) <= pieceSize {
		return len(doc)
	}
	for n := pieceSize; n > 0; n-- {
		if isBlank(doc[n-1]) {
			return n
		}
	}
	if n := bytes.IndexAny(doc[pieceSize:], " \n\t"); n >= 0 {
		return pieceSize + n + 1
	}
	return len(doc)
}

// piece makes the keys of text that begins and ends between words.
func (s *scanner) piece(p []byte) {
	s.keys, s.buf = s.keys[:0], s.buf[:0]
	if bytes.IndexByte(p, '\r') < 0 {
		s.buf = append(s.buf, p...)
	} else {
		for _, c := range p {
			if c != '\r' {
				s.buf = append(s.buf, c)
			}
		}
	}
	n := len(s.buf)
	s.buf = append(s.buf, blanks[:]...) // a last blank, and room for whole loads
	if !s.pieceFast(n) {
		s.keys = s.keys[:0]
		s.pieceSlow(n)
	}
}

var blanks = func() (b [64 + 16]byte) {
	for i := range b {
		b[i] = ' '
	}
	return b
}()

// pieceSlow is the definition: blanks are space, tab and newline, everything else
// belongs to words.
func (s *scanner) pieceSlow(n int) {
	start := 0
	for i := 0; i <= n; i++ {
		if isBlank(s.buf[i]) {
			s.word(start, i)
			start = i + 1
		}
	}
}

func (s *scanner) word(start, end int) {
	if end == start {
		return
	}
	if end-start >= maxWord {
		end = start + cutWord(s.buf[start:end])
	}
	s.keys = append(s.keys, keyAt(s.buf, start, end))
}

// pieceFast marks the bytes up to 0x20 of 64 bytes in the bits of one word, and so
// goes from blank to blank without looking at the bytes between. It gives up,
// returning false, at a control character that is no blank.
func (s *scanner) pieceFast(n int) bool {
	const (
		high = 0x8080808080808080
		edge = 0x2121212121212121
		pack = 0x0102040810204080 // gathers the low bit of each byte in the top byte
	)
	keys, buf, start := s.keys, s.buf, 0
	for base := 0; base <= n; base += 64 {
		block := buf[base : base+64]
		var m uint64
		for i := 0; i < 64; i += 8 {
			x := binary.LittleEndian.Uint64(block[i:])
			t := ^((x | high) - edge) &^ x & high
			m |= (t >> 7 * pack >> 56) << i
		}
		for m != 0 {
			end := base + bits.TrailingZeros64(m)
			m &= m - 1
			if c := buf[end]; c != ' ' && c != '\n' && c != '\t' {
				return false
			}
			if end > start {
				if end-start < maxWord {
					keys = append(keys, keyAt(buf, start, end))
				} else {
					s.keys = keys
					s.word(start, end)
					keys = s.keys
				}
			}
			start = end + 1
		}
	}
	s.keys = keys
	return true
}

// cutWord is the length at which a word of maxWord bytes or more is cut: maxWord,
// or less where that would split a UTF-8 sequence.
func cutWord(w []byte) int {
	n := maxWord
	switch {
	case w[n-1] < 0x80:
	case w[n-1] >= 0xc0:
		n--
	case w[n-2]&0xe0 == 0xe0:
		n -= 2
	case w[n-3]&0xf8 == 0xf0:
		n -= 3
	}
	return n
}

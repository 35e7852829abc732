package cooccur

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/collocate/collocate/text"
)

// pieceSize is the size of the pieces in which text is turned into keys, so that up to 2,048 keys
// of 16 bytes stay in the L1 cache until they are looked up.
const pieceSize = 4 << 10

// maxPieceWords bounds the words of a piece: at worst every second byte is a blank.
const maxPieceWords = pieceSize/2 + 1

// maxWord is the length in bytes at which the whitespace analyzer cuts words off, as GloVe does.
const maxWord = 999

// scanner turns documents into keys, one piece at a time. For the whitespace analyzer it finds the
// words itself, eight bytes per step; otherwise, or if it has fields, it calls the analyzer. It
// must be used by one goroutine at a time.
type scanner struct {
	analyzer text.Analyzer // nil means whitespace
	tokens   text.Tokens
	sections []int // of the words of tokens

	buf   [pieceSize + len(blanks)]byte
	marks [pieceSize/64 + 1]uint64 // a bit for each byte of buf, set if it is at most 0x20
	keys  [maxPieceWords]wordKey
	large []byte // a piece that does not fit buf because of a long word
}

func newScanner(a text.Analyzer) *scanner {
	if a != nil && a.Name() == "whitespace" {
		a = nil
	}
	return &scanner{analyzer: a}
}

// emit receives the keys of consecutive words, at most maxPieceWords, and the bytes that the keys
// of long words refer to. Both are valid until it returns. No keys mean the border of two fields,
// which windows do not cross.
type emit func(keys []wordKey, buf []byte) error

// scan calls emit with the keys of the document's words in order.
func (s *scanner) scan(d *text.Document, emit emit) error {
	if s.analyzer != nil || len(d.Breaks) > 0 {
		return s.analyze(d, emit)
	}
	doc := d.Text
	for len(doc) > 0 {
		n := pieceEnd(doc)
		var err error
		if n <= pieceSize {
			err = s.piece(copy(s.buf[:], doc[:n]), emit)
		} else {
			err = s.largePiece(doc[:n], emit)
		}
		if err != nil {
			return err
		}
		doc = doc[n:]
	}
	return nil
}

// scanAll is like scan for several documents, for callers that do not need to know which document a
// word belongs to. Short documents share pieces, which saves much of the overhead of short lines.
func (s *scanner) scanAll(docs []text.Document, emit emit) error {
	n := 0 // bytes in buf that are not emitted yet
	for i := range docs {
		doc := docs[i].Text
		shares := s.analyzer == nil && len(doc) < pieceSize
		if !shares || n+len(doc) >= pieceSize {
			if err := s.piece(n, emit); err != nil {
				return err
			}
			n = 0
		}
		if !shares {
			if err := s.scan(&docs[i], emit); err != nil {
				return fmt.Errorf("document %s: %w", docs[i].ID, err)
			}
			continue
		}
		n += copy(s.buf[n:], doc)
		s.buf[n] = ' '
		n++
	}
	return s.piece(n, emit)
}

func (s *scanner) analyze(d *text.Document, emit emit) error {
	t := &s.tokens
	t.WantSource = len(d.Breaks) > 0
	if err := analyzerOf(s.analyzer).Analyze(d.Text, t); err != nil {
		return err
	}
	s.sections = t.Sections(s.sections[:0], d.Breaks)
	at := 0
	for i, end := range s.sections {
		if i > 0 {
			if err := emit(nil, nil); err != nil {
				return err
			}
		}
		for at < end {
			keys := s.keys[:0]
			for ; at < end && len(keys) < maxPieceWords; at++ {
				if w := t.Words[at]; w.End > w.Start {
					keys = append(keys, keyOf(t.Bytes, int(w.Start), int(w.End)))
				}
			}
			if len(keys) == 0 {
				continue
			}
			if err := emit(keys, t.Bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// pieceEnd returns the length of the next piece. It ends after a blank, within pieceSize bytes
// unless a single word is longer than that.
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

// blanks follow the text of a piece: one ends its last word, and the others are padding for wide
// loads.
var blanks = [64 + 16]byte(bytes.Repeat([]byte{' '}, 64+16))

// piece emits the words of the first n bytes of buf, which must be whole words.
func (s *scanner) piece(n int, emit emit) error {
	if cr := bytes.IndexByte(s.buf[:n], '\r'); cr >= 0 {
		n = cr + len(appendWithoutCR(s.buf[cr:cr], s.buf[cr:n]))
	}
	copy(s.buf[n:], blanks[:])
	markBlanks(&s.marks, &s.buf, n)
	keys, ok := s.pieceFast(n)
	if !ok {
		keys = appendKeys(s.keys[:0], s.buf[:n+len(blanks)])
	}
	if len(keys) == 0 {
		return nil
	}
	return emit(keys, s.buf[:])
}

// largePiece is like piece for text that does not fit buf.
func (s *scanner) largePiece(p []byte, emit emit) error {
	s.large = append(appendWithoutCR(s.large[:0], p), blanks[:]...)
	keys := appendKeys(s.keys[:0], s.large)
	if len(keys) == 0 {
		return nil
	}
	return emit(keys, s.large)
}

// appendWithoutCR appends p without its carriage returns; dst may be the start of p.
func appendWithoutCR(dst, p []byte) []byte {
	for _, c := range p {
		if c != '\r' {
			dst = append(dst, c)
		}
	}
	return dst
}

// appendKeys is the definition of words: space, tab and newline are blanks, and everything else
// belongs to words. The text must end with blanks.
func appendKeys(keys []wordKey, buf []byte) []wordKey {
	start := 0
	for i, c := range buf {
		if isBlank(c) {
			if i > start {
				keys = append(keys, keyAt(buf, start, wordEnd(buf, start, i)))
			}
			start = i + 1
		}
	}
	return keys
}

// wordEnd returns the end of a word, cut off if the word is too long.
func wordEnd(buf []byte, start, end int) int {
	if end-start >= maxWord {
		return start + cutWord(buf[start:end])
	}
	return end
}

// markBlanks sets the marks of the bytes up to 0x20 among the first n of buf and those after them,
// up to a multiple of 64. It is separate from pieceFast so that the variables of each stay in
// registers; a single function took twice as long.
func markBlanks(marks *[pieceSize/64 + 1]uint64, buf *[pieceSize + len(blanks)]byte, n int) {
	for i := range marks[:n/64+1] {
		b := (*[64]byte)(buf[64*i:])
		marks[i] = lowBytes(b[0:8]) | lowBytes(b[8:16])<<8 | lowBytes(b[16:24])<<16 | lowBytes(b[24:32])<<24 |
			lowBytes(b[32:40])<<32 | lowBytes(b[40:48])<<40 | lowBytes(b[48:56])<<48 | lowBytes(b[56:64])<<56
	}
}

// lowBytes returns a bit for each of eight bytes, set if the byte is at most 0x20.
func lowBytes(b []byte) uint64 {
	const (
		high = 0x8080808080808080
		edge = 0x2121212121212121
		pack = 0x0102040810204080 // gathers the low bit of each byte in the top byte
	)
	x := binary.LittleEndian.Uint64(b)
	return ^((x | high) - edge | x) & high >> 7 * pack >> 56
}

// pieceFast goes from mark to mark without examining the bytes between them. It returns false if a
// mark is a control character that is not a blank.
func (s *scanner) pieceFast(n int) (keys []wordKey, ok bool) {
	const isBlank = 1<<' ' | 1<<'\n' | 1<<'\t'
	at, start, allBlank := 0, 0, uint64(1)
	for i, m := range s.marks[:n/64+1] {
		for base := 64 * i; m != 0; m &= m - 1 {
			end := base + bits.TrailingZeros64(m)
			allBlank &= isBlank >> (s.buf[end] & 63)
			size := end - start
			if uint(size-1) < inlineMax {
				s.keys[at] = inlineKey(s.buf[start&(pieceSize-1):], size)
				at++
			} else if size > 0 {
				s.keys[at] = keyAt(s.buf[:], start, wordEnd(s.buf[:], start, end))
				at++
			}
			start = end + 1
		}
	}
	return s.keys[:at], allBlank != 0
}

// cutWord returns the length to which a word of at least maxWord bytes is cut: maxWord, or less if
// that would split a UTF-8 sequence.
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

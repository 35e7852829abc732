package text

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"strconv"
	"strings"
)

// impact reads vectors of weighted tokens, such as those of learned sparse retrieval: a JSON object
// {"token":weight}, whose tokens are taken as they are. A weight times the scale is rounded to a
// whole number, which takes the place of the number of occurrences. Text that is no object is split
// between blanks, and each token counts once: {"a":2,"b":1} is the same as "a a b" at scale 1. A
// token that an object has twice is an error, and so is an array.
type impact struct {
	name  string
	scale float64 // 0: weights are whole numbers
}

const (
	impactName  = "impact"
	impactScale = impactName + ":" // before the scale
	// maxScale and maxImpact keep impacts within 16 bits.
	maxScale  = 10000
	maxImpact = 1<<16 - 1
)

// OfWeights reports whether an analyzer reads weighted tokens instead of text.
func OfWeights(analyzer string) bool {
	return analyzer == impactName || strings.HasPrefix(analyzer, impactScale)
}

// NeedsText returns an error if an analyzer reads weighted tokens instead of text. It is for jobs
// that count words or look at their order. nil is a usual analyzer.
func NeedsText(a Analyzer) error {
	if a != nil && OfWeights(a.Name()) {
		return fmt.Errorf("the analyzer %s reads weighted tokens, not text: it is only for indexes", a.Name())
	}
	return nil
}

// newImpact returns the analyzer impact or impact:SCALE.
func newImpact(name string) (Analyzer, error) {
	a := &impact{name: name}
	if s, ok := strings.CutPrefix(name, impactScale); ok {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > maxScale || strconv.Itoa(n) != s {
			return nil, fmt.Errorf("analyzer %q: want a scale of 1 to %d, as in impact:100", name, maxScale)
		}
		a.scale = float64(n)
	}
	return a, nil
}

func (a *impact) Name() string { return a.name }

func (a *impact) Analyze(doc []byte, t *Tokens) error {
	switch trimmed := bytes.TrimLeft(doc, " \t\r\n"); {
	case bytes.HasPrefix(trimmed, []byte("{")):
	case isArray(trimmed):
		return errors.New("weights of tokens: an array: want an object, such as " +
			`{"solar":2,"panel":1}`)
	default:
		if err := (whitespace{}).Analyze(doc, t); err != nil {
			return err
		}
		t.Counts = t.Counts[:0]
		for range t.Words {
			t.Counts = append(t.Counts, 1)
		}
		return nil
	}
	if err := checkSize(doc); err != nil {
		return err
	}
	t.scratch, t.Words, t.Source, t.Counts = t.scratch[:0], t.Words[:0], t.Source[:0], t.Counts[:0]
	if t.seen == nil {
		t.seen = map[uint64]uint32{}
	}
	clear(t.seen)
	s := jsonScanner{b: doc}
	if err := a.object(&s, t); err != nil {
		return fmt.Errorf("weights of tokens: column %d: %w", s.at+1, err)
	}
	t.Bytes = t.scratch
	if t.Total() > math.MaxUint32 {
		return fmt.Errorf("weights of tokens: their sum exceeds %d", uint32(math.MaxUint32))
	}
	return nil
}

// isArray reports whether a text is a JSON array. Text such as "[CLS] solar" or "[MASK]" is none.
func isArray(doc []byte) bool {
	if !bytes.HasPrefix(doc, []byte("[")) {
		return false
	}
	s := jsonScanner{b: doc}
	return s.skip(1) == nil && s.finish() == nil
}

// object reads an object of tokens and weights up to the end of the text.
func (a *impact) object(s *jsonScanner, t *Tokens) error {
	s.blanks()
	s.at++ // the brace
	for more := func() bool { s.blanks(); return !s.take('}') }(); more; {
		s.blanks()
		token, err := s.string()
		if err != nil {
			return err
		}
		s.blanks()
		if !s.take(':') {
			return s.unexpected("a colon")
		}
		s.blanks()
		start := s.at
		if s.number() != nil {
			s.at = start
			return s.noWeight(token)
		}
		n, err := a.quantise(string(s.b[start:s.at]))
		if err != nil {
			s.at = start
			return fmt.Errorf("token %q: %w", s.nameOf(token), err)
		}
		if n > 0 {
			from := len(t.scratch)
			t.scratch = append(t.scratch, s.nameOf(token)...)
			if len(t.scratch) == from {
				return fmt.Errorf("a token is empty")
			}
			if t.twice(t.scratch[from:]) {
				return fmt.Errorf("token %q is there twice", t.scratch[from:])
			}
			t.Words = append(t.Words, Span{uint32(from), uint32(len(t.scratch))})
			t.Counts = append(t.Counts, n)
			if t.WantSource {
				t.Source = append(t.Source, Span{uint32(token.start), uint32(token.end)})
			}
		}
		s.blanks()
		if more = s.take(','); !more && !s.take('}') {
			return s.unexpected("a comma or }")
		}
	}
	return s.finish()
}

// noWeight returns the error for a token whose weight is no number.
func (s *jsonScanner) noWeight(token jsonValue) error {
	start := s.at
	if s.skip(1) != nil { // no JSON at all
		s.at = start
		return s.unexpected("a number")
	}
	value := s.b[start:s.at]
	s.at = start
	if len(value) > 40 {
		value = append(value[:40:40], " ..."...)
	}
	return fmt.Errorf("token %q: weight %s: want a number", s.nameOf(token), value)
}

// twice reports whether a word, which will be the next of Words, is among them.
func (t *Tokens) twice(word []byte) bool {
	h := maphash.Bytes(tokenSeed, word)
	first, there := t.seen[h]
	if !there {
		t.seen[h] = uint32(len(t.Words))
		return false
	}
	if string(t.scratch[t.Words[first].Start:t.Words[first].End]) == string(word) {
		return true
	}
	for i := range t.Words { // two words with the same hash
		if w := t.Words[i]; string(t.scratch[w.Start:w.End]) == string(word) {
			return true
		}
	}
	return false
}

var tokenSeed = maphash.MakeSeed()

// quantise returns the whole number that stands for a weight. A weight that rounds to 0 is 0, and
// its token is left out.
func (a *impact) quantise(weight string) (uint32, error) {
	x, err := strconv.ParseFloat(weight, 64)
	switch {
	case err != nil || x < 0:
		return 0, fmt.Errorf("weight %s: want a number that is not negative", weight)
	case a.scale == 0 && x != math.Trunc(x):
		return 0, fmt.Errorf("weight %s is not a whole number: scale weights to whole numbers, or index "+
			"with the analyzer impact:100, which rounds those of documents and queries to hundredths", weight)
	case a.scale > 0:
		x = math.RoundToEven(x * a.scale)
	}
	if x > maxImpact {
		return 0, fmt.Errorf("weight %s: want at most %v", weight, maxImpact/max(a.scale, 1))
	}
	return uint32(x), nil
}

package text

import (
	"fmt"
	"math"
)

// ParseAnalyzer returns the analyzer of that name.
func ParseAnalyzer(name string) (Analyzer, error) {
	switch name {
	case "whitespace":
		return whitespace{}, nil
	case "ascii":
		return ascii{}, nil
	}
	return nil, fmt.Errorf("unknown analyzer %q: want whitespace or ascii", name)
}

func checkSize(doc []byte) error {
	if uint64(len(doc)) > math.MaxUint32 {
		return fmt.Errorf("a document of %d bytes: the most is %d", len(doc), uint32(math.MaxUint32))
	}
	return nil
}

type whitespace struct{}

func (whitespace) Name() string { return "whitespace" }

func (whitespace) Analyze(doc []byte, t *Tokens) error {
	if err := checkSize(doc); err != nil {
		return err
	}
	t.Words, t.Source, t.scratch = t.Words[:0], t.Source[:0], t.scratch[:0]
	start, source := 0, -1
	for i := 0; i <= len(doc); i++ {
		if i < len(doc) && doc[i] == '\r' {
			continue
		}
		if i < len(doc) && doc[i] != ' ' && doc[i] != '\t' && doc[i] != '\n' {
			if source < 0 {
				source = i
			}
			if len(t.scratch)-start < 999 {
				t.scratch = append(t.scratch, doc[i])
			}
			continue
		}
		if len(t.scratch) > start {
			t.Words = append(t.Words, Span{uint32(start), uint32(len(t.scratch))})
			if t.WantSource {
				t.Source = append(t.Source, Span{uint32(source), uint32(i)})
			}
		}
		start, source = len(t.scratch), -1
	}
	t.Bytes = t.scratch
	return nil
}

type ascii struct{}

func (ascii) Name() string { return "ascii" }

func (ascii) Analyze(doc []byte, t *Tokens) error {
	if err := checkSize(doc); err != nil {
		return err
	}
	t.Words, t.Source, t.scratch = t.Words[:0], t.Source[:0], t.scratch[:0]
	start := 0
	for i := 0; i <= len(doc); i++ {
		if i < len(doc) {
			c := doc[i] | 0x20
			t.scratch = append(t.scratch, c)
			if c >= 'a' && c <= 'z' {
				continue
			}
		}
		if i > start {
			t.Words = append(t.Words, Span{uint32(start), uint32(i)})
		}
		start = i + 1
	}
	if t.WantSource {
		t.Source = append(t.Source, t.Words...)
	}
	t.Bytes = t.scratch
	return nil
}

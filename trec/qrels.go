package trec

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/collocate/collocate/internal/textfile"
)

// Qrels holds the judgments: topic, document, grade. A grade below 0 means: in the
// pool, but not judged.
type Qrels map[string]map[string]int

// QrelsFormat is one of the formats of the package comment.
type QrelsFormat string

// The formats. Auto looks at the whole file: three columns are Cranfield's, four whose
// last two are 0 on every line are SMART's, other four are TREC's.
const (
	Auto      QrelsFormat = ""
	TREC      QrelsFormat = "trec"
	SMART     QrelsFormat = "smart"
	Cranfield QrelsFormat = "cranfield"
)

// ParseQrelsFormat knows auto, trec, smart and cranfield.
func ParseQrelsFormat(s string) (QrelsFormat, error) {
	switch f := QrelsFormat(s); f {
	case Auto, TREC, SMART, Cranfield:
		return f, nil
	case "auto":
		return Auto, nil
	}
	return "", fmt.Errorf("unknown format of judgments %q: want auto, trec, smart or cranfield", s)
}

// ReadQrels reads a file of judgments.
func ReadQrels(path string, f QrelsFormat) (Qrels, error) {
	file, err := textfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading judgments: %w", err)
	}
	defer file.Close()
	return ParseQrels(file, path, f)
}

type qrelLine struct {
	number int
	cols   [4]string
	n      int
}

// ParseQrels is ReadQrels for an open file; name is for error messages.
func ParseQrels(r io.Reader, name string, f QrelsFormat) (Qrels, error) {
	var lines []qrelLine
	smart, three := true, true
	err := eachLine(r, name, func(n int, line string) error {
		c := columns(line)
		if len(c) == 0 {
			return nil
		}
		if len(c) < 3 {
			return fmt.Errorf("%.60q: want topic, iteration, document, grade", line)
		}
		q := qrelLine{number: n, n: min(len(c), 4)}
		copy(q.cols[:], c)
		lines = append(lines, q)
		three = three && q.n == 3
		smart = smart && q.n == 4 && isZero(q.cols[2]) && isZero(q.cols[3])
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s: no judgments", name)
	}
	if f == Auto {
		switch {
		case three:
			f = Cranfield
		case smart:
			f = SMART
		default:
			f = TREC
		}
	}
	q := Qrels{}
	for _, l := range lines {
		if err := q.add(l, f); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, l.number, err)
		}
	}
	return q, nil
}

func (q Qrels) add(l qrelLine, f QrelsFormat) error {
	topic, doc, grade := l.cols[0], l.cols[1], l.cols[2]
	switch f {
	case TREC:
		if l.n < 4 {
			return fmt.Errorf("%d columns: want topic, iteration, document, grade", l.n)
		}
		doc, grade = l.cols[2], l.cols[3]
	case SMART:
		topic, doc, grade = number(topic), number(doc), "1"
	case Cranfield:
		topic, doc = number(topic), number(doc)
	}
	g, err := strconv.Atoi(grade)
	if err != nil || g > 1<<20 {
		return fmt.Errorf("grade %.60q: want a small whole number", grade)
	}
	if f == Cranfield {
		if g == -1 {
			g = 5
		}
		if g < 1 || g > 5 {
			return fmt.Errorf("grade %d: want 1 to 5 or -1", g)
		}
		g = 5 - g
	}
	docs := q[topic]
	if docs == nil {
		docs = map[string]int{}
		q[topic] = docs
	}
	if before, ok := docs[doc]; ok {
		if f == TREC {
			return fmt.Errorf("topic %s judges document %s twice", topic, doc)
		}
		g = max(g, before) // the old collections repeat a few
	}
	docs[doc] = g
	return nil
}

// number drops leading zeros.
func number(s string) string {
	if t := strings.TrimLeft(s, "0"); t != "" {
		return t
	}
	return s
}

func isZero(s string) bool {
	v, err := strconv.ParseFloat(s, 64)
	return err == nil && v == 0
}

package trec

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/textfile"
)

// Qrels holds the judgments: grades by topic and document. A negative grade means that the document
// was in the pool but not judged.
type Qrels map[string]map[string]int

// QrelsFormat is a format of judgments; see the package comment.
type QrelsFormat int

// The formats. Auto looks at the whole file. A header names the columns. Without one, three columns
// are BEIR's, and four are SMART's if the last two are 0 on every line, else TREC's. Cranfield's
// format, in which a smaller grade is better, must be named.
const (
	Auto QrelsFormat = iota
	TREC
	BEIR
	SMART
	Cranfield
)

var qrelsFormatNames = choice.New[QrelsFormat]("format of judgments", "auto", "trec", "beir", "smart", "cranfield")

// QrelsFormats returns the names that ParseQrelsFormat accepts.
func QrelsFormats() []string { return qrelsFormatNames.List() }

func (f QrelsFormat) String() string { return qrelsFormatNames.Of(f) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (f QrelsFormat) MarshalText() ([]byte, error) { return qrelsFormatNames.Text(f) }

// UnmarshalText is the inverse of MarshalText.
func (f *QrelsFormat) UnmarshalText(name []byte) error { return qrelsFormatNames.Set(f, string(name)) }

// ParseQrelsFormat returns the format of that name.
func ParseQrelsFormat(name string) (QrelsFormat, error) { return qrelsFormatNames.Parse(name) }

// ReadQrels reads a file of judgments. It calls notes with a line of text if it detects a format
// other than TREC's.
func ReadQrels(path string, f QrelsFormat, notes ...func(string)) (Qrels, error) {
	file, err := textfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read judgments: %w", err)
	}
	defer file.Close()
	return ParseQrels(file, path, f, notes...)
}

// ParseQrels is like ReadQrels, for a reader. Errors begin with name.
func ParseQrels(r io.Reader, name string, f QrelsFormat, notes ...func(string)) (Qrels, error) {
	p := qrelParser{smart: true}
	if err := eachLine(r, name, p.line); err != nil {
		return nil, err
	}
	if len(p.lines) == 0 {
		return nil, fmt.Errorf("%s: no judgments", name)
	}
	if f == Auto {
		var why string
		var err error
		if f, why, err = p.detect(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if why != "" {
			tell(notes, "%s: %s", name, why)
		}
	}
	at, err := p.columnsOf(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	q := Qrels{}
	for _, l := range p.lines {
		if l.n != p.lines[0].n {
			return nil, fmt.Errorf("%s:%d: %d columns: want %d, as in the lines before", name, l.number, l.n, p.lines[0].n)
		}
		if err := q.add(l.cols[at.topic], l.cols[at.doc], l.cols[at.grade], f); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, l.number, err)
		}
	}
	return q, nil
}

// tell calls all notes with a line of text.
func tell(notes []func(string), format string, args ...any) {
	for _, note := range notes {
		note(fmt.Sprintf(format, args...))
	}
}

// qrelParser collects the lines of a file of judgments, and what its format can be told by.
type qrelParser struct {
	lines  []qrelLine
	header []string // the names of the columns, if the file begins with them
	smart  bool     // columns 3 and 4 are zero on every line
	// In lines of three columns: there is a grade below 0, or one that is 0.
	negative, zero bool
}

type qrelLine struct {
	number int
	cols   [4]string
	n      int
}

func (p *qrelParser) line(n int, line string) error {
	c := columns(line)
	if len(c) == 0 {
		return nil
	}
	if len(c) < 3 || len(c) > 4 {
		return fmt.Errorf("%.60q: %d columns: want topic, iteration, document, grade", line, len(c))
	}
	if len(p.lines) == 0 && p.header == nil && isHeader(c) {
		p.header = c
		return nil
	}
	q := qrelLine{number: n, n: len(c)}
	copy(q.cols[:], c)
	p.lines = append(p.lines, q)
	p.smart = p.smart && q.n == 4 && isZero(q.cols[2]) && isZero(q.cols[3])
	if q.n == 3 {
		p.negative = p.negative || strings.HasPrefix(q.cols[2], "-")
		p.zero = p.zero || isZero(q.cols[2])
	}
	return nil
}

// detect returns the format, and the reason if it could be another one.
func (p *qrelParser) detect() (f QrelsFormat, why string, err error) {
	switch {
	case p.header != nil:
		return BEIR, "", nil
	case p.lines[0].n == 3 && p.negative && !p.zero:
		return Auto, "", errors.New("judgments in three columns, with grades below 0 and none that is 0: if they are Cranfield's, " +
			"in which 1 is best, use trec.QrelsFormat=cranfield; if a larger grade is better, use beir")
	case p.lines[0].n == 3:
		return BEIR, "three columns are read as BEIR's: topic, document, grade, a larger one being better " +
			"(trec.QrelsFormat=cranfield: 1 is best)", nil
	case p.smart:
		return SMART, "read as SMART's judgments: topic, document, two zeros (trec.QrelsFormat=trec: all grades are 0)", nil
	}
	return TREC, "", nil
}

// qrelColumns has the positions of the columns.
type qrelColumns struct{ topic, doc, grade int }

// columnsOf finds the columns of a format, by the header if there is one.
func (p *qrelParser) columnsOf(f QrelsFormat) (c qrelColumns, err error) {
	want := 4
	c = qrelColumns{0, 2, 3}
	switch f {
	case SMART:
		c = qrelColumns{0, 1, 2}
	case BEIR, Cranfield:
		c, want = qrelColumns{0, 1, 2}, 3
	}
	if p.header != nil {
		if f == SMART || f == Cranfield {
			return c, fmt.Errorf("header %q: judgments of format %s have none", strings.Join(p.header, " "), f)
		}
		find := func(names []string) int {
			return slices.IndexFunc(p.header, func(s string) bool { return slices.Contains(names, strings.ToLower(s)) })
		}
		c, want = qrelColumns{find(topicNames), find(docNames), find(gradeNames)}, len(p.header)
	}
	if n := p.lines[0].n; n != want {
		return c, fmt.Errorf("line %d has %d columns: want %d", p.lines[0].number, n, want)
	}
	return c, nil
}

// The names that headers give to the columns.
var (
	topicNames = []string{"query-id", "query_id", "queryid", "qid", "query", "topic", "topic_id", "topic-id"}
	docNames   = []string{"corpus-id", "corpus_id", "docid", "doc_id", "doc-id", "docno",
		"document", "document_id", "pid", "passage_id"}
	gradeNames = []string{"score", "grade", "rel", "relevance", "label", "judgment", "judgement"}
)

// isHeader reports whether a line names a topic, a document and a grade.
func isHeader(c []string) bool {
	has := func(names []string) bool {
		return slices.ContainsFunc(c, func(s string) bool { return slices.Contains(names, strings.ToLower(s)) })
	}
	return has(topicNames) && has(docNames) && has(gradeNames)
}

func (q Qrels) add(topic, doc, grade string, f QrelsFormat) error {
	switch f {
	case SMART:
		topic, doc, grade = number(topic), number(doc), "1"
	case Cranfield:
		topic, doc = number(topic), number(doc)
	}
	g, err := strconv.Atoi(grade)
	if err != nil || g > 1<<20 {
		return fmt.Errorf("grade %.60q: want an integer up to %d", grade, 1<<20)
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
		if f == TREC || f == BEIR {
			return fmt.Errorf("topic %s judges document %s twice", topic, doc)
		}
		g = max(g, before) // the old collections repeat a few judgments
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

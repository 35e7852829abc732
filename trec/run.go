package trec

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/collocate/collocate/internal/textfile"
)

// Result is one answer: a document with its score.
type Result struct {
	Doc   string  // ID of the document
	Score float64 // as the run has it; higher is better
}

// Run holds answers by topic, sorted as in trec_eval.
type Run struct {
	Tag string // tag of the last line
	// Topics has the answers by the topic's ID, in descending order of scores, then of document
	// IDs.
	Topics map[string][]Result
	// Rising and Equal count topics with several answers: those whose scores rise from line to
	// line, which may mean that lower scores are better, and those whose scores are all equal.
	Rising, Equal int
}

// ReadRun reads a run file.
func ReadRun(path string) (*Run, error) {
	file, err := textfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read a run: %w", err)
	}
	defer file.Close()
	return ParseRun(file, path)
}

// ParseRun is like ReadRun, for a reader. Errors begin with name.
func ParseRun(r io.Reader, name string) (*Run, error) {
	run := &Run{Topics: map[string][]Result{}}
	err := eachLine(r, name, func(n int, line string) error {
		c := columns(line)
		if len(c) == 0 {
			return nil
		}
		if len(c) < 6 {
			return fmt.Errorf("%.60q: want topic, Q0, document, rank, score, tag", line)
		}
		score, err := strconv.ParseFloat(c[4], 64)
		if err != nil || math.IsNaN(score) {
			return fmt.Errorf("score %.60q: want a number", c[4])
		}
		run.Tag = c[5]
		run.Topics[c[0]] = append(run.Topics[c[0]], Result{c[2], score})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(run.Topics) == 0 {
		return nil, fmt.Errorf("%s: no answers", name)
	}
	for topic, results := range run.Topics {
		if n := len(results); n > 1 {
			byScore := func(a, b Result) int { return cmp.Compare(a.Score, b.Score) }
			if slices.IsSortedFunc(results, byScore) {
				if results[0].Score == results[n-1].Score {
					run.Equal++
				} else {
					run.Rising++
				}
			}
		}
		slices.SortFunc(results, func(a, b Result) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Doc, a.Doc))
		})
		seen := make(map[string]struct{}, len(results))
		for _, r := range results {
			if _, twice := seen[r.Doc]; twice {
				return nil, fmt.Errorf("%s: topic %s has document %s twice", name, topic, r.Doc)
			}
			seen[r.Doc] = struct{}{}
		}
	}
	return run, nil
}

// RunWriter writes a run.
type RunWriter struct {
	w     *bufio.Writer
	tag   string
	lines []byte
}

// NewRunWriter returns a RunWriter that writes to w. The tag names the run.
func NewRunWriter(w io.Writer, tag string) *RunWriter {
	return &RunWriter{w: bufio.NewWriterSize(w, 64<<10), tag: tag}
}

// Topic writes the n answers of a topic in their order; see AppendTopic.
func (w *RunWriter) Topic(topic string, n int, answer func(i int) (doc string, score float32)) error {
	var err error
	w.lines, err = AppendTopic(w.lines[:0], topic, w.tag, n, func(b []byte, i int) ([]byte, float32, error) {
		doc, score := answer(i)
		return append(b, doc...), score, nil
	})
	if err != nil {
		return err
	}
	return w.Lines(w.lines)
}

// Lines writes lines made by AppendTopic.
func (w *RunWriter) Lines(lines []byte) error {
	if _, err := w.w.Write(lines); err != nil {
		return fmt.Errorf("write a run: %w", err)
	}
	return nil
}

// AppendTopic appends to b the lines of a run for the n answers of a topic, in their order. It
// calls answer for each, which appends the document and returns its score. A score that is not
// below the one before it is written as the next smaller float32, so that sorting by score keeps
// the order, in float32 and in float64.
func AppendTopic(b []byte, topic, tag string, n int,
	answer func(b []byte, i int) ([]byte, float32, error)) ([]byte, error) {
	last := float32(math.Inf(1))
	for i := range n {
		b = append(append(b, topic...), " Q0 "...)
		at := len(b)
		var score float32
		var err error
		if b, score, err = answer(b, i); err != nil {
			return b, fmt.Errorf("write a run: %w", err)
		}
		if doc := b[at:]; len(doc) == 0 || bytes.ContainsAny(doc, blanks) {
			return b, fmt.Errorf("write a run: document %q: want an ID that is not empty and has no blanks", doc)
		}
		if score >= last {
			score = math.Nextafter32(last, float32(math.Inf(-1)))
		}
		last = score
		b = append(strconv.AppendInt(append(b, ' '), int64(i+1), 10), ' ')
		b = append(strconv.AppendFloat(b, float64(score), 'g', -1, 32), ' ')
		b = append(append(b, tag...), '\n')
	}
	return b, nil
}

// Flush writes buffered data.
func (w *RunWriter) Flush() error {
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("write a run: %w", err)
	}
	return nil
}

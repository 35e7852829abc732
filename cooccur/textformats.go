package cooccur

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/collocate/collocate/internal/atomicfile"
)

// tsvEncoder writes a line `word<TAB>word<TAB>value` for each entry, by rows.
// Values are the shortest decimals that read back as the same float64.
type tsvEncoder struct {
	w     io.Writer
	vocab *Vocabulary
	buf   []byte
}

func (e *tsvEncoder) Rows(r *Rows) error {
	for i := range r.Ends {
		cols, values := r.Row(i)
		word := e.vocab.Word(r.First + i)
		for k, c := range cols {
			context := e.vocab.Word(int(c))
			if bytes.ContainsAny(context, "\t\n") {
				return fmt.Errorf("word %q contains a tab or a newline: use a binary format", context)
			}
			e.buf = append(e.buf, word...)
			e.buf = append(e.buf, '\t')
			e.buf = append(e.buf, context...)
			e.buf = append(e.buf, '\t')
			e.buf = strconv.AppendFloat(e.buf, values[k], 'f', -1, 64)
			e.buf = append(e.buf, '\n')
			if len(e.buf) > 1<<16 {
				if _, err := e.w.Write(e.buf); err != nil {
					return err
				}
				e.buf = e.buf[:0]
			}
		}
	}
	_, err := e.w.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

func (e *tsvEncoder) close(Corpus) error { return nil }
func (e *tsvEncoder) abort()             {}

// mtxEncoder writes a Matrix Market coordinate file. Of a symmetric matrix it writes the lower
// triangle. The number of entries belongs in the third line but is known only at the end, so the
// line is padded, and overwritten then.
type mtxEncoder struct {
	file    *atomicfile.File
	words   int
	lower   bool // only the entries with column <= row
	entries int64
	sizeAt  int64
	buf     []byte
}

func newMTXEncoder(f *atomicfile.File, v *Vocabulary, opt Options) (*mtxEncoder, error) {
	if info, err := f.OS().Stat(); f.Streams() &&
		(err != nil || info.Mode()&os.ModeDevice == 0 || info.Mode()&os.ModeCharDevice == 0) {
		return nil, errors.New("format mtx begins with the number of entries, so it needs a file, not a device or a pipe")
	}
	e := &mtxEncoder{file: f, words: v.Len(), lower: opt.Side == Both}
	field, symmetry := "real", "general"
	if opt.Weighting == Count && opt.Values == ByValue {
		field = "integer"
	}
	if e.lower {
		symmetry = "symmetric"
	}
	n, err := fmt.Fprintf(f, "%%%%MatrixMarket matrix coordinate %s %s\n%% word co-occurrence, window %d, %v, weighting %v; IDs are lines of the vocabulary\n",
		field, symmetry, opt.Window, opt.Side, opt.Weighting)
	e.sizeAt = int64(n)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(e.sizeLine())
	return e, err
}

func (e *mtxEncoder) sizeLine() []byte {
	return fmt.Appendf(nil, "%d %d %-19d\n", e.words, e.words, e.entries)
}

func (e *mtxEncoder) Rows(r *Rows) error {
	for i := range r.Ends {
		row := r.First + i
		cols, values := r.Row(i)
		for k, c := range cols {
			if e.lower && int(c) > row {
				break
			}
			e.entries++
			e.buf = strconv.AppendInt(e.buf, int64(row)+1, 10)
			e.buf = append(e.buf, ' ')
			e.buf = strconv.AppendInt(e.buf, int64(c)+1, 10)
			e.buf = append(e.buf, ' ')
			e.buf = strconv.AppendFloat(e.buf, values[k], 'f', -1, 64)
			e.buf = append(e.buf, '\n')
			if len(e.buf) > 1<<16 {
				if _, err := e.file.Write(e.buf); err != nil {
					return err
				}
				e.buf = e.buf[:0]
			}
		}
	}
	_, err := e.file.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

func (e *mtxEncoder) close(Corpus) error {
	if err := e.file.Flush(); err != nil {
		return err
	}
	_, err := e.file.OS().WriteAt(e.sizeLine(), e.sizeAt)
	return err
}

func (e *mtxEncoder) abort() {}

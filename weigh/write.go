package weigh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/given"
)

// Format is a file format for weights.
type Format int

// The formats. Their layout is described in write.go, parquet.go, npz.go and binary.go.
const (
	FormatAuto Format = iota // chosen by the name of the file
	TSV
	Parquet
	NPZ
	Binary
	None // count, write nothing
)

var formatNames = choice.New[Format]("format of weights", "auto", "tsv", "parquet", "npz", "binary", "none")

// Formats returns the names that ParseFormat accepts.
func Formats() []string { return formatNames.List() }

func (f Format) String() string { return formatNames.Of(f) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (f Format) MarshalText() ([]byte, error) { return formatNames.Text(f) }

// UnmarshalText is the inverse of MarshalText.
func (f *Format) UnmarshalText(name []byte) error { return formatNames.Set(f, string(name)) }

// ParseFormat returns the format of that name.
func ParseFormat(name string) (Format, error) { return formatNames.Parse(name) }

// FormatOf returns the format that the name of a file stands for.
func FormatOf(path string) (Format, error) {
	switch filepath.Ext(path) {
	case ".tsv", ".txt":
		return TSV, nil
	case ".parquet":
		return Parquet, nil
	case ".npz":
		return NPZ, nil
	case ".weights":
		return Binary, nil
	}
	return FormatAuto, fmt.Errorf("%s: unknown format: want a name that ends in .tsv, .parquet, .npz or .weights, or name one (weigh.Format)", path)
}

// Counts is the number of terms and pairs that were written.
type Counts struct {
	Terms, Pairs int64 // distinct words, and weights: pairs of a word and a document
}

// WriteFile is like Write, into a file that appears only when it is complete.
func (w *Weights) WriteFile(ctx context.Context, path string, f Format, threads int) (c Counts, err error) {
	if err := given.Context(ctx); err != nil {
		return Counts{}, err
	}
	if f == FormatAuto {
		if f, err = FormatOf(path); err != nil {
			return c, err
		}
	}
	if f == None {
		return w.Write(ctx, io.Discard, f, threads)
	}
	err = atomicfile.WriteFile(path, func(out *atomicfile.File) error {
		c, err = w.Write(ctx, out, f, threads)
		return err
	})
	return c, err
}

// Write writes the weights in a format, using the given number of threads.
func (w *Weights) Write(ctx context.Context, to io.Writer, f Format, threads int) (Counts, error) {
	if err := given.Context(ctx); err != nil {
		return Counts{}, err
	}
	switch f {
	case TSV:
		return w.writeTSV(ctx, to, threads)
	case Parquet:
		return w.writeParquet(ctx, to)
	case NPZ:
		return w.writeNPZ(ctx, to)
	case Binary:
		return w.writeBinary(ctx, to)
	case None:
		return w.encodeParts(ctx, io.Discard, threads, func(dst []byte, _ Weighted) []byte { return dst })
	}
	return Counts{}, fmt.Errorf("weigh: cannot write format %v", f)
}

// writeTSV writes a line with the names of the columns, then one for each
// weight: word, document, tf, weight, separated by tabs. The weight has as many digits as
// it takes to read the same number back. Tab, newline, carriage return and
// backslash in words and IDs are written as \t, \n, \r and \\.
func (w *Weights) writeTSV(ctx context.Context, to io.Writer, threads int) (Counts, error) {
	if _, err := io.WriteString(to, "term\tdocument\ttf\tweight\n"); err != nil {
		return Counts{}, err
	}
	return w.encodeParts(ctx, to, threads, func(dst []byte, t Weighted) []byte {
		ids := idCursor{v: w.docs}
		word := escaper.Replace(string(t.Word))
		for i, d := range t.Docs {
			dst = append(append(dst, word...), '\t')
			dst = append(appendEscaped(dst, ids.at(int(d))), '\t')
			dst = append(strconv.AppendUint(dst, uint64(t.TFs[i]), 10), '\t')
			dst = append(strconv.AppendFloat(dst, float64(t.Weights[i]), 'g', -1, 32), '\n')
		}
		return dst
	})
}

var escaper = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// appendEscaped appends b, escaped by escaper.
func appendEscaped(dst, b []byte) []byte {
	if bytes.ContainsAny(b, "\\\t\n\r") {
		return append(dst, escaper.Replace(string(b))...)
	}
	return append(dst, b...)
}

// tokensPerPart is the number of words of the corpus per part, for a few megabytes of text lines.
const tokensPerPart = 1 << 19

// encodeParts encodes parts of the words in parallel and writes them in order. A part waits until
// it is less than threads parts ahead of the one being written.
func (w *Weights) encodeParts(ctx context.Context, to io.Writer, threads int,
	encode func(dst []byte, t Weighted) []byte) (Counts, error) {
	type result struct {
		data []byte
		c    Counts
		err  error
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts := w.Parts(ctx, int(w.Tokens()/tokensPerPart)+threads)
	results := make([]chan result, len(parts))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	ahead := make(chan struct{}, max(1, threads))
	buffers := sync.Pool{New: func() any { return new([]byte) }}
	wg.Go(func() {
		for i, part := range parts {
			select {
			case ahead <- struct{}{}:
			case <-ctx.Done():
				results[i] <- result{err: ctx.Err()}
				return
			}
			wg.Go(func() {
				r := result{data: (*buffers.Get().(*[]byte))[:0]}
				r.data, r.c, r.err = encodePart(part, r.data, encode)
				results[i] <- r
			})
		}
	})
	var total Counts
	for _, c := range results {
		r := <-c
		if r.err != nil {
			return total, r.err
		}
		if _, err := to.Write(r.data); err != nil {
			return total, err
		}
		total.Terms += r.c.Terms
		total.Pairs += r.c.Pairs
		buffers.Put(&r.data)
		<-ahead
	}
	return total, nil
}

func encodePart(part iter.Seq2[Weighted, error], dst []byte,
	encode func(dst []byte, t Weighted) []byte) ([]byte, Counts, error) {
	var c counter
	for t, err := range part {
		if err != nil {
			return dst, c.Counts, err
		}
		c.add(t)
		dst = encode(dst, t)
	}
	return dst, c.Counts, nil
}

// counter counts words, some of which arrive in pieces, and pairs.
type counter struct {
	Counts
	left int // pairs of the word that are still to come
}

// add reports whether a new word begins.
func (c *counter) add(t Weighted) bool {
	begins := c.left == 0
	if begins {
		c.Terms++
		c.left = t.DF
	}
	c.left -= len(t.Docs)
	c.Pairs += int64(len(t.Docs))
	return begins
}

// each calls visit for every piece; begins is true for the first piece of a word.
func (w *Weights) each(ctx context.Context, visit func(t Weighted, begins bool) error) (Counts, error) {
	var c counter
	for t, err := range w.Terms(ctx) {
		if err == nil {
			err = visit(t, c.add(t))
		}
		if err != nil {
			return c.Counts, err
		}
	}
	return c.Counts, nil
}

var errChanged = errors.New("weigh: the weights changed while they were written")

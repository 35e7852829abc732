package text

import (
	"bytes"
	"compress/bzip2"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

var errStop = errors.New("stop")

func (c *Corpus) all(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		err := c.read(ctx, func(d Document) error {
			if !yield(d, nil) {
				return errStop
			}
			return ctx.Err()
		})
		if err != nil && err != errStop {
			yield(Document{}, err)
		}
	}
}

func (c *Corpus) batches(ctx context.Context, fn func(worker int, b *Batch) error) error {
	b := &Batch{}
	size := 0
	flush := func() error {
		if len(b.Docs) == 0 {
			return nil
		}
		err := fn(0, b)
		b, size = &Batch{Seq: b.Seq + 1}, 0
		return err
	}
	err := c.read(ctx, func(d Document) error {
		b.Docs = append(b.Docs, d)
		if size += len(d.Text); size >= 1<<20 {
			return flush()
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	return flush()
}

func (c *Corpus) read(ctx context.Context, emit func(Document) error) error {
	for _, path := range c.Paths {
		if path == "-" {
			if err := c.readFrom(os.Stdin, "stdin", emit); err != nil {
				return err
			}
			continue
		}
		err := filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			if err := c.readFrom(f, filepath.Base(path), emit); err != nil {
				if err == errStop {
					return err
				}
				return fmt.Errorf("%s: %w", path, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Corpus) readFrom(r io.Reader, name string, emit func(Document) error) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	switch {
	case bytes.HasPrefix(data, []byte("\x1f\x8b\x08")):
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return err
		}
		if data, err = io.ReadAll(z); err != nil {
			return err
		}
	case bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")):
		z, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderMaxWindow(1<<31))
		if err != nil {
			return err
		}
		defer z.Close()
		if data, err = io.ReadAll(z); err != nil {
			return err
		}
	case bytes.HasPrefix(data, []byte("BZh")):
		if data, err = io.ReadAll(bzip2.NewReader(bytes.NewReader(data))); err != nil {
			return err
		}
	}
	format := c.Options.Format
	if format == Auto {
		switch {
		case bytes.HasPrefix(data, []byte("{")):
			format = JSONL
		case bytes.Contains(data[:min(len(data), 1<<16)], []byte("\n\n")):
			format = Blank
		default:
			format = Lines
		}
	}
	n := 0
	number := func(text []byte) error {
		n++
		return emit(Document{ID: fmt.Sprintf("%s:%d", name, n), Text: text})
	}
	switch format {
	case File:
		return emit(Document{ID: name, Text: data})
	case Lines:
		for line := range bytes.Lines(data) {
			if err := number(bytes.TrimRight(line, "\r\n")); err != nil {
				return err
			}
		}
	case Blank:
		for part := range bytes.SplitSeq(data, []byte("\n\n")) {
			if part = bytes.TrimSpace(part); len(part) > 0 {
				if err := number(part); err != nil {
					return err
				}
			}
		}
	case JSONL:
		for line := range bytes.Lines(data) {
			var m map[string]any
			n++
			if err := json.Unmarshal(line, &m); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			d := Document{ID: fmt.Sprintf("%s:%d", name, n)}
			for _, f := range []string{"id", "_id", "docid"} {
				if s, ok := m[f]; ok {
					d.ID = fmt.Sprint(s)
					break
				}
			}
			var parts []string
			for _, f := range []string{"contents", "title", "abstract", "text"} {
				if s, ok := m[f].(string); ok && s != "" {
					parts = append(parts, s)
				}
			}
			d.Text = []byte(strings.Join(parts, "\n"))
			if err := emit(d); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("cannot read format %v", format)
	}
	return nil
}

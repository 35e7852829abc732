package text

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/textfile"
)

// source is an open file and what is known of it.
type source struct {
	input
	ctx     context.Context
	options *Options
	format  Format
	columns csvColumns // of CSV, and of TSV with a header
	list    bool       // JSON is one array of objects
	note    string     // about what was left out, or follows from names
	guess   string     // about a guess that changes the documents
	names   []string   // fields of the first JSON records
	whole   bool       // their text is the field contents, of which other fields are parts
	say     func(path, note string)

	file   *os.File // the whole file
	stream *bufio.Reader
	raw    *countReader
	codec  string

	converted bool  // the bytes of the stream are not those of the file
	text      int64 // bytes of text read from the stream so far
	close     []func()
	users     atomic.Int32
	named     atomic.Bool                  // an ID was made from its name
	skip      func(path string, err error) // Options.SkipBad, or nil
	skipped   bool                         // from its first piece on
}

// countReader counts the bytes read, for progress and for positions in errors.
type countReader struct {
	r    io.Reader
	n    int64
	tell func(n int64)
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.tell(int64(n))
	return n, err
}

// open opens a file and detects from its first bytes whether it is compressed.
func open(ctx context.Context, in input, o *Options, stdin io.Reader, tell func(n int64)) (*source, error) {
	s := &source{input: in, ctx: ctx, options: o}
	s.users.Store(1)
	var r io.Reader = stdin
	switch {
	case in.part != nil:
		f, err := in.part.Open()
		if err != nil {
			return nil, err
		}
		s.close = append(s.close, func() { f.Close() })
		r = f
	case in.path != "-":
		f, err := openPatiently(ctx, in.path)
		if err != nil {
			return nil, err
		}
		s.file = f
		s.close = append(s.close, func() { f.Close() })
		r = f
	}
	if !in.regular {
		r = &patient{ctx: ctx, r: r}
	}
	s.raw = &countReader{r: r, tell: tell}
	s.stream = bufio.NewReaderSize(s.raw, 1<<16)
	if head, _ := s.stream.Peek(len(parquetMagic)); string(head) == parquetMagic {
		if err := s.openTable(tell); err != nil {
			s.release()
			return nil, fmt.Errorf("%s: %w", in.path, err)
		}
		return s, nil
	}
	stream, codec, free, err := textfile.DecompressWithin(s.stream, o.maxWindow(), o.Threads != 1)
	if large, ok := errors.AsType[*textfile.WindowError](err); ok {
		err = fmt.Errorf("%w, or raise text.Options.Memory to %v", err, bytesize.Size(large.Window*windowShare))
	}
	if err != nil {
		s.release()
		return nil, fmt.Errorf("%s: %w", in.path, err)
	}
	s.stream, s.codec = stream, codec
	s.close = append(s.close, free)
	if o.Encoding.Converts() {
		converted, err := o.Encoding.reader(stream)
		if err != nil {
			s.release()
			return nil, fmt.Errorf("%s: %w", in.path, err)
		}
		s.stream, s.converted = bufio.NewReaderSize(converted, 1<<16), true
	}
	return s, nil
}

// openTable makes JSON lines of a Parquet table.
func (s *source) openTable(tell func(n int64)) error {
	if s.file == nil || !s.regular {
		return errors.New("a Parquet table cannot be read from a pipe, as its directory is at its end: name a file")
	}
	if f := s.options.Format; f != Auto && f != JSONL {
		return fmt.Errorf("a Parquet table, not %v: leave out text.Options.Format", f)
	}
	if openParquet == nil {
		return errors.New("a Parquet table: to read such files, import github.com/collocate/collocate/text/parquet")
	}
	p, err := openParquet(s.file, s.size, tell)
	if err != nil {
		return err
	}
	s.close = append(s.close, func() { p.Close() })
	s.stream, s.codec, s.converted = bufio.NewReaderSize(p, 1<<16), "parquet", true
	return nil
}

// read appends the next n bytes of the stream's text to buf. With io.EOF it has appended the last
// ones, fewer than n.
func (s *source) read(buf []byte, n int) ([]byte, error) {
	buf = slices.Grow(buf, n)
	for n > 0 {
		if err := s.ctx.Err(); err != nil { // compressed text may be endless, too
			return buf, err
		}
		got, err := s.stream.Read(buf[len(buf) : len(buf)+n])
		buf = buf[:len(buf)+got]
		n -= got
		s.text += int64(got)
		switch {
		case err == nil:
		case err == io.EOF:
			return buf, io.EOF
		case s.codec == "":
			return buf, fmt.Errorf("read %s at byte %d: %w", s.path, s.raw.n, err)
		default:
			return buf, fmt.Errorf("read %s: at about byte %d, after about %d bytes of text: %w",
				s.path, s.raw.n, s.text, err)
		}
	}
	return buf, nil
}

// release drops a reference to the file; the last one closes it.
func (s *source) release() {
	if s.users.Add(-1) == 0 {
		for i := len(s.close) - 1; i >= 0; i-- {
			s.close[i]()
		}
	}
}

package points

import (
	"io"
	"os"
	"sync/atomic"
)

// readProgress reports how much of a file is read.
type readProgress struct {
	report func(done, total int64)
	done   atomic.Int64
	total  int64 // 0: not known
}

// progressOf returns the progress of a file or stream, or nil if nobody wants to know.
func (o *ReadOptions) progressOf(r io.Reader) *readProgress {
	if o.Progress == nil {
		return nil
	}
	p := &readProgress{report: o.Progress}
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			p.total = info.Size()
		}
	}
	p.add(0)
	return p
}

func (p *readProgress) add(n int) {
	done := p.done.Add(int64(n))
	if p.total > 0 {
		done = min(done, p.total) // parts may be read again
	}
	p.report(done, p.total)
}

func (p *readProgress) reader(r io.Reader) io.Reader {
	if p == nil {
		return r
	}
	return watchedReader{r, p}
}

func (p *readProgress) readerAt(r io.ReaderAt) io.ReaderAt {
	if p == nil {
		return r
	}
	return watchedReaderAt{r, p}
}

type watchedReader struct {
	io.Reader
	p *readProgress
}

func (r watchedReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.p.add(n)
	return n, err
}

type watchedReaderAt struct {
	io.ReaderAt
	p *readProgress
}

func (r watchedReaderAt) ReadAt(b []byte, at int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(b, at)
	r.p.add(n)
	return n, err
}

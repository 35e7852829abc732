package text

import (
	"context"
	"io"
	"os"
)

// patient reads from a source that may block forever: a pipe, a terminal, standard input. Each read
// runs in a goroutine of its own and into a buffer of its own. So it can be abandoned when ctx is
// done; what arrives after that is lost.
type patient struct {
	ctx  context.Context
	r    io.Reader
	room []byte
	rest []byte // read but not returned yet
}

func (p *patient) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		// An abandoned read may still fill the buffer: no other is started.
		if err := p.ctx.Err(); err != nil {
			return 0, err
		}
		if p.room == nil {
			p.room = make([]byte, 1<<16)
		}
		type result struct {
			n   int
			err error
		}
		done := make(chan result, 1)
		go func() {
			n, err := p.r.Read(p.room)
			done <- result{n, err}
		}()
		select {
		case r := <-done:
			if r.n == 0 {
				return 0, r.err
			}
			p.rest = p.room[:r.n] // an error comes again at the next read
		case <-p.ctx.Done():
			return 0, p.ctx.Err()
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// openPatiently opens a file. For a pipe without a writer it waits until ctx is done.
func openPatiently(ctx context.Context, path string) (*os.File, error) {
	type result struct {
		f   *os.File
		err error
	}
	opened := make(chan result)
	go func() {
		f, err := os.Open(path)
		select {
		case opened <- result{f, err}:
		case <-ctx.Done():
			f.Close()
		}
	}()
	select {
	case r := <-opened:
		return r.f, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

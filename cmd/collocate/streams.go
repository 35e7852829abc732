package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/collocate/collocate/internal/atomicfile"
)

// input is standard input that does not wait any longer once the command is
// interrupted.
type input struct {
	ctx context.Context
	f   *os.File
	buf []byte
}

// newInput leaves a file as it is: reading it takes no time, and Parquet is read from its
// end.
func newInput(ctx context.Context, f *os.File) io.Reader {
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return f
	}
	return &input{ctx: ctx, f: f}
}

func (in *input) Read(p []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err // somebody may still be reading into buf
	}
	if n := min(len(p), 1<<16); len(in.buf) < n {
		in.buf = make([]byte, n)
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	buf := in.buf[:min(len(p), len(in.buf))]
	go func() {
		n, err := in.f.Read(buf)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, buf[:r.n]), r.err
	case <-in.ctx.Done():
		return 0, in.ctx.Err()
	}
}

// isTerminal says whether somebody types there.
func isTerminal(r io.Reader) bool {
	in, ok := r.(*input)
	return ok && term.IsTerminal(int(in.f.Fd()))
}

// output is standard output into a pipe or a file. It remembers the first error, so
// that a full disk is noticed whoever wrote, and it does not wait for a reader that
// has stopped reading once the command is interrupted.
type output struct {
	ctx context.Context
	f   *os.File

	mu  sync.Mutex
	err error
}

// newOutput is standard output, on a terminal without what could harm it.
func newOutput(ctx context.Context, f *os.File) (io.Writer, *output) {
	o := &output{ctx: ctx, f: f}
	if term.IsTerminal(int(f.Fd())) {
		return &terminal{w: f}, o
	}
	return o, o
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := o.f.Write(p)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		o.err = r.err
		return r.n, r.err
	case <-o.ctx.Done():
		o.err = o.ctx.Err()
		return 0, o.err
	}
}

// failed is the first error of any Write, also of one whose caller did not look.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return fmt.Errorf("standard output: %w", o.err)
	}
	return nil
}

// canWrite looks, before the work begins, whether the files of its results can be made.
func canWrite(paths ...string) error {
	for _, path := range paths {
		if path == "" || path == "-" { // none, or standard output
			continue
		}
		if err := atomicfile.Check(path); err != nil {
			return err
		}
	}
	return nil
}

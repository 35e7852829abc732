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

// input is standard input whose Read returns once the command is interrupted.
type input struct {
	ctx context.Context
	f   *os.File
	buf []byte
}

// newInput returns regular files as they are: reading them does not block, and Parquet needs to
// seek.
func newInput(ctx context.Context, f *os.File) io.Reader {
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return f
	}
	return &input{ctx: ctx, f: f}
}

func (in *input) Read(p []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err // a goroutine of an earlier call may still be reading into buf
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

// isTerminal reports whether input is typed at a terminal.
func isTerminal(r io.Reader) bool {
	in, ok := r.(*input)
	return ok && term.IsTerminal(int(in.f.Fd()))
}

// output is standard output to a pipe or a file. It keeps the first error, so that a full disk is
// noticed even if a caller ignores errors. Once the command is interrupted, Write no longer waits
// for a reader.
type output struct {
	ctx context.Context
	f   *os.File

	mu  sync.Mutex
	err error
}

// newOutput returns standard output; if it is a terminal, without control characters.
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

// failed returns the first error of any Write.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return fmt.Errorf("standard output: %w", o.err)
	}
	return nil
}

// canWrite checks, before the work begins, whether the output files can be created.
func canWrite(paths ...string) error {
	for _, path := range paths {
		if path == "" || path == "-" { // no file, or standard output
			continue
		}
		if err := atomicfile.Check(path); err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// queryLines returns the queries of standard input one by one, and io.EOF at the end.
type queryLines interface {
	next() (string, error)
}

// pipedLines are queries from a pipe or file.
type pipedLines struct{ *bufio.Scanner }

// byteOrderMark begins the first line of some files, and is not part of a query.
const byteOrderMark = "\ufeff"

func newPipedLines(r io.Reader) pipedLines {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	return pipedLines{lines}
}

func (p pipedLines) next() (string, error) {
	for p.Scan() {
		if query := strings.TrimSpace(strings.TrimPrefix(p.Text(), byteOrderMark)); query != "" {
			return query, nil
		}
	}
	if err := p.Err(); err != nil {
		return "", fmt.Errorf("read queries: %w", err)
	}
	return "", io.EOF
}

// typedLines are queries typed at a prompt, with line editing and a history. The terminal is in raw
// mode only while a line is being typed.
type typedLines struct {
	ctx      context.Context
	fd       int
	terminal *term.Terminal
	keys     *keys
}

func newTypedLines(ctx context.Context, fd int, in io.Reader, out io.Writer) *typedLines {
	k := &keys{Reader: in}
	return &typedLines{ctx: ctx, fd: fd, keys: k, terminal: term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{k, out}, "> ")}
}

func (t *typedLines) next() (string, error) {
	state, err := term.MakeRaw(t.fd)
	if err != nil {
		return "", fmt.Errorf("read from the prompt: %w", err)
	}
	if width, height, err := term.GetSize(t.fd); err == nil {
		_ = t.terminal.SetSize(width, height) // the size only matters for drawing
	}
	line, err := t.terminal.ReadLine()
	if e := term.Restore(t.fd, state); e != nil && err == nil {
		err = e
	}
	switch {
	case errors.Is(err, term.ErrPasteIndicator):
	case t.keys.interrupted:
		return "", interrupt(t.ctx)
	case err != nil:
		return "", err
	}
	if line = strings.TrimSpace(line); line == "" {
		return "", io.EOF
	}
	return line, nil
}

// interrupt does what Ctrl-C does outside of raw mode: it signals the process and waits until ctx
// is cancelled.
func interrupt(ctx context.Context) error {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(os.Interrupt)
	}
	if err != nil {
		return context.Canceled
	}
	<-ctx.Done()
	return ctx.Err()
}

// keys detects Ctrl-C, which is an ordinary byte in raw mode.
type keys struct {
	io.Reader
	interrupted bool
}

func (k *keys) Read(p []byte) (int, error) {
	n, err := k.Reader.Read(p)
	k.interrupted = k.interrupted || bytes.IndexByte(p[:n], 3) >= 0
	return n, err
}

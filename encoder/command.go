package encoder

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// command is a source that is a program beside this one. It answers one request at a time.
type command struct {
	words []string
	turn  chan struct{} // holds one value while nobody asks
	run   *run          // nil until it is started, and after it failed
}

// run is a process.
type run struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	err tail
}

func newCommand(words []string) (asker, string, error) {
	if _, err := exec.LookPath(words[0]); err != nil {
		return nil, "", fmt.Errorf("%q is neither an address (http://...) nor a command: %w", words[0], err)
	}
	c := &command{words: words, turn: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	return c, words[0], nil
}

func (c *command) ask(ctx context.Context, request []byte, most int) ([]byte, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.turn:
	}
	defer func() { c.turn <- struct{}{} }()
	if c.run == nil {
		if err := c.start(); err != nil {
			return nil, err
		}
	}
	type result struct {
		line []byte
		err  error
	}
	done := make(chan result, 1)
	r := c.run
	go func() {
		_, err := r.in.Write(append(request, '\n'))
		var line []byte
		if err == nil {
			line, err = readLine(r.out, most)
		} else {
			err = io.ErrClosedPipe // by the command, whatever the system calls it
		}
		done <- result{line, err}
	}()
	var got result
	select {
	case <-ctx.Done():
		got.err = ctx.Err()
	case got = <-done:
	}
	if got.err == nil {
		return got.line, nil
	}
	// What it writes later would be taken for the answer to the next request.
	said := c.stop()
	if errors.Is(got.err, io.EOF) || errors.Is(got.err, io.ErrClosedPipe) {
		got.err = errors.New("it ended without an answer")
	}
	if len(said) > 0 {
		return nil, fmt.Errorf("%w; it says: %s", got.err, shown(said))
	}
	return nil, got.err
}

func (c *command) start() (err error) {
	r := &run{cmd: exec.Command(c.words[0], c.words[1:]...)}
	r.cmd.Stderr = &r.err
	r.cmd.WaitDelay = time.Second // for processes of its own that keep its standard error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	r.out = bufio.NewReader(out)
	c.run = r
	return nil
}

// stop ends the process and returns the last of what it wrote to standard error.
func (c *command) stop() []byte {
	r := c.run
	c.run = nil
	if r == nil {
		return nil
	}
	r.in.Close()
	r.cmd.Process.Kill()
	r.cmd.Wait()
	return r.err.bytes()
}

func (c *command) close() error {
	<-c.turn
	defer func() { c.turn <- struct{}{} }()
	c.stop()
	return nil
}

// readLine reads a line of at most a number of bytes.
func readLine(in *bufio.Reader, most int) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > most {
			return nil, fmt.Errorf("the answer has more than %d bytes", most)
		}
		if err == nil {
			return line, nil
		}
		if err != bufio.ErrBufferFull {
			return nil, err
		}
	}
}

// tail keeps the last bytes that were written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const most = 300
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b[max(0, len(b)-most):]...)
	t.last = t.last[max(0, len(t.last)-most):]
	return len(b), nil
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
)

// hit is a document with its score.
type hit struct {
	doc   int
	score float32
}

// answer is the answer of an engine to a query.
type answer struct {
	nanos int64
	count int64 // number of matching documents, or -1 if the command does not count them
	hits  []hit
}

// engine answers queries and measures the time of each itself.
type engine interface {
	name() string
	ask(mode, k string, words []string) (answer, error)
	play(command string, share int, query string) (answer, error)
	close()
}

// startOurs starts Collocate as a peer: this program, in a process of its own, behind the same
// protocol. So garbage of the race is not collected while a query is timed.
func startOurs(index string) (*peer, error) {
	spec, err := ourSpec(index)
	if err != nil {
		return nil, err
	}
	return startPeer(spec)
}

// ourSpec returns Collocate in the form of -peers, NAME=COMMAND.
func ourSpec(index string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("collocate='%s' -serve '%s'", self, index), nil
}

// serve reads queries from in and writes answers to out.
func serve(ctx context.Context, index string, in io.Reader, out io.Writer) error {
	s, err := search.Open(index)
	if err != nil {
		return err
	}
	defer s.Close()
	g := newGame(s)
	lines, w := bufio.NewScanner(in), bufio.NewWriterSize(out, 1<<16)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "game "); ok {
			if err := g.answer(ctx, rest, w); err != nil {
				return err
			}
			continue
		}
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 {
			return fmt.Errorf("query %q: want a mode, a number and words", lines.Text())
		}
		mode, err := search.ParseMode(fields[0])
		if err != nil {
			return err
		}
		k, err := strconv.Atoi(fields[1])
		if err != nil {
			return err
		}
		start := time.Now()
		r := search.Request{K: k, Mode: mode, Model: search.BM25{Variant: bm25.Lucene},
			Words: make([]search.Word, 0, len(fields)-2)}
		for _, word := range fields[2:] {
			r.Words = append(r.Words, search.Word{Text: word})
		}
		result, err := s.Search(ctx, r)
		nanos := time.Since(start).Nanoseconds()
		if err != nil {
			return err
		}
		w.Write(strconv.AppendInt(w.AvailableBuffer(), nanos, 10))
		if err := writeHits(w, result.Hits); err != nil {
			return err
		}
	}
	return lines.Err()
}

// writeHits writes the hits at the end of a line of the protocol.
func writeHits(w *bufio.Writer, hits []search.Hit) error {
	for _, h := range hits {
		w.WriteByte(' ')
		w.Write(strconv.AppendUint(w.AvailableBuffer(), uint64(h.Doc), 10))
		w.WriteByte(':')
		w.Write(strconv.AppendFloat(w.AvailableBuffer(), float64(h.Score), 'g', -1, 32))
	}
	w.WriteByte('\n')
	return w.Flush()
}

// vocabulary returns a function that reports whether a word is in the index.
func vocabulary(dir string) (knows func(string) bool, err error) {
	r, err := index.Open(dir)
	if err != nil {
		return nil, err
	}
	return func(word string) bool {
		t, err := r.Lookup([]byte(word))
		return err == nil && t.DF > 0
	}, nil
}

// peer is an engine behind the protocol of ../README.md.
type peer struct {
	title string
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
}

func startPeer(spec string) (*peer, error) {
	title, command, ok := strings.Cut(spec, "=")
	if !ok {
		return nil, fmt.Errorf("peer %q: want NAME=COMMAND", spec)
	}
	cmd := exec.Command("sh", "-c", "exec "+command)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &peer{title, cmd, in, bufio.NewReaderSize(out, 1<<20)}, cmd.Start()
}

func (p *peer) name() string { return p.title }

func (p *peer) close() {
	p.in.Close()
	p.cmd.Wait()
}

func (p *peer) ask(mode, k string, words []string) (answer, error) {
	return p.say(fmt.Sprintf("%s %s %s", mode, k, strings.Join(words, " ")))
}

func (p *peer) play(command string, share int, query string) (answer, error) {
	return p.say(fmt.Sprintf("game %s %d %s", command, share, query))
}

func (p *peer) say(question string) (a answer, err error) {
	if _, err := fmt.Fprintln(p.in, question); err != nil {
		return a, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return a, err
	}
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return a, errors.New("the answer is empty: want nanoseconds and documents")
	}
	if a.nanos, err = strconv.ParseInt(fields[0], 10, 64); err != nil {
		return a, err
	}
	fields, a.count = fields[1:], -1
	if len(fields) > 0 && fields[0][0] == '=' {
		if a.count, err = strconv.ParseInt(fields[0][1:], 10, 64); err != nil {
			return a, err
		}
		fields = fields[1:]
	}
	for _, f := range fields {
		doc, score, _ := strings.Cut(f, ":")
		d, err := strconv.Atoi(doc)
		if err != nil {
			return a, err
		}
		s, err := strconv.ParseFloat(score, 32)
		if err != nil {
			return a, err
		}
		a.hits = append(a.hits, hit{d, float32(s)})
	}
	return a, nil
}

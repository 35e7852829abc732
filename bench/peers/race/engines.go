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
	"github.com/collocate/collocate/search"
)

// hit is a document with its score.
type hit struct {
	doc   int
	score float32
}

// engine answers a query and tells how long that took inside.
type engine interface {
	name() string
	ask(mode, k string, words []string) (nanos int64, hits []hit, err error)
	close()
}

// ours is Collocate itself, in this process.
type ours struct {
	ctx context.Context
	s   *search.Searcher
}

func openOurs(ctx context.Context, dir string) (*ours, error) {
	s, err := search.Open(dir)
	if err != nil {
		return nil, err
	}
	return &ours{ctx, s}, nil
}

func (o *ours) name() string { return "collocate" }
func (o *ours) close()       { o.s.Close() }

// knows tells whether a word is in the index.
func (o *ours) knows(word string) bool {
	t, err := o.s.Index().Lookup([]byte(word))
	return err == nil && t.DF > 0
}

func (o *ours) ask(mode, k string, words []string) (int64, []hit, error) {
	n, err := strconv.Atoi(k)
	if err != nil {
		return 0, nil, err
	}
	m, err := search.ParseMode(mode)
	if err != nil {
		return 0, nil, err
	}
	start := time.Now()
	r := search.Request{K: n, Mode: m, Model: search.BM25{Variant: bm25.Lucene}}
	for _, w := range words {
		r.Words = append(r.Words, search.Word{Text: w})
	}
	result, err := o.s.Search(o.ctx, r)
	nanos := time.Since(start).Nanoseconds()
	if err != nil {
		return 0, nil, err
	}
	hits := make([]hit, len(result.Hits))
	for i, h := range result.Hits {
		hits[i] = hit{int(h.Doc), h.Score}
	}
	return nanos, hits, nil
}

// peer is another engine behind the protocol of ../README.md.
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

func (p *peer) ask(mode, k string, words []string) (int64, []hit, error) {
	if _, err := fmt.Fprintf(p.in, "%s %s %s\n", mode, k, strings.Join(words, " ")); err != nil {
		return 0, nil, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return 0, nil, err
	}
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return 0, nil, errors.New("an empty answer")
	}
	nanos, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0, nil, err
	}
	var hits []hit
	for _, f := range fields[1:] {
		doc, score, _ := strings.Cut(f, ":")
		d, err := strconv.Atoi(doc)
		if err != nil {
			return 0, nil, err
		}
		s, err := strconv.ParseFloat(score, 32)
		if err != nil {
			return 0, nil, err
		}
		hits = append(hits, hit{d, float32(s)})
	}
	return nanos, hits, nil
}

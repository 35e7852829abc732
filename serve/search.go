package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
)

// one answers a query in the URL.
func (v *Server) one(w http.ResponseWriter, r *http.Request) {
	a, err := parseURL(r.URL.RawQuery)
	if err == nil {
		err = v.check(&a)
	}
	if err != nil {
		v.refuse(w, r, http.StatusBadRequest, err)
		return
	}
	found, err := v.find(r, a)
	if err != nil {
		v.failed(w, r, err)
		return
	}
	reply(w, http.StatusOK, found)
}

// find answers a query that was checked.
func (v *Server) find(r *http.Request, a ask) (*Answer, error) {
	ctx, cancel := context.WithTimeout(r.Context(), v.o.Limits.Time)
	defer cancel()
	in := a.lane()
	leave, err := v.gate.enter(ctx, clientOf(r), in)
	if err != nil {
		return nil, err
	}
	defer leave()
	a.request.Parallel = &search.Parallel{Threads: v.mayUse(in), Engine: v.o.Engine}
	start := time.Now()
	found, err := v.s.Search(ctx, a.request)
	if err != nil {
		return nil, err
	}
	took := time.Since(start)
	answer, err := Describe(ctx, v.s, a.request, found, a.details)
	if err != nil {
		return nil, err
	}
	answer.Micros = took.Microseconds()
	return answer, nil
}

// mayUse is the number of cores for a query or a part of a batch. Long ones leave one free as long
// as short ones come.
func (v *Server) mayUse(in lane) int {
	if in == longLane && v.threads > 1 && !v.gate.quiet() {
		return v.threads - 1
	}
	return v.threads
}

// lane says whether a query is short: few words, few documents.
func (a *ask) lane() lane {
	if len(a.Q) > 256 || a.request.K > 100 || a.details.SnippetSize > 0 && a.request.K > 20 {
		return longLane
	}
	return shortLane
}

// many answers the queries in the body.
func (v *Server) many(w http.ResponseWriter, r *http.Request) {
	body, status, err := readBody(w, r)
	if err != nil {
		v.refuse(w, r, status, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), v.o.Limits.BatchTime)
	defer cancel()
	leave, err := v.gate.enter(ctx, clientOf(r), longLane) // a large body takes a while to parse
	if err != nil {
		v.failed(w, r, err)
		return
	}
	asked, err := v.parseMany(body)
	leave()
	if err != nil {
		v.refuse(w, r, http.StatusBadRequest, err)
		return
	}
	v.answerMany(ctx, w, r, asked)
}

// readBody reads a body to its end, within a time. From then on the server sees a client go away.
func readBody(w http.ResponseWriter, r *http.Request) (body []byte, status int, err error) {
	answering(r, false)
	defer answering(r, true)
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("body: want at most %d bytes", maxBody)
		}
		return nil, http.StatusBadRequest, fmt.Errorf("body: %w", err)
	}
	http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body, 0, nil
}

// A batch is answered in parts, each with a slot of its own, so that other batches get their turn,
// and no slot is held while a client reads.
const (
	partQueries = 256
	partSize    = 1 << 20 // bytes of answers, about
)

// answerMany answers queries that were checked, a line each.
func (v *Server) answerMany(ctx context.Context, w http.ResponseWriter, r *http.Request, asked []ask) {
	out := lines{w: w, control: http.NewResponseController(w)}
	for len(asked) > 0 {
		n := v.partOf(asked)
		text, err := v.answerPart(ctx, r, asked[:n])
		switch {
		case err != nil && !out.begun:
			v.failed(w, r, err)
			return
		case err != nil:
			v.note(r, statusOf(err), err)
			said, _ := line(failure{err.Error()}) // a string can be written
			text = append(text, said...)
		}
		if out.write(text) != nil || err != nil { // nobody is there to be told of the first
			return
		}
		asked = asked[n:]
	}
	out.begin() // no query, no line
}

// partOf is how many of the queries make the next part.
func (v *Server) partOf(asked []ask) int {
	most := partQueries
	if v.o.Engine == engine.GPU {
		most = v.o.Limits.Queries // the device wants many at once
	}
	size := 0
	for i := range asked[:min(most, len(asked))] {
		each := 100 // bytes of a hit
		if asked[i].details.SnippetSize > 0 {
			each += 2 * asked[i].details.SnippetSize
		}
		if size += each * asked[i].request.K; size > partSize && v.o.Engine != engine.GPU {
			return i + 1
		}
	}
	return min(most, len(asked))
}

// answerPart answers some queries of a batch.
func (v *Server) answerPart(ctx context.Context, r *http.Request, asked []ask) ([]byte, error) {
	leave, err := v.gate.enter(ctx, clientOf(r), longLane)
	if err != nil {
		return nil, err
	}
	defer leave()
	batch := search.Batch{Threads: v.mayUse(longLane), Engine: v.o.Engine}
	switch v.o.Engine {
	case engine.Auto: // to a batch this would mean a device, too, if the index is on one
		batch.Engine = engine.Multicore
	case engine.Sequential:
		batch.Threads = 1
	}
	queries := make([]search.Request, len(asked))
	for i := range asked {
		queries[i] = asked[i].request
	}
	describe := func(i int, found *search.Result) ([]byte, error) {
		answer, err := Describe(ctx, v.s, queries[i], found, asked[i].details)
		if err != nil {
			return nil, err
		}
		return line(answer)
	}
	var all []byte
	for text, err := range search.MapBatch(ctx, v.s, slices.Values(queries), batch, describe) {
		if err != nil {
			return all, err
		}
		all = append(all, text...)
	}
	return all, nil
}

// lines sends parts of many values.
type lines struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
}

// begin sends what stands before the first line.
func (l *lines) begin() {
	if !l.begun {
		begin(l.w, http.StatusOK, "application/x-ndjson")
		l.begun = true
	}
}

func (l *lines) write(text []byte) error {
	l.begin()
	mayTake(l.control) // anew for each: a batch may take long, a client that does not read may not
	if _, err := l.w.Write(text); err != nil {
		return err
	}
	if err := l.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

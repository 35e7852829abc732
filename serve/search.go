package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
)

// one answers a query in the URL.
func (x *exchange) one() {
	a, err := x.searchParams()
	a.paged = x.r.URL.Path != "/search"
	if kind := rowsWanted(x.r.Header); kind != "" && err == nil {
		x.streamHits(a, kind)
		return
	}
	if err == nil {
		err = x.check(&a)
	}
	if err != nil {
		x.refuse(refusedAs(err), err)
		return
	}
	found, err := x.find(a)
	if err != nil {
		x.failed(err)
		return
	}
	x.reply(http.StatusOK, found)
}

// find answers a checked query.
func (x *exchange) find(a searchParams) (answer *api.Answer, err error) {
	in := a.lane()
	if x.o.Root != nil {
		err = x.work(in, x.o.Limits.Time, func(ctx context.Context) error {
			answer, err = x.findInShards(ctx, &a)
			return err
		})
		return answer, err
	}
	err = x.work(in, x.o.Limits.Time, func(ctx context.Context) error {
		a.request.Parallel = &search.Parallel{Threads: x.mayUse(in), Engine: a.engine}
		start := time.Now()
		found, err := x.g.s.Search(ctx, a.request)
		if err != nil {
			return err
		}
		took := time.Since(start)
		x.trace.part("search", start)
		x.metrics.searched(a.engine, &found.Stats, took)
		defer x.trace.part("describe", time.Now())
		if answer, err = api.Describe(ctx, x.g.s, a.request, found, a.details); err == nil {
			answer.Micros = took.Microseconds()
		}
		return err
	})
	return answer, err
}

// mayUse returns the number of cores for a query or a part of a batch.
func (v *Server) mayUse(in lane) int { return v.gate.cores(in, v.threads) }

// lane returns the lane of a query. Short ones have few words and few hits.
func (a *searchParams) lane() lane {
	if len(a.Query) > 256 || a.request.Query != nil || a.request.Filter != nil || a.request.Gathers() || a.request.Expand != nil ||
		a.request.Proximity != nil || a.request.K > 100 || a.Rerank > 0 ||
		a.details.SnippetSize > 0 && a.request.K > 20 {
		return longLane
	}
	return shortLane
}

// many answers the queries in the body, an array.
func (x *exchange) many() { x.batch(x.parseMany) }

// manyLines answers the queries in the body, one per line.
func (x *exchange) manyLines() { x.batch(x.parseLines) }

func (x *exchange) batch(parse func([]byte) ([]searchParams, error)) {
	body, ok := x.readBody()
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(x.r.Context(), x.o.Limits.BatchTime)
	defer cancel()
	slot, err := x.gate.enter(ctx, x.client, longLane) // parsing a large body takes a while
	if err != nil {
		x.failed(err)
		return
	}
	var asked []searchParams
	if !utf8.Valid(body) { // encoding/json would replace invalid bytes
		err = errors.New("body: want JSON in UTF-8")
	} else {
		asked, err = parse(body)
	}
	slot.leave()
	if err != nil {
		x.refuse(refusedAs(err), err)
		return
	}
	x.answerMany(ctx, asked)
}

// readBody reads the body, with a deadline. From then on the server notices when the client
// disconnects.
func (x *exchange) readBody() (body []byte, ok bool) {
	x.conn.answering(false)
	body, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, maxBody))
	x.conn.answering(true)
	if err == nil {
		http.NewResponseController(x.w).SetReadDeadline(time.Time{})
		return body, true
	}
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		x.refuse(http.StatusRequestEntityTooLarge,
			fmt.Errorf("body: want at most %d bytes", maxBody))
	} else {
		x.refuse(http.StatusBadRequest, fmt.Errorf("body: %w", err))
	}
	return nil, false
}

// A batch is answered in parts, each in a slot of its own, so that other batches get their turn,
// and no slot is held while the client reads.
const (
	partQueries = 256
	partSize    = 1 << 20 // approximate size of the answers of a part, in bytes
)

// answerMany answers checked queries, one line each.
func (x *exchange) answerMany(ctx context.Context, asked []searchParams) {
	out := lines{x: x, kind: asLines, control: http.NewResponseController(x.w)}
	defer out.end()
	for len(asked) > 0 {
		n := x.partOf(asked)
		text, err := x.answerPart(ctx, asked[:n])
		switch {
		case err == nil && n == len(asked) && !out.begun && allWrong(asked):
			x.refuse(refusedAs(asked[0].wrong), asked[0].wrong)
			return
		case err != nil && !out.begun:
			x.failed(err)
			return
		case err != nil:
			x.note(statusOf(err), err)
			last, _ := line(problemOf(statusOf(err), err)) // cannot fail
			text = append(text, last...)
		}
		if out.write(text) != nil || err != nil { // either the client has gone, or the error was the last line
			return
		}
		asked = asked[n:]
	}
	out.begin(0) // an empty batch has no lines
}

// allWrong reports whether none of some queries could be answered.
func allWrong(asked []searchParams) bool {
	return !slices.ContainsFunc(asked, func(a searchParams) bool { return a.wrong == nil })
}

// partOf returns the number of queries of the next part.
func (v *Server) partOf(asked []searchParams) int {
	most := partQueries
	if v.o.Engine == engine.GPU {
		most = v.o.Limits.Queries // a device needs many at once
	}
	size := 0
	for i := range asked[:min(most, len(asked))] {
		each := 100 // bytes per hit
		if asked[i].details.SnippetSize > 0 {
			each += 2 * asked[i].details.SnippetSize
		}
		if len(asked[i].Show) > 0 || asked[i].Explain {
			each += 1000 // a guess: stored fields may be of any size
		}
		if size += each * max(0, asked[i].request.K); size > partSize && v.o.Engine != engine.GPU {
			return i + 1
		}
	}
	return min(most, len(asked))
}

// answerPart answers some queries of a batch.
func (x *exchange) answerPart(ctx context.Context, asked []searchParams) ([]byte, error) {
	t, err := x.take(ctx, longLane, time.Time{})
	if err != nil {
		return nil, err
	}
	defer t.end()
	defer x.trace.part("part of a batch", time.Now())
	if x.o.Root != nil {
		return x.answerPartInShards(t, asked)
	}
	batch := search.Batch{Threads: x.mayUse(longLane), Engine: x.o.Engine}
	switch x.o.Engine {
	case engine.Auto: // for a batch, auto would include a GPU
		batch.Engine = engine.Multicore
	case engine.Sequential:
		batch.Threads = 1
	}
	queries, details := make([]search.Request, 0, len(asked)), make([]*api.Details, 0, len(asked))
	for i := range asked {
		if asked[i].wrong != nil {
			continue
		}
		queries, details = append(queries, asked[i].request), append(details, &asked[i].details)
	}
	describe := func(i int, found *search.Result) ([]byte, error) {
		x.metrics.strategy(&found.Stats)
		if err := t.Err(); err != nil {
			return nil, err
		}
		answer, err := api.Describe(t, x.g.s, queries[i], found, *details[i])
		if err != nil {
			return nil, err
		}
		return line(answer)
	}
	var all []byte
	done, next := 0, 0 // queries that are answered, and those of asked
	for text, err := range search.MapBatch(t, x.g.s, slices.Values(queries), batch, describe) {
		if err != nil && statusOf(err) != http.StatusBadRequest {
			return all, err
		}
		if err != nil { // of this query or a later one: ask one by one
			break
		}
		for ; asked[next].wrong != nil; next++ {
			all = appendProblem(all, asked[next].wrong)
		}
		all = append(all, text...)
		done, next = done+1, next+1
	}
	for i := range asked[next:] { // wrong ones at the end, or all after an error
		a := &asked[next+i]
		if a.wrong == nil {
			queries[done].Parallel = &search.Parallel{Threads: batch.Threads, Engine: batch.Engine}
			found, err := x.g.s.Search(t, queries[done])
			var text []byte
			if err == nil {
				text, err = describe(done, found)
			}
			if err == nil {
				all, done = append(all, text...), done+1
				continue
			}
			if statusOf(err) != http.StatusBadRequest {
				return all, err
			}
			a.fail(err)
			done++
		}
		all = appendProblem(all, a.wrong)
	}
	return all, nil
}

// appendProblem appends the line of a query that is wrong.
func appendProblem(b []byte, err error) []byte {
	b, _ = appendLine(b, problemOf(refusedAs(err), err)) // cannot fail
	return b
}

// lines sends parts of many values, compressed if the first part is long enough and the client
// accepts that.
type lines struct {
	x       *exchange
	kind    string // media type
	control *http.ResponseController
	begun   bool
	packer  *packer
	to      packing // nil if nothing is compressed
}

// begin sends the headers before the first part.
func (l *lines) begin(size int) {
	if l.begun {
		return
	}
	l.begun = true
	h := l.x.w.Header()
	h["Vary"] = append(h["Vary"], "Accept-Encoding")
	coding := codingOf(l.x.r.Header)
	if size >= packFrom && coding != "" {
		h["Content-Encoding"] = []string{coding}
		l.packer = packers.Get()
		l.to = l.packer.stream(coding, l.x.w)
	}
	l.x.begin(http.StatusOK, l.kind)
}

// end ends what was compressed.
func (l *lines) end() {
	if l.to != nil {
		l.to.Close() // an error means that the client has gone
		packers.Put(l.packer)
		l.to = nil
	}
}

func (l *lines) write(text []byte) error {
	l.begin(len(text))
	l.x.mayTake(l.control) // renewed for each: a batch may take long, a client that does not read may not
	var err error
	if l.to == nil {
		_, err = l.x.w.Write(text)
	} else if _, err = l.to.Write(text); err == nil {
		err = l.to.Flush()
	}
	if err != nil {
		return err
	}
	if err := l.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

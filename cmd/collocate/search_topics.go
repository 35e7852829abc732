package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/trec"
)

// searchTopics answers a file of topics and writes a run.
func (a *app) searchTopics(ctx context.Context, s *search.Searcher, r search.Request, f *searchFlags) error {
	if f.tag == "" || strings.ContainsAny(f.tag, " \t\r\n") {
		return usagef("--tag %q: want a name without blanks", f.tag)
	}
	ids, err := trec.ParseTopicIDs(f.topicIDs)
	if err != nil {
		return usageError{err}
	}
	read, err := (&api.Files{Encoding: f.encoding}).Options(s.Index().Analyzer())
	if err != nil {
		return asFlags(api.FilesQuestion, err)
	}
	topics, err := trec.ReadTopics(f.topics, trec.TopicOptions{
		Encoding: read.Encoding, IDs: ids, Fields: f.topicFields, Note: a.note,
		Weights: text.OfWeights(s.Index().Analyzer())})
	if err != nil {
		return err
	}
	texts := make([]string, len(topics))
	for i, t := range topics {
		texts[i] = t.Text
	}
	if !f.language {
		f.notePlain(a, texts...)
	}
	if id, found, err := s.Index().BadID(); err != nil {
		return err
	} else if found {
		return fmt.Errorf("document %q: an ID in a run must not be empty or contain blanks; give the documents other IDs (index --id-field)", id)
	}
	if id, found, err := s.Index().RepeatedID(); err != nil {
		return err
	} else if found {
		return fmt.Errorf("two documents have the ID %q, and a run cannot tell them apart; give the documents other IDs (index --id-field)", id)
	}
	r.Trace = false
	measured := a.meter(f.ask.Stats)
	start := time.Now()
	if r, err = f.encodeTopics(ctx, a, s, r, topics); err != nil {
		return err
	}
	w := topicWriter{a: a, s: s, f: f, topics: topics, texts: texts}
	if w.requests, err = f.requestsOf(s, r, topics); err != nil {
		return err
	}
	if err := f.giveVectors(w.requests); err != nil {
		return err
	}
	if err := filterOnce(ctx, s, w.requests); err != nil {
		return err
	}
	if f.run == "-" {
		err = w.write(ctx, a.stdout)
	} else {
		err = atomicfile.WriteFile(f.run, func(file *atomicfile.File) error { return w.write(ctx, file) })
	}
	if err != nil {
		return err
	}
	took := time.Since(start)
	used := measured(int64(len(topics)), perQuery)
	if w.unanswered > 0 {
		a.note(fmt.Sprintf("%d of %s have no answers, and no lines in the run", w.unanswered,
			counted(len(topics), "topic")))
	}
	if a.json {
		return a.printJSON(runJSON{f.run, len(topics), w.answers, took.Seconds(),
			w.recall.approximate, w.recall.mean(), w.onCores, used})
	}
	a.summary("%s, %s in %v, %.0f topics a second", counted(len(topics), "topic"),
		counted(w.answers, "answer"), took.Round(time.Millisecond),
		float64(len(topics))/took.Seconds())
	w.recall.summary(a)
	if f.ask.Stats {
		for _, why := range slices.Sorted(maps.Keys(w.onCores)) {
			a.summary("%s on the cores: %s", counted(w.onCores[why], "topic"), why)
		}
	}
	a.printEnergy(used)
	return nil
}

// giveVectors gives each topic its vector.
func (f *searchFlags) giveVectors(requests []search.Request) error {
	if f.vectors == nil {
		return nil
	}
	if len(f.vectors) != len(requests) {
		return fmt.Errorf("%s has %d vectors: want one for each of %s", f.vectorOf, len(f.vectors),
			counted(len(requests), "topic"))
	}
	for i := range requests {
		if len(f.vectors[i]) == 0 { // a topic without words
			requests[i].Nearest = nil
			continue
		}
		near := *requests[i].Nearest
		near.Vector = f.vectors[i]
		requests[i].Nearest = &near
	}
	return nil
}

// runJSON is the summary of a run in a file, for --json.
type runJSON struct {
	Run         string   `json:"run"`
	Topics      int      `json:"topics"`
	Answers     int      `json:"answers"`
	Seconds     float64  `json:"seconds"`
	Approximate bool     `json:"approximate,omitempty"`
	Recall      *float64 `json:"recall,omitempty"`
	// OnCores counts the topics that the cores answered instead of a GPU, by the reason.
	OnCores map[string]int `json:"on_cores,omitempty"`
	Energy  *energyUse     `json:"energy,omitempty"`
}

// topicWriter writes a run. Workers format the answers of topics as lines, which are written in the
// order of the topics.
type topicWriter struct {
	a      *app
	s      *search.Searcher
	f      *searchFlags
	topics []trec.Topic
	texts  []string // of the topics, for a reranker

	requests []search.Request // one for each topic

	spare   sync.Pool // of *topicLines
	answers int
	recall  meanRecall

	unanswered int            // number of topics
	onCores    map[string]int // topics that a GPU left to the cores, by the reason
}

// topicLines are the lines of a run for one topic.
type topicLines struct {
	lines   []byte
	answers int
	exact   bool
	pruned  bool
	recall  *float64
	why     string // the reason why the cores answered instead of a GPU
}

func (w *topicWriter) write(ctx context.Context, out io.Writer) error {
	run := trec.NewRunWriter(out, w.f.tag)
	next := 0
	describe := func(i int, found *search.Result) (*topicLines, error) { return w.describe(ctx, i, found) }
	for t, err := range search.MapAll(ctx, w.s, w.requests, w.f.parallel.batch, w.a.gpuOptions(), describe) {
		w.a.endProgress() // of copying the index to a GPU
		if err == nil {
			err = run.Lines(t.lines)
		}
		if err != nil {
			return fmt.Errorf("topic %s: %w", w.topics[next].ID, err)
		}
		next++
		w.answers += t.answers
		if t.why != "" {
			if w.onCores == nil {
				w.onCores = map[string]int{}
			}
			w.onCores[t.why]++
		}
		if t.answers == 0 {
			w.unanswered++
		}
		w.recall.add(t)
		w.spare.Put(t)
	}
	return run.Flush()
}

// requestsOf returns a request for each topic.
func (f *searchFlags) requestsOf(s *search.Searcher, r search.Request, topics []trec.Topic) (
	[]search.Request, error) {
	all, about, ask := make([]search.Request, len(topics)), api.AboutIndex(s), f.ask
	ask.Plain = !f.language
	tokens, err := f.readSparse()
	if err != nil {
		return nil, err
	}
	for i, t := range topics {
		if f.sparseOf != "" {
			weights, ok := tokens[t.ID]
			if !ok {
				return nil, fmt.Errorf("%s has no topic %s", f.sparseOf, t.ID)
			}
			ask.Sparse = api.Tokens(weights)
		}
		if all[i] = r; strings.TrimSpace(t.Text+string(ask.Sparse)) == "" {
			continue // it has no answers
		}
		if err := ask.Ask(about, &all[i], t.Text); err != nil {
			return nil, fmt.Errorf("topic %s: %w", t.ID, withoutPlain(asFlags(api.SearchQuestion, err)))
		}
	}
	return all, nil
}

// readSparse reads the topics of --sparse-of, by their IDs.
func (f *searchFlags) readSparse() (map[string]string, error) {
	if f.sparseOf == "" {
		return nil, nil
	}
	topics, err := trec.ReadTopics(f.sparseOf, trec.TopicOptions{Weights: true})
	if err != nil {
		return nil, err
	}
	list := make(map[string]string, len(topics))
	for _, t := range topics {
		list[t.ID] = t.Text
	}
	return list, nil
}

// filterOnce finds the documents of the filter that all requests have, if it is apart from their
// queries, once for all.
func filterOnce(ctx context.Context, s *search.Searcher, all []search.Request) error {
	var within *search.Within
	for i := range all {
		r := &all[i]
		if r.Filter == nil {
			continue
		}
		if within == nil {
			var err error
			if within, err = s.Match(ctx, search.Request{Query: r.Filter}); err != nil {
				return fmt.Errorf("--filter: %w", err)
			}
		}
		r.Within, r.Filter = within, nil
	}
	return nil
}

// describe formats the lines of a topic.
func (w *topicWriter) describe(ctx context.Context, i int, found *search.Result) (*topicLines, error) {
	t, _ := w.spare.Get().(*topicLines)
	if t == nil {
		t = &topicLines{}
	}
	t.answers, t.exact, t.pruned = len(found.Hits), exact(found), found.Stats.Pruned
	if t.why = ""; found.Stats.GPU != nil {
		t.why = found.Stats.GPU.Fallback
	}
	var err error
	if t.recall, err = w.f.parallel.recallOf(ctx, w.s, w.requests[i], found); err != nil {
		return nil, err
	}
	hits := found.Hits
	if w.f.ask.Rerank > 0 {
		again := api.Details{Rerank: w.f.ask.Rerank, Reranker: w.f.reranker}
		if hits, _, err = again.Reranked(ctx, w.s, w.texts[i], hits); err != nil {
			return nil, err
		}
		hits = hits[:min(w.f.ask.K, len(hits))]
		t.answers = len(hits)
	}
	t.lines, err = trec.AppendTopic(t.lines[:0], w.topics[i].ID, w.f.tag, len(hits),
		func(b []byte, i int) ([]byte, float32, error) {
			at := len(b)
			b, err := w.s.Index().AppendDocID(b, int(hits[i].Doc))
			if w.f.ask.Collapse != search.NoCollapse && err == nil { // runs are judged by documents
				parent, _, _ := text.SplitPassageID(string(b[at:]))
				b = append(b[:at], parent...)
			}
			return b, hits[i].Score, err
		})
	return t, err
}

// meanRecall computes the mean recall of a run's topics.
type meanRecall struct {
	sum         float64
	asked       int
	approximate bool
	pruned      bool
}

func (m *meanRecall) add(t *topicLines) {
	m.approximate = m.approximate || !t.exact
	m.pruned = m.pruned || t.pruned
	if t.recall != nil {
		m.sum, m.asked = m.sum+*t.recall, m.asked+1
	}
}

// mean returns nil without --recall.
func (m *meanRecall) mean() *float64 {
	if m.asked == 0 {
		return nil
	}
	mean := m.sum / float64(m.asked)
	return &mean
}

func (m *meanRecall) summary(a *app) {
	mean := m.mean()
	switch {
	case mean != nil:
		a.summary("mean recall %.4f", *mean)
	case m.pruned:
		a.summary(prunedAnswers)
	case m.approximate:
		a.summary("these answers are approximate; --recall measures how many of the best are among them")
	}
}

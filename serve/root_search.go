package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/search/shards"
)

// partial is the merged answers of shards so far.
type partial struct {
	mu       sync.Mutex
	sort     *search.Sort // nil means by score
	hits     []placedHit
	total    int64
	facets   [][]search.FacetCounts
	stats    *search.Stats
	coverage api.Coverage
	refused  error // see final
	answered bool  // a shard has answered with an error
}

// placedHit is a hit with its sort key.
type placedHit struct {
	api.Hit
	key search.SortKey
}

// take adds the answer of a shard.
func (p *partial) take(a *shardAnswer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, h := range a.Hits {
		placed := placedHit{Hit: h}
		if i < len(a.Keys) {
			placed.key = a.Keys[i]
		}
		p.hits = append(p.hits, placed)
	}
	if a.Facets != nil {
		p.facets = append(p.facets, a.Facets)
	}
	p.total += a.Total
	p.coverage.Answered++
	p.coverage.Documents += uint64(a.Documents)
	if p.stats == nil {
		p.stats = a.Stats
	} else if a.Stats != nil {
		p.stats.Add(a.Stats)
	}
}

// miss records that no server has answered for a shard.
func (p *partial) miss(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if why := final(err); why != nil {
		p.refused = why
	}
	if m := new(missingShard); errors.As(err, &m) {
		p.answered = p.answered || m.answered
	}
	p.coverage.Missing = append(p.coverage.Missing, err.Error())
}

// refusal is the error of a shard that refuses the query as invalid. It is an error of the root's
// request, too.
type refusal struct{ error }

// Unwrap makes it match index.ErrShard.
func (r refusal) Unwrap() []error { return []error{r.error, index.ErrShard} }

// follow keeps the hits that come after one of an earlier page. Ranks would not do: they count the
// hits of shards that did not answer then, or do not now.
func (p *partial) follow(after *search.After) {
	p.hits = slices.DeleteFunc(p.hits, func(h placedHit) bool {
		if p.sort == nil {
			return !after.Precedes(h.Doc, h.Score)
		}
		by := p.sort.Compare(h.key, after.Key)
		return by < 0 || by == 0 && int64(h.Doc) <= after.Doc
	})
}

// best keeps the k best hits: the highest scores, or the first by a field; ties go to the lower
// document number, as in one index. It returns the score of the k-th, or 0 if there are fewer.
// It is called while no shard is asked, so that nothing is added meanwhile.
func (p *partial) best(k int) (least float32) {
	slices.SortFunc(p.hits, func(a, b placedHit) int {
		if p.sort != nil {
			return cmp.Or(p.sort.Compare(a.key, b.key), cmp.Compare(a.Doc, b.Doc))
		}
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
	if p.hits = p.hits[:min(max(0, k), len(p.hits))]; len(p.hits) < k || k <= 0 {
		return 0
	}
	return p.hits[k-1].Score
}

// findInShards answers a checked query. If the shards switch to another index meanwhile, it asks
// that one.
func (x *exchange) findInShards(ctx context.Context, a *searchParams) (*api.Answer, error) {
	asked := *a
	answer, err := x.findOnce(ctx, &asked)
	if err != nil || len(answer.Shards.Missing) > 0 {
		if now, ok, failed := x.findAgain(ctx, a); ok {
			answer, err = now, failed
		}
	}
	if err != nil {
		return nil, err
	}
	n := len(answer.Shards.Missing)
	x.o.Root.missing.Add(uint64(n))
	x.missing.Add(int64(n))
	return answer, nil
}

// findAgain answers a query from the index that the root serves now, if that is another one and the
// query is valid there.
func (x *exchange) findAgain(ctx context.Context, a *searchParams) (answer *api.Answer, ok bool, err error) {
	var g *generation
	if x.changed.Load() {
		g = x.seeChange(ctx)
	} else {
		g = x.ix.hold()
	}
	defer x.letGo(g)
	if g == x.g || ctx.Err() != nil {
		return nil, false, nil
	}
	y := &exchange{Server: x.Server, r: x.r, g: g, client: x.client, id: x.id, trace: x.trace}
	asked := *a
	asked.request, asked.details = search.Request{}, api.Details{}
	if y.check(&asked) != nil {
		return nil, false, nil
	}
	answer, err = y.findOnce(ctx, &asked)
	return answer, true, err
}

// askGroup asks a shard about the index of the exchange. body is q as JSON.
func (x *exchange) askGroup(ctx context.Context, g *group, q *shardAsk, body []byte) (
	*shardAnswer, error,
) {
	if err := q.Ask.late.of(g); err != nil {
		return nil, err
	}
	answer, err := x.o.Root.askGroup(ctx, g, x.g, q, body)
	if err != nil && ctx.Err() != nil {
		q.Ask.late.add(g, err)
	}
	if m := new(missingShard); err != nil && errors.As(err, &m) && m.changed {
		x.changed.Store(true)
	}
	return answer, err
}

// lateShards are the shards that have not answered a stage of a query in time. Later stages do not
// wait for them again.
type lateShards struct {
	mu  sync.Mutex
	why map[*group]error
}

func (l *lateShards) of(g *group) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why[g]
}

func (l *lateShards) add(g *group, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why == nil {
		l.why = map[*group]error{}
	}
	l.why[g] = why
}

// Parts of the time of a query for its stages. Searches may take longer than the others.
const (
	searchTime = 2
	otherTime  = 1
)

// stageClock divides the time of a query among its stages, so that a shard that hangs in one of
// them leaves time for the next.
type stageClock struct {
	ctx  context.Context
	left int // sum of the parts of the stages to come
}

func newStageClock(ctx context.Context, a *searchParams) *stageClock {
	c := &stageClock{ctx: ctx, left: searchTime}
	if a.hasPatterns() {
		c.left += otherTime
	}
	if a.request.Expand != nil {
		c.left += searchTime + otherTime
	}
	if a.detailed() {
		c.left += otherTime
	}
	return c
}

// next returns the context of the next stage.
func (c *stageClock) next(part int) (context.Context, context.CancelFunc) {
	deadline, ok := c.ctx.Deadline()
	all := c.left
	if c.left -= part; !ok || c.left <= 0 {
		return context.WithCancel(c.ctx)
	}
	return context.WithTimeout(c.ctx, time.Until(deadline)*time.Duration(part)/time.Duration(all))
}

// hasPatterns reports whether the query has patterns of words, or may have synonyms, which are
// counted as patterns are.
func (a *searchParams) hasPatterns() bool {
	if given := a.request.Synonyms; given != nil && given.Len() > 0 || given == nil && a.synonyms {
		return true
	}
	r := &a.request
	return r.Query != nil && shards.HasPatterns(r.Query) || r.Filter != nil && shards.HasPatterns(r.Filter)
}

// detailed reports whether hits are asked for with more than their score.
func (a *searchParams) detailed() bool { return a.Snippets || a.Explain || len(a.Show) > 0 }

// onlyFind asks for the k best hits without what detailed tells of, as most requests to shards do.
func (a *searchParams) onlyFind(k int) {
	a.K, a.From, a.Snippets, a.Explain, a.Show = k, 0, false, false, nil
}

// findOnce answers a query from the index of the exchange.
func (x *exchange) findOnce(ctx context.Context, a *searchParams) (*api.Answer, error) {
	start := time.Now()
	within, cancel := leaveTime(ctx)
	defer cancel()
	defer func(said string) { a.Partial = said }(a.Partial)
	whole := a.Partial == "refuse"
	a.Partial = "allow" // shards are whole
	a.late = new(lateShards)
	a.After = "" // shards get the place itself, if they need it
	clock := newStageClock(within, a)
	var words []search.Word
	without, err := x.patternsInShards(clock, a)
	if err != nil {
		return nil, err
	}
	if a.request.Expand != nil {
		var more []string
		if words, more, err = x.expandInShards(clock, ctx, a); err != nil {
			return nil, err
		}
		without = append(without, more...)
	}
	p, err := x.bestOfShards(clock, ctx, a, words)
	if err != nil {
		return nil, err
	}
	p.coverage.Missing = append(p.coverage.Missing, without...)
	answer, err := x.mergedAnswer(a, p)
	if err != nil {
		return nil, err
	}
	if len(p.hits) == 0 && p.total == 0 && a.details.After == nil && len(p.coverage.Missing) == 0 {
		answer.Notes = append(answer.Notes, x.notesOfShards(within, a)...)
	}
	for _, w := range words {
		answer.Expanded = append(answer.Expanded, api.ExpandedWord{Word: w.Text, Weight: w.Weight})
	}
	if a.detailed() {
		if err := x.describeInShards(clock, a, words, answer); err != nil {
			return nil, err
		}
	}
	if whole && len(answer.Shards.Missing) > 0 {
		return nil, &partialError{*answer.Shards}
	}
	answer.Micros = time.Since(start).Microseconds()
	return answer, nil
}

// partialError is the error of a request that wants no answer without some of the shards.
type partialError struct{ coverage api.Coverage }

func (e *partialError) Error() string {
	c := &e.coverage
	return fmt.Sprintf("%d of %d shards have answered, with %d of %d documents: %s", c.Answered, c.Of, c.Documents,
		c.OfDocuments, strings.Join(c.Missing, "; "))
}

// bestOfShards merges the answers of the shards that arrive in time. words are those of the
// expanded query, if it was expanded.
func (x *exchange) bestOfShards(clock *stageClock, ctx context.Context, a *searchParams,
	words []search.Word) (*partial, error) {
	p := &partial{sort: a.request.Sort,
		coverage: api.Coverage{Of: len(x.o.Root.groups), OfDocuments: x.g.shard.WholeDocs}}
	within, cancel := clock.next(searchTime)
	defer cancel()
	if err := x.askShards(within, a, words, p); err != nil {
		return nil, err
	}
	switch {
	case p.refused != nil:
		return nil, p.refused
	case p.coverage.Answered == 0:
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		none := errNoShards
		if p.answered {
			none = errNoAnswer
		}
		return nil, fmt.Errorf("%w: %s", none, p.coverage.Missing[0])
	}
	p.best(a.request.K)
	if a.details.After != nil {
		p.follow(a.details.After)
	}
	return p, nil
}

// leaveTime reserves some of the time of a request for sending what shards have answered.
func leaveTime(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	left := time.Until(deadline)
	return context.WithDeadline(ctx, deadline.Add(-min(left/10, 100*time.Millisecond)))
}

// askShards asks all shards: some first, the others only for hits at least as good as their k-th.
func (x *exchange) askShards(ctx context.Context, a *searchParams, words []search.Word, p *partial) error {
	r, k := x.o.Root, max(0, a.request.K)
	q := shardAsk{Whole: x.g.shard.Whole, Ask: *a, Words: words, Patterns: a.request.Patterns, After: a.request.After}
	q.Ask.onlyFind(k)
	var wg sync.WaitGroup
	send := func(groups []*group, done chan<- struct{}) error {
		asked := q // AtLeast is set later
		body, err := json.Marshal(&asked)
		if err != nil {
			return err
		}
		var some sync.WaitGroup
		one := func(g *group) {
			found, err := x.askGroup(ctx, g, &asked, body)
			if err != nil {
				p.miss(err)
				return
			}
			p.take(found)
		}
		for i, g := range groups {
			if done == nil && i == len(groups)-1 { // the last one is asked in this goroutine
				one(g)
				break
			}
			some.Add(1)
			wg.Go(func() {
				defer some.Done()
				one(g)
			})
		}
		if done != nil {
			go func() {
				some.Wait()
				close(done)
			}()
		}
		return nil
	}
	from := int(r.turn.Add(1)) % len(r.groups)
	order := slices.Concat(r.groups[from:], r.groups[:from])
	if n := min(r.first, len(order)); n > 0 && n < len(order) && k > 0 && p.sort == nil && !order[0].times.quick() {
		done := make(chan struct{})
		if err := send(order[:n], done); err != nil {
			return err
		}
		patience := time.Second
		for _, g := range order[:n] {
			if usual, known := g.times.p95(); known {
				patience = min(patience, usual)
			}
		}
		timer := time.NewTimer(patience)
		select {
		case <-done:
			q.AtLeast = p.best(k)
		case <-timer.C: // do not wait for a late shard
		case <-ctx.Done():
		}
		timer.Stop()
		order = order[n:]
	}
	err := send(order, nil)
	wg.Wait()
	return err
}

// mergedAnswer returns an answer with the best hits, without details.
func (x *exchange) mergedAnswer(a *searchParams, p *partial) (answer *api.Answer, err error) {
	d := a.details
	hits, from := p.hits, d.From+d.First
	if d.After == nil { // otherwise only those that follow are left
		hits = hits[min(d.From, len(hits)):]
	}
	answer = &api.Answer{
		Query: a.Query, K: d.Limit, From: from, Mode: a.request.Mode.String(), Shards: &p.coverage,
		Hits: make([]api.Hit, 0, len(hits)),
	}
	if a.request.Query != nil {
		answer.Parsed = a.request.Query.String()
	}
	if !a.Plain && !query.OnlyWords(a.Query) {
		answer.Notes = query.Notes(a.Query, query.Options{Fields: x.g.fieldNames()})
	}
	if a.request.Count {
		answer.Total = &p.total
	}
	if len(a.request.Facets) > 0 {
		answer.Facets, err = shards.MergeFacets(x.g.schema, a.request.Facets, p.facets...)
		if err != nil {
			return nil, err
		}
	}
	if d.More {
		more := len(hits) > d.Limit || d.Limit == 0 && p.total > int64(from)
		answer.More = &more
	}
	if d.Stats {
		answer.Stats = p.stats
	}
	for i, h := range hits[:min(d.Limit, len(hits))] {
		h.Rank = from + i + 1
		answer.Hits = append(answer.Hits, h.Hit)
	}
	if last := len(answer.Hits) - 1; last >= 0 && d.More && *answer.More {
		var key *search.SortKey
		if p.sort != nil {
			key = &hits[last].key
		}
		answer.Next = d.Next(&answer.Hits[last], key)
	}
	return answer, nil
}

// notesOfShards asks all shards what they lack of a query that found nothing. Notes only help to
// understand an answer, so that there are none if a shard does not answer.
func (x *exchange) notesOfShards(ctx context.Context, a *searchParams) []string {
	q := shardAsk{Whole: x.g.shard.Whole, Ask: *a, Notes: true, Patterns: a.request.Patterns}
	q.Ask.Sort, q.Ask.Facet, q.Ask.Count, q.Ask.Stats = "", nil, false, false
	q.Ask.onlyFind(1)
	body, err := json.Marshal(&q)
	if err != nil {
		return nil
	}
	notes := make([][]string, len(x.o.Root.groups))
	var wg sync.WaitGroup
	for i, g := range x.o.Root.groups {
		wg.Go(func() {
			if answer, err := x.askGroup(ctx, g, &q, body); err == nil {
				notes[i] = answer.Notes
			}
		})
	}
	wg.Wait()
	return shards.MergeNotes(notes...)
}

// patternsInShards asks all shards for the words that match the patterns of a query, as these are
// scored by the words of all shards. It also returns the shards that are missing.
func (x *exchange) patternsInShards(clock *stageClock, a *searchParams) (without []string, err error) {
	if !a.hasPatterns() {
		return nil, nil
	}
	r := x.o.Root
	ctx, cancel := clock.next(otherTime)
	defer cancel()
	q := shardAsk{Whole: x.g.shard.Whole, Ask: *a, Find: true}
	q.Ask.onlyFind(1)
	body, err := json.Marshal(&q)
	if err != nil {
		return nil, err
	}
	found, errs := make([][]search.Pattern, len(r.groups)), make([]error, len(r.groups))
	var wg sync.WaitGroup
	for i, g := range r.groups {
		wg.Go(func() {
			answer, err := x.askGroup(ctx, g, &q, body)
			if errs[i] = err; err == nil {
				found[i] = answer.Patterns
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if why := final(err); why != nil {
			return nil, why
		} else if err != nil {
			without = append(without, fmt.Sprintf("words of patterns: %v", err))
		}
	}
	merged, err := shards.MergePatterns(found...)
	a.request.Patterns = &merged
	return without, err
}

// expandInShards returns the words of an expansion, from the best documents of all shards. It also
// returns the shards that are missing.
func (x *exchange) expandInShards(clock *stageClock, ctx context.Context, a *searchParams) (
	words []search.Word, without []string, err error,
) {
	first := *a
	first.Expand, first.Sort, first.Boost, first.Facet, first.Count, first.Stats = "", "", "", nil, false, false
	r := &first.request
	r.Expand, r.Sort, r.Boosts, r.Facets, r.Count, r.After = nil, nil, nil, nil, false, nil
	first.details.After = nil
	r.K = a.request.Expand.WithDefaults().Docs
	p, err := x.bestOfShards(clock, ctx, &first, nil)
	if err != nil {
		return nil, nil, err
	}
	hits, docs := make([]search.Hit, len(p.hits)), make([]uint32, len(p.hits))
	for i, h := range p.hits {
		hits[i], docs[i] = search.Hit{Doc: h.Doc, Score: h.Score}, h.Doc
	}
	bags := &shards.Bags{Docs: make([]map[string]int, len(hits)), Counts: map[string]shards.WordCounts{}}
	q := shardAsk{Whole: x.g.shard.Whole, Ask: first, Bags: true}
	q.Ask.onlyFind(1)
	within, cancel := clock.next(otherTime)
	defer cancel()
	err = x.eachOwner(within, docs, &q, func(places []int, found *shardAnswer, err error) {
		if err != nil {
			p.coverage.Missing = append(p.coverage.Missing, err.Error())
			return
		}
		for n, i := range places {
			bags.Docs[i] = found.Bags.Docs[n]
		}
		maps.Copy(bags.Counts, found.Bags.Counts)
	})
	if err != nil {
		return nil, nil, err
	}
	n := x.g.shard.WholeDocs
	if x.g.shard.Of == 1 {
		n = x.g.shard.end() // words count with deleted documents, as in one index
	}
	expanded, err := shards.Expand(a.request, x.g.analyzer, hits, bags, n)
	for _, why := range p.coverage.Missing {
		without = append(without, "words of the expansion: "+why)
	}
	return expanded.Words, without, err
}

// eachOwner asks the shards of documents about them, and calls fn with the answer of each shard,
// one at a time. places are the indexes of its documents.
func (x *exchange) eachOwner(ctx context.Context, docs []uint32, q *shardAsk,
	fn func(places []int, found *shardAnswer, err error)) error {
	r := x.o.Root
	byGroup := map[*group][]int{}
	for i, doc := range docs {
		g := r.groupOf(doc, x.g)
		if g == nil {
			fn([]int{i}, nil, fmt.Errorf("no shard has document %d", doc))
			continue
		}
		byGroup[g] = append(byGroup[g], i)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var end error
	for g, places := range byGroup {
		own := *q
		for _, i := range places {
			own.Docs = append(own.Docs, docs[i])
		}
		body, err := json.Marshal(&own)
		if err != nil {
			return err
		}
		wg.Go(func() {
			found, err := x.askGroup(ctx, g, &own, body)
			mu.Lock()
			defer mu.Unlock()
			if why := final(err); why != nil {
				end = why
				return
			}
			fn(places, found, err)
		})
	}
	wg.Wait()
	return end
}

// describeInShards asks the shards of the hits for snippets, explanations and fields. If a shard
// does not answer, its hits stay without these.
func (x *exchange) describeInShards(clock *stageClock, a *searchParams, words []search.Word,
	answer *api.Answer) error {
	ctx, cancel := clock.next(otherTime)
	defer cancel()
	q := shardAsk{Whole: x.g.shard.Whole, Ask: *a, Words: words, Patterns: a.request.Patterns}
	q.Ask.K, q.Ask.From, q.Ask.Count, q.Ask.Stats = 1, 0, false, false
	q.Ask.Facet, q.Ask.Sort = nil, ""
	docs := make([]uint32, len(answer.Hits))
	for i, h := range answer.Hits {
		docs[i] = h.Doc
	}
	return x.eachOwner(ctx, docs, &q, func(places []int, found *shardAnswer, err error) {
		if err != nil {
			why := fmt.Sprintf("details of hits: %v", err)
			answer.Shards.Missing = append(answer.Shards.Missing, why)
			return
		}
		for n, i := range places {
			to, from := &answer.Hits[i], &found.Hits[n]
			to.Explain, to.Snippet, to.MoreSnippets = from.Explain, from.Snippet, from.MoreSnippets
			to.Fields, to.Passage = from.Fields, from.Passage
		}
	})
}

// groupOf returns the group of the shard that has a document.
func (r *Root) groupOf(doc uint32, of *generation) *group {
	for _, g := range r.groups {
		a := of.shards[g.place].Load()
		if a != nil && doc >= a.First && uint64(doc) < a.end() {
			return g
		}
	}
	return nil
}

// rootBatch is the number of queries of a batch that a root has in flight.
const rootBatch = 16

// answerPartInShards answers some queries of a batch.
func (x *exchange) answerPartInShards(ctx context.Context, asked []searchParams) ([]byte, error) {
	texts, errs := make([][]byte, len(asked)), make([]error, len(asked))
	var wg sync.WaitGroup
	slots := make(chan struct{}, rootBatch)
	for i := range asked {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			err := asked[i].wrong
			if err == nil {
				var answer *api.Answer
				if answer, err = x.findInShards(ctx, &asked[i]); err == nil {
					answer.Micros = 0 // not measured: they share the shards
					texts[i], err = line(answer)
				} else if statusOf(err) == http.StatusBadRequest {
					asked[i].fail(err)
				}
			}
			if asked[i].wrong != nil {
				texts[i], err = appendProblem(nil, asked[i].wrong), nil
			}
			errs[i] = err
		})
	}
	wg.Wait()
	var all []byte
	for i := range texts {
		if errs[i] != nil {
			return all, errs[i]
		}
		all = append(all, texts[i]...)
	}
	return all, nil
}

// documentInShards asks all shards for a document, and returns nil if there is none. Of several
// with the same ID it returns the first.
func (x *exchange) documentInShards(ctx context.Context, id string) (*documentAnswer, error) {
	r := x.o.Root
	ctx, cancel := leaveTime(ctx)
	defer cancel()
	found, errs := make([]*documentAnswer, len(r.groups)), make([]error, len(r.groups))
	var wg sync.WaitGroup
	for i, g := range r.groups {
		wg.Go(func() {
			failed := failures{}
			for _, one := range g.order(x.g) {
				a, mine := new(documentAnswer), x.g.shards[g.place].Load()
				err := r.call(ctx, one, &shardCall{method: http.MethodGet, path: "/v1/documents/" + url.PathEscape(id),
					headers: shardHeader + ": " + mine.key() + "\r\n", room: maxShardAnswer}, a)
				if err == nil && (a.Doc < int(mine.First) || uint64(a.Doc) >= mine.end()) {
					err = fmt.Errorf("it answers with document %d, but has %d to %d", a.Doc, mine.First,
						int64(mine.end())-1)
				}
				if err == nil {
					found[i] = a
					return
				}
				none := new(statusError)
				if errors.As(err, &none) && none.status == http.StatusNotFound {
					return
				}
				failed[one] = err
			}
			errs[i] = g.missing(x.g, failed)
		})
	}
	wg.Wait()
	var first *documentAnswer
	same := 0
	for _, a := range found {
		if a == nil {
			continue
		}
		same += max(a.SameID, 1)
		if first == nil || a.Doc < first.Doc {
			first = a
		}
	}
	if first != nil {
		if same > 1 {
			first.SameID = same
		}
	}
	if err := errors.Join(errs...); err != nil && first == nil {
		return nil, fmt.Errorf("%w: %w", errMayHaveIt, err)
	}
	return first, nil
}

// groupStatus is the state of a shard, for users.
type groupStatus struct {
	Number   *int            `json:"number,omitempty"` // not known before one of its servers has answered
	Replicas []replicaStatus `json:"replicas"`
	P95      int64           `json:"p95_micros,omitempty"`
}

type replicaStatus struct {
	URL   string `json:"url"`
	Error string `json:"error,omitempty"`
}

// status describes the index of the shards, as far as it is known, and the shards.
func (r *Root) status(of *generation) (index.Stats, []groupStatus) {
	stats := index.Stats{Analyzer: of.analyzerName, Documents: int64(of.docs),
		StoredText: of.hasText, Parts: []index.Part{}}
	if of.schema != nil {
		stats.Fields = of.schema.Fields
	}
	var groups []groupStatus
	for _, g := range r.groups {
		var s groupStatus
		if a := of.shards[g.place].Load(); a != nil {
			s.Number = &a.Number
			stats.Bytes += a.Bytes
			stats.Postings += a.Postings
			stats.Tokens += a.Tokens
		}
		p95, _ := g.times.p95()
		s.P95 = p95.Microseconds()
		for _, one := range g.replicas {
			s.Replicas = append(s.Replicas, replicaStatus{one.url, g.wrong(one, of)})
		}
		groups = append(groups, s)
	}
	if of.docs > 0 {
		stats.MeanLength = float64(stats.Tokens) / float64(of.docs)
	}
	return stats, groups
}

// writeMetrics writes counters of requests to shards, and which servers are up.
func (r *Root) writeMetrics(b *bytes.Buffer, of *generation) {
	for _, m := range []struct {
		name, help string
		value      uint64
	}{
		{"collocate_shard_hedges_total",
			"Requests that were sent to a second replica since the first took long.",
			r.hedged.Load()},
		{"collocate_shard_failures_total", "Requests that a replica did not answer.", r.failed.Load()},
		{"collocate_shard_missing_total", "Shards that answers do not cover.", r.missing.Load()},
	} {
		fmt.Fprintf(b, "# HELP %s %s\n# TYPE %[1]s counter\n%[1]s %[3]d\n", m.name, m.help, m.value)
	}
	fmt.Fprint(b, "# HELP collocate_shard_server_up 1 if the server is asked for the shard.\n",
		"# TYPE collocate_shard_server_up gauge\n")
	for _, g := range r.groups {
		number := ""
		if a := of.shards[g.place].Load(); a != nil {
			number = strconv.Itoa(a.Number)
		}
		for _, one := range g.replicas {
			up := 0
			if g.wrong(one, of) == "" {
				up = 1
			}
			fmt.Fprintf(b, "collocate_shard_server_up{shard=%q,server=%q} %d\n", number, one.url, up)
		}
	}
}

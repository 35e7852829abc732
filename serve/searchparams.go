package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// searchParams are the parameters of a search with the request that check makes of them.
type searchParams struct {
	api.Search

	paged   bool           // report whether there are more hits
	ofRoot  bool           // sent by a root
	most    int            // the most hits; 0 means Options.MaxK
	late    *lateShards    // of a root: shards that were too late for this query
	request search.Request // filled by check
	// synonyms says that the index has synonyms.
	synonyms bool
	engine   engine.Kind
	details  api.Details
	number   int   // of a query in a batch, from 1
	wrong    error // of a query in a batch that cannot be answered
}

// door is where the client asks.
func (x *exchange) door() api.Door {
	if x.o.Root != nil {
		return api.Root
	}
	return api.HTTP
}

// newParams returns the parameters of a search that says nothing.
func (x *exchange) newParams() (a searchParams) {
	api.SearchQuestion.Fill(&a.Search)
	a.K = min(a.K, x.o.MaxK)
	return a
}

// searchParams parses the query of a URL.
func (x *exchange) searchParams() (a searchParams, err error) {
	a = x.newParams()
	values, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return a, fmt.Errorf("the query of the URL: %w", err)
	}
	return a, api.SearchQuestion.Values(x.door(), values, &a.Search)
}

// parseMany parses and checks the body of a POST: an array of objects.
func (x *exchange) parseMany(body []byte) ([]searchParams, error) {
	many, err := x.readArray(body, x.o.Limits.Queries)
	if err != nil {
		return nil, fmt.Errorf("body: want an array of objects with the parameters of a search: %w", err)
	}
	return many, x.checkMany(many)
}

// parseLines parses and checks the body of a POST: one object per line.
func (x *exchange) parseLines(body []byte) ([]searchParams, error) {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		return nil, errors.New(`body: it is a list: want one query per line, each an object such as {"q": "moon"}`)
	}
	many := make([]searchParams, 0, min(x.o.Limits.Queries, bytes.Count(body, []byte("\n"))+1))
	for row := range bytes.Lines(body) {
		if len(bytes.TrimSpace(row)) == 0 {
			continue
		}
		if len(many) == x.o.Limits.Queries {
			return nil, fmt.Errorf("body: want at most %d queries", len(many))
		}
		a := x.newParams()
		a.Partial = "" // checkMany has the default
		a.paged = true
		in := json.NewDecoder(bytes.NewReader(row))
		err := api.SearchQuestion.JSON(x.door(), in, &a.Search)
		if err == nil {
			if _, more := in.Token(); !errors.Is(more, io.EOF) {
				err = errors.New("want one object per line")
			}
		}
		a.wrong = err
		many = append(many, a)
	}
	return many, x.checkMany(many)
}

// fail notes that a query of a batch cannot be answered.
func (a *searchParams) fail(err error) { a.wrong = fmt.Errorf("query %d: %w", a.number, err) }

// checkMany checks the queries of a batch. Those that are wrong do not keep the others from being
// answered; if all are, it returns the error of the first.
func (x *exchange) checkMany(many []searchParams) error {
	valid := 0
	x.encodeMany(many)
	partial := "allow"
	if len(many) > 1 { // nobody looks at the answers one by one
		partial = "refuse"
	}
	for i := range many {
		many[i].number, many[i].Partial = i+1, cmp.Or(many[i].Partial, partial)
		err := many[i].wrong
		if err == nil {
			err = x.check(&many[i])
		}
		if err == nil && many[i].Engine != nil {
			err = &api.Error{Param: "engine", Err: errors.New("a batch runs on the engine of the server; leave it out")}
		}
		if err != nil {
			many[i].fail(err)
		} else {
			valid++
		}
	}
	if valid == 0 && len(many) > 0 {
		return many[0].wrong
	}
	return nil
}

// encodeMany has the vectors of a batch made with few requests. If the encoder fails, all queries
// that need it do: to ask for each alone would keep the others waiting.
func (x *exchange) encodeMany(many []searchParams) {
	var asked []*api.Search
	var of []*searchParams
	for i := range many {
		a := &many[i]
		if a.wrong == nil && a.Encodes() && x.checkWords(a.Query) == nil && a.CheckEncode(x.o.Encoder) == nil {
			asked, of = append(asked, &a.Search), append(of, a)
		}
	}
	if len(asked) == 0 {
		return
	}
	if err := api.Encode(x.r.Context(), x.o.Encoder, asked...); err != nil {
		for _, a := range of {
			a.wrong = err
		}
	}
}

func (x *exchange) readArray(body []byte, most int) ([]searchParams, error) {
	in := json.NewDecoder(bytes.NewReader(body))
	open, err := in.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty")
	case err != nil:
		return nil, err
	case open != json.Delim('['):
		if open == nil {
			open = "null"
		}
		return nil, fmt.Errorf("it begins with %v", open)
	}
	// Allocated at once: each is large, and growing the slice would leave as much garbage.
	many := make([]searchParams, 0, min(most, bytes.Count(body, []byte("{"))))
	for in.More() {
		if len(many) == most {
			return nil, fmt.Errorf("it has more than %d queries", most)
		}
		var raw json.RawMessage // read first, so that the next can be read whatever is wrong with it
		if err := in.Decode(&raw); err != nil {
			return nil, fmt.Errorf("query %d: %w", len(many)+1, api.UnexpectedEnd(err))
		}
		a := x.newParams()
		a.Partial = "" // checkMany has the default
		a.wrong = api.SearchQuestion.JSON(x.door(), json.NewDecoder(bytes.NewReader(raw)), &a.Search)
		many = append(many, a)
	}
	if _, err := in.Token(); err != nil {
		return nil, api.UnexpectedEnd(err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more data after the array")
	}
	return many, nil
}

// maxShown is the most bytes of stored fields in the answer to a query; tests lower it.
var maxShown = 64 << 20

// check validates a query and fills in its request and details.
func (x *exchange) check(a *searchParams) (err error) {
	if err := x.checkWords(a.Query); err != nil {
		return err
	}
	if a.Encodes() {
		if err := api.Encode(x.r.Context(), x.o.Encoder, &a.Search); err != nil {
			return err
		}
	}
	if err := a.CheckRerank(x.o.Reranker); err != nil {
		return err
	}
	about := api.About{Fields: x.g.fieldNames(), Schema: x.g.schema, HasText: x.g.hasText,
		Analyzer: x.g.analyzerName, MaxK: cmp.Or(a.most, x.o.MaxK), Model: x.o.Model, Index: x.g.shard.Whole}
	if x.o.Root == nil && x.g.shard.Of > 1 {
		about.Index = x.g.shard.key() // a root numbers the documents of all shards
	}
	if a.ofRoot {
		about.MaxK++ // one more tells whether there are further hits
	}
	a.synonyms = x.g.synonyms
	if a.request, a.details, err = a.Request(&about); err != nil {
		return err
	}
	a.details.ShowBytes, a.details.Reranker = maxShown, x.o.Reranker
	if a.paged {
		if a.details.More = true; a.request.K != search.NoHits {
			a.request.K++
		}
	}
	if x.o.Root != nil && a.Algorithm == search.Tiles {
		return &api.Error{Param: "algorithm", Said: "tiles",
			Err: errors.New("each shard has its own engine; leave it out")}
	}
	return x.checkEngine(a)
}

// checkEngine fills in the engine. A query can choose a smaller engine than the server's, but no
// GPU unless the index is on one.
func (x *exchange) checkEngine(a *searchParams) (err error) {
	if a.engine = x.o.Engine; a.Engine != nil {
		a.engine = *a.Engine
		if a.engine == engine.GPU && x.o.Engine != engine.GPU {
			return &api.Error{Param: "engine", Said: "gpu", Err: errors.New("the index is not on a GPU")}
		}
	}
	if a.engine != engine.GPU && a.Algorithm == search.Tiles {
		return &api.Error{Param: "algorithm", Said: "tiles", Err: errors.New("it runs only on a GPU")}
	}
	return nil
}

// maxWordSize is longer than the mean word of any query, in bytes.
const maxWordSize = 32

// checkWords limits the number of words of a query. Short queries are not analyzed for that.
func (x *exchange) checkWords(q string) error {
	most := x.o.Limits.Words
	if len(q) <= most {
		return nil
	}
	if size := most * maxWordSize; len(q) > size { // too many, without counting
		return &api.Error{Param: "q", Said: fmt.Sprintf("has %d bytes", len(q)),
			Err: fmt.Errorf("want at most %d words and %d bytes", most, size)}
	}
	return x.g.analyze(q, func(tokens *text.Tokens) error {
		if n := len(tokens.Words); n > most {
			return &api.Error{Param: "q", Said: fmt.Sprintf("has %d words", n),
				Err: fmt.Errorf("want at most %d", most)}
		}
		return nil
	})
}

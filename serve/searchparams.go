package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// searchParams are the parameters of a search as a client sends them, in a URL or as JSON, with the
// request that check makes of them.
type searchParams struct {
	Q         string   `json:"q"`
	K         *int     `json:"k,omitempty"`
	From      int      `json:"from,omitempty"`
	Offset    int      `json:"offset,omitempty"` // older name of From
	Mode      string   `json:"mode,omitempty"`
	Model     string   `json:"model,omitempty"`
	Algorithm string   `json:"algorithm,omitempty"`
	Engine    string   `json:"engine,omitempty"`
	Snippets  bool     `json:"snippets,omitempty"`
	Explain   bool     `json:"explain,omitempty"`
	Stats     bool     `json:"stats,omitempty"`
	Plain     bool     `json:"plain,omitempty"`
	Count     bool     `json:"count,omitempty"`
	Fields    []string `json:"fields,omitempty"`
	Facets    []string `json:"facets,omitempty"`
	Sort      string   `json:"sort,omitempty"`
	Expand    string   `json:"expand,omitempty"`
	Proximity string   `json:"proximity,omitempty"`
	Weights   string   `json:"weights,omitempty"`

	paged   bool           // report whether there are more hits
	ofRoot  bool           // sent by a root
	late    *lateShards    // of a root: shards that were too late for this query
	request search.Request // filled by check
	engine  engine.Kind
	details Details
}

const searchParamNames = "q, k, from, mode, model, algorithm, engine, snippets, explain, stats, plain, count, fields, facets, sort, expand, proximity, weights"

// searchParams parses the query of a URL.
func (x *exchange) searchParams() (a searchParams, err error) {
	p := x.params()
	a.Q = p.text("q")
	if _, said := p.get("k"); said {
		k := p.whole("k", 0, math.MinInt, math.MaxInt)
		a.K = &k
	}
	a.From = p.whole("from", 0, math.MinInt, math.MaxInt)
	a.Offset = p.whole("offset", 0, math.MinInt, math.MaxInt)
	a.Mode, a.Model = p.text("mode"), p.text("model")
	a.Algorithm, a.Engine = p.text("algorithm"), p.text("engine")
	a.Snippets, a.Explain, a.Stats = p.flag("snippets"), p.flag("explain"), p.flag("stats")
	a.Plain, a.Count = p.flag("plain"), p.flag("count")
	if list := p.text("fields"); list != "" {
		a.Fields = strings.Split(list, ",")
	}
	if list := p.text("facets"); list != "" {
		a.Facets = strings.Split(list, ",")
	}
	a.Sort, a.Expand, a.Proximity = p.text("sort"), p.text("expand"), p.text("proximity")
	a.Weights = p.text("weights")
	return a, p.done()
}

// parseMany parses and checks the body of a POST: an array of objects.
func (x *exchange) parseMany(body []byte) ([]searchParams, error) {
	many, err := readArray(body, x.o.Limits.Queries)
	if err != nil {
		return nil, fmt.Errorf("body: want an array of objects with %s: %w", searchParamNames, err)
	}
	return many, x.checkAll(many)
}

// parseLines parses and checks the body of a POST: one object per line.
func (x *exchange) parseLines(body []byte) ([]searchParams, error) {
	many := make([]searchParams, 0, min(x.o.Limits.Queries, bytes.Count(body, []byte("\n"))+1))
	for row := range bytes.Lines(body) {
		if len(bytes.TrimSpace(row)) == 0 {
			continue
		}
		if len(many) == x.o.Limits.Queries {
			return nil, fmt.Errorf("body: want at most %d queries", len(many))
		}
		a := searchParams{paged: true}
		in := json.NewDecoder(bytes.NewReader(row))
		err := readObject(in, a.field)
		if err == nil {
			if _, more := in.Token(); !errors.Is(more, io.EOF) {
				err = errors.New("want one object per line")
			}
		}
		if err != nil {
			return nil, fmt.Errorf("body: query %d: %w", len(many)+1, err)
		}
		many = append(many, a)
	}
	return many, x.checkAll(many)
}

func (x *exchange) checkAll(many []searchParams) error {
	for i := range many {
		err := x.check(&many[i])
		if err == nil && many[i].Engine != "" {
			err = errors.New("engine: a batch runs on the engine of the server; leave it out")
		}
		if err != nil {
			return fmt.Errorf("query %d: %w", i+1, err)
		}
	}
	return nil
}

func readArray(body []byte, most int) ([]searchParams, error) {
	in := json.NewDecoder(bytes.NewReader(body))
	open, err := in.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty")
	case err != nil:
		return nil, err
	case open != json.Delim('['):
		return nil, fmt.Errorf("it begins with %s", describeToken(open))
	}
	// Allocated at once: each is large, and growing the slice would leave as much garbage.
	many := make([]searchParams, 0, min(most, bytes.Count(body, []byte("{"))))
	for in.More() {
		if len(many) == most {
			return nil, fmt.Errorf("it has more than %d queries", most)
		}
		var a searchParams
		if err := readObject(in, a.field); err != nil {
			return nil, fmt.Errorf("query %d: %w", len(many)+1, err)
		}
		many = append(many, a)
	}
	if _, err := in.Token(); err != nil {
		return nil, unexpectedEnd(err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more data after the array")
	}
	return many, nil
}

// field returns a pointer to the field of a name, or nil if there is none.
func (a *searchParams) field(name string) any {
	switch name {
	case "q":
		return &a.Q
	case "k":
		return &a.K
	case "from":
		return &a.From
	case "offset":
		return &a.Offset
	case "mode":
		return &a.Mode
	case "model":
		return &a.Model
	case "algorithm":
		return &a.Algorithm
	case "engine":
		return &a.Engine
	case "snippets":
		return &a.Snippets
	case "explain":
		return &a.Explain
	case "stats":
		return &a.Stats
	case "plain":
		return &a.Plain
	case "count":
		return &a.Count
	case "fields":
		return &a.Fields
	case "facets":
		return &a.Facets
	case "sort":
		return &a.Sort
	case "expand":
		return &a.Expand
	case "proximity":
		return &a.Proximity
	case "weights":
		return &a.Weights
	}
	return nil
}

// readObject parses an object more strictly than encoding/json: names must be written as
// documented, none may come twice, and null is no value. field returns where to store the value of
// a name.
func readObject(in *json.Decoder, field func(name string) any) error {
	open, err := in.Token()
	if err != nil {
		return unexpectedEnd(err)
	}
	if open != json.Delim('{') {
		return fmt.Errorf("want an object, not %v", describeToken(open))
	}
	var seen []string // a slice, as there are few
	for in.More() {
		token, err := in.Token()
		if err != nil {
			return unexpectedEnd(err)
		}
		name := token.(string) // the decoder allows nothing else here
		to := field(name)
		switch {
		case to == nil:
			return fmt.Errorf("unknown name %q", name)
		case slices.Contains(seen, name):
			return fmt.Errorf("%s is given twice", name)
		}
		seen = append(seen, name)
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			return fmt.Errorf("%s: %w", name, unexpectedEnd(err))
		}
		if string(raw) == "null" {
			return fmt.Errorf("%s is null: give a value, or leave it out", name)
		}
		if err := json.Unmarshal(raw, to); err != nil {
			return fmt.Errorf("%s: %w", name, plainTypeError(err))
		}
	}
	_, err = in.Token()
	return unexpectedEnd(err)
}

func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func describeToken(t json.Token) string {
	switch t := t.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(t)
	}
	return fmt.Sprint(t)
}

// plainTypeError describes the expected type in the terms of JSON, not of Go.
func plainTypeError(err error) error {
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		want := map[string]string{"string": "a string", "bool": "true or false",
			"int": "a whole number"}[wrong.Type.String()]
		if want != "" {
			return fmt.Errorf("%s: want %s", wrong.Value, want)
		}
	}
	return err
}

// check validates a query and fills in its request and details.
func (x *exchange) check(a *searchParams) (err error) {
	r, d := &a.request, &a.details
	if r.Text = a.Q; strings.TrimSpace(a.Q) == "" {
		return errors.New("q is empty: want words")
	}
	if !utf8.ValidString(a.Q) && !x.ofBytes() {
		return errors.New("q is not UTF-8: convert it first")
	}
	if err := x.checkWords(a.Q); err != nil {
		return err
	}
	if err := x.checkPage(a); err != nil {
		return err
	}
	if a.Mode != "" {
		if r.Mode, err = search.ParseMode(a.Mode); err != nil {
			return err
		}
	}
	r.Count = a.Count
	if err := x.checkGathering(a); err != nil {
		return err
	}
	if err := x.checkQuery(a); err != nil {
		return err
	}
	if err := x.checkModel(a); err != nil {
		return err
	}
	if x.o.Root != nil && (a.Engine != "" || a.Algorithm == search.Tiles.String()) {
		return errors.New("engine: each shard has its own; leave it out")
	}
	if err := x.checkEngine(a); err != nil {
		return err
	}
	if a.Snippets {
		if !x.g.hasText {
			return errors.New("snippets: the index stores no text: build it with 'collocate index --store-text'")
		}
		d.SnippetSize = snippetSize
	}
	if len(a.Fields) > 0 {
		if len(a.Fields) > fields.MaxFields {
			return fmt.Errorf("fields: %d: want at most %d", len(a.Fields), fields.MaxFields)
		}
		if _, err := x.g.schema.Shown(a.Fields); err != nil {
			return fmt.Errorf("fields: %w", err)
		}
	}
	d.Explain, d.Stats, d.Show, d.Plain = a.Explain, a.Stats, a.Fields, a.Plain
	return nil
}

// checkPage fills in the range of hits.
func (x *exchange) checkPage(a *searchParams) error {
	r, d := &a.request, &a.details
	most := x.o.MaxK
	if a.ofRoot {
		most++ // one more tells whether there are further hits
	}
	d.Limit = min(defaultK, most)
	if a.K != nil {
		if d.Limit = *a.K; d.Limit < 1 || d.Limit > most {
			return fmt.Errorf("k %d: want 1 to %d", d.Limit, most)
		}
	}
	if a.Offset != 0 {
		if a.From != 0 {
			return errors.New("from and offset mean the same: give only one of them")
		}
		a.From, a.Offset = a.Offset, 0
	}
	if d.From = a.From; d.From < 0 || d.From > most-d.Limit {
		return fmt.Errorf("from %d: want 0 to %d, so that from and k are at most %d", d.From,
			most-d.Limit, most)
	}
	if r.K = d.From + d.Limit; a.paged {
		d.More = true
		r.K++
	}
	return nil
}

// checkQuery fills in the parsed query, if it is more than words, and expansion and proximity.
func (x *exchange) checkQuery(a *searchParams) (err error) {
	r := &a.request
	if !a.Plain && !query.OnlyWords(a.Q) {
		options := query.Options{And: r.Mode == search.And, Fields: x.g.fieldNames()}
		parsed, err := query.Parse(a.Q, options)
		if err != nil {
			return fmt.Errorf("q: %w; set plain to treat operators as text", err)
		}
		if !query.Plain(a.Q, parsed, options) {
			r.Query = parsed
		}
	}
	if a.Expand != "" {
		if r.Expand, err = search.ParseExpand(a.Expand); err != nil {
			return fmt.Errorf("expand: %w", err)
		}
		if r.Query != nil {
			return errors.New("expand: want plain words, not operators; set plain to treat operators as text")
		}
	}
	if a.Proximity != "" {
		if r.Proximity, err = search.ParseProximity(a.Proximity); err != nil {
			return err
		}
		if r.Query != nil || r.Expand != nil || r.Mode == search.And {
			return errors.New("proximity: want plain words, mode or and no expand")
		}
	}
	return nil
}

// checkModel fills in the model and its field weights.
func (x *exchange) checkModel(a *searchParams) (err error) {
	r := &a.request
	r.Model = x.o.Model
	if a.Model != "" {
		if r.Model, err = search.ParseModel(a.Model); err != nil {
			return err
		}
	}
	if a.Weights != "" {
		m, ok := r.Model.(search.BM25F)
		if a.Model != "" && !ok {
			return fmt.Errorf("weights need model bm25f, not %s", a.Model)
		}
		m.Weights = a.Weights
		r.Model = m
		if err := search.CheckFields(x.g.schema, r); err != nil {
			return err
		}
	}
	return nil
}

// checkGathering fills in the facets and the sort order.
func (x *exchange) checkGathering(a *searchParams) (err error) {
	r := &a.request
	if len(a.Facets) > maxFacets {
		return fmt.Errorf("facets: %d: want at most %d", len(a.Facets), maxFacets)
	}
	for _, s := range a.Facets {
		f, err := search.ParseFacet(s)
		if err != nil {
			return err
		}
		if f.N > x.o.MaxK {
			return fmt.Errorf("facet %q: %d values: want at most %d", s, f.N, x.o.MaxK)
		}
		r.Facets = append(r.Facets, f)
	}
	if a.Sort != "" {
		if r.Sort, err = search.ParseSort(a.Sort); err != nil {
			return err
		}
	}
	if !r.Gathers() {
		return nil
	}
	return search.CheckFields(x.g.schema, r)
}

// ofBytes reports whether the index may have words that are not UTF-8.
func (x *exchange) ofBytes() bool {
	return text.OfBytes(x.g.analyzerName)
}

// checkEngine fills in the engine. A query can choose a smaller engine than the server's, but no
// GPU unless the index is on one.
func (x *exchange) checkEngine(a *searchParams) (err error) {
	if a.engine = x.o.Engine; a.Engine != "" {
		if err := a.engine.UnmarshalText([]byte(a.Engine)); err != nil {
			return fmt.Errorf("engine: %w", err)
		}
		if a.engine == engine.GPU && x.o.Engine != engine.GPU {
			return errors.New("engine gpu: the index is not on a GPU")
		}
	}
	if a.Algorithm == "" {
		return nil
	}
	r := &a.request
	if r.Algorithm, err = search.ParseAlgorithm(a.Algorithm); err != nil {
		return err
	}
	if a.engine != engine.GPU && r.Algorithm == search.Tiles {
		return errors.New("algorithm tiles: it runs only on a GPU")
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
		return fmt.Errorf("q has %d bytes: want at most %d words and %d bytes", len(q), most, size)
	}
	return x.g.analyze(q, func(tokens *text.Tokens) error {
		if n := len(tokens.Words); n > most {
			return fmt.Errorf("q has %d words: want at most %d", n, most)
		}
		return nil
	})
}

// terms returns the words that the analyzer of the index makes of a text.
func (x *exchange) terms(of string) (list [][]byte, err error) {
	err = x.g.analyze(of, func(tokens *text.Tokens) error {
		for i := range tokens.Words {
			list = append(list, bytes.Clone(tokens.Word(i)))
		}
		return nil
	})
	return list, err
}

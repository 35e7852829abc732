package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Search asks for the documents of an index that match a query best.
type Search struct {
	Query  string      `ask:"q" also:"query" python:"queries" flag:"" help:"words, or a query in the query language; it may be empty beside a vector or weighted tokens"`
	Filter string      `ask:"filter" help:"only documents that match this query, which adds nothing to their scores; all of its parts must match, unless it says OR"`
	K      int         `ask:"k" short:"k" default:"10" range:"0.." at:"mcp: most=100, an assistant reads less" help:"number of documents; 0 only counts those that match"`
	From   int         `ask:"from" also:"offset" python:"from_" range:"0.." help:"skip this many of the best documents, to see the next ones"`
	After  string      `ask:"after" not:"mcp: from is enough for what an assistant reads; python: Index.search_all goes on by itself" help:"go on after the last document of an earlier answer, given its next, also beyond the most that one answer may have; the query and the index must be the same"`
	Mode   search.Mode `ask:"mode" default:"or" help:"or: any of the words; and: all of them"`
	Plain  bool        `ask:"plain" python:"syntax" help:"treat the query as plain words, whatever signs it has"`
	Count  bool        `ask:"count" not:"mcp: it is always counted" help:"say how many documents match in all"`

	Collapse search.Collapse `ask:"collapse" default:"none" not:"root: a document may have passages in several shards" help:"of an index of passages: none: each passage is a hit; best: a document is one hit, its best passage; sum: the same, with the sum of the scores of its passages that match"`

	Snippets     bool     `ask:"snippets" group:"Answer" not:"mcp: they are always shown, if the index stores text; python: hits have a method for it" help:"show where the words are; the index must store text"`
	SnippetCount int      `ask:"snippet_count" group:"Answer" not:"python: hits have a method for it" default:"1" range:"1..100" help:"most snippets of a document, which do not overlap"`
	SnippetLines bool     `ask:"snippet_lines" group:"Answer" not:"python: hits have a method for it" help:"keep the line breaks and blanks of snippets"`
	SnippetSize  int      `ask:"snippet_size" group:"Answer" not:"python: hits have a method for it" default:"200" range:"1..1048576" at:"mcp: default=300, an assistant sees no page beside it" help:"length of a snippet in bytes"`
	Show         []string `ask:"show" also:"fields" group:"Answer" not:"python: hits have a method for it" help:"stored fields to show with each document, such as title,url"`
	Facet        []string `ask:"facet" also:"facets" group:"Answer" help:"count the values of a field over all matching documents, and show the 10 most frequent, or N with FIELD:N; numbers in ranges with FIELD/10, dates with FIELD/month (year, month, day)"`
	Sort         string   `ask:"sort" group:"Answer" help:"sort by a field instead of by score: FIELD or FIELD:desc, or by several, as in year:desc,author; documents without a value come last"`
	Tokens       int      `ask:"tokens" group:"Answer" range:"0.." not:"command http root python: programs choose hits, snippets and fields by their numbers" help:"leave out the last hits so that the answer has at most about so many tokens of a language model, four bytes each (0: all)"`
	Explain      bool     `ask:"explain" group:"Answer" not:"mcp: explanations are long; python: hits have a method for it" help:"show the query as it was parsed, and what each part adds to the score"`
	Partial      string   `ask:"partial" group:"Answer" default:"allow" one:"allow,refuse" not:"mcp: an answer says what it covers" help:"of an index in shards, of which some do not answer: allow: answer from the others, and say what the answer covers; refuse: do not answer, the default for several queries at once"`
	Stats        bool     `ask:"stats" group:"Answer" not:"mcp: they are about speed; python: hits have the time" help:"show the work of the search and how long it took"`

	Synonyms string `ask:"synonyms" group:"Ranking" help:"synonyms of the query's words, instead of those of the index: rules in the form of Solr with semicolons between them, as in car, auto; colour => color (of the command, a file of them); none for none"`
	Ranking
	Meaning
	Weighted
	Rerank int    `ask:"rerank" group:"Ranking" range:"0..1000" not:"root: it does not have the texts of documents; python: Hits.reranked takes a function" help:"have the reranker score the best so many documents again by their texts, and sort them by these scores; at least from and k (0: no)"`
	Boost  string `ask:"boost" group:"Ranking" help:"raise scores by values of fields: decay(FIELD, ORIGIN, SCALE), saturation(FIELD, PIVOT) or log(FIELD, MOST), with a weight or not, such as 2*log(views, 1000); several with commas between them; after a + the value is added to the score, which otherwise is multiplied by 1 + the value"`
	Feedback

	Algorithm search.Algorithm `ask:"algorithm" group:"Engine" not:"mcp: all give the same answer" default:"auto" help:"how the lists are evaluated; all give the same documents, order and scores; tiles is for GPUs"`
	Engine    *engine.Kind     `ask:"engine" group:"Engine" flag:"" not:"root: each shard has its own engine; mcp python: all give the same answer" help:"cores or GPU; all give the same result"`
}

// SearchQuestion declares the parameters of Search.
var SearchQuestion = answers[*Answer](
	declare[Search]("search", "find the documents of an index that match a query best, exactly").
		in("python: Index.search"))

// MarshalJSON writes what the question says, for a server.
func (q Search) MarshalJSON() ([]byte, error) { return SearchQuestion.Marshal(&q) }

// UnmarshalJSON is the inverse of MarshalJSON. It reads the parameters that a server has.
func (q *Search) UnmarshalJSON(b []byte) error {
	SearchQuestion.Fill(q)
	return SearchQuestion.JSON(HTTP, json.NewDecoder(bytes.NewReader(b)), q)
}

// maxFacets bounds the fields of a question whose values are counted.
const maxFacets = 32

// About is what a question must know of an index to check itself. A root knows it without having
// the index.
type About struct {
	Fields   []string       // names for the query language, as of search.Searcher.Fields
	Schema   *fields.Schema // nil if there are no fields
	HasText  bool           // the index stores the documents' text
	Analyzer string         // its name
	MaxK     int            // the most hits that may be asked for; 0 means search.MaxK
	Index    string         // identifies the index for cursors; "" means that there are none
	// Model is that of questions that name none; nil means BM25{}. An index of weighted tokens has
	// Impact{} instead.
	Model search.Model
}

// AboutIndex returns what a question must know of an open index.
func AboutIndex(s *search.Searcher) *About {
	ix := s.Index()
	return &About{Fields: s.Fields(), Schema: ix.Schema(), HasText: ix.HasText(),
		Analyzer: ix.Analyzer(), Index: ix.Identity()}
}

// usual returns the model of questions that name none.
func (a *About) usual() search.Model {
	if text.OfWeights(a.Analyzer) {
		return search.Impact{}
	}
	return a.Model
}

// most returns the most hits that may be asked for.
func (a *About) most() int {
	if a.MaxK == 0 {
		return search.MaxK
	}
	return a.MaxK
}

// Request checks a question and returns the request that answers it, without an engine. Errors
// about a parameter are of type *Error.
func (q *Search) Request(about *About) (r search.Request, d Details, err error) {
	if r, d, err = q.Prepare(about); err == nil {
		err = q.Ask(about, &r, q.Query)
	}
	if err == nil {
		err = q.Resume(about, &r, &d)
	}
	return r, d, err
}

// Prepare returns the request without its query, for doors that answer many: Ask sets it.
func (q *Search) Prepare(about *About) (r search.Request, d Details, err error) {
	if r.Nearest, err = q.Meaning.nearest(q.Weighted.given()); err != nil {
		return r, d, err
	}
	r.Mode, r.Algorithm, r.Count, r.Collapse = q.Mode, q.Algorithm, q.Count, q.Collapse
	if err := search.CheckCollapse(about.Schema, &r); err != nil {
		return r, d, wrong("collapse", err)
	}
	if err := q.page(about, &r); err != nil {
		return r, d, err
	}
	if r.Model, err = q.Ranking.Of(about.usual()); err != nil {
		return r, d, err
	}
	if err := q.Feedback.Set(&r); err != nil {
		return r, d, err
	}
	if err := q.Weighted.check(&r); err != nil {
		return r, d, err
	}
	if r.Synonyms, err = q.synonyms(); err != nil {
		return r, d, err
	}
	if given := r.Synonyms; given != nil && given.Len() > 0 {
		const needs = "%s needs plain words: leave out one of the two"
		switch _, fielded := r.Model.(search.BM25F); {
		case fielded:
			return r, d, wrongf("synonyms", needs, "the model bm25f")
		case r.Expand != nil:
			return r, d, wrongf("synonyms", needs, "an expansion")
		case r.Proximity != nil:
			return r, d, wrongf("synonyms", needs, "proximity")
		}
	}
	if err := q.gather(about, &r); err != nil {
		return r, d, err
	}
	if q.Snippets {
		if !about.HasText {
			return r, d, wrongf("snippets", "the index stores no text")
		}
		d.SnippetSize = q.SnippetSize
	}
	if len(q.Show) > fields.MaxFields {
		return r, d, wrongf("show", "%d fields: want at most %d", len(q.Show), fields.MaxFields)
	}
	if len(q.Show) > 0 {
		if _, err := about.Schema.Shown(q.Show); err != nil {
			return r, d, wrong("show", err)
		}
	}
	d.KeepLines, d.SnippetCount = q.SnippetLines, q.SnippetCount
	d.Explain, d.Stats, d.Show, d.Plain = q.Explain, q.Stats, q.Show, q.Plain
	d.Limit, d.From = q.K, q.From
	return r, d, q.rerank(about, &r, &d)
}

// Ask sets the query of a request that Prepare made: plain words, or a tree if it has operators or
// there is a filter.
func (q *Search) Ask(about *About, r *search.Request, words string) error {
	none := strings.TrimSpace(words) == ""
	r.Query = nil
	if r.Text = words; none && r.Nearest == nil && !q.Weighted.given() {
		return wrongf("q", "it is empty: want words")
	}
	if !utf8.ValidString(words) && !text.OfBytes(about.Analyzer) {
		return wrongf("q", "%q is not UTF-8: convert it first", words)
	}
	options := query.Options{And: q.Mode == search.And, Fields: about.Fields}
	filter, err := query.ParseFilter(q.Filter, options)
	if err != nil {
		return wrong("filter", err)
	}
	if r.Nearest != nil {
		near := *r.Nearest // of this query
		near.Filter, filter = filter, nil
		r.Nearest = &near
		if err := search.CheckNearest(about.Schema, r); err != nil {
			return wrong(cmp.Or(q.made, "vector"), err)
		}
		if none && !q.Weighted.given() {
			return nil
		}
	}
	// An object of weights is for the analyzer.
	plain := q.Plain || text.OfWeights(about.Analyzer) && strings.HasPrefix(strings.TrimSpace(words), "{")
	if r.Expand != nil || r.Proximity != nil { // which need plain words: the filter is apart
		r.Filter, filter = filter, nil
	}
	switch {
	case plain && filter != nil:
		r.Query = query.Words(words, options.And)
	case !plain && (filter != nil || !query.OnlyWords(words)):
		parsed, err := query.Parse(words, options)
		if err != nil {
			return wrongf("q", "%w; set plain to treat operators as text", err)
		}
		if filter != nil || !query.Plain(words, parsed, options) {
			r.Query = parsed
		}
	}
	if q.Weighted.given() {
		if r.Query == nil && !none {
			r.Query = query.Words(words, options.And)
		}
		if r.Query, err = q.Weighted.beside(r.Query, q.WordWeight, about.Schema); err != nil {
			return err
		}
	}
	r.Query = query.Within(r.Query, filter)
	const want = "want plain words, not operators"
	switch {
	case r.Query == nil:
		return nil
	case r.Expand != nil:
		return wrongf("expand", want)
	case r.Proximity != nil:
		return wrongf("proximity", want)
	}
	return nil
}

// synonyms returns those of the question; nil means those of the index.
func (q *Search) synonyms() (*text.Synonyms, error) {
	switch q.Synonyms {
	case "":
		return nil, nil
	case NoSynonyms:
		return new(text.Synonyms), nil
	}
	rules, err := text.ParseSynonyms([]byte(q.Synonyms))
	if err != nil {
		return nil, wrong("synonyms", err)
	}
	return rules, nil
}

// page sets the number of hits: also those that are skipped, as a door shows only the last of them.
func (q *Search) page(about *About, r *search.Request) error {
	most := about.most()
	if q.K < 0 || q.K > most {
		return &Error{"k", fmt.Sprint(q.K), fmt.Errorf("want 0 to %d", most)}
	}
	switch {
	case q.From < 0:
		return &Error{"from", fmt.Sprint(q.From), errors.New("want 0 or more")}
	case q.From > most-q.K:
		return &Error{"from", fmt.Sprint(q.From), fmt.Errorf("with k %d these are more than %d hits: want a smaller from or k", q.K, most)}
	}
	if r.K = q.From + q.K; q.K == 0 {
		r.K, r.Count = search.NoHits, true
	}
	return nil
}

// gather sets the facets, the order and the boosts.
func (q *Search) gather(about *About, r *search.Request) (err error) {
	if len(q.Facet) > maxFacets {
		return wrongf("facet", "%d facets: want at most %d", len(q.Facet), maxFacets)
	}
	for _, s := range q.Facet {
		f, err := search.ParseFacet(s)
		if err != nil {
			return wrong("facet", err)
		}
		if about.MaxK > 0 && f.N > about.MaxK {
			return wrongf("facet", "%q: %d values: want at most %d", s, f.N, about.MaxK)
		}
		r.Facets = append(r.Facets, f)
	}
	if q.Sort != "" {
		if r.Sort, err = search.ParseSort(q.Sort); err != nil {
			return wrong("sort", err)
		}
	}
	if q.Boost != "" {
		if r.Boosts, err = search.ParseBoosts(q.Boost); err != nil {
			return wrong("boost", err)
		}
	}
	return checkFields(about, r)
}

// checkFields compares the fields that a request names with those of the index. Each parameter is
// checked alone, so that the error is about it.
func checkFields(about *About, r *search.Request) error {
	var parts []search.Request
	var params []string
	if fielded, ok := r.Model.(search.BM25F); ok {
		params, parts = append(params, "field_weights"), append(parts, search.Request{Model: fielded})
	}
	if len(r.Facets) > 0 {
		params, parts = append(params, "facet"), append(parts, search.Request{Facets: r.Facets})
	}
	if r.Sort != nil {
		params, parts = append(params, "sort"), append(parts, search.Request{Sort: r.Sort})
	}
	if len(r.Boosts) > 0 {
		params, parts = append(params, "boost"), append(parts, search.Request{Boosts: r.Boosts})
	}
	for i := range parts {
		if err := search.CheckFields(about.Schema, &parts[i]); err != nil {
			return wrong(params[i], err)
		}
	}
	return nil
}

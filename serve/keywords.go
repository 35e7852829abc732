package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/words"
)

// A compared corpus has keyDocs documents unless the client says otherwise, and at most maxKeyDocs.
const (
	keyDocs    = 100
	maxKeyDocs = 100_000
)

// errNoDocuments reports that there is nothing to compare.
var errNoDocuments = errors.New("nothing to compare")

// keywordsAnswer lists the words that set documents apart from others.
type keywordsAnswer struct {
	Query   string `json:"query"`
	Against string `json:"against,omitempty"` // the query for the other documents
	// Notes say which documents were left out.
	Notes    []string `json:"notes,omitempty"`
	Docs     int      `json:"docs"`     // number of documents compared
	Matching int64    `json:"matching"` // number of documents that match the query
	Total    uint64   `json:"words"`    // number of words of these documents
	// ReferenceDocs is the number of documents that they were compared with.
	ReferenceDocs int `json:"reference_docs"`
	// ReferenceMatching is the number of documents that match the other query.
	ReferenceMatching int64 `json:"reference_matching,omitempty"`

	ReferenceTotal uint64          `json:"reference_words"`
	By             string          `json:"by"`
	Keywords       []words.Keyword `json:"keywords"`
}

// keywords lists the words that set the best documents for a query apart from those for another
// query, or from all others.
func (x *exchange) keywords() {
	p := x.params()
	docs := p.whole("docs", keyDocs, 1, maxKeyDocs)
	o := words.KeyOptions{Top: p.whole("top", 20, 1, maxCompany), Negative: p.flag("negative")}
	o.MinCount = uint64(max(1, p.whole("min_count", 0, 0, 1<<53)))
	if by, said := p.get("by"); said {
		if err := o.By.UnmarshalText([]byte(by)); err != nil {
			p.wrong("by", "", "%w", err)
		}
	}
	here := x.newParams()
	here.Query, here.Count = p.text("q"), true
	if mode, said := p.get("mode"); said {
		if err := here.Mode.UnmarshalText([]byte(mode)); err != nil {
			p.wrong("mode", "", "%w", err)
		}
	}
	there := here
	there.Query = p.text("against")
	err := p.done()
	if err == nil {
		err = x.check(&here)
	}
	if err == nil && there.Query != "" {
		if err = x.check(&there); err != nil {
			err = fmt.Errorf("against: %w", err)
		}
	}
	if err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	if !x.g.s.Index().HasText() {
		x.refuse(http.StatusNotFound, words.ErrNoText)
		return
	}
	here.request.K, there.request.K = docs, docs // no hits are sent, so --max-k does not limit them
	answer := keywordsAnswer{Query: here.Query, Against: there.Query, By: o.By.String()}
	err = x.work(longLane, x.o.Limits.Time, func(ctx context.Context) error {
		a, b, err := x.corpora(ctx, &here, &there, &answer, o)
		if err == nil {
			answer.Total, answer.ReferenceTotal = a.Total, b.Total
			answer.Keywords, _, err = words.Keywords(ctx, a, b, o)
		}
		if answer.Keywords == nil {
			answer.Keywords = []words.Keyword{}
		}
		return err
	})
	switch {
	case errors.Is(err, errNoDocuments):
		x.refuse(http.StatusNotFound, err)
	case err != nil:
		x.failed(err)
	default:
		x.reply(http.StatusOK, answer)
	}
}

// corpora counts the words of both sets of documents. A document among the best for both queries
// belongs to the first.
func (x *exchange) corpora(ctx context.Context, here, there *searchParams, answer *keywordsAnswer,
	o words.KeyOptions) (a, b words.Frequencies, err error) {
	find := func(q *searchParams, except map[uint32]bool, matching *int64) (f words.Frequencies, hits []search.Hit, err error) {
		found, err := x.g.s.Search(ctx, q.request)
		if err != nil {
			return f, nil, err
		}
		if *matching = found.Total; found.Total > int64(len(found.Hits)) {
			answer.Notes = append(answer.Notes, fmt.Sprintf("of %d documents that match %q, the best %d are compared: "+
				"docs chooses how many, up to %d", found.Total, q.Query, len(found.Hits), maxKeyDocs))
		}
		for _, hit := range found.Hits {
			if !except[uint32(hit.Doc)] {
				hits = append(hits, hit)
			}
		}
		if f, err = x.count(ctx, hits); err == nil && f.Total == 0 {
			err = fmt.Errorf("%w: no document that matches %q has words", errNoDocuments, q.Query)
			if len(hits) < len(found.Hits) {
				err = fmt.Errorf("%w: the best documents for %q are all among those for %q", errNoDocuments, q.Query, here.Query)
			}
		}
		return f, hits, err
	}
	a, hits, err := find(here, nil, &answer.Matching)
	if err != nil {
		return a, b, err
	}
	answer.Docs = len(hits)
	if there.Query == "" {
		ix := x.g.s.Index()
		answer.ReferenceDocs = ix.Docs() - len(hits)
		if b, err = x.rest(ctx, a, o.Negative); err == nil && b.Total == 0 {
			err = fmt.Errorf("%w: %q matches all documents", errNoDocuments, here.Query)
		}
		return a, b, err
	}
	known := make(map[uint32]bool, len(hits))
	for _, hit := range hits {
		known[uint32(hit.Doc)] = true
	}
	b, hits, err = find(there, known, &answer.ReferenceMatching)
	answer.ReferenceDocs = len(hits)
	return a, b, err
}

// count counts the words of documents in their stored text.
func (x *exchange) count(ctx context.Context, hits []search.Hit) (f words.Frequencies, err error) {
	f.Counts = map[string]uint64{}
	for _, hit := range hits {
		if err := ctx.Err(); err != nil {
			return f, err
		}
		body, err := x.g.s.Index().Text(int(hit.Doc))
		if err != nil {
			return f, err
		}
		err = x.g.analyze(string(body), func(t *text.Tokens) error {
			for i := range t.Words {
				f.Counts[string(t.Word(i))]++
			}
			f.Total += uint64(len(t.Words))
			return nil
		})
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// rest counts the words of all documents except those counted in of. Unless every is set, only
// words of of are counted.
func (x *exchange) rest(ctx context.Context, of words.Frequencies, every bool) (f words.Frequencies, err error) {
	ix := x.g.s.Index()
	f.Counts = map[string]uint64{}
	if all := uint64(ix.Tokens()); all > of.Total {
		f.Total = all - of.Total
	}
	if every {
		for _, segment := range ix.Segments() {
			for w, err := range segment.Words() {
				if err == nil && w.Term.ID%1024 == 0 {
					err = ctx.Err()
				}
				if err != nil {
					return f, err
				}
				f.Counts[string(w.Text)] += w.Term.CF
			}
		}
	}
	looked := 0
	for word, n := range of.Counts {
		if looked++; looked%1024 == 0 && ctx.Err() != nil {
			return f, ctx.Err()
		}
		all := f.Counts[word]
		if !every {
			if _, all, err = ix.Lookup([]byte(word)); err != nil {
				return f, err
			}
		}
		if all > n {
			f.Counts[word] = all - n
		} else {
			delete(f.Counts, word)
		}
	}
	return f, nil
}

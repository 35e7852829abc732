package serve

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/collocate/collocate/words"
)

// Limits of a concordance.
const (
	maxLines   = 1000
	maxContext = 50
	maxParts   = 1000
)

// concordance shows words in their contexts, from the stored text.
func (x *exchange) concordance() {
	p := x.params()
	o := words.ConcordanceOptions{
		Window:  p.whole("window", 10, 1, maxContext),
		Top:     p.whole("top", 50, 1, maxLines),
		Sample:  p.whole("sample", 0, 0, maxLines),
		Seed:    uint64(p.whole("seed", 1, 0, 1<<53)),
		Threads: 1,
	}
	if by := p.text("sort"); by != "" {
		o.Sort = strings.Split(by, ",")
	}
	said := p.text("q")
	with, without := p.text("with"), p.text("without")
	q, err := o.ParseQueries(said, with, without, x.g.analyzer)
	if err == nil {
		err = o.Check()
	}
	if err == nil {
		err = x.checkWords(said + " " + with + " " + without)
	}
	if bad := p.done(); bad != nil {
		err = bad
	}
	if err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	if !x.g.s.Index().HasText() {
		x.refuse(http.StatusNotFound, words.ErrNoText)
		return
	}
	var found *words.Concordance
	err = x.work(longLane, x.o.Limits.Time, func(ctx context.Context) (err error) {
		found, err = words.ConcordIndex(ctx, x.g.s.Index(), q, o)
		return err
	})
	if err != nil {
		x.failed(err)
		return
	}
	x.reply(http.StatusOK, found)
}

// dispersionAnswer is the distribution of a word over the index.
type dispersionAnswer struct {
	Word  string   `json:"word"` // as the analyzer of the index made it
	Docs  uint64   `json:"docs"`
	Total uint64   `json:"words"` // number of all words of the index
	Bars  []uint64 `json:"bars"`  // occurrences in each part, in the order of documents
	words.Dispersion
}

// notOneWord returns an error unless a text is a single word.
func notOneWord(said string, terms [][]byte) error {
	switch {
	case len(terms) != 1:
		return fmt.Errorf("%q: the analyzer of the index makes %d words of it: want one", said, len(terms))
	case strings.ContainsAny(said, "*?") && !bytes.ContainsAny(terms[0], "*?"):
		return fmt.Errorf("%q is a pattern: want one word", said)
	}
	return nil
}

// dispersion counts a word in parts of the index of about equal length.
func (x *exchange) dispersion() {
	p, word := x.params(), x.r.PathValue("word")
	parts := p.whole("parts", 50, 2, maxParts)
	if err := p.done(); err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	var answer dispersionAnswer
	var notOne error
	err := x.work(shortLane, x.o.Limits.Time, func(ctx context.Context) error {
		terms, err := x.terms(word)
		if err != nil {
			return err
		}
		if notOne = notOneWord(word, terms); notOne != nil {
			return nil
		}
		answer.Word = string(terms[0])
		s, err := words.SpreadOverIndex(ctx, x.g.s.Index(), terms[0], parts)
		if err != nil {
			return err
		}
		answer.Docs, answer.Bars = s.Documents, s.Counts
		answer.Dispersion = words.Disperse(s.Counts, s.Sizes)
		for _, n := range s.Sizes {
			answer.Total += n
		}
		return nil
	})
	switch {
	case err != nil:
		x.failed(err)
	case notOne != nil:
		x.refuse(http.StatusBadRequest, notOne)
	case answer.Count == 0:
		x.refuse(http.StatusNotFound, errNoWord(word))
	default:
		x.reply(http.StatusOK, answer)
	}
}

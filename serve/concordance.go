package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/vectors"
	"github.com/collocate/collocate/words"
)

const maxParts = 1000

// ask reads a question from the URL. If it is wrong, the request is refused.
func (x *exchange) ask(q *api.Question, question any) bool {
	err := x.asked(q, question)
	if err != nil {
		x.refuse(http.StatusBadRequest, err)
	}
	return err == nil
}

// wordsMemory bounds the working memory of a question about words.
const wordsMemory = 256 << 20

// answer answers a question about words with what do returns.
func (x *exchange) answer(in lane, do func(context.Context, *api.Env) (any, error)) {
	env := &api.Env{Matrix: x.o.Matrix, Vectors: x.o.Vectors, Threads: 1, Memory: wordsMemory}
	if x.g != nil {
		env.Searcher, env.Analyzer = x.g.s, x.g.analyzer
	}
	var answer any
	err := x.work(in, x.o.Limits.Time, func(ctx context.Context) (err error) {
		answer, err = do(ctx, env)
		return err
	})
	wrong, unknown := new(api.Error), new(words.UnknownWord)
	switch {
	case err == nil:
		x.reply(http.StatusOK, answer)
	case errors.As(err, &wrong):
		x.refuse(http.StatusBadRequest, err)
	case errors.Is(err, api.ErrNoMatrix):
		x.refuse(http.StatusNotFound, errNoMatrix)
	case errors.Is(err, api.ErrNoVectors):
		x.refuse(http.StatusNotFound, errNoVectors)
	case errors.As(err, &unknown), errors.Is(err, words.ErrNoText), errors.Is(err, vectors.ErrUnknown):
		x.refuse(http.StatusNotFound, err)
	default:
		x.failed(err)
	}
}

// concordance shows words in their contexts, from the stored text.
func (x *exchange) concordance() {
	var q api.Concordance
	if !x.ask(api.ConcordanceQuestion, &q) {
		return
	}
	if err := x.checkWords(q.Query + " " + q.With + " " + q.Without); err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	x.answer(longLane, func(ctx context.Context, e *api.Env) (any, error) { return q.Do(ctx, e, nil) })
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

package serve

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/vectors"
	"github.com/collocate/collocate/words"
)

const (
	wordsMemory = 256 << 20 // bound on the working memory of a question about words
	mostWords   = 1000      // the longest list of words in an answer
)

var (
	errNoMatrix  = errors.New("the server has no matrix: start it with serve.Options.Matrix")
	errNoVectors = errors.New("the server has no vectors: start it with serve.Options.Vectors")
)

// wordRoutes returns a route for each question about words.
func wordRoutes() (list []route) {
	for _, q := range api.AboutWords(api.HTTP) {
		t := route{verb: q.Name, is: ofIndex | steady, do: func(x *exchange) { x.aboutWords(q) }}
		if t.method, t.path = q.Route(); strings.Contains(t.path, "{word}") {
			t.verb = "word"
		}
		if q.Of == api.OfText || q.Of == api.OfIndex {
			t.is |= needed
		}
		list = append(list, t)
	}
	return list
}

// aboutWords answers a question about words.
func (x *exchange) aboutWords(q *api.Question) {
	question := q.New(api.HTTP)
	err := x.asked(q, question)
	if err == nil {
		err = q.SetPath(question, x.r.PathValue)
	}
	if err == nil && x.g != nil {
		err = x.checkWords(q.Texts(question))
	}
	if err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	env := x.wordsOf(x.g)
	in := shortLane
	if q.Of == api.OfText {
		in = longLane
	}
	var answer any
	err = x.work(in, x.o.Limits.Time, func(ctx context.Context) (err error) {
		answer, err = q.Ask(ctx, env, question)
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
	case errors.As(err, &unknown), errors.Is(err, words.ErrNoText), errors.Is(err, vectors.ErrUnknown),
		errors.Is(err, api.ErrNothing):
		x.refuse(http.StatusNotFound, err)
	default:
		x.failed(err)
	}
}

package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/internal/mmap"
)

// Questions about the text of documents, which read all of it, and questions about places may take
// longer than a request may: each of them may also be a job, with the same parameters and the same
// answer.

// textQuestions returns these questions.
func textQuestions() []*api.Question {
	return slices.DeleteFunc(api.AboutWords(api.HTTP), func(q *api.Question) bool {
		_, path := q.Route()
		return q.Of != api.OfText || strings.Contains(path, "{word}")
	})
}

func textKinds() (names []string) {
	for _, q := range textQuestions() {
		names = append(names, q.Name)
	}
	return names
}

// textQuestion returns the question that the body of a new job names, or nil.
func textQuestion(body []byte) *api.Question {
	var about struct{ Kind string }
	if json.Unmarshal(body, &about) != nil {
		return nil // another reader says what is wrong
	}
	for _, q := range textQuestions() {
		if q.Name == about.Kind {
			return q
		}
	}
	return nil
}

// placeQuestions are the requests about places below /v1/places that may also be jobs.
var placeQuestions = map[string]func(*exchange){
	"area":          (*exchange).area,
	"co-occurrence": (*exchange).coOccurrence,
	"curve":         aboutPlaces(api.CurveQuestion),
	"enrichment":    aboutPlaces(api.EnrichmentQuestion),
	"instances":     (*exchange).instances,
	"local":         (*exchange).local,
	"quotients":     aboutPlaces(api.PairsQuestion),
	"summary":       aboutPlaces(api.SummaryQuestion),
}

// startPlaces starts a job that answers a question about places, if the body of a new job names
// one: its handler reads the parameters as those of a URL, and starts a job instead of computing.
func (x *exchange) startPlaces(body []byte) bool {
	var about struct{ Kind string }
	if json.Unmarshal(body, &about) != nil || placeQuestions[about.Kind] == nil {
		return false
	}
	values, err := urlValues(body)
	if err != nil {
		x.refuse(http.StatusBadRequest, fmt.Errorf("body: %w", err))
		return true
	}
	r := x.r.WithContext(x.r.Context())
	r.URL = &url.URL{Path: x.r.URL.Path, RawQuery: values.Encode()}
	// The job outlasts x, which is used again for other requests.
	placeQuestions[about.Kind](&exchange{Server: x.Server, w: x.w, r: r, conn: x.conn, ix: x.ix, g: x.g, client: x.client,
		token: x.token, id: x.id, verb: x.verb, path: x.path, trace: x.trace, job: about.Kind})
	return true
}

// urlValues returns the members of an object as the parameters of a URL, without kind.
func urlValues(body []byte) (url.Values, error) {
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber()
	values := url.Values{}
	err := api.Object(in, func(name string, raw json.RawMessage) error {
		if values.Has(name) {
			return fmt.Errorf("%s: it is given twice", name)
		}
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			list = []json.RawMessage{raw}
		}
		for _, one := range list {
			text := string(one)
			if text == "" || strings.ContainsAny(text[:1], "[{") || json.Unmarshal(one, &text) != nil && text[0] == '"' {
				return fmt.Errorf("%s: %s: want a text, a number, true or false, or a list of them", name, one)
			}
			values.Add(name, text)
		}
		return nil
	})
	if err == nil {
		if _, more := in.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("want nothing after the object")
		}
	}
	values.Del("kind")
	return values, err
}

// later starts a job that computes an answer about places.
func (x *exchange) later(do func(context.Context) ([]byte, error)) {
	v := x.Server
	x.start(jobAnswer{Kind: x.job, Total: 1}, jobTime, func(ctx context.Context, b *job) error {
		x.progress = b.progress
		return v.whenFree(ctx, b, func() (err error) {
			defer mmap.Recover(mmap.Guard(), &err)
			text, err := do(ctx)
			if err == nil {
				b.change(func(a *jobAnswer) { a.Answer, a.Done, a.Stage = json.RawMessage(text), 1, "" })
			}
			return err
		})
	}, nil)
}

// startText starts a job that answers a question about the texts of an index.
func (x *exchange) startText(q *api.Question, body []byte) {
	if x.g == nil {
		x.refuse(http.StatusNotFound, errNoIndex)
		return
	}
	question := q.New(api.HTTP)
	in := json.NewDecoder(bytes.NewReader(body))
	var seen []string
	err := api.Object(in, func(name string, raw json.RawMessage) error {
		if slices.Contains(seen, name) {
			return fmt.Errorf("%s: it is given twice", name)
		}
		if seen = append(seen, name); name == "kind" {
			return nil
		}
		return q.SetJSON(api.HTTP, question, name, raw)
	})
	if err == nil {
		if _, more := in.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("want nothing after the object")
		}
	}
	if err == nil {
		err = cmp.Or(api.Check(question), x.checkWords(q.Texts(question)))
	}
	if err != nil {
		x.refuse(http.StatusBadRequest, fmt.Errorf("body: %w", err))
		return
	}
	g := x.ix.hold()
	if g == nil {
		x.refuse(http.StatusNotFound, errNoIndex)
		return
	}
	v := x.Server
	env := v.wordsOf(g)
	x.start(jobAnswer{Kind: q.Name, Total: 1}, jobTime, func(ctx context.Context, b *job) error {
		return v.whenFree(ctx, b, func() (err error) {
			defer mmap.Recover(mmap.Guard(), &err)
			env.Progress = b.progress
			answer, err := q.Ask(ctx, env, question)
			if err == nil {
				b.change(func(a *jobAnswer) { a.Answer, a.Done, a.Stage = answer, 1, "" })
			}
			return err
		})
	}, func() { v.letGo(g) })
}

// wordsOf returns what questions about words are asked of: an index, unless g is nil, and what the
// server has.
func (v *Server) wordsOf(g *generation) *api.Env {
	env := &api.Env{Door: api.HTTP, Matrix: v.o.Matrix, Vectors: v.o.Vectors, Model: v.o.Model,
		Threads: 1, Memory: wordsMemory, Most: mostWords}
	if g != nil {
		env.Searcher, env.Analyzer = g.s, g.analyzer
	}
	return env
}

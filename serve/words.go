package serve

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/words"
)

// maxCompany is the largest number of words in an answer.
const maxCompany = 1000

var errNoMatrix = errors.New("the server has no matrix: start it with serve.Options.Matrix")

// words lists the most frequent words that begin with a prefix.
func (x *exchange) words() {
	p := x.params()
	prefix := []byte(p.text("prefix"))
	limit := p.whole("limit", 10, 1, maxCompany)
	if err := p.done(); err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	m := x.o.Matrix
	if m == nil {
		x.refuse(http.StatusNotFound, errNoMatrix)
		return
	}
	list, more := []api.Word{}, false
	err := x.work(shortLane, x.o.Limits.Time, func(ctx context.Context) error {
		for id := 0; id < m.Len() && !more; id++ {
			if id&0xffff == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if !bytes.HasPrefix(m.Word(id), prefix) {
				continue
			}
			if more = len(list) == limit; !more {
				w, err := x.describeWord(id)
				if err != nil {
					return err
				}
				list = append(list, w)
			}
		}
		return nil
	})
	if err != nil {
		x.failed(err)
		return
	}
	x.reply(http.StatusOK, struct {
		Words []api.Word `json:"words"`
		More  bool       `json:"more"` // there are further words
	}{list, more})
}

// describeWord describes a word of the matrix.
func (x *exchange) describeWord(id int) (w api.Word, err error) {
	m := x.o.Matrix
	w = api.Word{Word: string(m.Word(id)), Count: m.Count(id), Rank: id + 1}
	if x.g == nil {
		return w, nil
	}
	terms, err := x.terms(w.Word)
	if err != nil || len(terms) != 1 {
		return w, err
	}
	df, _, err := x.g.s.Index().Lookup(terms[0])
	w.Docs = uint32(df)
	return w, err
}

// known returns the number of a word of the matrix, or refuses the request if there is none.
func (x *exchange) known(word string) (id int, ok bool) {
	if x.o.Matrix == nil {
		x.refuse(http.StatusNotFound, errNoMatrix)
		return 0, false
	}
	id, err := words.Find(x.o.Matrix, word)
	if err != nil {
		status := http.StatusBadRequest // not one word
		if _, ok := errors.AsType[*words.UnknownWord](err); ok {
			status = http.StatusNotFound
		}
		x.refuse(status, err)
	}
	return id, err == nil
}

// frequency answers with the frequencies of a word.
func (x *exchange) frequency() {
	if err := x.params().done(); err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	id, ok := x.known(x.r.PathValue("word"))
	if !ok {
		return
	}
	var answer api.Word
	err := x.work(shortLane, x.o.Limits.Time, func(context.Context) (err error) {
		answer, err = x.describeWord(id)
		return err
	})
	if err != nil {
		x.failed(err)
		return
	}
	x.reply(http.StatusOK, answer)
}

// company lists the words that are most strongly associated with a word.
func (x *exchange) company() {
	var q api.NeighboursOf
	if !x.ask(api.NeighboursQuestion, &q) {
		return
	}
	q.Words = []string{x.r.PathValue("word")}
	x.answer(shortLane, func(ctx context.Context, e *api.Env) (any, error) {
		found, err := q.Do(ctx, e)
		if err != nil {
			return nil, err
		}
		if x.r.URL.Query().Has("min_count") {
			found[0].Notes = []string{"min_count is the least number of co-occurrences; min_frequency is that of occurrences"}
		}
		return found[0], nil
	})
}

// collocations lists strongly associated pairs of words of the stored text.
func (x *exchange) collocations() {
	var q api.Collocations
	if x.ask(api.CollocationsQuestion, &q) {
		x.answer(longLane, func(ctx context.Context, e *api.Env) (any, error) { return q.Do(ctx, e) })
	}
}

// ngrams lists the most frequent sequences of words of the stored text.
func (x *exchange) ngrams() {
	var q api.Ngrams
	if !x.ask(api.NgramsQuestion, &q) {
		return
	}
	if q.Top == 0 {
		q.Top = maxCompany
	}
	x.answer(longLane, func(ctx context.Context, e *api.Env) (any, error) { return q.Do(ctx, e, nil) })
}

// wordlist lists the words of the stored text with frequency and dispersion.
func (x *exchange) wordlist() {
	var q api.Wordlist
	if !x.ask(api.WordlistQuestion, &q) {
		return
	}
	if q.Top == 0 {
		q.Top = maxCompany
	}
	x.answer(longLane, func(ctx context.Context, e *api.Env) (any, error) { return q.Do(ctx, e) })
}

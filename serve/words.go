package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/collocate/collocate/cooccur"
)

// wordAnswer is a word with how often it occurs.
type wordAnswer struct {
	Word  string `json:"word"`
	Count uint64 `json:"count"` // in the matrix's corpus
	Rank  int    `json:"rank"`  // by count, from 1 on
	// Docs is the number of the index's documents that have it. The index may write words in
	// another way, as stems say: this is what it makes of the word alone.
	Docs uint32 `json:"docs"`
}

// companyAnswer is a word with its neighbours.
type companyAnswer struct {
	wordAnswer
	By         string              `json:"by"`
	Neighbours []cooccur.Neighbour `json:"neighbours"`
	// Links are the cells between the neighbours themselves, by their places in the list.
	Links []link `json:"links,omitempty"`
}

type link struct {
	From  int     `json:"from"`
	To    int     `json:"to"`
	Score float64 `json:"score"`
}

// maxCompany is the most neighbours that can be asked for.
const maxCompany = 1000

var errNoMatrix = errors.New("there is no matrix of words: start the server with --matrix FILE")

// words lists the commonest words that begin with a prefix.
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
	list := []wordAnswer{}
	err := x.work(shortLane, x.o.Limits.Time, func(ctx context.Context) error {
		for id := 0; id < m.Len() && len(list) < limit; id++ {
			if id&0xffff == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if bytes.HasPrefix(m.Word(id), prefix) {
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
		Words []wordAnswer `json:"words"`
	}{list})
}

// describeWord tells of a word of the matrix.
func (x *exchange) describeWord(id int) (w wordAnswer, err error) {
	m := x.o.Matrix
	w = wordAnswer{Word: string(m.Word(id)), Count: m.Count(id), Rank: id + 1}
	terms, err := x.terms(w.Word)
	if err != nil || len(terms) != 1 {
		return w, err
	}
	df, _, err := x.g.s.Index().Lookup(terms[0])
	w.Docs = uint32(df)
	return w, err
}

// word answers /v1/words/WORD and /v1/words/WORD/company.
func (x *exchange) word() {
	raw := strings.TrimPrefix(x.r.URL.EscapedPath(), "/v1/words/")
	raw, company := strings.CutSuffix(raw, "/company")
	word, err := url.PathUnescape(raw)
	p := x.params()
	by, top, least, links := cooccur.NPMI, 0, 0.0, false
	if company {
		if name, said := p.get("by"); said && err == nil {
			err = by.Set(name)
		}
		top = p.whole("top", 20, 1, maxCompany)
		least = p.number("min_value", 0, 0, 1e18)
		if links = p.flag("links"); links && top > 100 {
			p.fail("links: want top to be at most 100")
		}
	}
	if err == nil {
		err = p.done()
	}
	if err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	m := x.o.Matrix
	if m == nil {
		x.refuse(http.StatusNotFound, errNoMatrix)
		return
	}
	id, ok := m.Lookup(word)
	if !ok {
		x.refuse(http.StatusNotFound, fmt.Errorf("the word %q is not in the matrix", word))
		return
	}
	answer := companyAnswer{By: by.String(), Neighbours: []cooccur.Neighbour{}}
	err = x.work(shortLane, x.o.Limits.Time, func(ctx context.Context) (err error) {
		if answer.wordAnswer, err = x.describeWord(id); err != nil || !company {
			return err
		}
		near, err := m.Neighbours(id, top, by, least)
		if err != nil {
			return err
		}
		answer.Neighbours = append(answer.Neighbours, near...)
		if links {
			answer.Links, err = x.linksOf(ctx, near, by, least)
		}
		return err
	})
	switch {
	case err != nil:
		x.failed(err)
	case company:
		x.reply(http.StatusOK, answer)
	default:
		x.reply(http.StatusOK, answer.wordAnswer)
	}
}

// linksOf are the cells between words, above the diagonal, that are among each other's company.
func (x *exchange) linksOf(ctx context.Context, words []cooccur.Neighbour, by cooccur.Measure, least float64) ([]link, error) {
	place := map[int]int{}
	for i, w := range words {
		place[w.ID] = i
	}
	list := []link{}
	for i, w := range words {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		near, err := x.o.Matrix.Neighbours(w.ID, 200, by, least)
		if err != nil {
			return nil, err
		}
		for _, n := range near {
			if j, ok := place[n.ID]; ok && j > i {
				list = append(list, link{i, j, n.Score})
			}
		}
	}
	return list, nil
}

package serve

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net/http"
	"strings"

	"github.com/collocate/collocate/words"
)

// wordAnswer is a word with its frequencies.
type wordAnswer struct {
	Word  string `json:"word"`
	Count uint64 `json:"count"` // in the matrix's corpus
	Rank  int    `json:"rank"`  // by count, counted from 1
	// Docs is the number of documents of the index that contain it. The index may have another
	// analyzer than the matrix, such as a stemmer: the word is analyzed as a query.
	Docs uint32 `json:"docs"`
}

// companyAnswer is a word with its neighbours.
type companyAnswer struct {
	wordAnswer
	By         string      `json:"by"`    // the measure that the list is sorted by
	Total      int         `json:"total"` // number of neighbours that meet the minimum counts
	Neighbours []neighbour `json:"neighbours"`
	// Links are the cells between the neighbours themselves, by their indexes in the list.
	Links []link `json:"links,omitempty"`
}

// neighbour is a word associated with another.
type neighbour struct {
	ID    int     `json:"id"`
	Word  string  `json:"word"`
	Count uint64  `json:"count"` // frequency in the matrix's corpus
	Value float64 `json:"value"` // how often the two co-occur, or the cell of a weighted matrix
	Score float64 `json:"score"` // by the first measure
	// Scores are the values of all measures, if several were requested.
	Scores map[string]float64 `json:"scores,omitempty"`
}

type link struct {
	From  int     `json:"from"`
	To    int     `json:"to"`
	Score float64 `json:"score"`
}

// maxCompany is the largest number of neighbours, maxMeasures that of measures.
const (
	maxCompany  = 1000
	maxMeasures = 16
)

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
	list, more := []wordAnswer{}, false
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
		Words []wordAnswer `json:"words"`
		More  bool         `json:"more"` // there are further words
	}{list, more})
}

// describeWord describes a word of the matrix.
func (x *exchange) describeWord(id int) (w wordAnswer, err error) {
	m := x.o.Matrix
	w = wordAnswer{Word: string(m.Word(id)), Count: m.Count(id), Rank: id + 1}
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
	var answer wordAnswer
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
	p := x.params()
	o := words.Options{Threads: 1}
	for name := range strings.SplitSeq(p.textOr("by", words.LogDice.String()), ",") {
		m, err := words.ParseMeasure(name)
		if err != nil {
			p.fail("by: %w", err)
		}
		o.By = append(o.By, m)
	}
	if len(o.By) > maxMeasures {
		p.fail("by: want at most %d measures", maxMeasures)
	}
	o.Top = p.whole("top", 20, 1, maxCompany)
	o.MinCount = p.number("min_value", 0, 0, 1e18)
	o.MinFreq = uint64(p.whole("min_count", 0, 0, math.MaxInt))
	links := p.flag("links")
	if links && o.Top > 100 {
		p.fail("links: want top to be at most 100")
	}
	if err := p.done(); err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	id, ok := x.known(x.r.PathValue("word"))
	if !ok {
		return
	}
	if err := o.Check(x.o.Matrix); err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	answer := companyAnswer{By: o.By[0].String(), Neighbours: []neighbour{}}
	err := x.work(shortLane, x.o.Limits.Time, func(ctx context.Context) (err error) {
		if answer.wordAnswer, err = x.describeWord(id); err != nil {
			return err
		}
		near, err := words.Neighbours(x.o.Matrix, id, o)
		if err != nil {
			return err
		}
		answer.Total = near.Compared
		for i := range near.Pairs {
			answer.Neighbours = append(answer.Neighbours, neighbourOf(&near.Pairs[i], o.By))
		}
		if links {
			answer.Links, err = x.linksOf(ctx, answer.Neighbours, o)
		}
		return err
	})
	if err != nil {
		x.failed(err)
		return
	}
	x.reply(http.StatusOK, answer)
}

func neighbourOf(a *words.Association, by []words.Measure) neighbour {
	n := neighbour{ID: a.ID2, Word: a.Word2, Count: a.F2, Value: a.Count, Score: a.Scores[0]}
	if len(by) > 1 {
		n.Scores = map[string]float64{}
		for i, m := range by {
			n.Scores[m.String()] = a.Scores[i]
		}
	}
	return n
}

// linksOf returns the cells between the words of a list, above the diagonal, that are among the 200
// strongest of their first word.
func (x *exchange) linksOf(ctx context.Context, list []neighbour, o words.Options) ([]link, error) {
	place := map[int]int{}
	for i, w := range list {
		place[w.ID] = i
	}
	o.By, o.Top = o.By[:1], 200
	links := []link{}
	for i, w := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		near, err := words.Neighbours(x.o.Matrix, w.ID, o)
		if err != nil {
			return nil, err
		}
		for _, n := range near.Pairs {
			if j, ok := place[n.ID2]; ok && j > i {
				links = append(links, link{i, j, n.Scores[0]})
			}
		}
	}
	return links, nil
}

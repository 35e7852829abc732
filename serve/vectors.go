package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/collocate/collocate/vectors"
)

var errNoVectors = errors.New("there are no vectors: start the server with --vectors FILE")

func errNoWord(word string) error { return fmt.Errorf("the word %q does not occur", word) }

// nearAnswer is words whose vectors are near.
type nearAnswer struct {
	Similar []vectors.Near `json:"similar"`
}

// similar lists the words whose vectors are nearest to a word's.
func (x *exchange) similar(word string) {
	p := x.params()
	top := p.whole("top", 20, 1, maxCompany)
	x.near(p, func(v *vectors.Vectors) ([]vectors.Near, error) { return v.Similar(word, top, 1) })
}

// analogy answers: a is to b as c is to what?
func (x *exchange) analogy() {
	p := x.params()
	a, b, c := p.text("a"), p.text("b"), p.text("c")
	if a == "" || b == "" || c == "" {
		p.fail("want the words a, b and c: a is to b as c is to what?")
	}
	top := p.whole("top", 10, 1, maxCompany)
	x.near(p, func(v *vectors.Vectors) ([]vectors.Near, error) { return v.Analogy(a, b, c, top, 1) })
}

func (x *exchange) near(p *params, find func(*vectors.Vectors) ([]vectors.Near, error)) {
	if err := p.done(); err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	if x.o.Vectors == nil {
		x.refuse(http.StatusNotFound, errNoVectors)
		return
	}
	var answer nearAnswer
	err := x.work(shortLane, x.o.Limits.Time, func(context.Context) (err error) {
		answer.Similar, err = find(x.o.Vectors)
		return err
	})
	switch {
	case errors.Is(err, vectors.ErrUnknown):
		x.refuse(http.StatusNotFound, err)
	case err != nil:
		x.failed(err)
	default:
		x.reply(http.StatusOK, answer)
	}
}

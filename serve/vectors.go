package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/collocate/collocate/vectors"
)

var errNoVectors = errors.New("the server has no vectors: start it with serve.Options.Vectors")

func errNoWord(word string) error {
	return absent{fmt.Errorf("the word %q does not occur", word), "word"}
}

// nearAnswer lists words with similar vectors.
type nearAnswer struct {
	Similar []vectors.Near `json:"similar"`
}

// similar lists the words with the most similar vectors.
func (x *exchange) similar() {
	p, word := x.params(), x.r.PathValue("word")
	top := p.whole("top", 20, 1, maxCompany)
	x.near(p, func(v *vectors.Vectors) (any, error) {
		list, err := v.Similar(word, top, 1)
		return nearAnswer{list}, err
	})
}

// maxPlaced is the largest number of words on a map, whose cost grows with their cube.
const maxPlaced = 200

// around projects the words most similar to a word onto a plane.
func (x *exchange) around() {
	p, word := x.params(), x.r.PathValue("word")
	top := p.whole("top", 40, 1, maxPlaced)
	x.near(p, func(v *vectors.Vectors) (any, error) { return v.Around(word, top, 1) })
}

// analogy answers: a is to b as c is to which word?
func (x *exchange) analogy() {
	p := x.params()
	a, b, c := p.text("a"), p.text("b"), p.text("c")
	if a == "" || b == "" || c == "" {
		p.fail("want the words a, b and c, for the question: a is to b as c is to what?")
	}
	top := p.whole("top", 10, 1, maxCompany)
	x.near(p, func(v *vectors.Vectors) (any, error) {
		list, err := v.Analogy(a, b, c, top, 1)
		return nearAnswer{list}, err
	})
}

// near answers with what is found among the vectors.
func (x *exchange) near(p *params, find func(*vectors.Vectors) (any, error)) {
	if err := p.done(); err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	if x.o.Vectors == nil {
		x.refuse(http.StatusNotFound, errNoVectors)
		return
	}
	var answer any
	err := x.work(shortLane, x.o.Limits.Time, func(context.Context) (err error) {
		answer, err = find(x.o.Vectors)
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

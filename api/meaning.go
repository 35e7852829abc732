package api

import (
	"context"
	"errors"
	"strings"

	"github.com/collocate/collocate/encoder"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/search"
)

// Meaning ranks documents by the similarity of vectors, alone or together with words.
type Meaning struct {
	Vector       []float64     `ask:"vector" group:"Vectors" help:"rank by the similarity of this vector to those of documents, exactly: alone, or added to the score of the query's words, which then only add; as many numbers as the field has dimensions"`
	Like         string        `ask:"like" group:"Vectors" not:"root: the document and its vector are in one shard: send the vector" help:"rank by the similarity to the vector of the document with this ID, instead of a vector of your own; the document itself is a hit like others"`
	Encode       string        `ask:"encode" group:"Vectors" one:"also,only" not:"python: call the model, and give vector" help:"have the encoder make a vector of the query: also: rank by it, too, beside the words; only: by it alone"`
	VectorField  string        `ask:"vector_field" group:"Vectors" help:"the field with the documents' vectors; it may be left out if there is only one"`
	VectorWeight float64       `ask:"vector_weight" group:"Vectors" default:"1" above:"0" range:"..1e6" help:"weight of the similarity beside words"`
	WordWeight   float64       `ask:"word_weight" group:"Vectors" default:"1" above:"0" range:"..1e6" help:"weight of the words' score beside a vector or weighted tokens"`
	Fusion       search.Fusion `ask:"fusion" group:"Vectors" default:"sum" not:"root: the others need lists or maxima of all shards, so that a root adds with weights" help:"how words and vector become one score: sum: added with their weights; shares: the same, each divided by the best score or similarity of any document; rrf: weight/(60+rank) in the lists of the best by each, added"`
	Depth        int           `ask:"depth" group:"Vectors" default:"100" range:"1..1048576" not:"root: it is for rrf" help:"rrf: length of the lists that are combined"`

	words string // of the query, if Encode left none
	made  string // the parameter by which Vector was made; "" if it was given
}

// encodeOnly is the value of Meaning.Encode by which words do not count.
const encodeOnly = "only"

// Encodes reports whether the question needs a vector that an encoder makes.
func (q *Meaning) Encodes() bool { return q.Encode != "" }

// ErrEncoder is wrapped by errors of an encoder that gives no vectors.
var ErrEncoder = errors.New("the encoder gives no vector")

// CheckEncode returns an error if a question that asks for a vector cannot have one of an encoder,
// which may be nil.
func (q *Search) CheckEncode(e *encoder.Encoder) error {
	switch {
	case len(q.Vector) > 0 || q.Like != "":
		return wrongf("encode", "a vector is given: leave out one of the two")
	case e == nil:
		return wrongf("encode", "there is no encoder: the program is to be started with one")
	case strings.TrimSpace(q.Query) == "":
		return wrongf("q", "it is empty: want a text for the encoder")
	}
	return nil
}

// Encode has an encoder make the vectors of the questions that ask for that, from their queries.
// Afterwards they are questions with vectors, as if these had been given, but for those of which
// the encoder can make none. e may be nil.
func Encode(ctx context.Context, e *encoder.Encoder, asked ...*Search) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	var texts []string
	var of []*Search
	for _, q := range asked {
		if !q.Encodes() {
			continue
		}
		if err := q.CheckEncode(e); err != nil {
			return err
		}
		texts, of = append(texts, q.Query), append(of, q)
	}
	if len(of) == 0 {
		return nil
	}
	vectors, err := e.Queries(ctx, texts)
	if err != nil {
		return &encoderError{err}
	}
	for i, q := range of {
		if vectors[i] == nil {
			continue // nearest refuses it
		}
		q.Vector = make([]float64, len(vectors[i]))
		for n, x := range vectors[i] {
			q.Vector[n] = float64(x)
		}
		if q.made = "encode"; q.Encode == encodeOnly {
			q.words, q.Query = q.Query, ""
		}
		q.Encode = ""
	}
	return nil
}

// TakeVector has the question rank by the vector of another, which Encode made.
func (q *Meaning) TakeVector(of *Meaning) { q.Vector, q.made = of.Vector, of.made }

// encoderError is an error of an encoder.
type encoderError struct{ error }

func (e *encoderError) Is(target error) bool { return target == ErrEncoder }
func (e *encoderError) Unwrap() error        { return e.error }

// nearest returns the part of a request for a vector; nil without one. If there are weighted
// tokens, the query has the weight of the words already.
func (q *Meaning) nearest(tokens bool) (*search.Nearest, error) {
	if q.Encodes() { // Encode was not called
		return nil, wrongf("encode", "there is no vector: the encoder knows no word of the query, "+
			"or this request takes only a vector itself")
	}
	if len(q.Vector) == 0 && q.Like == "" {
		for _, p := range []struct {
			name  string
			given bool
			also  string
		}{{"vector_field", q.VectorField != "", ""},
			{"vector_weight", q.VectorWeight != 0 && q.VectorWeight != 1, ""},
			{"word_weight", !tokens && q.WordWeight != 0 && q.WordWeight != 1, ", or sparse"},
			{"fusion", q.Fusion != search.WeightedSum, ""},
			{"depth", q.Depth != 0 && q.Depth != 100, ""}} {
			if p.given {
				return nil, wrongf(p.name, "it needs a vector, or like%s", p.also)
			}
		}
		return nil, nil
	}
	if len(q.Vector) > 0 && q.Like != "" {
		return nil, wrongf("like", "there is a vector beside it: give one of them")
	}
	n := &search.Nearest{Field: q.VectorField, Like: q.Like, Weight: q.VectorWeight, WordWeight: q.WordWeight, Fusion: q.Fusion, Depth: q.Depth}
	if tokens {
		n.WordWeight = 1
	}
	for _, x := range q.Vector {
		n.Vector = append(n.Vector, float32(x))
	}
	if q.Depth != 0 && q.Depth != 100 && q.Fusion != search.ReciprocalRanks {
		return nil, wrongf("depth", "it is for fusion rrf")
	}
	return n, nil
}

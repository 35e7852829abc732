package api

import (
	"bytes"
	"context"
	"errors"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/vectors"
	"github.com/collocate/collocate/words"
)

// Similar asks for the words with the most similar vectors.
type Similar struct {
	Words []string `ask:"words" also:"word" path:"word" flag:"" commas:"" needed:"" help:"the words"`
	Top   int      `ask:"top" also:"k" default:"10" range:"1.." at:"http: most=1000, one answer is held in memory; mcp: most=500, an assistant reads less" help:"number of similar words"`
}

// SimilarQuestion declares the parameters of Similar.
var SimilarQuestion = about(OfVectors, declare[Similar]("similar",
	"list the words whose vectors have the largest cosine with that of a word", noShards).
	in("http: /v1/words/{word}/similar; python: Vectors.similar"), (*Similar).answer)

// SimilarWords is the answer to Similar.
type SimilarWords struct {
	Words []NearWord `json:"words"` // in the order of the question
}

// NearWord is a word with those that are similar.
type NearWord struct {
	Word    string         `json:"word"`    // as it was given
	Similar []vectors.Near `json:"similar"` // the most similar first
}

// One returns the answer about the first word.
func (s *SimilarWords) One() *NearWord { return &s.Words[0] }

// answer is Do for doors that answer about all words or not at all.
func (q *Similar) answer(ctx context.Context, e *Env) (*SimilarWords, error) {
	list, err := q.Do(ctx, e)
	return &SimilarWords{list}, err
}

// Do finds the words that are similar to each word that has a vector. The error also names those
// that have none, and then comes with the answers for the others.
func (q *Similar) Do(ctx context.Context, e *Env) (list []NearWord, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if e.Vectors == nil {
		return nil, ErrNoVectors
	}
	s, err := e.Vectors.NewSearcher(e.Engine, e.Device, e.Threads)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var known []string
	var unknown []error
	for _, word := range q.Words {
		if _, err := e.Vectors.Number(word); err != nil {
			unknown = append(unknown, err)
			continue
		}
		known = append(known, word)
	}
	found, err := s.Similar(ctx, known, q.Top)
	if err != nil {
		return nil, err
	}
	for i, near := range found {
		list = append(list, NearWord{known[i], near})
	}
	return list, errors.Join(unknown...)
}

// Analogy asks: a is to b as c is to which word?
type Analogy struct {
	A   string `ask:"a" flag:"" needed:"" help:"the first word: a is to b as c is to what?"`
	B   string `ask:"b" flag:"" needed:"" help:"the second word, which the first is compared with"`
	C   string `ask:"c" flag:"" needed:"" help:"the third word, for which the like is looked for"`
	Top int    `ask:"top" also:"k" default:"5" range:"1.." at:"http: most=1000, one answer is held in memory; mcp: most=500, an assistant reads less" help:"number of words"`
}

// AnalogyQuestion declares the parameters of Analogy.
var AnalogyQuestion = about(OfVectors, declare[Analogy]("analogy", "find the words that are to one word what a second is to a third",
	noShards, "gpu: one question is quick on cores", "page: it shows similar words").
	in("python: Vectors.analogy"), (*Analogy).Do)

// NearWords is the answer to Analogy.
type NearWords struct {
	Similar []vectors.Near `json:"similar"` // the nearest first
}

// Do finds the words whose vectors are nearest to b - a + c.
func (q *Analogy) Do(ctx context.Context, e *Env) (*NearWords, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if q.A == "" || q.B == "" || q.C == "" {
		return nil, wrong("", errors.New("want the words a, b and c, for the question: a is to b as c is to what?"))
	}
	if e.Vectors == nil {
		return nil, ErrNoVectors
	}
	list, err := e.Vectors.Analogy(q.A, q.B, q.C, q.Top, e.Threads)
	return &NearWords{list}, err
}

// Map asks for a picture of the words around a word.
type Map struct {
	Word string `ask:"word" path:"word" needed:"" help:"the word in the middle"`
	Top  int    `ask:"top" default:"40" range:"1..200" help:"number of words around it"`
}

// MapQuestion declares the parameters of Map.
var MapQuestion = about(OfVectors, declare[Map]("map", "place a word and those with similar vectors in a plane",
	noShards, "mcp: it is for drawing",
	"gpu: there are few words").in("http: /v1/words/{word}/map; python: Vectors.map"), (*Map).Do)

// Do places the words most similar to a word by their first two principal components.
func (q *Map) Do(ctx context.Context, e *Env) (*vectors.Plane, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if e.Vectors == nil {
		return nil, ErrNoVectors
	}
	return e.Vectors.Around(q.Word, q.Top, e.Threads)
}

// Words asks which words a matrix has.
type Words struct {
	Prefix string `ask:"prefix" help:"only words that begin with this"`
	Limit  int    `ask:"limit" default:"10" range:"1..1000" help:"number of words"`
}

// WordsQuestion and WordQuestion declare the parameters of Words and OneWord.
var (
	WordsQuestion = about(OfMatrix, declare[Words]("words", "list the most frequent words of a matrix, with their frequencies",
		noShards, "python: Cooccurrence.vocabulary has them",
		"gpu: there is nothing to compute"), (*Words).Do)
	WordQuestion = about(OfMatrix, declare[OneWord]("word", "tell how frequent a word of a matrix is",
		noShards, "command: neighbours tells it", "mcp: company tells it", "python: Cooccurrence.vocabulary has it",
		"page: the answer about associated words has it", "gpu: there is nothing to compute").
		in("http: /v1/words/{word}"), (*OneWord).Do)
)

// WordsAnswer is the answer to Words.
type WordsAnswer struct {
	Words []Word `json:"words"` // the most frequent first
	More  bool   `json:"more"`  // there are further words
}

// Do lists the words.
func (q *Words) Do(ctx context.Context, e *Env) (*WordsAnswer, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	m := e.Matrix
	if m == nil {
		return nil, ErrNoMatrix
	}
	a, prefix := &WordsAnswer{Words: []Word{}}, []byte(q.Prefix)
	for id := 0; id < m.Len() && !a.More; id++ {
		if id&0xffff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !bytes.HasPrefix(m.Word(id), prefix) {
			continue
		}
		if a.More = len(a.Words) == q.Limit; !a.More {
			w, err := e.word(id)
			if err != nil {
				return nil, err
			}
			a.Words = append(a.Words, w)
		}
	}
	return a, nil
}

// OneWord asks for the frequencies of a word.
type OneWord struct {
	Word string `ask:"word" path:"word" needed:"" help:"the word, to which the matrix's analyzer is applied"`
}

// Do looks the word up.
func (q *OneWord) Do(ctx context.Context, e *Env) (*Word, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if e.Matrix == nil {
		return nil, ErrNoMatrix
	}
	id, err := words.Find(e.Matrix, q.Word)
	if _, unknown := errors.AsType[*words.UnknownWord](err); err != nil && !unknown {
		return nil, wrong("word", err)
	}
	if err != nil {
		return nil, err
	}
	w, err := e.word(id)
	return &w, err
}

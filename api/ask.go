package api

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/given"
)

// Source is what a question about words is asked of. A door offers the questions of what it has.
type Source uint8

// The sources: none is that of other questions; text is a corpus, or the stored text of an index.
const (
	OfNone Source = iota
	OfText
	OfIndex
	OfMatrix
	OfVectors
)

var sourceNames = choice.New[Source]("source", "none", "text", "index", "matrix", "vectors")

func (s Source) String() string { return sourceNames.Of(s) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (s Source) MarshalText() ([]byte, error) { return sourceNames.Text(s) }

// UnmarshalText is the inverse of MarshalText.
func (s *Source) UnmarshalText(name []byte) error { return sourceNames.Set(s, string(name)) }

// all has every question that was declared.
var all []*Question

// Questions lists all of them, by their names.
func Questions() []*Question {
	list := slices.Clone(all)
	slices.SortFunc(list, func(a, b *Question) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// AboutWords lists the questions about words that a door answers. Doors offer them without a line
// for each: New, Values or JSON, and Ask.
func AboutWords(d Door) []*Question {
	return slices.DeleteFunc(Questions(), func(q *Question) bool { return q.Of == OfNone || q.Without(d) != "" })
}

// about completes the declaration of a question about words: what it is asked of, and what answers
// it.
func about[Q, A any](of Source, q *Question, do func(*Q, context.Context, *Env) (A, error)) *Question {
	q.Of, q.answer = of, reflect.TypeFor[A]()
	q.do = func(ctx context.Context, e *Env, question any) (any, error) { return do(question.(*Q), ctx, e) }
	return q
}

// aboutPlaces completes the declaration of a question about places: what answers it.
func aboutPlaces[Q, A any](q *Question, do func(*Q, context.Context, *Places) (A, error)) *Question {
	q.answer = reflect.TypeFor[A]()
	q.places = func(ctx context.Context, on *Places, question any) (any, error) {
		return do(question.(*Q), ctx, on)
	}
	return q
}

// answers completes the declaration of any other question by the type of its answers.
func answers[A any](q *Question) *Question {
	q.answer = reflect.TypeFor[A]()
	return q
}

// New returns a question with the defaults of a door, a pointer to a struct.
func (q *Question) New(d Door) any {
	question := reflect.New(q.kind).Interface()
	q.FillAt(d, question)
	return question
}

// SetPath sets what a URL has in its path. value returns it by its name there.
func (q *Question) SetPath(question any, value func(name string) string) error {
	for i := range q.Params() {
		if p := &q.Params()[i]; p.Path != "" {
			if err := p.Set(question, value(p.Path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Texts returns all texts of a question that are free, such as its query, with blanks between them.
func (q *Question) Texts(question any) string {
	var list []string
	for _, p := range q.Params() {
		if v := reflect.ValueOf(question).Elem().FieldByIndex(p.field); v.Kind() == reflect.String && !p.text && v.Len() > 0 {
			list = append(list, v.String())
		}
	}
	return strings.Join(list, " ")
}

// Ask answers a question about words. An answer about several words has a method One, whose value
// is the answer at a door that takes one word in the path of a URL.
func (q *Question) Ask(ctx context.Context, e *Env, question any) (any, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	answer, err := q.do(ctx, e, question)
	if err == nil && e.Door == HTTP {
		if one := reflect.ValueOf(answer).MethodByName("One"); one.IsValid() {
			return one.Call(nil)[0].Interface(), nil
		}
	}
	return answer, err
}

// AskPlaces answers a question about places.
func (q *Question) AskPlaces(ctx context.Context, on *Places, question any) (any, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	return q.places(ctx, on, question)
}

// Check refuses a question that contradicts itself, before its data are read.
func Check(question any) error {
	if q, ok := question.(interface{ Check() error }); ok {
		return q.Check()
	}
	return nil
}

// PointsReadingOf returns the part of a question that says how points are read.
func PointsReadingOf(question any) *PointsReading {
	return reflect.ValueOf(question).Elem().FieldByName("PointsReading").Addr().Interface().(*PointsReading)
}

// EngineOf returns the engine that a question names, or nil if it names none.
func EngineOf(question any) *engine.Kind {
	f := reflect.ValueOf(question).Elem().FieldByName("Engine")
	if !f.IsValid() {
		return nil
	}
	return f.Interface().(*engine.Kind)
}

// Answer returns the type of the answers at a door. Changes of an index, which a server makes later
// than it answers, and its state have other types over HTTP.
func (q *Question) Answer(d Door) reflect.Type {
	if one, ok := q.answer.MethodByName("One"); ok && d == HTTP {
		return one.Type.Out(0)
	}
	return q.answer
}

// ReadingOf returns the part of a question that says how a corpus is read, or nil if it has none.
func ReadingOf(question any) *Reading {
	f := reflect.ValueOf(question).Elem().FieldByName("Reading")
	if !f.IsValid() {
		return nil
	}
	return f.Addr().Interface().(*Reading)
}

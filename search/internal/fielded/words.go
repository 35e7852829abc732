package fielded

import (
	"slices"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/text"
)

// word is a word of a query, with its form in each field.
type word struct {
	text   string
	weight float64
	df     uint64         // the largest over its fields, summed over all segments
	terms  [][]index.Term // by segment and field; DF is 0 where it does not occur
	term   bm25.Term
	forms  []string
}

// words looks up the words of a request. unknown says that at least one of them is in no field.
func (s *scoring) words(r *ask.Request) (list []word, unknown bool, err error) {
	places, err := s.places(r)
	if err != nil {
		return nil, false, err
	}
	for _, p := range places {
		if i := slices.IndexFunc(list, func(w word) bool { return slices.Equal(w.forms, p.forms) }); i >= 0 {
			list[i].weight += p.weight
			continue
		}
		list = append(list, p)
	}
	known := list[:0]
	for _, w := range list {
		w.terms = make([][]index.Term, len(s.fields))
		for n := range w.terms {
			w.terms[n] = make([]index.Term, len(s.weight))
		}
		for i, form := range w.forms {
			if form == "" {
				continue
			}
			df := uint64(0)
			for n, list := range s.fields {
				t, err := list[i].index.Lookup([]byte(form))
				if err != nil {
					return nil, false, err
				}
				w.terms[n][i] = t
				df += uint64(t.DF)
			}
			w.df = max(w.df, df)
		}
		if w.df == 0 {
			unknown = true
			continue
		}
		w.term = s.term.Term(w.df, w.weight)
		known = append(known, w)
	}
	return known, unknown, nil
}

// places returns the words of the query in order, repetitions included, in the form of each field.
func (s *scoring) places(r *ask.Request) (list []word, err error) {
	if len(r.Words) > 0 {
		for _, w := range r.Words {
			weight := w.Weight
			if weight == 0 {
				weight = 1
			}
			if !(weight > 0) {
				return nil, ask.Refuse("word %q: weight %v: want a positive number", w.Text,
					w.Weight)
			}
			forms := make([]string, len(s.weight))
			for i := range forms {
				forms[i] = w.Text
			}
			list = append(list, word{text: w.Text, weight: weight, forms: forms})
		}
		return list, nil
	}
	at := map[uint32]int{} // index in list of the word that begins at a byte offset
	tokens := text.Tokens{WantSource: true}
	var starts []uint32
	for i, f := range s.fields[0] {
		tokens.At = tokens.At[:0]
		if err := f.analyzer.Analyze([]byte(r.Text), &tokens); err != nil {
			return nil, err
		}
		for t, source := range tokens.Source {
			if tokens.Covers(t) {
				continue // each word is known by where it begins, and its parts are words, too
			}
			n, ok := at[source.Start]
			if !ok {
				n = len(list)
				at[source.Start] = n
				starts = append(starts, source.Start)
				list = append(list, word{weight: 1, forms: make([]string, len(s.weight))})
			}
			form := string(tokens.Word(t))
			if w := &list[n]; w.forms[i] == "" {
				w.forms[i] = form
				if w.text == "" {
					w.text = form
				}
			}
		}
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(starts[a]) - int(starts[b]) })
	sorted := make([]word, len(list))
	for i, n := range order {
		sorted[i] = list[n]
	}
	return sorted, nil
}

package tree

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/columns"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/query"
)

// tally counts the values of a field.
type tally struct {
	want  ask.Facet
	field *fields.Field
	step  float64 // of numbers; 0: no ranges

	words   []ordCounts     // keywords, by segment
	merged  map[string]int  // keywords, merged from other indexes
	numbers map[float64]int // by the start of their ranges
	dates   map[date]int
}

// ordCounts are the counts of a column's keywords, by ordinal.
type ordCounts struct {
	column *columns.Column
	counts []uint32
}

// date is a year, a month or a day; unused fields are 0.
type date struct{ year, month, day int }

func newTally(want ask.Facet, f *fields.Field) (*tally, error) {
	t := &tally{want: want, field: f, numbers: map[float64]int{}, dates: map[date]int{}}
	if t.want.N == 0 {
		t.want.N = 10
	}
	if t.want.N < 0 || t.want.N > ask.MaxK && t.want.N != ask.AllValues {
		return nil, ask.Refuse("facet %q: %d values: want 1 to %d", want.Field, want.N, ask.MaxK)
	}
	return t, t.ranges()
}

// ranges parses the step of the ranges.
func (t *tally) ranges() (err error) {
	want := &t.want
	switch t.field.Type {
	case fields.Number:
		if want.Step == "" {
			return nil
		}
		if t.step, err = fields.ParseNumber([]byte(want.Step)); err != nil || !(t.step > 0) {
			return ask.Refuse("facet %q: step %q: want a positive number", want.Field, want.Step)
		}
	case fields.Date:
		if want.Step == "" {
			want.Step = "year"
		}
		if !slices.Contains([]string{"year", "month", "day"}, want.Step) {
			return ask.Refuse("facet %q: step %q: want year, month or day", want.Field, want.Step)
		}
	default:
		if want.Step != "" {
			return ask.Refuse("facet %q: step %q: keywords have no ranges", want.Field, want.Step)
		}
	}
	return nil
}

// add counts the values of some documents.
func (t *tally) add(s *steps, c *columns.Column, docs *docset.Set) error {
	if t.field.Type == fields.Keyword {
		counts, err := c.Counts(docs)
		t.words = append(t.words, ordCounts{c, counts})
		return err
	}
	if err := c.Verify(docs); err != nil {
		return err
	}
	switch t.field.Type {
	case fields.Number:
		for doc := range docs.All() {
			if !s.step(1) {
				return s.err
			}
			if v, ok := c.Number(int(doc)); ok {
				t.numbers[rangeOf(v, t.step)+0]++ // turns -0 into 0
			}
		}
	case fields.Date:
		for doc := range docs.All() {
			if !s.step(1) {
				return s.err
			}
			if v, ok := c.Date(int(doc)); ok {
				t.dates[t.dateOf(v)]++
			}
		}
	}
	return nil
}

// dateOf returns the year, month or day of a time, depending on the step.
func (t *tally) dateOf(millis int64) date {
	y, m, d := time.UnixMilli(millis).UTC().Date()
	on := date{y, int(m), d}
	if t.want.Step != "day" {
		on.day = 0
	}
	if t.want.Step == "year" {
		on.month = 0
	}
	return on
}

// merge adds the counts of another index, which must have returned all values.
func (t *tally) merge(from *ask.FacetCounts) error {
	if from.Field != t.want.Field || from.Distinct != len(from.Values) {
		return fmt.Errorf("facet %q: values of different kinds", t.want.Field)
	}
	if t.merged == nil {
		t.merged = map[string]int{}
	}
	for _, v := range from.Values {
		switch t.field.Type {
		case fields.Number:
			text := v.Value
			if t.step > 0 {
				text, _, _ = strings.Cut(strings.TrimPrefix(text, "["), " TO ")
			}
			begin, err := fields.ParseNumber([]byte(text))
			if err != nil {
				return fmt.Errorf("facet %q: value %q: %w", t.want.Field, v.Value, err)
			}
			t.numbers[begin] += v.Docs
		case fields.Date:
			on, err := fields.ParseDate([]byte(v.Value))
			if err != nil {
				return fmt.Errorf("facet %q: value %q: %w", t.want.Field, v.Value, err)
			}
			t.dates[t.dateOf(on)] += v.Docs
		default:
			t.merged[v.Value] += v.Docs
		}
	}
	return nil
}

// fine reports whether ranges of a step cannot be told apart near v, in floating point.
func fine(v, step float64) bool { return step == 0 || !(math.Abs(v/step) < 1<<52) }

// rangeOf returns the start of the range of a number: the multiple of step with begin <= v <
// begin+step, in floating point. A number that is too large for the step is a range of its own.
func rangeOf(v, step float64) float64 {
	if fine(v, step) {
		return v
	}
	n := math.Floor(v / step)
	for n*step > v {
		n--
	}
	for (n+1)*step <= v && n+1 > n {
		n++
	}
	return n * step
}

// counts returns the most frequent values.
func (t *tally) counts() (ask.FacetCounts, error) {
	found := ask.FacetCounts{Field: t.want.Field, Values: []ask.FacetValue{}}
	add := func(value string, docs int, part query.Node) {
		q := query.Field{Name: t.want.Field, Part: part}
		found.Values = append(found.Values, ask.FacetValue{Value: value, Docs: docs, Query: q.String()})
	}
	switch t.field.Type {
	case fields.Number:
		found.Distinct = len(t.numbers)
		for _, v := range most(t.numbers, t.want.N, cmp.Compare) {
			if fine(v, t.step) {
				add(number(v), t.numbers[v], query.Phrase{Text: number(v)})
				continue
			}
			next := (math.Round(v/t.step) + 1) * t.step
			name := fmt.Sprintf("[%s TO %s}", number(v), number(next))
			add(name, t.numbers[v], query.Range{From: number(v), To: number(next), OpenTo: true})
		}
	case fields.Date:
		found.Distinct = len(t.dates)
		for _, v := range most(t.dates, t.want.N, compareDates) {
			add(v.String(), t.dates[v], query.Phrase{Text: v.String()})
		}
	default:
		list, distinct, err := t.mostWords()
		if err != nil {
			return found, err
		}
		found.Distinct = distinct
		for _, f := range list {
			add(f.Value, f.Docs, query.Phrase{Text: f.Value})
		}
	}
	return found, nil
}

// number writes a number so that fields.ParseNumber reads the same one: integers from 2^53 on with
// all digits, since rounded ones are refused, and long ones with an exponent.
func number(v float64) string {
	switch size := math.Abs(v); {
	case size >= 1e21:
		return strconv.FormatFloat(v, 'e', -1, 64)
	case size >= 1<<53:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func (d date) String() string {
	switch {
	case d.month == 0:
		return fmt.Sprintf("%04d", d.year)
	case d.day == 0:
		return fmt.Sprintf("%04d-%02d", d.year, d.month)
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.year, d.month, d.day)
}

func compareDates(a, b date) int {
	return cmp.Or(cmp.Compare(a.year, b.year), cmp.Compare(a.month, b.month),
		cmp.Compare(a.day, b.day))
}

// most returns the n keys with the highest counts, ties in increasing order.
func most[K comparable](counts map[K]int, n int, compare func(a, b K) int) []K {
	list := slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), compare(a, b))
	})
	return list[:min(n, len(list))]
}

// mostWords returns the most frequent keywords of all segments, and the number of distinct ones.
func (t *tally) mostWords() (list []columns.Facet, distinct int, err error) {
	if len(t.words) == 1 {
		return t.words[0].column.Most(t.words[0].counts, t.want.N)
	}
	all := t.merged
	if all == nil {
		all = map[string]int{}
	}
	for _, s := range t.words {
		for ord, docs := range s.counts {
			if docs == 0 {
				continue
			}
			value, err := s.column.Value(ord)
			if err != nil {
				return nil, 0, err
			}
			all[value] += int(docs)
		}
	}
	for _, value := range most(all, t.want.N, cmp.Compare) {
		list = append(list, columns.Facet{Value: value, Docs: all[value]})
	}
	return list, len(all), nil
}

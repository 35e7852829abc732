package papersbench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/bench/weighbench"
	"github.com/collocate/collocate/dict"
)

// dictKinds are the paper's two kinds, and our form of its XBW.
var dictKinds = []dict.Kind{dict.STT, dict.XBWPaper, dict.XBW}

// dictionaries makes figures 8, 9, 11 and 12 and table 3 of the paper on dictionaries, on one core.
func (o *Options) dictionaries(ctx context.Context, a amount) (*report.Report, error) {
	// Ten million words take a minute of one core where they are slowest; the device's hundred
	// million would take hours, for the same nanoseconds.
	a.lookups = min(a.lookups, 1e7)
	last := len(a.vocabularies) - 1
	memory := dictTable("memory", "Figure 8: megabytes of a dictionary by words in the vocabulary")
	frequent := dictTable("frequent",
		fmt.Sprintf("Figure 11: nanoseconds per character, %d words by frequency", a.lookups))
	uniform := dictTable("uniform",
		fmt.Sprintf("Figure 12: nanoseconds per character, %d words, uniform", a.lookups))
	// The paper's vocabularies in this figure have 10 million and 100,000 words.
	byLength := report.Table{Name: "by-length",
		Title:  "Figure 9: milliseconds by words of the text, for two vocabularies",
		Header: []string{"words"}}
	for _, m := range textLengths(a.lookups) {
		byLength.Rows = append(byLength.Rows, []string{strconv.Itoa(m)})
	}
	lengths := report.Table{Name: "lengths", Title: "Table 3: length of words in a text",
		Header: []string{"words", "mean by frequency", "variance", "mean equally often",
			"variance"}}
	part := func(k dict.Kind, n int) string { return fmt.Sprintf("dict.%v.%d", k, n) }
	// Words are generated for the parts that are measured, or for the tables of all.
	all, some := true, map[int]bool{}
	for _, n := range a.vocabularies {
		for _, k := range dictKinds {
			kept, err := o.store.Has(part(k, n))
			if err != nil {
				return nil, err
			}
			wanted := o.store.Wants(part(k, n))
			all, some[n] = all && (kept || wanted), some[n] || wanted && !kept
		}
	}
	ranked := weighbench.Generated(a.vocabularies[last])
	for i, n := range a.vocabularies {
		if !all && !some[n] {
			continue
		}
		words, err := ranked.Top(n)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		byFrequency, equally := ranked.Draw(n, a.lookups, 1, true), ranked.Draw(n, a.lookups, 1, false)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m, v := lengthsOf(byFrequency)
		mu, vu := lengthsOf(equally)
		lengths.Rows = append(lengths.Rows, []string{strconv.Itoa(n), m, v, mu, vu})
		var texts []*dict.Text
		if i == last || i == max(0, last-2) {
			for _, m := range textLengths(a.lookups) {
				texts = append(texts, ranked.Draw(n, m, 1, true))
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
		}
		rows := [3][]string{{strconv.Itoa(n)}, {strconv.Itoa(n)}, {strconv.Itoa(n)}}
		for _, k := range dictKinds {
			of, err := report.DoValue(o.store, part(k, n), func() (dictTimes, error) {
				return o.dictionary(ctx, words, k, byFrequency, equally, texts)
			})
			if errors.Is(err, report.ErrLeftOut) {
				continue
			}
			if err != nil {
				return nil, err
			}
			for j := range rows {
				rows[j] = append(rows[j], of.Cells[j])
			}
			if len(texts) > 0 {
				byLength.Header = append(byLength.Header, fmt.Sprintf("%v of %d", k, n))
			}
			for j, ms := range of.Times {
				byLength.Rows[j] = append(byLength.Rows[j], ms)
			}
		}
		memory.Rows, frequent.Rows, uniform.Rows = append(memory.Rows, rows[0]),
			append(frequent.Rows, rows[1]), append(uniform.Rows, rows[2])
	}
	if !all {
		return nil, report.ErrLeftOut
	}
	r := &report.Report{Name: "dict", Title: "Dictionaries on one core",
		Intro: "Generated words, looked up one after the other; the best of two rounds. `dict bench` measures more kinds."}
	r.Add(report.Section{Title: "Dictionaries", Tables: []report.Table{memory, byLength, frequent, uniform, lengths}})
	return r, nil
}

func dictTable(name, title string) report.Table {
	t := report.Table{Name: name, Title: title, Header: []string{"words"}}
	for _, k := range dictKinds {
		t.Header = append(t.Header, k.String())
	}
	return t
}

// textLengths returns the lengths of texts in figure 9.
func textLengths(most int) []int { return []int{most / 4, most / 2, most} }

// dictTimes are the cells of one kind of dictionary: megabytes and nanoseconds per character for
// both texts, and milliseconds for the texts of several lengths.
type dictTimes struct {
	Cells [3]string
	Times []string
}

// dictionary measures one kind. An STT whose table does not fit into memory is not built; only its
// size is computed.
func (o *Options) dictionary(ctx context.Context, words *dict.Words, k dict.Kind, frequent,
	uniform *dict.Text, lengths []*dict.Text) (of dictTimes, err error) {
	if k == dict.STT {
		need, err := dict.TableBytes(ctx, words)
		if err != nil {
			return of, err
		}
		if need > o.Memory/2 {
			of.Cells[0], of.Times = fmt.Sprintf("%.2f", float64(need)/1e6), make([]string, len(lengths))
			return of, nil
		}
	}
	var b bytes.Buffer
	if err := dict.Build(ctx, words, dict.Options{Kind: k, Memory: o.Memory}, &b); err != nil {
		return of, err
	}
	d, err := dict.Parse(b.Bytes())
	if err != nil {
		return of, err
	}
	of.Cells[0] = fmt.Sprintf("%.2f", float64(b.Len())/1e6)
	for i, t := range append([]*dict.Text{frequent, uniform}, lengths...) {
		var timing weighbench.Timing
		for range 2 {
			found, err := timing.Round(ctx, t, d)
			if err == nil && found != t.Len() {
				err = fmt.Errorf("%v found %d of %d words", k, found, t.Len())
			}
			if err != nil {
				return of, err
			}
		}
		if i < 2 {
			of.Cells[1+i] = fmt.Sprintf("%.2f", float64(timing.Total().Nanoseconds())/float64(t.Chars()))
		} else {
			of.Times = append(of.Times, fmt.Sprintf("%.2f", timing.Total().Seconds()*1e3))
		}
	}
	return of, nil
}

// dictionariesGPU makes figures 8 to 12 on the device.
func (o *Options) dictionariesGPU(ctx context.Context, a amount) (*report.Report, error) {
	if o.Device == nil {
		return nil, nil
	}
	ranked := weighbench.Generated(a.vocabularies[len(a.vocabularies)-1])
	return weighbench.RunDict(ctx, o.Device,
		weighbench.DictOptions{Ranked: ranked, Kinds: dictKinds, Lookups: a.lookups,
			Memory: o.Memory, Log: o.Say})
}

// lengthsOf returns the mean and the variance of the words' lengths.
func lengthsOf(t *dict.Text) (mean, variance string) {
	n, sum, squares := float64(t.Len()), 0.0, 0.0
	for i := range t.Len() {
		l := float64(len(t.Word(i)))
		sum, squares = sum+l, squares+l*l
	}
	m := sum / n
	return fmt.Sprintf("%.2f", m), fmt.Sprintf("%.2f", squares/n-m*m)
}

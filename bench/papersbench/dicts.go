package papersbench

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/bench/weighbench"
	"github.com/collocate/collocate/dict"
)

// dictKinds are the paper's two, and its XBW as we have it.
var dictKinds = []dict.Kind{dict.STT, dict.XBWPaper, dict.XBW}

// dictionaries is figures 8, 9, 11 and 12 and table 3 of the paper on dictionaries, on one core.
func (o *Options) dictionaries(ctx context.Context, a amount) (*report.Report, error) {
	memory := dictTable("memory", "Figure 8: megabytes of a dictionary by words in the vocabulary")
	frequent := dictTable("frequent", fmt.Sprintf("Figure 11: nanoseconds a character, %d words by frequency", a.lookups))
	uniform := dictTable("uniform", fmt.Sprintf("Figure 12: nanoseconds a character, %d words equally often", a.lookups))
	byLength := dictTable("by-length", fmt.Sprintf("Figure 9: milliseconds by words of the text, vocabulary of %d", a.vocabularies[len(a.vocabularies)-1]))
	lengths := report.Table{Name: "lengths", Title: "Table 3: length of words in a text", Header: []string{"words", "mean by frequency", "variance", "mean equally often", "variance"}}
	ranked := weighbench.Generated(a.vocabularies[len(a.vocabularies)-1])
	for i, n := range a.vocabularies {
		words, err := ranked.Top(n)
		if err != nil {
			return nil, err
		}
		byFrequency, equally := ranked.Draw(n, a.lookups, 1, true), ranked.Draw(n, a.lookups, 1, false)
		m, v := lengthsOf(byFrequency)
		mu, vu := lengthsOf(equally)
		lengths.Rows = append(lengths.Rows, []string{strconv.Itoa(n), m, v, mu, vu})
		rows := [4][]string{{strconv.Itoa(n)}, {strconv.Itoa(n)}, {strconv.Itoa(n)}, {strconv.Itoa(a.lookups)}}
		for _, k := range dictKinds {
			cells, err := o.dictionary(ctx, words, k, byFrequency, equally)
			if err != nil {
				return nil, err
			}
			for j := range rows {
				rows[j] = append(rows[j], cells[j])
			}
		}
		memory.Rows, frequent.Rows, uniform.Rows = append(memory.Rows, rows[0]), append(frequent.Rows, rows[1]), append(uniform.Rows, rows[2])
		if i == len(a.vocabularies)-1 {
			byLength.Rows = append(byLength.Rows, rows[3])
		}
	}
	r := &report.Report{Name: "dict", Title: "Dictionaries on one core", Intro: "Made-up words, the most frequent first, looked up one after the other; the best of two rounds. `dict bench` measures more kinds."}
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

// dictionary is megabytes, nanoseconds a character for both texts, and milliseconds for the first.
// A table of next nodes that does not fit memory is not built; its size is known anyway.
func (o *Options) dictionary(ctx context.Context, words *dict.Words, k dict.Kind, frequent, uniform *dict.Text) (cells [4]string, err error) {
	if k == dict.STT {
		need, err := dict.TableBytes(ctx, words)
		if err != nil {
			return cells, err
		}
		if need > o.Memory/2 {
			return [4]string{fmt.Sprintf("%.2f", float64(need)/1e6)}, nil
		}
	}
	var b bytes.Buffer
	if err := dict.Build(ctx, words, dict.Options{Kind: k, Memory: o.Memory}, &b); err != nil {
		return cells, err
	}
	d, err := dict.Parse(b.Bytes())
	if err != nil {
		return cells, err
	}
	cells[0] = fmt.Sprintf("%.2f", float64(b.Len())/1e6)
	for i, t := range []*dict.Text{frequent, uniform} {
		var timing weighbench.Timing
		for range 2 {
			if found := timing.Round(t, d); found != t.Len() {
				return cells, fmt.Errorf("%v found %d of %d words", k, found, t.Len())
			}
		}
		cells[1+i] = fmt.Sprintf("%.2f", float64(timing.Total().Nanoseconds())/float64(t.Chars()))
		if i == 0 {
			cells[3] = fmt.Sprintf("%.2f", timing.Total().Seconds()*1e3)
		}
	}
	return cells, nil
}

// dictionariesGPU is figures 8 to 12 on the device.
func (o *Options) dictionariesGPU(ctx context.Context, a amount) (*report.Report, error) {
	if o.Device == nil {
		return nil, nil
	}
	ranked := weighbench.Generated(a.vocabularies[len(a.vocabularies)-1])
	return weighbench.RunDict(ctx, o.Device, weighbench.DictOptions{Ranked: ranked, Kinds: dictKinds, Lookups: a.lookups, Memory: o.Memory, Log: o.Say})
}

// lengthsOf is mean and variance of the words' lengths.
func lengthsOf(t *dict.Text) (mean, variance string) {
	n, sum, squares := float64(t.Len()), 0.0, 0.0
	for i := range t.Len() {
		l := float64(len(t.Word(i)))
		sum, squares = sum+l, squares+l*l
	}
	m := sum / n
	return fmt.Sprintf("%.2f", m), fmt.Sprintf("%.2f", squares/n-m*m)
}

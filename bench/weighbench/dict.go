package weighbench

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/internal/gpu"
)

// DictOptions say which dictionaries to measure on a device.
type DictOptions struct {
	Words   *dict.Words
	Kinds   []dict.Kind
	Lookups int // in the longest text
	Memory  int64
	Log     func(format string, args ...any)
}

// LookUps is what one dictionary took on the device.
type LookUps struct {
	Bytes         int64   // of the dictionary
	Total         int64   // with the text, its words and their numbers
	Plain, Cached float64 // seconds
}

// TimeLookUps looks the first n words of a text up on a device, without and with a
// cache.
func TimeLookUps(ctx context.Context, dev *gpu.Device, d *dict.File, t *dict.Text, n int) (l LookUps, err error) {
	s, err := dev.NewStream()
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, s.Free()) }()
	on, err := d.Upload(s)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, on.Free()) }()
	data, refs := t.Refs()
	if n < len(refs) {
		refs = refs[:n]
		data = data[:refs[n-1]>>24+refs[n-1]&(1<<24-1)]
	}
	text, err1 := gpu.Alloc[uint8](dev, len(data))
	words, err2 := gpu.Alloc[uint64](dev, len(refs))
	ids, err3 := gpu.Alloc[uint32](dev, len(refs))
	defer func() { err = errors.Join(err, text.Free(), words.Free(), ids.Free()) }()
	if err := errors.Join(err1, err2, err3); err != nil {
		return l, err
	}
	tmp, err := gpu.NewArena(dev, 17<<20)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, tmp.Free()) }()
	if err := errors.Join(text.Upload(s, data), words.Upload(s, refs)); err != nil {
		return l, err
	}
	l.Bytes = on.Bytes()
	l.Total = l.Bytes + text.Bytes() + words.Bytes() + ids.Bytes()
	if l.Plain, err = eventTimer(ctx, s, func() error { return on.LookUpPlain(s, text, words, ids) }); err != nil {
		return l, err
	}
	l.Cached, err = eventTimer(ctx, s, func() error { return on.LookUp(s, tmp, text, words, ids) })
	return l, err
}

// RunDict is the papers' figures 8 to 12 on a device: memory, time by length of
// the text, time by size of the vocabulary, for words by frequency and for all equally
// often.
func RunDict(ctx context.Context, dev *gpu.Device, o DictOptions) (*report.Report, error) {
	if o.Words.Len() == 0 || o.Lookups < 1 || len(o.Kinds) == 0 {
		return nil, errors.New("nothing to measure")
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	sizes := steps(o.Words.Len(), 100, 4)
	memory := report.Plot{Name: "memory", Title: "Dictionary on the device", X: "words in the vocabulary", Y: "megabytes", LogX: true, LogY: true}
	total := report.Plot{Name: "total-memory", Title: "Memory in all", X: memory.X, Y: memory.Y, LogX: true}
	byWords := report.Table{Name: "by-vocabulary", Title: fmt.Sprintf("Look-ups of %d words, by words in the vocabulary", o.Lookups),
		Header: []string{"kind", "vocabulary", "MB", "MB in all", "frequent ms", "with cache ms", "ns/char", "with cache ns/char", "uniform ms", "with cache ms", "ns/char", "with cache ns/char"}}
	byLength := report.Table{Name: "by-length", Title: "Look-ups of frequent words, by length of the text", Header: []string{"kind", "vocabulary", "words", "ms", "with cache ms"}}
	perChar := map[bool]*report.Plot{
		true:  {Name: "frequent", Title: "Words by frequency", X: memory.X, Y: "nanoseconds a character", LogX: true},
		false: {Name: "uniform", Title: "Words equally often", X: memory.X, Y: "nanoseconds a character", LogX: true},
	}
	length := report.Plot{Name: "by-length", Title: "Time by length of the text", X: "words", Y: "milliseconds"}
	series := make([]dictSeries, len(o.Kinds))
	for i, n := range sizes {
		w, err := sample(o.Words, n)
		if err != nil {
			return nil, err
		}
		texts := map[bool]*dict.Text{true: dict.DrawText(w, o.Lookups, 1, true), false: dict.DrawText(w, o.Lookups, 1, false)}
		for ki, k := range o.Kinds {
			s := &series[ki]
			if k == dict.STT {
				need, err := dict.TableBytes(ctx, w)
				if err != nil {
					return nil, err
				}
				if need > o.Memory {
					s.memory.add(float64(n), float64(need)/1e6)
					s.rows = append(s.rows, []string{k.String(), strconv.Itoa(n), fmt.Sprintf("%.2f", float64(need)/1e6), "more than --memory", "", "", "", "", "", "", "", ""})
					continue
				}
			}
			d, err := build(ctx, w, k)
			if err != nil {
				return nil, err
			}
			row := []string{k.String(), strconv.Itoa(n)}
			for _, frequent := range []bool{true, false} {
				t := texts[frequent]
				l, err := TimeLookUps(ctx, dev, d, t, o.Lookups)
				if err != nil {
					return nil, err
				}
				if frequent {
					row = append(row, fmt.Sprintf("%.2f", float64(l.Bytes)/1e6), fmt.Sprintf("%.2f", float64(l.Total)/1e6))
					s.memory.add(float64(n), float64(l.Bytes)/1e6)
					s.total.add(float64(n), float64(l.Total)/1e6)
				}
				ns := func(s float64) float64 { return s * 1e9 / float64(max(1, t.Chars())) }
				row = append(row, ms(l.Plain), ms(l.Cached), fmt.Sprintf("%.4f", ns(l.Plain)), fmt.Sprintf("%.4f", ns(l.Cached)))
				if frequent {
					s.frequent.add(float64(n), ns(l.Plain))
				} else {
					s.uniform.add(float64(n), ns(l.Plain))
				}
				o.Log("%v of %d words, frequent %v: %.3f ms, with cache %.3f ms", k, n, frequent, l.Plain*1e3, l.Cached*1e3)
			}
			s.rows = append(s.rows, row)
			if i != 0 && i != len(sizes)-1 {
				continue
			}
			line := report.Series{Name: fmt.Sprintf("%v, %d words", k, n)}
			for _, m := range []int{o.Lookups / 4, o.Lookups / 2, o.Lookups * 3 / 4, o.Lookups} {
				m = max(1, m)
				l, err := TimeLookUps(ctx, dev, d, texts[true], m)
				if err != nil {
					return nil, err
				}
				line.X, line.Y = append(line.X, float64(m)), append(line.Y, l.Plain*1e3)
				byLength.Rows = append(byLength.Rows, []string{k.String(), strconv.Itoa(n), strconv.Itoa(m), ms(l.Plain), ms(l.Cached)})
			}
			length.Series = append(length.Series, line)
		}
	}
	for ki, k := range o.Kinds {
		s := &series[ki]
		byWords.Rows = append(byWords.Rows, s.rows...)
		memory.Series = append(memory.Series, s.memory.named(k))
		if len(s.total.x) > 0 {
			total.Series = append(total.Series, s.total.named(k))
			perChar[true].Series = append(perChar[true].Series, s.frequent.named(k))
			perChar[false].Series = append(perChar[false].Series, s.uniform.named(k))
		}
	}
	i := dev.Info()
	r := &report.Report{Name: "dict", Title: "Dictionaries on the GPU: the papers' figures again",
		Intro: fmt.Sprintf("Look-ups of words in device memory on %s, driver %s; best of 4. With cache: one word in 32 is looked up first to fill it, which is in the time.", i.Name, i.Driver)}
	r.Add(report.Section{Title: "Memory", Text: "Figures 8 and 10: what the dictionary takes, and all of it with the text.", Tables: []report.Table{byWords}, Plots: []report.Plot{memory, total}})
	r.Add(report.Section{Title: "Time by length of the text", Text: "Figure 9, without the cache.", Tables: []report.Table{byLength}, Plots: []report.Plot{length}})
	r.Add(report.Section{Title: "Time by size of the vocabulary", Text: "Figures 11 and 12, without the cache.", Plots: []report.Plot{*perChar[true], *perChar[false]}})
	return r, nil
}

// dictSeries is what is drawn and listed of one kind.
type dictSeries struct {
	memory, total, frequent, uniform points
	rows                             [][]string
}

type points struct{ x, y []float64 }

func (p *points) add(x, y float64) { p.x, p.y = append(p.x, x), append(p.y, y) }

func (p *points) named(k dict.Kind) report.Series {
	return report.Series{Name: k.String(), X: p.x, Y: p.y}
}

func ms(s float64) string { return fmt.Sprintf("%.3f", s*1e3) }

// steps are sizes up to n, each ten times the one before, at most so many and none
// below least.
func steps(n, least, most int) (list []int) {
	for ; len(list) < most && (n >= least || len(list) == 0); n /= 10 {
		list = append([]int{n}, list...)
	}
	return list
}

// sample takes n words, evenly.
func sample(w *dict.Words, n int) (*dict.Words, error) {
	out := &dict.Words{}
	for i := range n {
		if err := out.Add(w.At(i * w.Len() / n)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

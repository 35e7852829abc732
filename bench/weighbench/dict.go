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

// TimeLookUps looks all words of a text up on a device, without and with a cache.
func TimeLookUps(ctx context.Context, dev *gpu.Device, d *dict.File, t *dict.Text) (l LookUps, err error) {
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
	for _, k := range o.Kinds {
		mem, all := report.Series{Name: k.String()}, report.Series{Name: k.String()}
		chars := map[bool]report.Series{true: {Name: k.String()}, false: {Name: k.String()}}
		for i, n := range sizes {
			w, err := sample(o.Words, n)
			if err != nil {
				return nil, err
			}
			if k == dict.STT {
				if need, err := dict.TableBytes(ctx, w); err != nil || need > o.Memory {
					if err != nil {
						return nil, err
					}
					mem.X, mem.Y = append(mem.X, float64(n)), append(mem.Y, float64(need)/1e6)
					byWords.Rows = append(byWords.Rows, []string{k.String(), strconv.Itoa(n), fmt.Sprintf("%.2f", float64(need)/1e6), "more than --memory", "", "", "", "", "", "", "", ""})
					continue
				}
			}
			d, err := build(ctx, w, k)
			if err != nil {
				return nil, err
			}
			row := []string{k.String(), strconv.Itoa(n)}
			for _, frequent := range []bool{true, false} {
				t := dict.DrawText(w, o.Lookups, 1, frequent)
				l, err := TimeLookUps(ctx, dev, d, t)
				if err != nil {
					return nil, err
				}
				if frequent {
					row = append(row, fmt.Sprintf("%.2f", float64(l.Bytes)/1e6), fmt.Sprintf("%.2f", float64(l.Total)/1e6))
					mem.X, mem.Y = append(mem.X, float64(n)), append(mem.Y, float64(l.Bytes)/1e6)
					all.X, all.Y = append(all.X, float64(n)), append(all.Y, float64(l.Total)/1e6)
				}
				ns := func(s float64) float64 { return s * 1e9 / float64(max(1, t.Chars())) }
				row = append(row, ms(l.Plain), ms(l.Cached), fmt.Sprintf("%.4f", ns(l.Plain)), fmt.Sprintf("%.4f", ns(l.Cached)))
				c := chars[frequent]
				c.X, c.Y = append(c.X, float64(n)), append(c.Y, ns(l.Plain))
				chars[frequent] = c
				o.Log("%v of %d words, frequent %v: %.3f ms, with cache %.3f ms", k, n, frequent, l.Plain*1e3, l.Cached*1e3)
			}
			byWords.Rows = append(byWords.Rows, row)
			if i == 0 || i == len(sizes)-1 {
				s := report.Series{Name: fmt.Sprintf("%v, %d words", k, n)}
				for _, m := range []int{o.Lookups / 4, o.Lookups / 2, o.Lookups * 3 / 4, o.Lookups} {
					l, err := TimeLookUps(ctx, dev, d, dict.DrawText(w, max(1, m), 1, true))
					if err != nil {
						return nil, err
					}
					s.X, s.Y = append(s.X, float64(m)), append(s.Y, l.Plain*1e3)
					byLength.Rows = append(byLength.Rows, []string{k.String(), strconv.Itoa(n), strconv.Itoa(m), ms(l.Plain), ms(l.Cached)})
				}
				length.Series = append(length.Series, s)
			}
		}
		memory.Series = append(memory.Series, mem)
		if len(all.X) > 0 {
			total.Series = append(total.Series, all)
			for _, frequent := range []bool{true, false} {
				perChar[frequent].Series = append(perChar[frequent].Series, chars[frequent])
			}
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

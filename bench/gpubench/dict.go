package gpubench

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/bench/weighbench"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/check"
)

// dictJob compares and measures dictionaries on the device.
var dictJob = Job{
	Name: "dict",
	Suites: []check.Suite{
		{Name: "dict: stt", Run: tryDict(dict.STT)},
		{Name: "dict: xbw", Run: tryDict(dict.XBW)},
		{Name: "dict: xbw-plain", Run: tryDict(dict.XBWPlain)},
		{Name: "dict: xbw-paper", Run: tryDict(dict.XBWPaper)},
	},
	Measure: measureDict,
}

func built(ctx context.Context, w *dict.Words, k dict.Kind) (*dict.File, error) {
	var b bytes.Buffer
	if err := dict.Build(ctx, w, dict.Options{Kind: k, Memory: 64e9}, &b); err != nil {
		return nil, err
	}
	return dict.Parse(b.Bytes())
}

// tryDict compares look-ups, also of words that are not in the dictionary.
func tryDict(k dict.Kind) func(t *check.Trial) error {
	return func(t *check.Trial) error {
		for _, n := range t.Sizes {
			w, err := weighbench.Words(min(n, 200_000))
			if err != nil {
				return err
			}
			d, err := built(t.Ctx, w, k)
			if err != nil {
				return err
			}
			if w.Len() == 0 {
				continue
			}
			drawn, text := weighbench.DrawText(w, n+1, uint64(n), true), &dict.Text{}
			for i := range drawn.Len() {
				word := drawn.Word(i)
				if len(word) > 0 && t.Rng.IntN(20) == 0 { // change some to words that may be unknown
					word[t.Rng.IntN(len(word))] = "!aez"[t.Rng.IntN(4)]
				}
				text.Add(word)
			}
			if err := tryLookUps(t, d, text); err != nil {
				return fmt.Errorf("%d words: %w", w.Len(), err)
			}
		}
		return nil
	}
}

// tryLookUps compares the device with the cores: a few words without the cache, and all, which use
// the cache if there are many.
func tryLookUps(t *check.Trial, d *dict.File, text *dict.Text) (err error) {
	g, err := d.OpenGPU(t.Dev.Which(0))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	few := &dict.Text{}
	for i := range min(text.Len(), 10_000) {
		few.Add(text.Word(i))
	}
	for i, part := range []*dict.Text{few, text, few} {
		g.SetLaunch(dict.Launch{Threads: 32 << i, Compute: i > 0})
		want, err := d.IDs(t.Ctx, part, dict.LookUpOptions{})
		if err != nil {
			return err
		}
		got, err := g.IDs(t.Ctx, part)
		if err != nil {
			return err
		}
		if err := check.Same(t, fmt.Sprintf("%v, %d look-ups", d.Kind(), part.Len()), got, want); err != nil {
			return err
		}
	}
	return nil
}

// measureDict measures look-ups of 100 million words in dictionaries of 10 million words: words
// drawn by frequency, and uniformly.
func measureDict(ctx context.Context, dev *gpu.Device, quick bool) (out []check.Bench, err error) {
	n, lookups := 10_000_000, 100_000_000
	if quick {
		n, lookups = 2000, 5000
	}
	w, err := weighbench.Words(n)
	if err != nil {
		return nil, err
	}
	frequent, uniform := weighbench.DrawText(w, lookups, 1, true), weighbench.DrawText(w, lookups, 1, false)
	for _, k := range []dict.Kind{dict.XBW, dict.XBWPlain, dict.XBWPaper, dict.STT} {
		more, err := timeLookUps(ctx, dev, w, k, frequent, uniform)
		out = append(out, more...)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// timeLookUps measures one kind of dictionary.
func timeLookUps(ctx context.Context, dev *gpu.Device, w *dict.Words, k dict.Kind, frequent,
	uniform *dict.Text) (out []check.Bench, err error) {
	d, err := built(ctx, w, k)
	if err != nil {
		return nil, err
	}
	g, err := d.OpenGPU(dev.Which(0))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	for i, text := range []*dict.Text{frequent, uniform} {
		n := text.Len()
		l, err := g.Time(ctx, text, n)
		if err != nil {
			return out, err
		}
		what := fmt.Sprintf("dict: %d M %s words in %v of %d M", n/1e6,
			[]string{"frequent", "uniform"}[i], k, w.Len()/1e6)
		what += fmt.Sprintf(" (%d MB)", g.Bytes()/1e6)
		out = append(out, check.Bench{Name: what + ", no cache", Items: n, Seconds: l.Plain.Seconds()})
		if k == dict.XBWPaper {
			continue // the published form has no cache
		}
		b := check.Bench{Name: what, Items: n, Seconds: l.Cached.Seconds()}
		if text == frequent && k == dict.XBW {
			b = wanted(what, n, l.Cached.Seconds(), 0, 0.015, "15 ms")
		}
		out = append(out, b)
	}
	return out, nil
}

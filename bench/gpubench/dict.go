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

// tryDict compares look-ups, of words that are there and of some that are not.
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
			text := dict.DrawText(w, n+1, uint64(n), true)
			if w.Len() == 0 {
				continue
			}
			data, refs := text.Refs()
			for i := range data { // spoil some
				if t.Rng.IntN(100) == 0 {
					data[i] = "!aez"[t.Rng.IntN(4)]
				}
			}
			want := make([]uint32, len(refs))
			for i, ref := range refs {
				id, ok := d.ID(data[ref>>24 : ref>>24+ref&(1<<24-1)])
				if want[i] = id; !ok {
					want[i] = dict.None
				}
			}
			if err := tryLookUps(t, d, data, refs, want); err != nil {
				return fmt.Errorf("%d words: %w", w.Len(), err)
			}
		}
		return nil
	}
}

func tryLookUps(t *check.Trial, d *dict.File, data []byte, refs []uint64, want []uint32) (err error) {
	on, err := d.Upload(t.S)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.Free()) }()
	text, err1 := check.Put(t, data)
	words, err2 := check.Put(t, refs)
	ids, err3 := check.Put(t, make([]uint32, len(refs)))
	defer func() { err = errors.Join(err, text.Free(), words.Free(), ids.Free()) }()
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	for _, cached := range []bool{false, true} {
		if cached {
			err = on.LookUp(t.S, t.Tmp, text, words, ids)
		} else {
			err = on.LookUpPlain(t.S, text, words, ids)
		}
		if err != nil {
			return err
		}
		got, err := check.Get(t, ids, len(refs))
		if err != nil {
			return err
		}
		if err := check.Same(t, fmt.Sprintf("%v, cache %v", d.Kind(), cached), got, want); err != nil {
			return err
		}
	}
	return nil
}

// measureDict measures look-ups of 100 million words by frequency, and of all
// equally often, in dictionaries of 10 million.
func measureDict(ctx context.Context, dev *gpu.Device, quick bool) (out []check.Bench, err error) {
	n, lookups := 10_000_000, 100_000_000
	if quick {
		n, lookups = 2000, 5000
	}
	w, err := weighbench.Words(n)
	if err != nil {
		return nil, err
	}
	frequent, uniform := dict.DrawText(w, lookups, 1, true), dict.DrawText(w, lookups, 1, false)
	for _, k := range []dict.Kind{dict.XBW, dict.XBWPlain} {
		d, err := built(ctx, w, k)
		if err != nil {
			return out, err
		}
		for i, text := range []*dict.Text{frequent, uniform} {
			name := []string{"frequent", "uniform"}[i]
			l, err := weighbench.TimeLookUps(ctx, dev, d, text, lookups)
			if err != nil {
				return out, err
			}
			what := fmt.Sprintf("dict: %d M %s words in %v of %d M", lookups/1e6, name, k, n/1e6)
			out = append(out, check.Bench{Name: what + ", no cache", Items: lookups, Seconds: l.Plain})
			b := check.Bench{Name: what, Items: lookups, Seconds: l.Cached}
			if text == frequent && k == dict.XBW {
				b = wanted(what, lookups, l.Cached, 0, 0.015, "15 ms")
			}
			out = append(out, b)
		}
	}
	return out, nil
}

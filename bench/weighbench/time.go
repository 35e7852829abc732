package weighbench

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/weigh"
)

// Time is the best and the median time of several rounds, in seconds.
type Time struct{ Best, Median float64 }

func timeOf(all []float64) Time {
	slices.Sort(all)
	return Time{all[0], all[len(all)/2]}
}

// counts are the sizes of a corpus.
type counts struct {
	Words, Docs, Pairs, Terms int
	UnknownTerms, Unknown     int // terms, and their occurrences, that a given dictionary lacks
}

// OnCPU measures weighing a file on CPU cores and reading all weights, which are computed as they
// are read. The file is in the page cache.
func OnCPU(ctx context.Context, path string, o weigh.Options, rounds int) (Time, error) {
	t, _, err := onCPU(ctx, path, o, rounds)
	return t, err
}

// onCPU also returns the best times of the steps if the options ask for a profile.
func onCPU(ctx context.Context, path string, o weigh.Options, rounds int) (t Time, steps []weigh.Step, err error) {
	var all []float64
	for range rounds {
		start := time.Now()
		w, err := weigh.Weigh(ctx, Corpus(path), o)
		if err != nil {
			return Time{}, nil, err
		}
		err = readAll(ctx, w, o.Threads)
		all = append(all, time.Since(start).Seconds())
		steps = bestSteps(steps, w.Steps())
		if err := errors.Join(err, w.Close()); err != nil {
			return Time{}, nil, err
		}
	}
	return timeOf(all), steps, nil
}

// Published measures PPD as published: in one piece, sorted by merging, with a dictionary that is
// copied to the device each time.
func Published(ctx context.Context, dev *gpu.Device, c *weigh.PinnedCorpus, d *dict.File, rounds int) (Time, error) {
	t, _, err := OnGPU(ctx, c, weigh.Options{Method: weigh.Dictionary, Dict: d, OnePiece: true,
		MergeSort: true}, rounds, nil)
	if err != nil {
		return t, err
	}
	t, _, err = withCopy(ctx, dev, d, t, nil)
	return t, err
}

// withCopy adds the time of copying a dictionary from pinned memory to the device.
func withCopy(ctx context.Context, dev *gpu.Device, d *dict.File, t Time, steps []weigh.Step) (Time,
	[]weigh.Step, error) {
	took, err := copyTime(ctx, dev, int(d.Stats().Bytes))
	s := took.Seconds()
	return Time{t.Best + s, t.Median + s}, append([]weigh.Step{{Name: "copy dictionary up", Time: took}}, steps...), err
}

// copyTime returns the least time of copying a number of bytes to the device.
func copyTime(ctx context.Context, dev *gpu.Device, size int) (best time.Duration, err error) {
	s, err := dev.NewStream()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Free()) }()
	from, err1 := gpu.AllocPinned[uint8](dev, max(1, size))
	defer func() { err = errors.Join(err, from.Free()) }()
	to, err2 := gpu.Alloc[uint8](dev, max(1, size))
	defer func() { err = errors.Join(err, to.Free()) }()
	if err := errors.Join(err1, err2); err != nil {
		return 0, err
	}
	for i := range 4 {
		start := time.Now()
		if err := errors.Join(to.CopyIn(s, from), s.Sync(ctx)); err != nil {
			return 0, err
		}
		if took := time.Since(start); i == 0 || took < best {
			best = took
		}
	}
	return best, nil
}

// readAll reads all weights with a number of threads.
func readAll(ctx context.Context, w *weigh.Weights, threads int) error {
	parts := w.Parts(ctx, 4*max(1, threads))
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, part := range parts {
		wg.Go(func() {
			for _, err := range part {
				if err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Reading measures reading all weights again when they are in memory.
func Reading(ctx context.Context, w *weigh.Weights, threads, rounds int) (Time, error) {
	var all []float64
	for range rounds {
		start := time.Now()
		if err := readAll(ctx, w, threads); err != nil {
			return Time{}, err
		}
		all = append(all, time.Since(start).Seconds())
	}
	return timeOf(all), nil
}

// OnGPU measures weighing a corpus from pinned memory to pinned memory, after a first run that
// allocates buffers. If the options ask for a profile, as many additional rounds return the best
// time of each step. At the end see, if not nil, is called with the weigher.
func OnGPU(ctx context.Context, c *weigh.PinnedCorpus, o weigh.Options, rounds int,
	see func(*weigh.Weigher) error) (t Time, steps []weigh.Step, err error) {
	w, err := weigh.NewWeigher(c, o)
	if err != nil {
		return Time{}, nil, err
	}
	defer func() { err = errors.Join(err, w.Free()) }()
	w.Profile(false)
	var all []float64
	for i := range rounds + 1 {
		start := time.Now()
		if err := w.Weigh(ctx); err != nil {
			return Time{}, nil, err
		}
		if i > 0 {
			all = append(all, time.Since(start).Seconds())
		}
	}
	if o.Profile {
		w.Profile(true)
		for range rounds {
			if err := w.Weigh(ctx); err != nil {
				return Time{}, nil, err
			}
			steps = bestSteps(steps, w.Steps())
		}
	}
	if see != nil {
		err = see(w)
	}
	return timeOf(all), steps, err
}

func bestSteps(best, steps []weigh.Step) []weigh.Step {
	if len(best) != len(steps) {
		return slices.Clone(steps)
	}
	for i := range best {
		best[i].Time = min(best[i].Time, steps[i].Time)
	}
	return best
}

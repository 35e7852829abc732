package points

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/gputest"
)

// Two devices share the rounds of null models and give the bits of one core, also if one of them
// gets no round, or has memory for one round at a time.
func TestSeveralGPUs(t *testing.T) {
	gputest.Named(t)
	p := crowd(11, 90, 3)
	for _, c := range []struct {
		rounds int
		null   Null
		second int64 // memory of the second device
	}{{5, Shift, 0}, {1, Relabel, 0}, {0, Shift, 0}, {6, Cluster, 5 << 19}} {
		var said strings.Builder
		two := Engine{Kind: engine.GPU, Threads: 2, Device: engine.Device{Memory: 64 << 20},
			Also: []engine.Device{{Memory: c.second}}, Log: slog.New(slog.NewTextHandler(&said, nil))}
		o := CurveOptions{Most: 9, Bins: 5, Rounds: c.rounds, Null: c.null, Seed: 3, Engine: Engine{Kind: engine.Sequential}}
		want, err := Curves(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Engine = two
		if got, err := Curves(t.Context(), p, o); err != nil || !same(got, want) {
			t.Errorf("%+v: curves on two devices\n%v, %v\non the CPU\n%v", c, got, err, want)
		}
		if c.rounds == 0 {
			continue
		}
		if lines := strings.Count(said.String(), "one of several GPUs"); lines != 2 {
			t.Errorf("%+v: the log is %q, want a line for each device", c, said.String())
		}
		e := EnrichmentOptions{KNN: 4, Rounds: c.rounds, Engine: Engine{Kind: engine.Sequential}}
		enriched, err := Enrich(t.Context(), p, e)
		if err != nil {
			t.Fatal(err)
		}
		e.Engine = two
		if got, err := Enrich(t.Context(), p, e); err != nil || !same(got, enriched) {
			t.Errorf("%+v: enrichment on two devices\n%v, %v\non the CPU\n%v", c, got, err, enriched)
		}
	}
}

// Several devices count the pairs of strips, also where points have the same y at the end of one,
// or all points are near it, and if there are fewer points than devices.
func TestSeveralGPUsCountPairs(t *testing.T) {
	gputest.Named(t)
	line := &Set{Features: []string{"a", "b"}}
	for i := range 40 {
		line.X, line.Y = append(line.X, float64(i%7)), append(line.Y, float64(i/9)) // many ties
		line.Feature = append(line.Feature, int32(i%2))
	}
	one := &Set{Features: []string{"a"}, X: []float64{1}, Y: []float64{2}, Feature: []int32{0}}
	device := engine.Device{Memory: 64 << 20}
	for i, p := range []*Set{crowd(21, 150, 4), line, one, crowd(22, 2, 1)} {
		for _, most := range []float64{1, 3.5, 1000} {
			o := CoOccurrenceOptions{Most: most, Steps: 6, Engine: Engine{Kind: engine.Sequential}}
			want, err := CoOccurrences(t.Context(), p, o)
			if err != nil {
				t.Fatal(err)
			}
			o.Engine = Engine{Kind: engine.GPU, Device: device, Also: []engine.Device{device, device}}
			if got, err := CoOccurrences(t.Context(), p, o); err != nil || !same(*got, *want) {
				t.Errorf("points %d within %v: on three devices\n%v, %v\non the CPU\n%v", i, most, got, err, want)
			}
		}
	}
}

// An error of either device ends the job. Several devices need the engine gpu.
func TestSeveralGPUsFail(t *testing.T) {
	gputest.Named(t)
	p := crowd(12, 2000, 3)
	o := CurveOptions{Most: 1, Bins: 4, Rounds: 4, Engine: Engine{Kind: engine.GPU, Device: engine.Device{Memory: 64 << 20}}}
	for text, also := range map[string]engine.Device{
		"raise engine.Device.Memory": {Memory: 1 << 20},
		"no GPU: device 5":           {Ordinal: 5},
	} {
		o.Engine.Also = []engine.Device{also}
		if _, err := Curves(t.Context(), p, o); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want an error with %q", err, text)
		}
	}
	o.Engine.Also = []engine.Device{{Memory: 64 << 20}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Curves(ctx, p, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	o.Engine.Kind = engine.Auto
	if _, err := Curves(t.Context(), p, o); err == nil || !strings.Contains(err.Error(), "several devices need engine gpu") {
		t.Errorf("with auto: %v", err)
	}
}

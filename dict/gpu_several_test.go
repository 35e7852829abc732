package dict

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
)

// Several devices look up a range of the words each, and give the numbers of one core: also if
// there are fewer words than devices, none, or one that is too long for a device.
func TestSeveralGPUsLookUp(t *testing.T) {
	gputest.Named(t)
	rng := rand.New(rand.NewPCG(8, 8))
	w := randomWords(rng, trials.Of(600), 6, 9)
	device := engine.Device{Memory: 64 << 20}
	for _, k := range deviceKinds {
		d := build(t, w, k)
		g, err := d.OpenGPU(device, device, device)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 2, 7, 500} {
			_, _, words := queries(t, w, n, rng)
			if n == 7 && k == XBW && !testing.Short() {
				words[3] = bytes.Repeat([]byte("a"), longestOnGPU+1)
			}
			text := &Text{}
			for _, word := range words {
				text.Add(word)
			}
			want, err := d.IDs(t.Context(), text, LookUpOptions{Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			g.Log = slog.New(slog.NewTextHandler(&said, nil))
			got, err := g.IDs(t.Context(), text)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%v: %d words have the numbers %v, %v; want %v", k, n, got, err, want)
			}
			if strings.Count(said.String(), "one of several GPUs") != 3 {
				t.Errorf("%v: the log is %q, want a line for each device", k, said.String())
			}
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The error of one device is that of the job.
func TestSeveralGPUsFail(t *testing.T) {
	gputest.Named(t)
	d := build(t, list(t, "a", "b"), XBW)
	device := engine.Device{Memory: 64 << 20}
	for text, also := range map[string]engine.Device{
		"no GPU: device 4":               {Ordinal: 4},
		"leaves 0B for words: want at l": {Memory: 1 << 20},
	} {
		if g, err := d.OpenGPU(device, also); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, %v, want an error with %q", g, err, text)
		}
	}
	g, err := d.OpenGPU(device, device)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	text := &Text{}
	text.Add([]byte("a"))
	text.Add([]byte("b"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.IDs(ctx, text); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if ids, err := g.IDs(t.Context(), text); err != nil || !slices.Equal(ids, []uint32{0, 1}) {
		t.Errorf("after that: %v, %v", ids, err)
	}
}

package gpu_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/gputest"
)

// session makes a session with a kept arena. Closing the device at the end of the test reports
// anything that was not freed.
func session(t *testing.T) (*gpu.Session, *gpu.Kept) {
	t.Helper()
	dev, _ := gputest.Device(t)
	s, err := gpu.NewSession(dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	k := new(gpu.Kept)
	s.Keep(k)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, k
}

// TestJob: a job copies values, runs kernels and reports its stages in order. After the first error
// it does nothing.
func TestJob(t *testing.T) {
	s, k := session(t)
	const n = 300
	for _, broken := range []bool{false, true} {
		lost := errors.New("lost")
		var stages []string
		var out []uint32
		err := s.Hold(t.Context(), func() error {
			if err := k.Reserve(s.Dev, 1<<16, 0); err != nil {
				return err
			}
			j := s.Begin(t.Context(), s.Streams[0], k.Arena,
				func(stage string, _ time.Duration) { stages = append(stages, stage) })
			values := make([]uint32, n)
			for i := range values {
				values[i] = uint32(i)
			}
			x, zeros := gpu.Put(j, values), gpu.Zeros[uint32](j, n)
			add := func(to, from gpu.Buffer[uint32], by uint32) {
				j.Each(addSource, "add", n, to.Arg(), from.Arg(), gpu.U8(0), gpu.U32(n), gpu.U32(by))
			}
			add(x, x, 5)
			j.Stage("add")
			if broken {
				j.Fail(lost)
				j.Fail(errors.New("later"))
			}
			add(x, zeros, 7)
			j.Launch(addSource, "no such kernel", gpu.Grid(0, 1)) // an empty grid
			j.Do(func() error {
				if broken {
					t.Error("Do calls its function after an error")
				}
				return nil
			})
			y := gpu.Make[uint32](j, n)
			if (y.Len() == 0) != broken {
				t.Errorf("broken %v: %d values allocated", broken, y.Len())
			}
			j.Stage("seven")
			out = gpu.Get(j, x, n)
			if err := x.Download(t.Context(), j.Stream, values); err != nil {
				return err
			}
			if want := map[bool]uint32{false: 7, true: 5 + n - 1}[broken]; values[n-1] != want {
				t.Errorf("broken %v: the device has %d, want %d", broken, values[n-1], want)
			}
			return j.End()
		})
		if broken {
			if !errors.Is(err, lost) || len(stages) > 0 || out[n-1] != 0 {
				t.Errorf("error %v, stages %q, value %d; want the first error and nothing else", err,
					stages, out[n-1])
			}
		} else if err != nil || !slices.Equal(stages, []string{"add", "seven"}) || out[n-1] != 7 {
			t.Errorf("error %v, stages %q, value %d; want add, seven, and 7", err, stages, out[n-1])
		}
		if k.Left() != k.Bytes() {
			t.Errorf("after the job, %d of %d bytes are free", k.Left(), k.Bytes())
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Hold(gone, func() error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled job returns %v", err)
	}
	if err := s.Trim(); err != nil || k.Bytes() != 0 {
		t.Errorf("Trim leaves %d bytes, %v", k.Bytes(), err)
	}
}

// TestChoice: the cores run what was not asked from a GPU, and what auto tried there in vain.
func TestChoice(t *testing.T) {
	lost, final := errors.New("lost"), errors.New("final")
	for _, c := range []struct {
		name  string
		kind  engine.Kind
		pays  bool
		fails error
		runs  string // where the job runs
		want  error
		said  bool
	}{
		{"cores", engine.Multicore, true, nil, "cores ", nil, false},
		{"gpu", engine.GPU, false, nil, "gpu ", nil, false},
		{"gpu fails", engine.GPU, true, lost, "gpu ", lost, false},
		{"no gpu", engine.GPU, true, gpu.ErrUnavailable, "gpu ", gpu.ErrUnavailable, false},
		{"auto, small", engine.Auto, false, nil, "cores ", nil, false},
		{"auto, large", engine.Auto, true, nil, "gpu ", nil, false},
		{"auto fails", engine.Auto, true, lost, "gpu cores ", nil, true},
		{"auto, final", engine.Auto, true, final, "gpu ", final, false},
	} {
		var said strings.Builder
		choice := gpu.Choice{Kind: c.kind, Pays: func() bool { return c.pays },
			Final: func(err error) bool { return err == final },
			Log:   slog.New(slog.NewTextHandler(&said, nil))}
		runs := ""
		on := func(where string, err error) func() error {
			return func() error { runs += where + " "; return err }
		}
		err := choice.Run(t.Context(), on("gpu", c.fails), on("cores", nil))
		if !errors.Is(err, c.want) || runs != c.runs || (said.Len() > 0) != c.said {
			t.Errorf("%s: runs on %q, error %v, log %q", c.name, runs, err, said.String())
		}
		if c.want == gpu.ErrUnavailable && !strings.HasSuffix(err.Error(), "use auto, multicore or sequential") {
			t.Errorf("%s: the error %q does not say what to do", c.name, err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	never := func() error { t.Error("a cancelled job runs"); return nil }
	auto := gpu.Choice{Pays: func() bool { return true }}
	if err := auto.Run(gone, never, never); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled job returns %v", err)
	}
	dev, _ := gputest.Device(t)
	if emulated := dev.Info().Emulated; (auto.Accepts(dev) != nil) != emulated ||
		(gpu.Choice{Kind: engine.GPU}).Accepts(dev) != nil || (gpu.Choice{Emulated: true}).Accepts(dev) != nil {
		t.Errorf("auto must not use the interpreter; emulated %v", emulated)
	}
}

package gpu

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/collocate/collocate/engine"
)

// The first error of a device ends the jobs of the others, and is the one that is returned.
func TestTogether(t *testing.T) {
	failed := errors.New("failed")
	for _, bad := range []int{0, 2} {
		err := Together(t.Context(), 3, func(ctx context.Context, i int) error {
			if i == bad {
				return fmt.Errorf("device %d: %w", i, failed)
			}
			<-ctx.Done()
			return ctx.Err()
		})
		if want := fmt.Sprintf("device %d: failed", bad); !errors.Is(err, failed) || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	var done [4]bool
	for _, n := range []int{1, 4} {
		if err := Together(t.Context(), n, func(_ context.Context, i int) error { done[i] = true; return nil }); err != nil {
			t.Error(err)
		}
	}
	if done != [4]bool{true, true, true, true} {
		t.Errorf("jobs that ran: %v", done)
	}
}

// Shares cover all items, in order, and differ by at most one.
func TestShare(t *testing.T) {
	for n := range 20 {
		for parts := 1; parts < 5; parts++ {
			end := 0
			for i := range parts {
				lo, hi := Share(n, i, parts)
				if lo != end || hi-lo < n/parts || hi-lo > n/parts+1 {
					t.Errorf("part %d of %d of %d items is [%d, %d), after %d", i, parts, n, lo, hi, end)
				}
				end = hi
			}
			if end != n {
				t.Errorf("%d parts cover %d of %d items", parts, end, n)
			}
		}
	}
}

// A device that is named again gets a context of its own.
func TestSeveral(t *testing.T) {
	t.Setenv(EmulateEnv, "emulator")
	all := Several(engine.Device{Memory: 5}, []engine.Device{{Ordinal: 1}, {}, {Ordinal: 1}})
	for i, again := range []bool{false, false, true, true} {
		if all[i].again != again || all[i].Ordinal != i%2 {
			t.Errorf("device %d is %+v", i, all[i])
		}
	}
	if all[0].Memory != 5 {
		t.Errorf("the first device has %d bytes, want 5", all[0].Memory)
	}
	for i, err := range []error{CheckSeveral(engine.GPU, []engine.Device{{}}), CheckSeveral(engine.Auto, nil)} {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := CheckSeveral(engine.Auto, []engine.Device{{}}); err == nil {
		t.Error("several devices with auto: no error")
	}
	s, err := all[2].OpenSession(2)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Streams) != 2 {
		t.Errorf("%d streams, want 2", len(s.Streams))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := all[1].Open(); !errors.Is(err, engine.ErrNoGPU) {
		t.Errorf("device 1 of the interpreter: %v", err)
	}
}

package gputest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/gpu"
)

// TestRoundTrip: uploaded values come back, and everything is freed at the end.
func TestRoundTrip(t *testing.T) {
	var dev *gpu.Device
	t.Run("inner", func(t *testing.T) {
		var s *gpu.Stream
		dev, s = Device(t)
		want := []uint32{3, 1, 4, 1, 5}
		if got := Download(t, s, Upload(t, s, want)); !slices.Equal(got, want) {
			t.Errorf("%v came back, want %v", got, want)
		}
		if got := Download(t, s, Upload(t, s, []uint64{})); len(got) != 0 {
			t.Errorf("an empty buffer came back as %v", got)
		}
		if b := Alloc[uint64](t, s, 7); b.Len() != 7 {
			t.Errorf("%d values, want 7", b.Len())
		}
		if a := Arena(t, dev, 1<<10); a.Left() != 1<<10 {
			t.Errorf("%d bytes in the arena, want 1024", a.Left())
		}
		if leaks := dev.Leaks(); !strings.Contains(leaks, "buffers") {
			t.Errorf("during the test %q are in use", leaks)
		}
	})
	if leaks := dev.Leaks(); leaks != "" {
		t.Errorf("after the test %s are in use, want none", leaks)
	}
	if _, err := dev.NewStream(); err == nil {
		t.Error("the device is still open")
	}
}

// recorder is a test that records its errors instead of failing.
type recorder struct {
	testing.TB
	ends   []func()
	errors []string
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.ends = append(r.ends, f) }
func (r *recorder) Error(args ...any) {
	r.errors = append(r.errors, fmt.Sprint(args...))
}

// TestLeaksFail: a buffer that is not freed fails the test that made it.
func TestLeaksFail(t *testing.T) {
	r := &recorder{TB: t}
	dev, _ := Device(r)
	if _, err := gpu.Alloc[uint32](dev, 1); err != nil {
		t.Fatal(err)
	}
	for _, f := range slices.Backward(r.ends) {
		f()
	}
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "not freed on the device: 1 buffers") {
		t.Errorf("the test ended with the errors %q, want one about the buffer", r.errors)
	}
}

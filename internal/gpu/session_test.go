package gpu_test

import (
	"testing"
	"time"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/gputest"
)

// TestSession: an arena is kept while it is large enough, and allocated again if not. Closing the
// device at the end of the test would report anything that was not freed.
func TestSession(t *testing.T) {
	dev, _ := gputest.Device(t)
	s, err := gpu.NewSession(dev, 2)
	if err != nil {
		t.Fatal(err)
	}
	var k gpu.Kept
	s.Keep(&k)
	for _, step := range []struct {
		bytes, most int64
		anew        bool
	}{{1000, 0, true}, {500, 0, false}, {2000, 0, true}, {500, 1000, true}, {600, 0, true}} {
		before := k.Arena
		if err := k.Reserve(dev, step.bytes, step.most); err != nil {
			t.Fatal(err)
		}
		if anew := k.Arena != before; anew != step.anew || k.Left() < step.bytes {
			t.Errorf("%+v: allocated again %t, %d bytes", step, anew, k.Left())
		}
	}
	b, err := gpu.Take[uint32](k.Arena, 100)
	if err != nil {
		t.Fatal(err)
	}
	took, err := s.Timed(t.Context(), s.Streams[0], func() error { return b.Zero(s.Streams[0]) })
	if err != nil || took < 0 {
		t.Errorf("Timed returned %v, %v; want a time", took, err)
	}
	if err := s.After(s.Streams[1], s.Streams[0]); err != nil {
		t.Error(err)
	}
	c := gpu.NewClock(dev)
	err = c.Mark(s.Streams[0], "one")
	if err == nil {
		err = c.Span(s.Streams[1], "beside", func() error { return nil })
	}
	if err == nil {
		err = c.Mark(s.Streams[0], "end")
	}
	names := ""
	if err == nil {
		err = c.Stages(func(name string, _ time.Duration, beside bool) { names += name + " " })
	}
	if err != nil || names != "one beside " {
		t.Errorf("stages %q, %v; want one and beside", names, err)
	}
	if err := c.Free(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

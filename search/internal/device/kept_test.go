package device

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/driver"
	"github.com/collocate/collocate/internal/gpu/emu"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// counted counts the bytes that are copied to a device.
type counted struct {
	driver.Device
	bytes int64
}

func (c *counted) CopyIn(dst driver.Ptr, src []byte, s driver.Stream) error {
	c.bytes += int64(len(src))
	return c.Device.CopyIn(dst, src, s)
}

// A newer generation shares the postings of a segment that is already on the device. Only a record
// per word is copied, from which codes are computed for the new mean length. Both generations give
// the results of the cores, in either order of closing.
func TestKeptSegment(t *testing.T) {
	for _, olderFirst := range []bool{true, false} {
		d := &counted{Device: emu.New(emu.Options{})}
		dev := gpu.New(d)
		rng := rand.New(rand.NewPCG(27, 9))
		line := func(words int) (text string) {
			for range 1 + rng.IntN(words) {
				text += fmt.Sprint("w", int(rng.ExpFloat64()*20), " ")
			}
			return text
		}
		var short, long []string
		for range 200 {
			short = append(short, line(8))
		}
		for range 50 {
			long = append(long, line(60))
		}
		first := searchtest.IndexLines(t, "whitespace", short...)
		second := searchtest.IndexLines(t, "whitespace", long...)
		compare := func(e *eval.Engine, x *Index) {
			t.Helper()
			for i := range 12 / trials.Every(3) {
				r := ask.Request{Text: line(3), K: 1 + 3*(i%4), Mode: ask.Mode(i % 2)}
				want, err := e.Search(t.Context(), &r)
				if err != nil {
					t.Fatal(err)
				}
				r.Parallel = onDevice
				found, err := x.Answer(t.Context(), r)
				if err != nil || !slices.Equal(found.Hits, want.Hits) {
					t.Errorf("%q: got %v (%v), want %v", r.Text, found, err, want.Hits)
				}
			}
		}
		alone := open(t, first)
		older, err := openOn(t.Context(), alone.e, dev, Options{})
		if err != nil {
			t.Fatal(err)
		}
		compare(alone.e, older)
		kept := groupOf(older).Keep()
		if kept == nil {
			t.Fatal("Keep returns nil for an index that is wholly on the device")
		}
		parts := []*eval.Engine{open(t, first).e, open(t, second).e}
		if _, err := eval.NewSegments(parts); err != nil {
			t.Fatal(err)
		}
		before := d.bytes
		group, err := OpenGroup(t.Context(), parts[0], kept, Options{})
		if err != nil {
			t.Fatal(err)
		}
		words := int64(alone.e.Index.Terms())
		if copied := d.bytes - before; copied != words*int64(gpuTermBytes) {
			t.Errorf("%d bytes were copied for %d words, want %d each", copied, words, gpuTermBytes)
		}
		if err := kept.Release(); err != nil {
			t.Fatal(err)
		}
		type generation struct {
			e *eval.Engine
			x *Index
		}
		both := []generation{{alone.e, older}, {parts[0], group.all[0]}}
		if !olderFirst {
			slices.Reverse(both)
		}
		for i := range both {
			for _, g := range both[i:] {
				compare(g.e, g.x)
			}
			if err := both[i].x.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := dev.Close(); err != nil { // reports memory that was not freed
			t.Error(err)
		}
	}
}

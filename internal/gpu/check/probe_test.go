package check

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/emu"
	"github.com/collocate/collocate/internal/gpu/gputest"
)

// TestProbeDigest: the probes fill buffers reproducibly. Their digest differs if a value differs,
// and does not depend on the order; descents do.
func TestProbeDigest(t *testing.T) {
	dev, s := gputest.Device(t)
	kernel := func(name string) *gpu.Kernel {
		t.Helper()
		k, err := dev.Kernel(probe, name)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	const n = 3000
	values := gputest.Alloc[uint64](t, s, n)
	digest := func(b gpu.Buffer[uint64]) (sum, descents uint64) {
		t.Helper()
		out := gputest.Upload(t, s, []uint64{0, 0})
		err := s.Launch(kernel("probe_digest_u64"), gpu.Grid(4, 128), b.Arg(), gpu.U64(n),
			out.Slice(0, 1).Arg(), out.Slice(1, 2).Arg())
		if err != nil {
			t.Fatal(err)
		}
		got := gputest.Download(t, s, out)
		return got[0], got[1]
	}
	fill := func() {
		t.Helper()
		if err := s.Launch(kernel("probe_fill_u64"), gpu.Grid(4, 128), values.Arg(), gpu.U64(n),
			gpu.U64(42), gpu.U64(1<<20-1)); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	host := gputest.Download(t, s, values)
	sum, descents := digest(values)
	fill()
	if again := gputest.Download(t, s, values); !slices.Equal(again, host) {
		t.Error("two fills with the same seed differ")
	}
	want := uint64(0)
	for i := 1; i < n; i++ {
		if host[i] < host[i-1] {
			want++
		}
	}
	if descents != want || slices.Max(host) >= 1<<20 {
		t.Errorf("%d descents, want %d; the largest value is %d", descents, want, slices.Max(host))
	}
	slices.Sort(host)
	if sorted, descents := digest(gputest.Upload(t, s, host)); sorted != sum || descents != 0 {
		t.Errorf("sorted: digest %x and %d descents, want %x and 0", sorted, descents, sum)
	}
	host[7]++
	if other, _ := digest(gputest.Upload(t, s, host)); other == sum {
		t.Error("a changed value has the same digest")
	}

	narrow := make([]uint32, n)
	for i, v := range host {
		narrow[i] = uint32(v)
	}
	wide, _ := digest(gputest.Upload(t, s, host))
	out := gputest.Upload(t, s, []uint64{0, 0})
	if err := s.Launch(kernel("probe_digest_u32"), gpu.Grid(4, 128),
		gputest.Upload(t, s, narrow).Arg(), gpu.U64(n), out.Slice(0, 1).Arg(),
		out.Slice(1, 2).Arg()); err != nil {
		t.Fatal(err)
	}
	if got := gputest.Download(t, s, out)[0]; got != wide {
		t.Errorf("digest of the same values in 32 bits is %x, want %x", got, wide)
	}
}

// TestProbeStray: a write far outside of every allocation ends the device, and the error says so.
func TestProbeStray(t *testing.T) {
	dev := gpu.New(emu.New(emu.Options{}))
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	b, err := gpu.Alloc[uint32](dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	k, err := dev.Kernel(probe, "probe_stray")
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(s.Launch(k, gpu.Grid(1, 1), b.Arg()), s.Sync(t.Context()))
	if !errors.Is(err, gpu.ErrDead) || !strings.Contains(err.Error(), "probe_stray") {
		t.Errorf("a stray write ended with %v, want ErrDead and the name of the kernel", err)
	}
	if err := errors.Join(b.Free(), s.Free(), dev.Close()); err != nil {
		t.Errorf("freeing after the fault: %v", err)
	}
}

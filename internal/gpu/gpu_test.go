package gpu_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/driver"
	"github.com/collocate/collocate/internal/gpu/emu"
	"github.com/collocate/collocate/internal/gpu/gputest"
)

// addPTX has a kernel that adds a number to every value: out[i] = in[i] + by.
const addPTX = `.version 7.8
.target sm_70
.address_size 64
.visible .entry add(.param .u64 out, .param .u64 in, .param .u8 unused, .param .u32 n, .param .u32 by)
{
.reg .pred %p<2>;
.reg .b32 %r<8>;
.reg .b64 %rd<6>;
ld.param.u64 %rd0, [out];
ld.param.u64 %rd1, [in];
ld.param.u32 %r0, [n];
ld.param.u32 %r1, [by];
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mov.u32 %r4, %tid.x;
mad.lo.s32 %r5, %r2, %r3, %r4;
setp.ge.u32 %p0, %r5, %r0;
@%p0 ret;
mul.wide.u32 %rd2, %r5, 4;
add.s64 %rd3, %rd0, %rd2;
add.s64 %rd4, %rd1, %rd2;
ld.global.u32 %r6, [%rd4];
add.s32 %r7, %r6, %r1;
st.global.u32 [%rd3], %r7;
ret;
}
`

var addSource = gpu.NewSource("test/add", addPTX)

func addKernel(t *testing.T, dev *gpu.Device) *gpu.Kernel {
	t.Helper()
	k, err := dev.Kernel(addSource, "add")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func add(s *gpu.Stream, k *gpu.Kernel, out, in gpu.Buffer[uint32], by uint32) error {
	return s.Launch(k, gpu.Grid((in.Len()+255)/256, 256), out.Arg(), in.Arg(), gpu.U8(0),
		gpu.U32(uint32(in.Len())), gpu.U32(by))
}

// TestRoundTrip sends values through a kernel and back, by every kind of copy.
func TestRoundTrip(t *testing.T) {
	dev, s := gputest.Device(t)
	k := addKernel(t, dev)
	for _, n := range []int{1, 255, 256, 1000, 3<<20 + 7} { // the last needs several stages
		if n > 1<<20 && dev.Info().Emulated && testing.Short() {
			continue
		}
		host := make([]uint32, n)
		for i := range host {
			host[i] = rand.Uint32()
		}
		x, y := gputest.Upload(t, s, host), gputest.Alloc[uint32](t, s, n)
		if err := add(s, k, y, x, 5); err != nil {
			t.Fatal(err)
		}
		got := gputest.Download(t, s, y)
		for i := range got {
			if got[i] != host[i]+5 {
				t.Fatalf("value %d is %d, want %d", i, got[i], host[i]+5)
			}
		}
	}
	p, err := gpu.AllocPinned[uint32](dev, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Free()
	x, y := gputest.Alloc[uint32](t, s, 100), gputest.Alloc[uint32](t, s, 100)
	for i := range p.Values() {
		p.Values()[i] = uint32(i)
	}
	if err := errors.Join(x.CopyIn(s, p), s.Sync(t.Context())); err != nil {
		t.Fatal(err)
	}
	clear(p.Values())
	if err := errors.Join(x.CopyTo(s, y), y.Slice(10, 20).Zero(s),
		y.Slice(20, 21).FillBytes(s, 0xff), y.Slice(5, 100).CopyOut(s, p.Slice(5, 100)),
		s.Sync(t.Context())); err != nil {
		t.Fatal(err)
	}
	if v := p.Values(); v[4] != 0 || v[9] != 9 || v[10] != 0 || v[19] != 0 || v[20] != ^uint32(0) || v[99] != 99 {
		t.Errorf("copied %v; want the index from 5 on, except 0 at 10 to 19 and all ones at 20", v)
	}
	// Kernels read and write pinned memory directly.
	seen, err := p.OnDevice()
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Values() {
		p.Values()[i] = uint32(i)
	}
	if err := errors.Join(add(s, k, seen, seen, 7), s.Sync(t.Context())); err != nil {
		t.Fatal(err)
	}
	if v := p.Values(); v[0] != 7 || v[99] != 106 {
		t.Errorf("a kernel on pinned memory: %d and %d, want 7 and 106", v[0], v[99])
	}
	if b := gpu.As[uint64](x); b.Len() != 50 || b.Bytes() != 400 {
		t.Errorf("100 uint32 seen as uint64: %d values of %d bytes, want 50 of 400", b.Len(), b.Bytes())
	}
}

// TestGraph replays a captured sequence of kernels.
func TestGraph(t *testing.T) {
	dev, s := gputest.Device(t)
	k := addKernel(t, dev)
	x := gputest.Upload(t, s, make([]uint32, 300))
	if err := s.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	g, err := s.Capture(func() error { return errors.Join(add(s, k, x, x, 1), add(s, k, x, x, 10), add(s, k, x, x, 100)) })
	if err != nil {
		t.Fatal(err)
	}
	defer g.Free()
	if got := gputest.Download(t, s, x); got[7] != 0 {
		t.Error("capturing ran the kernels")
	}
	if err := errors.Join(s.Replay(g), s.Replay(g)); err != nil {
		t.Fatal(err)
	}
	if got := gputest.Download(t, s, x); got[0] != 222 || got[299] != 222 {
		t.Errorf("after two replays: %d and %d, want 222", got[0], got[299])
	}
	broken := errors.New("broken")
	if _, err := s.Capture(func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a capture that failed returned %v, want %v", err, broken)
	}
	if err := add(s, k, x, x, 1); err != nil {
		t.Errorf("a launch after a capture that failed: %v", err)
	}
}

// TestEventOrdersStreams makes one stream wait for the other's event.
func TestEventOrdersStreams(t *testing.T) {
	dev, s := gputest.Device(t)
	k := addKernel(t, dev)
	other, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Free()
	from, err := dev.NewEvent()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Free()
	to, err := dev.NewEvent()
	if err != nil {
		t.Fatal(err)
	}
	defer to.Free()
	x := gputest.Upload(t, s, make([]uint32, 50_000))
	if err := errors.Join(s.Record(from), add(s, k, x, x, 1), s.Record(to), other.WaitFor(to),
		add(other, k, x, x, 2)); err != nil {
		t.Fatal(err)
	}
	if got := gputest.Download(t, other, x); got[49_999] != 3 {
		t.Errorf("got %d, want 3", got[49_999])
	}
	if d, err := to.Since(from); err != nil || d <= 0 {
		t.Errorf("time between the events: %v, %v; want a positive one", d, err)
	}
	if err := to.Wait(); err != nil {
		t.Error(err)
	}
}

// TestArguments checks that a launch whose arguments do not match the kernel is refused.
func TestArguments(t *testing.T) {
	dev, s := gputest.Device(t)
	k := addKernel(t, dev)
	x := gputest.Alloc[uint32](t, s, 10)
	for want, args := range map[string][]gpu.Arg{
		"4 arguments: want 5":      {x.Arg(), x.Arg(), gpu.U8(0), gpu.U32(1)},
		"argument 3 has 8 bytes":   {x.Arg(), x.Arg(), gpu.U8(0), gpu.U64(10), gpu.U32(1)},
		"argument 0 has 4 bytes":   {gpu.U32(1), x.Arg(), gpu.U8(0), gpu.U32(10), gpu.U32(1)},
		"its parameter 1 (u8)":     {x.Arg(), x.Arg(), gpu.F32(0), gpu.U32(10), gpu.I32(1)},
		"its parameter 4 (u32)":    {x.Arg(), x.Arg(), gpu.U8(0), gpu.U32(10), gpu.F64(1)},
		"its parameter 8 (u64)":    {gpu.I32(3), gpu.Null(), gpu.U8(0), gpu.U32(10), gpu.U32(1)},
		"argument 1 has 4 bytes, ": {gpu.I64(3), gpu.I32(2), gpu.U8(0), gpu.U32(10), gpu.U32(1)},
	} {
		if err := s.Launch(k, gpu.Grid(1, 32), args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one with %q", err, want)
		}
	}
	if _, err := dev.Kernel(addSource, "subtract"); err == nil {
		t.Error("a missing kernel was found")
	}
	if err := s.Launch(k, gpu.Grid(0, 32), x.Arg(), x.Arg(), gpu.U8(0), gpu.U32(10), gpu.U32(1)); err == nil {
		t.Error("a launch without blocks was accepted")
	}
}

// TestOutOfMemory checks that a failed allocation reports what was requested and what is free, and
// that the device remains usable.
func TestOutOfMemory(t *testing.T) {
	dev := gpu.New(emu.New(emu.Options{Memory: 1 << 20}))
	x, err := gpu.Alloc[uint64](dev, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	_, err = gpu.Alloc[uint64](dev, 1<<17)
	var oom *gpu.OutOfMemory
	if !errors.As(err, &oom) || *oom != (gpu.OutOfMemory{Need: 1 << 20, Available: 1 << 19, Total: 1 << 20}) {
		t.Fatalf("error is %v, want OutOfMemory with 1 MB needed and 512 KB free", err)
	}
	if want := "device memory: 1.05MB wanted, 524kB of 1.05MB are free"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if err := errors.Join(x.Free(), dev.Close()); err != nil {
		t.Error(err)
	}
}

// scarce is an emulated device that allocates only the given number of pinned buffers.
type scarce struct {
	*emu.Device
	left int
}

func (s *scarce) HostAlloc(n int) ([]byte, error) {
	if s.left--; s.left < 0 {
		return nil, errors.New("out of pinned memory")
	}
	return s.Device.HostAlloc(n)
}

// TestStagingRunsOut: if pinned memory does not suffice for all stages, an upload fails and leaves
// nothing behind; the next one may succeed.
func TestStagingRunsOut(t *testing.T) {
	e := emu.New(emu.Options{})
	few := &scarce{e, 3} // one for the stream's arguments
	dev := gpu.New(few)
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	x, err := gpu.Alloc[uint32](dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	before := e.Live()
	if err := x.Upload(s, []uint32{1}); err == nil {
		t.Error("an upload succeeded without all stages")
	}
	if n := e.Live(); n != before {
		t.Errorf("%d objects after a failed upload, want %d", n, before)
	}
	few.left = 100
	if err := errors.Join(x.Upload(s, []uint32{1}), x.Free(), s.Free(), dev.Close()); err != nil {
		t.Error(err)
	}
	if n := e.Live(); n != 0 {
		t.Errorf("%d objects after Close, want none", n)
	}
}

// streamless is an emulated device that makes no streams.
type streamless struct{ *emu.Device }

func (streamless) NewStream() (driver.Stream, error) { return 0, errors.New("out of streams") }

// TestNoStream: a stream that cannot be made leaves nothing behind.
func TestNoStream(t *testing.T) {
	e := emu.New(emu.Options{})
	if _, err := gpu.New(streamless{e}).NewStream(); err == nil {
		t.Error("NewStream succeeded on a device without streams")
	}
	if n := e.Live(); n != 0 {
		t.Errorf("%d objects are left, want none", n)
	}
}

// unguarded is an emulated device that reports to be a real one.
type unguarded struct{ *emu.Device }

func (u unguarded) Info() gpu.Info {
	info := u.Device.Info()
	info.Emulated = false
	return info
}

// TestArena takes memory and releases it like a stack, within the arena's bounds. It tests both
// kinds of arena: one allocation, and one per piece.
func TestArena(t *testing.T) {
	t.Run("guarded", func(t *testing.T) {
		dev, _ := gputest.Device(t)
		testArena(t, dev)
	})
	t.Run("one allocation", func(t *testing.T) {
		dev := gpu.New(unguarded{emu.New(emu.Options{})})
		t.Cleanup(func() {
			if err := dev.Close(); err != nil {
				t.Error(err)
			}
		})
		testArena(t, dev)
	})
}

func testArena(t *testing.T, dev *gpu.Device) {
	a := gputest.Arena(t, dev, 1000)
	x, err := gpu.Take[uint32](a, 10)
	if err != nil || x.Len() != 10 {
		t.Fatal(x.Len(), err)
	}
	mark := a.Mark()
	if _, err := gpu.Take[uint8](a, 300); err != nil {
		t.Fatal(err)
	}
	var oom *gpu.OutOfMemory
	if _, err := gpu.Take[uint8](a, 300); !errors.As(err, &oom) {
		t.Errorf("a third piece: %v, want OutOfMemory", err)
	}
	if err := a.Release(mark); err != nil {
		t.Fatal(err)
	}
	if a.Left() != 768 || a.Peak() != 768 {
		t.Errorf("%d left, peak %d; want 768 and 768", a.Left(), a.Peak())
	}
}

// TestLeaksAreFound checks that Close names what was not freed.
func TestLeaksAreFound(t *testing.T) {
	dev := gpu.New(emu.New(emu.Options{}))
	if _, err := gpu.Alloc[uint32](dev, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := gpu.AllocPinned[uint32](dev, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := dev.NewStream(); err != nil {
		t.Fatal(err)
	}
	if _, err := dev.NewEvent(); err != nil {
		t.Fatal(err)
	}
	if err := dev.Close(); err == nil ||
		!strings.Contains(err.Error(), "1 buffers, 1 events, 1 pinned buffers, 1 streams") {
		t.Errorf("Close returned %v, want an error that lists what was not freed", err)
	}
	if _, err := gpu.Alloc[uint32](dev, 1); err == nil {
		t.Error("a closed device allocated memory")
	}
}

// TestPointersAreRefused: the garbage collector could not see pointers in device memory.
func TestPointersAreRefused(t *testing.T) {
	dev, _ := gputest.Device(t)
	if _, err := gpu.Alloc[*int](dev, 1); err == nil {
		t.Error("pointers were accepted")
	}
	if _, err := gpu.Alloc[struct{ a, b int }](dev, 1); err == nil {
		t.Error("ints, whose size depends on the machine, were accepted")
	}
	b, err := gpu.Alloc[struct {
		doc   uint32
		score float32
	}](dev, 3)
	if err != nil || b.Bytes() != 24 {
		t.Errorf("three structs: %d bytes, %v; want 24", b.Bytes(), err)
	}
	if err := b.Free(); err != nil {
		t.Error(err)
	}
}

// TestManyGoroutines lets goroutines use one device, each with its own stream; copies share the
// staging ring.
func TestManyGoroutines(t *testing.T) {
	dev, _ := gputest.Device(t)
	k := addKernel(t, dev)
	var wg sync.WaitGroup
	errs := make(chan error, 64)
	for g := range 16 {
		wg.Go(func() {
			errs <- func() error {
				release, err := dev.Acquire(t.Context())
				if err != nil {
					return err
				}
				defer release()
				s, err := dev.NewStream()
				if err != nil {
					return err
				}
				x, err := gpu.Alloc[uint32](dev, 5000)
				if err != nil {
					return err
				}
				host := slices.Repeat([]uint32{uint32(g)}, 5000)
				err = s.Do(func() error {
					return errors.Join(x.Upload(s, host), add(s, k, x, x, 1), add(s, k, x, x, 1),
						x.Download(t.Context(), s, host))
				})
				if host[4999] != uint32(g)+2 {
					err = errors.Join(err, errors.New("wrong result"))
				}
				return errors.Join(err, x.Free(), s.Free())
			}()
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}

// TestAcquireWaits: Acquire blocks once all operations are in progress, and can be cancelled.
func TestAcquireWaits(t *testing.T) {
	dev, _ := gputest.Device(t)
	var all []func()
	for range 64 {
		release, err := dev.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, release)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dev.Acquire(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the 65th operation: %v, want context.Canceled", err)
	}
	for _, release := range all {
		release()
	}
}

// TestDeadDevice: after a fault every call returns ErrDead with the error of the fault, and freeing
// returns no error.
func TestDeadDevice(t *testing.T) {
	dev := gpu.New(emu.New(emu.Options{}))
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	x, err := gpu.Alloc[uint32](dev, 10)
	if err != nil {
		t.Fatal(err)
	}
	k := addKernel(t, dev)
	// The buffer holds 10 values; the kernel accesses 11.
	if err := s.Launch(k, gpu.Grid(1, 32), x.Arg(), x.Arg(), gpu.U8(0), gpu.U32(11), gpu.U32(1)); err != nil {
		t.Fatal(err)
	}
	err = s.Sync(t.Context())
	if !errors.Is(err, gpu.ErrDead) || !strings.Contains(err.Error(), "offset 40 of an allocation of 40 bytes") {
		t.Fatalf("the fault is reported as %v, want ErrDead and the offset", err)
	}
	for name, f := range map[string]func() error{
		"launch":   func() error { return add(s, k, x, x, 1) },
		"upload":   func() error { return x.Upload(s, make([]uint32, 10)) },
		"download": func() error { return x.Download(t.Context(), s, make([]uint32, 10)) },
		"alloc":    func() error { _, err := gpu.Alloc[uint32](dev, 1); return err },
		"sync":     func() error { return s.Sync(t.Context()) },
		"stream":   func() error { _, err := dev.NewStream(); return err },
		"meminfo":  func() error { _, _, err := dev.MemInfo(); return err },
	} {
		if err := f(); !errors.Is(err, gpu.ErrDead) {
			t.Errorf("%s after the fault: %v, want ErrDead", name, err)
		}
	}
	if err := errors.Join(x.Free(), s.Free(), dev.Close()); err != nil {
		t.Errorf("freeing after the fault: %v", err)
	}
}

// TestEmulatorByName: the environment variable selects the interpreter; a wrong value or device
// number is an error that wraps ErrUnavailable.
func TestEmulatorByName(t *testing.T) {
	t.Setenv(gpu.EmulateEnv, "emulator")
	dev, err := gpu.Open(0)
	if err != nil || !dev.Info().Emulated {
		t.Fatal(err)
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
	if list, err := gpu.Devices(); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
	if _, err := gpu.Open(1); !errors.Is(err, gpu.ErrUnavailable) ||
		!strings.Contains(err.Error(), "device 1: want 0") {
		t.Errorf("a second interpreter: %v, want ErrUnavailable and the number wanted", err)
	}
	t.Setenv(gpu.EmulateEnv, "simulator")
	const want = "no GPU: COLLOCATE_GPU=simulator: want emulator, or nothing"
	if _, err := gpu.Open(0); !errors.Is(err, gpu.ErrUnavailable) || err.Error() != want {
		t.Errorf("Open with an unknown interpreter: %v, want %s", err, want)
	}
	if _, err := gpu.Devices(); err == nil || err.Error() != want {
		t.Errorf("Devices with an unknown interpreter: %v, want %s", err, want)
	}
	t.Setenv(gpu.EmulateEnv, "")
	if _, err := gpu.Open(12345); !errors.Is(err, gpu.ErrUnavailable) {
		t.Errorf("device 12345: %v, want ErrUnavailable", err)
	}
}

// TestPackedLayout pins the offsets of arguments: each is a multiple of its size.
func TestPackedLayout(t *testing.T) {
	entries, err := addSource.Entries()
	if err != nil || len(entries) != 1 || entries[0].Name != "add" {
		t.Fatal(entries, err)
	}
	var offsets []int
	for _, p := range entries[0].Params {
		offsets = append(offsets, p.Offset)
	}
	if want := []int{0, 8, 16, 20, 24}; !slices.Equal(offsets, want) || entries[0].ParamBytes != 28 {
		t.Errorf("offsets are %v, want %v", offsets, want)
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Error("arguments are packed for little-endian machines only")
	}
}

func TestBudgetLeavesSomethingFree(t *testing.T) {
	dev := gpu.New(emu.New(emu.Options{Memory: 1000 << 20}))
	free, _, err := dev.MemInfo()
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]int64{0: free / 10 * 9, 64 << 20: 64 << 20, free * 2: free / 10 * 9} {
		if got, err := dev.Budget(limit); err != nil || got != want {
			t.Errorf("Budget(%d) = %d, %v; want %d", limit, got, err, want)
		}
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
}

package device

import (
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/driver"
)

// noDevice is a device that takes all calls and does nothing, so that a benchmark measures the
// host's part of a job alone.
type noDevice struct{ next atomic.Uint64 }

func (d *noDevice) handle(n int64) uint64 {
	n = (max(n, 1) + 255) &^ 255
	return d.next.Add(uint64(n)) - uint64(n) + 1<<20
}

func (d *noDevice) Info() driver.Info {
	return driver.Info{Name: "none", Major: 9, Memory: 140 << 30, Multiprocessors: 132,
		SharedPerBlock: 48 << 10, SharedOptIn: 227 << 10, ThreadsPerSM: 2048}
}
func (d *noDevice) Close() error { return nil }
func (d *noDevice) Bind() error  { return nil }
func (d *noDevice) Unbind()      {}
func (d *noDevice) MemInfo() (free, total int64, err error) {
	return 140 << 30, 140 << 30, nil
}
func (d *noDevice) Alloc(n int64) (driver.Ptr, error)               { return driver.Ptr(d.handle(n)), nil }
func (d *noDevice) Free(driver.Ptr) error                           { return nil }
func (d *noDevice) HostAlloc(n int) ([]byte, error)                 { return make([]byte, n), nil }
func (d *noDevice) HostFree([]byte) error                           { return nil }
func (d *noDevice) HostPtr([]byte) (driver.Ptr, error)              { return 1 << 20, nil }
func (d *noDevice) CopyIn(driver.Ptr, []byte, driver.Stream) error  { return nil }
func (d *noDevice) CopyOut([]byte, driver.Ptr, driver.Stream) error { return nil }
func (d *noDevice) Copy(_, _ driver.Ptr, _ int64, _ driver.Stream) error {
	return nil
}
func (d *noDevice) Fill8(driver.Ptr, uint8, int64, driver.Stream) error   { return nil }
func (d *noDevice) Fill32(driver.Ptr, uint32, int64, driver.Stream) error { return nil }
func (d *noDevice) NewStream() (driver.Stream, error)                     { return driver.Stream(d.handle(1)), nil }
func (d *noDevice) FreeStream(driver.Stream) error                        { return nil }
func (d *noDevice) SyncStream(driver.Stream) error                        { return nil }
func (d *noDevice) StreamDone(driver.Stream) (bool, error)                { return true, nil }
func (d *noDevice) WaitEvent(driver.Stream, driver.Event) error           { return nil }
func (d *noDevice) SyncDevice() error                                     { return nil }
func (d *noDevice) NewEvent(bool) (driver.Event, error)                   { return driver.Event(d.handle(1)), nil }
func (d *noDevice) FreeEvent(driver.Event) error                          { return nil }
func (d *noDevice) RecordEvent(driver.Event, driver.Stream) error         { return nil }
func (d *noDevice) SyncEvent(driver.Event) error                          { return nil }
func (d *noDevice) Elapsed(driver.Event, driver.Event) (float32, error)   { return 0, nil }
func (d *noDevice) LoadModule(string) (driver.Module, error)              { return 1, nil }
func (d *noDevice) FreeModule(driver.Module) error                        { return nil }
func (d *noDevice) Kernel(driver.Module, string) (driver.Kernel, error)   { return 1, nil }
func (d *noDevice) SetShared(driver.Kernel, int) error                    { return nil }
func (d *noDevice) Occupancy(driver.Kernel, int, int) (int, error)        { return 4, nil }
func (d *noDevice) Launch(driver.Kernel, driver.Dim, []byte, driver.Stream) error {
	return nil
}
func (d *noDevice) BeginCapture(driver.Stream) error               { return nil }
func (d *noDevice) EndCapture(driver.Stream) (driver.Graph, error) { return 1, nil }
func (d *noDevice) FreeGraph(driver.Graph) error                   { return nil }
func (d *noDevice) LaunchGraph(driver.Graph, driver.Stream) error  { return nil }

// BenchmarkOpen measures the host's part of bringing an index to a device. COLLOCATE_BENCH_INDEX
// names the index; one of many documents shows most.
func BenchmarkOpen(b *testing.B) {
	dir := os.Getenv("COLLOCATE_BENCH_INDEX")
	if dir == "" {
		b.Skip("COLLOCATE_BENCH_INDEX names no index")
	}
	s := open(b, dir)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		g, err := openOn(b.Context(), s.e, gpu.New(&noDevice{}), Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms")
		if err := g.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

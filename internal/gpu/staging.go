package gpu

import (
	"context"
	"errors"
	"sync"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// Copies between ordinary Go memory and the device go through a ring of pinned buffers: the
// driver's own path for such memory is several times slower, and blocks.
const (
	stageBytes = 4 << 20
	stageCount = 4
	// One core copies about 10 GB/s into a stage, a fifth of the bandwidth of the bus, so several
	// cores share a copy.
	stageCopiers = 4
	stagePiece   = 256 << 10
)

// stage is one pinned buffer. busy is set while the device may be using it.
type stage struct {
	buf  []byte
	done driver.Event
	busy bool
}

// stagingRing is allocated on first use and freed by Close.
type stagingRing struct {
	mu    sync.Mutex
	made  bool
	ready chan *stage
}

// get returns a stage that is not in use. If there is none, it waits, or returns nil if wait is
// false: a goroutine that holds a stage must not wait for another. The device must be current.
func (r *stagingRing) get(d *Device, wait bool) (st *stage, err error) {
	if err := r.make(d); err != nil {
		return nil, err
	}
	select {
	case st = <-r.ready:
	default:
		if !wait {
			return nil, nil
		}
		st = <-r.ready
	}
	if !st.busy {
		return st, nil
	}
	if err := d.d.SyncEvent(st.done); err != nil {
		r.ready <- st
		return nil, err
	}
	st.busy = false
	return st, nil
}

func (r *stagingRing) make(d *Device) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.made {
		return nil
	}
	ready := make(chan *stage, stageCount)
	for range stageCount {
		st, err := newStage(d)
		if err != nil {
			close(ready)
			for st := range ready {
				err = errors.Join(err, st.free(d))
			}
			return err
		}
		ready <- st
	}
	r.ready, r.made = ready, true
	return nil
}

func newStage(d *Device) (*stage, error) {
	buf, err := d.d.HostAlloc(stageBytes)
	if err != nil {
		return nil, err
	}
	done, err := d.d.NewEvent(false)
	if err != nil {
		return nil, errors.Join(err, d.d.HostFree(buf))
	}
	return &stage{buf: buf, done: done}, nil
}

func (st *stage) free(d *Device) error {
	return errors.Join(d.d.FreeEvent(st.done), d.d.HostFree(st.buf))
}

// free frees the ring's memory.
func (r *stagingRing) free(d *Device) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.made {
		return
	}
	r.made = false
	dead := d.alive() != nil
	for range stageCount {
		st := <-r.ready
		if !dead {
			_ = d.always(func() error { return st.free(d) })
		}
	}
}

// parallelCopy is copy, by several goroutines if there is enough to copy.
func parallelCopy(dst, src []byte) {
	if len(src) <= 2*stagePiece {
		copy(dst, src)
		return
	}
	var wg sync.WaitGroup
	part := (len(src)/stageCopiers + stagePiece - 1) / stagePiece * stagePiece
	for len(src) > part {
		d, s := dst[:part], src[:part]
		wg.Go(func() { copy(d, s) })
		dst, src = dst[part:], src[part:]
	}
	copy(dst, src)
	wg.Wait()
}

// upload copies host memory to the device through the ring.
func (s *Stream) upload(dst driver.Ptr, src []byte) error {
	return s.do(func() error {
		for len(src) > 0 {
			n := min(len(src), stageBytes)
			st, err := s.dev.ring.get(s.dev, true)
			if err != nil {
				return err
			}
			parallelCopy(st.buf[:n], src[:n])
			err = s.dev.d.CopyIn(dst, st.buf[:n], s.h)
			if err == nil {
				err = s.dev.d.RecordEvent(st.done, s.h)
				st.busy = true
			}
			s.dev.ring.ready <- st
			if err != nil {
				return err
			}
			src, dst = src[n:], dst+driver.Ptr(n)
		}
		return nil
	})
}

// download waits for the stream and copies device memory to the host through the ring. The copy to
// the next stage overlaps with copying from the last. Stages are taken only once the stream's work
// is done, so that a long kernel does not keep them from other streams.
func (s *Stream) download(ctx context.Context, dst []byte, src driver.Ptr) error {
	return s.do(func() error {
		if err := s.Sync(ctx); err != nil {
			return err
		}
		type piece struct {
			st *stage
			to []byte
		}
		var under []piece
		finish := func() error {
			p := under[0]
			under = under[1:]
			err := s.dev.d.SyncEvent(p.st.done)
			if err == nil {
				parallelCopy(p.to, p.st.buf[:len(p.to)])
			}
			p.st.busy = false
			s.dev.ring.ready <- p.st
			return err
		}
		var err error
		for len(dst) > 0 && err == nil {
			if err = ctx.Err(); err != nil {
				break
			}
			var st *stage
			if st, err = s.dev.ring.get(s.dev, len(under) == 0); err != nil {
				break
			}
			if st == nil {
				err = finish()
				continue
			}
			n := min(len(dst), stageBytes)
			if err = s.dev.d.CopyOut(st.buf[:n], src, s.h); err == nil {
				err = s.dev.d.RecordEvent(st.done, s.h)
				st.busy = true
			}
			under = append(under, piece{st, dst[:n]})
			dst, src = dst[n:], src+driver.Ptr(n)
		}
		for len(under) > 0 {
			if e := finish(); err == nil {
				err = e
			}
		}
		return err
	})
}

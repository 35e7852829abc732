package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/collocate/collocate/internal/gpu"
)

// Faults provokes faults and checks that they are reported correctly. It must come last: the final
// fault makes the device unusable for this process.
func Faults(ctx context.Context, dev *gpu.Device) []Result {
	var out []Result
	for _, f := range []struct {
		name string
		run  func(context.Context, *gpu.Device) error
	}{
		{"fault: out of memory", tryOutOfMemory},
		{"fault: cancelled during a long kernel", tryCancel},
		{"fault: wrong arguments", tryArguments},
		{"fault: a kernel that traps", tryTrap},
	} {
		r := Result{Name: f.name, Cases: 1}
		if err := f.run(ctx, dev); err != nil {
			r.Error = err.Error()
		}
		out = append(out, r)
	}
	return out
}

func tryOutOfMemory(_ context.Context, dev *gpu.Device) error {
	_, total, err := dev.MemInfo()
	if err != nil {
		return err
	}
	b, err := gpu.Alloc[uint8](dev, int(total)+1<<30)
	var oom *gpu.OutOfMemory
	if err == nil {
		return errors.Join(errors.New("an allocation larger than the device's memory succeeded"), b.Free())
	}
	if !errors.As(err, &oom) || oom.Need != total+1<<30 || oom.Available <= 0 || oom.Total <= 0 {
		return fmt.Errorf("an allocation larger than the device's memory is not reported as out of memory: %w", err)
	}
	small, err := gpu.Alloc[uint8](dev, 1<<20)
	if err != nil {
		return fmt.Errorf("a small allocation fails after one that was too large: %w", err)
	}
	return small.Free()
}

// tryCancel starts a kernel that runs until it is told to stop, and cancels the
// wait for it.
func tryCancel(ctx context.Context, dev *gpu.Device) (err error) {
	if dev.Info().Emulated {
		return nil // in the interpreter nothing runs unless somebody waits
	}
	k, err := dev.Kernel(probe, "probe_spin")
	if err != nil {
		return err
	}
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Free()) }()
	other, err := dev.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, other.Free()) }()
	stop, err := gpu.Alloc[uint32](dev, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop.Free()) }()
	if err := errors.Join(stop.Zero(s), s.Launch(k, gpu.Grid(1, 32), stop.Arg(), gpu.U64(1<<62))); err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	waited := s.Sync(short)
	took := time.Since(start)
	if err := errors.Join(stop.FillBytes(other, 1), other.Sync(ctx), s.Sync(ctx)); err != nil {
		return err
	}
	if !errors.Is(waited, context.DeadlineExceeded) || took > 300*time.Millisecond {
		return fmt.Errorf("a wait that was cancelled after 50 ms ended after %v with %v", took, waited)
	}
	return nil
}

func tryArguments(_ context.Context, dev *gpu.Device) (err error) {
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Free()) }()
	k, err := dev.Kernel(probe, "probe_trap")
	if err != nil {
		return err
	}
	if s.Launch(k, gpu.Grid(1, 32)) == nil || s.Launch(k, gpu.Grid(1, 32), gpu.U64(1)) == nil {
		return errors.New("a launch with wrong arguments was not refused")
	}
	if s.Launch(k, gpu.Grid(1, 2048), gpu.U32(9999)) == nil {
		return errors.New("a block of 2,048 threads was not refused")
	}
	return nil
}

// tryTrap runs a kernel that traps, which ends the device, and checks how later calls fail.
func tryTrap(ctx context.Context, dev *gpu.Device) error {
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	b, err := gpu.Alloc[uint32](dev, 1000)
	if err != nil {
		return err
	}
	k, err := dev.Kernel(probe, "probe_trap")
	if err != nil {
		return err
	}
	err = errors.Join(s.Launch(k, gpu.Grid(1, 32), gpu.U32(7)), s.Sync(ctx))
	if !errors.Is(err, gpu.ErrDead) {
		return fmt.Errorf("a trap ended with %v, want ErrDead", err)
	}
	if _, err := gpu.Alloc[uint32](dev, 1); !errors.Is(err, gpu.ErrDead) {
		return fmt.Errorf("an allocation after a trap ended with %v", err)
	}
	if err := errors.Join(b.Free(), s.Free()); err != nil {
		return fmt.Errorf("free after a trap: %w", err)
	}
	return nil
}

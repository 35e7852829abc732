// Package gputest gives tests a device: an emulated one, so that every test runs everywhere, or the
// real one whose number is in COLLOCATE_TEST_GPU.
package gputest

import (
	"os"
	"strconv"
	"testing"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/emu"
	_ "github.com/collocate/collocate/internal/gpu/interpret"
)

// Device returns a device for the test and a stream on it. Both are freed at the test's end;
// anything left on the device fails the test.
func Device(t testing.TB) (*gpu.Device, *gpu.Stream) {
	t.Helper()
	var dev *gpu.Device
	if n := os.Getenv("COLLOCATE_TEST_GPU"); n != "" {
		ordinal, err := strconv.Atoi(n)
		if err != nil {
			t.Fatalf("COLLOCATE_TEST_GPU=%s: want a device's number", n)
		}
		if dev, err = gpu.Open(ordinal); err != nil {
			t.Fatal(err)
		}
	} else {
		dev = gpu.New(emu.New(emu.Options{}))
	}
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Free(); err != nil {
			t.Error(err)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return dev, s
}

// Named is Device for tests of code that opens devices by their number: such code gets the same
// kind of device.
func Named(t testing.TB) (*gpu.Device, *gpu.Stream) {
	t.Helper()
	if os.Getenv("COLLOCATE_TEST_GPU") == "" {
		t.Setenv(gpu.EmulateEnv, "emulator")
	}
	return Device(t)
}

// Upload makes a device buffer of values, freed at the test's end.
func Upload[T any](t testing.TB, s *gpu.Stream, values []T) gpu.Buffer[T] {
	t.Helper()
	b := Alloc[T](t, s, len(values))
	if err := b.Upload(s, values); err != nil {
		t.Fatal(err)
	}
	return b
}

// Alloc makes a device buffer, freed at the test's end.
func Alloc[T any](t testing.TB, s *gpu.Stream, n int) gpu.Buffer[T] {
	t.Helper()
	b, err := gpu.Alloc[T](s.Device(), n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Free(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// Download waits for the stream and returns a buffer's values.
func Download[T any](t testing.TB, s *gpu.Stream, b gpu.Buffer[T]) []T {
	t.Helper()
	values := make([]T, b.Len())
	if err := b.Download(t.Context(), s, values); err != nil {
		t.Fatal(err)
	}
	return values
}

// Arena makes an arena, freed at the test's end.
func Arena(t testing.TB, dev *gpu.Device, bytes int64) *gpu.Arena {
	t.Helper()
	a, err := gpu.NewArena(dev, bytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Free(); err != nil {
			t.Error(err)
		}
	})
	return a
}

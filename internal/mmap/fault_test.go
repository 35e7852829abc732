package mmap

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Reading a mapped file that was truncated is an error that names the file, in the goroutine that
// reads.
func TestTruncationIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mapped")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	sum := 0
	read := func() error {
		for _, b := range f.Data {
			sum += int(b)
		}
		return nil
	}
	for range 2 {
		err = Safely(read)
		fault, ok := errors.AsType[*FaultError](err)
		if !ok || fault.Path != path || !strings.Contains(err.Error(), "truncated") {
			t.Fatalf("got %v, want a FaultError that names the file", err)
		}
	}
	done := make(chan error)
	go func() { done <- Safely(read) }()
	if err := <-done; err == nil {
		t.Error("no error in another goroutine")
	}
}

// Other panics are not swallowed.
func TestOtherPanicsContinue(t *testing.T) {
	defer func() {
		if p := recover(); p != "mine" {
			t.Errorf("recovered %v, want the panic of fn", p)
		}
	}()
	Safely(func() error { panic("mine") })
}

func BenchmarkGuard(b *testing.B) {
	for b.Loop() {
		Safely(func() error { return nil })
	}
}

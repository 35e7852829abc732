package mmap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Small files are mapped next to each other: a fault names the right one.
func TestFaultNamesItsFile(t *testing.T) {
	dir := t.TempDir()
	var files []*File
	for i := range 8 {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, make([]byte, 5000), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files = append(files, f)
	}
	for _, f := range files {
		if err := os.Truncate(f.path, 0); err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{0, len(f.Data) - 1} {
			sum := 0
			err := Safely(func() error {
				sum += int(f.Data[at])
				return nil
			})
			if fault, ok := errors.AsType[*FaultError](err); !ok || fault.Path != f.path {
				t.Errorf("%s at %d: %v, want a FaultError of that file", f.path, at, err)
			}
		}
	}
}

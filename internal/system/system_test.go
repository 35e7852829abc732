package system

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMapsShowWhatIsInTheFile(t *testing.T) {
	f, err := Temp(t.TempDir(), "map-*")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	data, err := MapFile(f, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := f.WriteAt([]byte("hello"), 70_000); err != nil {
			t.Fatal(err)
		}
		if got := string(data[70_000:70_005]); got != "hello" {
			t.Errorf("the map has %q, want the contents of the file", got)
		}
		Forget(data)
	}
	if err := Unmap(data); err != nil {
		t.Error(err)
	}
}

func TestMemoryIsZeroAndOurs(t *testing.T) {
	m, err := Memory(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range m {
		if b != 0 {
			t.Fatalf("byte %d is %d, want 0", i, b)
		}
		m[i] = byte(i)
	}
	if err := Free(m); err != nil {
		t.Error(err)
	}
}

func TestTempLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	f, err := Temp(dir, "temp-*")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left behind, %v", left, err)
	}
}

func TestOneLockAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a, b := open(), open()
	defer b.Close()
	if ok, err := TryLock(a); !ok || err != nil {
		t.Fatalf("the first lock: %v, %v; want true", ok, err)
	}
	if ok, err := TryLock(b); ok || err != nil {
		t.Fatalf("a second lock: %v, %v; want false", ok, err)
	}
	// A locked file can be written and read.
	if _, err := a.WriteString("mine"); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); string(got) != "mine" || err != nil {
		t.Errorf("read %q, %v; want mine", got, err)
	}
	a.Close()
	if ok, err := TryLock(b); !ok || err != nil {
		t.Fatalf("a lock after the first was released: %v, %v; want true", ok, err)
	}
}

func TestOpenAt(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	f, err := OpenAt(folder, "a")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := OpenAt(folder, "b"); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v, want ErrNotExist", err)
	}
}

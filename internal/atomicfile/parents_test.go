package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

// Folders around a new one are created with it. If it is aborted, only those remain that were there
// before, or that hold something else.
func TestFoldersAroundAFolder(t *testing.T) {
	top := t.TempDir()
	path := filepath.Join(top, "a", "b", "c")
	owned := func(string) bool { return true }
	d, err := CreateDir(path, owned)
	if err != nil {
		t.Fatal(err)
	}
	d.Abort()
	if _, err := os.Stat(filepath.Join(top, "a")); !os.IsNotExist(err) {
		t.Errorf("after Abort: folder a: %v, want that it is gone", err)
	}
	if d, err = CreateDir(path, owned); err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		t.Errorf("after Commit: %v, want a folder", err)
	}
	other, err := CreateDir(filepath.Join(top, "a", "x", "y"), owned)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "a", "x", "note"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	other.Abort()
	if _, err := os.Stat(filepath.Join(top, "a", "x", "note")); err != nil {
		t.Errorf("a file of somebody else: %v, want that it is kept", err)
	}
}

package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestNothingIsThereBeforeCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("new")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("before Commit: %v", err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	if got, _ := os.ReadFile(path); string(got) != "new" {
		t.Fatalf("after Commit: %q", got)
	}
	if err := f.Commit(); err == nil {
		t.Error("a second Commit is not refused")
	}
}

func TestAFailureKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err := WriteFile(path, func(f *File) error {
		f.WriteString("half")
		return boom
	})
	if !errors.Is(err, boom) {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("the old file became %q", got)
	}
	if list := names(t, dir); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
}

func TestDirReplacesTheOldOne(t *testing.T) {
	parent := t.TempDir()
	path := filepath.Join(parent, "index")
	for _, content := range []string{"first", "second"} {
		d, err := CreateDir(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(d.Path("part"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := d.Commit(); err != nil {
			t.Fatal(err)
		}
		d.Abort()
		if got, _ := os.ReadFile(filepath.Join(path, "part")); string(got) != content {
			t.Errorf("%q, want %q", got, content)
		}
	}
	d, err := CreateDir(path)
	if err != nil {
		t.Fatal(err)
	}
	d.Abort()
	if list := names(t, parent); len(list) != 1 || list[0] != "index" {
		t.Errorf("left behind: %v", list)
	}
}

func TestAMissingFolderIsAnError(t *testing.T) {
	if _, err := Create(filepath.Join(t.TempDir(), "no", "such", "out")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Create: %v", err)
	}
}

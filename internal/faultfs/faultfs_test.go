package faultfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/collocate/collocate/internal/disk"
)

// put writes a file, and syncs it if sync is set.
func put(t *testing.T, path, text string, sync bool) {
	t.Helper()
	f, err := disk.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if sync {
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
}

// The chosen call fails, and with Forever all later ones.
func TestFailing(t *testing.T) {
	for _, forever := range []bool{false, true} {
		dir := t.TempDir()
		f := &Failing{N: 2, Forever: forever}
		restore := disk.Use(f)
		var errs []error
		for _, name := range []string{"a", "b", "c"} {
			errs = append(errs, disk.MakeDir(filepath.Join(dir, name), 0o777))
		}
		restore()
		if errs[0] != nil || !errors.Is(errs[1], ErrFault) ||
			errors.Is(errs[2], ErrFault) != forever || f.Failed() != disk.Mkdir {
			t.Errorf("forever %v: errors %v and failed call %q, want the second call to fail", forever, errs, f.Failed())
		}
	}
	if f := (&Failing{N: 2}); f.Before(disk.Sync, "") != nil || f.Failed() != "" {
		t.Error("a call before the chosen one failed")
	}
}

// A crash keeps what was synced: bytes with their file, names with their folder.
func TestCrash(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	if err := os.Mkdir(at("folder"), 0o777); err != nil {
		t.Fatal(err)
	}
	put(t, at("old"), "old", true)
	put(t, at("replaced"), "before", true)
	put(t, at("folder/below"), "below", true)

	c, err := NewCrash(root, 1000)
	if err != nil {
		t.Fatal(err)
	}
	restore := disk.Use(c)
	put(t, at("named"), "named", true)
	put(t, at("folder/unnamed"), "synced, but not its name", true)
	put(t, at("empty"), "not synced", false)
	put(t, at("other"), "after", true)
	if err := disk.SyncFolder(root); err != nil {
		t.Fatal(err)
	}
	if err := disk.RenameFile(at("other"), at("replaced")); err != nil {
		t.Fatal(err)
	}
	restore()

	for newNames, want := range map[bool]map[string]string{
		false: {
			"old": "old", "replaced": "before", "other": "after", "folder/below": "below",
			"named": "named", "empty": "",
			"folder/unnamed": "none",
		},
		true: {
			"old": "old", "replaced": "after", "other": "none", "folder/below": "below", "named": "named", "empty": "",
			"folder/unnamed": "synced, but not its name",
		},
	} {
		left := filepath.Join(t.TempDir(), "left")
		if err := c.Leave(left, newNames); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			got, err := os.ReadFile(filepath.Join(left, name))
			if err != nil {
				got = []byte("none")
			}
			if string(got) != text {
				t.Errorf("new names %v: %s is %q, want %q", newNames, name, got, text)
			}
		}
	}
}

// After the crash every call fails.
func TestCrashed(t *testing.T) {
	root := t.TempDir()
	c, err := NewCrash(root, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Use(c)()
	if err := disk.MakeDir(filepath.Join(root, "a"), 0o777); err != nil || c.Crashed() {
		t.Fatal(err)
	}
	for range 2 {
		if err := disk.SyncFolder(root); !errors.Is(err, ErrFault) || !c.Crashed() {
			t.Errorf("a call after the crash: %v, crashed %v; want ErrFault", err, c.Crashed())
		}
	}
}

package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// watcher records the calls, and fails those of one kind.
type watcher struct {
	fails         Op
	before, after []string
}

var errDisk = errors.New("the disk is gone")

func (w *watcher) Before(op Op, path string) error {
	w.before = append(w.before, string(op)+" "+filepath.Base(path))
	if op == w.fails {
		return errDisk
	}
	return nil
}

func (w *watcher) After(op Op, path string) {
	w.after = append(w.after, string(op)+" "+filepath.Base(path))
}

// steps makes all calls, one after the other, up to the first error.
func steps(dir string) error {
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := MakeDir(at("folder"), 0o777); err != nil {
		return err
	}
	f, err := OpenFile(at("a"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write([]byte("first ")); err != nil {
		return err
	}
	if n, err := f.ReadFrom(strings.NewReader("second")); err != nil || n != 6 {
		return err
	}
	if _, err := f.WriteAt([]byte("F"), 0); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := RenameFile(at("a"), at("b")); err != nil {
		return err
	}
	if err := ExchangeFiles(at("b"), at("folder")); err != nil {
		return err
	}
	if err := SyncFolder(dir); err != nil {
		return err
	}
	return RemoveFile(at("b")) // the folder, after the exchange
}

// Without a hook the calls do what their names say.
func TestCalls(t *testing.T) {
	dir := t.TempDir()
	err := steps(dir)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this file system cannot exchange names")
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "folder")); err != nil || string(got) != "First second" {
		t.Errorf("the file has %q, %v; want First second", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "b")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a removed file still exists:", err)
	}
	if err := ExchangeFiles(filepath.Join(dir, "folder"), filepath.Join(dir, "none")); err == nil {
		t.Error("an exchange with a missing file succeeded")
	}
}

// A hook sees every call and can fail each. A failed call is not made, and its error names the call
// and the file.
func TestHook(t *testing.T) {
	all := &watcher{}
	restore := Use(all)
	err := steps(t.TempDir())
	restore()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this file system cannot exchange names")
	}
	want := []string{
		"mkdir folder", "create a", "write a", "write a", "write a", "sync a", "rename b",
		"exchange folder", "syncdir of the folder", "remove b",
	}
	want[8] = all.before[min(8, len(all.before)-1)] // the name of the folder is random
	if err != nil || !slices.Equal(all.before, want) || !slices.Equal(all.after, want) {
		t.Fatalf("%v: Before saw\n%v and After\n%v, want\n%v", err, all.before, all.after, want)
	}
	for _, op := range []Op{Create, Write, Sync, Rename, Exchange, Remove, Mkdir, SyncDir} {
		dir := t.TempDir()
		w := &watcher{fails: op}
		restore := Use(w)
		err := steps(dir)
		restore()
		wrong, ok := errors.AsType[*fs.PathError](err)
		if !ok || !errors.Is(err, errDisk) || wrong.Op != string(op) || !strings.HasPrefix(wrong.Path, dir) {
			t.Errorf("%s fails: %v, want errDisk with the call and the file", op, err)
		}
		if len(w.after) != len(w.before)-1 {
			t.Errorf("%s fails: After saw %v, want one less than Before: %v", op, w.after, w.before)
		}
	}
	if err := steps(t.TempDir()); err != nil {
		t.Error("after restore:", err)
	}
}

// Temporary files have no name that could be left behind.
func TestTemp(t *testing.T) {
	dir := t.TempDir()
	f, err := Temp(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write([]byte("kept")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := f.ReadAt(got, 0); err != nil || string(got) != "kept" {
		t.Errorf("the file has %q, %v; want kept", got, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the folder has %v, %v; want nothing", left, err)
	}
	defer Use(&watcher{fails: Create})()
	if _, err := Temp(dir); !errors.Is(err, errDisk) {
		t.Error(err)
	}
}

package sections

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var errFull = errors.New("disk full")

// disk is a writer with room for the given number of bytes.
type disk struct{ left int }

func (d *disk) Write(p []byte) (int, error) {
	if len(p) > d.left {
		n := d.left
		d.left = 0
		return n, errFull
	}
	d.left -= len(p)
	return len(p), nil
}

// write writes two sections to a disk, up to the first error.
func write(d *disk) error {
	w, err := NewWriter(d, magic, 1)
	if err != nil {
		return err
	}
	if err := w.Section("a", []byte("hello")); err != nil {
		return err
	}
	if err := w.Begin("b"); err != nil {
		return err
	}
	if _, err := w.Write(Bytes([]uint32{1, 2})); err != nil {
		return err
	}
	if w.Offset() != 8 {
		return errors.New("the section has the wrong length")
	}
	return w.Close()
}

// A disk that is full at any byte is an error.
func TestAFullDiskIsAnError(t *testing.T) {
	const size = 64 + 64 + 64 + 2*40 + 32 // header, two sections, table, trailer
	for left := range size {
		if err := write(&disk{left}); !errors.Is(err, errFull) {
			t.Fatalf("room for %d bytes: %v, want errFull", left, err)
		}
	}
	if err := write(&disk{size}); err != nil {
		t.Errorf("room for all bytes: %v", err)
	}
}

func TestMistakesOfWritersAreErrors(t *testing.T) {
	if _, err := NewWriter(&disk{1000}, "SHORT", 1); err == nil {
		t.Error("a short magic was accepted")
	}
	w, err := NewWriter(&disk{1000}, magic, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("x")); err == nil {
		t.Error("bytes before the first section were accepted")
	}
	for _, name := range []string{"", "a name of more than 16 bytes"} {
		if err := w.Section(name, nil); err == nil {
			t.Errorf("the name %q was accepted", name)
		}
	}
}

// Errors of Open name the file, and say what was expected.
func TestOpenNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	good := build(t, map[string]string{"b": "hello"}, "b")
	for _, c := range []struct {
		data   string
		magic  string
		newest uint32
		want   string
	}{
		{string(good), "OTHERONE", 1, `: not a "OTHERONE" file`},
		{"text", magic, 1, `: not a "TESTFILE" file`},
		{string(good[:150]), magic, 1, ": truncated: the end of the file is missing"},
		{string(good), magic, 0, ": format version 1: this program reads 1 to 0"},
	} {
		if err := os.WriteFile(path, []byte(c.data), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, c.magic, c.newest); err == nil || err.Error() != path+c.want {
			t.Errorf("%v, want %s%s", err, path, c.want)
		}
	}
	if _, err := Open(path+"2", magic, 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v, want ErrNotExist", err)
	}

	if err := os.WriteFile(path, good, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, magic, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Section("absent"); err == nil || !strings.Contains(err.Error(), `section "absent" is missing`) {
		t.Errorf("a missing section: %v", err)
	}
	if list := f.Sections(); len(list) != 1 || list[0] != (Info{"b", 5}) {
		t.Errorf("sections %v, want b of 5 bytes", list)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/disk"
)

func isPart(name string) bool { return name == "part" }

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

func TestNothingBeforeCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("new")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("before Commit: %v, want ErrNotExist", err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	if got, _ := os.ReadFile(path); string(got) != "new" {
		t.Fatalf("after Commit: %q, want new", got)
	}
	if err := f.Commit(); err == nil {
		t.Error("a second Commit was accepted")
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
		t.Errorf("the old file became %q, want it unchanged", got)
	}
	if list := names(t, dir); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
}

func TestDirReplacesTheOldOne(t *testing.T) {
	parent := t.TempDir()
	path := filepath.Join(parent, "index")
	for _, content := range []string{"first", "second"} {
		d, err := CreateDir(path, isPart)
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
	d, err := CreateDir(path, isPart)
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
		t.Errorf("Create: %v, want ErrNotExist", err)
	}
}

func TestPermissionsAreTheUsers(t *testing.T) {
	dir := t.TempDir()
	private := filepath.Join(dir, "private")
	if err := os.WriteFile(private, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain+".model", nil, 0o666); err != nil { // minus the umask
		t.Fatal(err)
	}
	for _, path := range []string{private, plain} {
		if err := WriteFile(path, func(f *File) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	mode := func(path string) os.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	if got := mode(private); got != 0o600 {
		t.Errorf("a private file was replaced by one with mode %v", got)
	}
	if got, want := mode(plain), mode(plain+".model"); got != want {
		t.Errorf("a new file has mode %v, others %v", got, want)
	}
}

func TestALinkStaysALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", link); err != nil {
		t.Skipf("this system has no symbolic links: %v", err)
	}
	err := WriteFile(link, func(f *File) error { _, err := f.WriteString("new"); return err })
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "new" {
		t.Errorf("the link's target is %q, want new", got)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link has mode %v, %v; want a symbolic link", info.Mode(), err)
	}
}

// A pipe or a device is written to, not replaced by a file.
func TestADeviceIsWrittenTo(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := fmt.Sprintf("/dev/fd/%d", w.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skipf("this system does not show open files under /dev/fd: %v", err)
	}
	err = WriteFile(path, func(f *File) error { _, err := f.WriteString("through"); return err })
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(r); string(got) != "through" {
		t.Errorf("the pipe got %q, want through", got)
	}
}

func TestRefusesFolder(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "new") + "/", ""} {
		if f, err := Create(path); err == nil {
			f.Abort()
			t.Errorf("Create(%q) succeeded, want an error", path)
		}
	}
	if got := names(t, dir); len(got) > 0 {
		t.Errorf("left behind: %v", got)
	}
}

// Errors name the path that the caller gave, not the temporary one.
func TestErrorsNameTheTarget(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "absent")
	path := filepath.Join(dir, "out")
	want := "create " + path + ": there is no folder " + dir
	if _, err := Create(path); !errors.Is(err, os.ErrNotExist) || err.Error() != want {
		t.Errorf("file: %v, want %s", err, want)
	}
	if err := os.WriteFile(dir, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateDir(path, isPart); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("folder in a file: %v, want an error that names %s", err, path)
	}
}

// So do errors of writing, such as a full disk.
func TestErrorsOfWritingNameTheTarget(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	f.OS().Close() // the next write fails
	f.WriteString("lost")
	if err := f.Commit(); !errors.Is(err, os.ErrClosed) || err.Error() != "write "+path+": file already closed" {
		t.Errorf("got %v, want an error of writing that names %s", err, path)
	}
}

// Check returns the errors of Create, and leaves nothing behind.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "no", "out"), ""} {
		if err := Check(path); err == nil {
			t.Errorf("Check(%q) returned no error", path)
		}
	}
	path := filepath.Join(dir, "out")
	if err := Check(path); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Check(path), Check(os.DevNull)); err != nil {
		t.Error(err)
	}
	if old, err := os.ReadFile(path); err != nil || string(old) != "old" {
		t.Errorf("the file is now %q, %v; want it unchanged", old, err)
	}
	if list := names(t, dir); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
}

// Files of killed processes are removed by the next one that writes the same target. Files of
// running processes and those with other names stay.
func TestStaleFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	alive, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Abort()
	living := filepath.Base(alive.OS().Name())
	left := []string{living}
	for _, name := range []string{".out.tmp1", ".out.tmp22", ".out.tmpfoo", ".out.tmp",
		".other.tmp3", "out.tmp4", ".out.tmp5.old"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o666); err != nil {
			t.Fatal(err)
		}
		if name != ".out.tmp1" && name != ".out.tmp22" && name != ".out.tmp5.old" {
			left = append(left, name)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".out.tmp6"), 0o777); err != nil {
		t.Fatal(err)
	}
	left = append(left, ".out.tmp6", "out")
	if err := WriteFile(path, func(f *File) error { return nil }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(left)
	if got := names(t, dir); !slices.Equal(got, left) {
		t.Errorf("left %v, want %v", got, left)
	}
	alive.WriteString("alive")
	if err := alive.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "alive" {
		t.Errorf("the file of the running process is %q, want alive", got)
	}
}

// The same for folders. A folder with foreign files stays, and one that was being replaced when the
// process was killed gets its name back.
func TestStaleFolders(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ix")
	for _, name := range []string{".ix.tmp1", ".ix.tmp2.old", ".ix.tmp3", ".ix.tmpfoo", ".other.tmp4"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"part", ".part.tmp7", ".collocate-993878917"} {
			if err := os.WriteFile(filepath.Join(dir, name, file), []byte(name), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".ix.tmp3", "foreign"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	removeStale(path, isPart)
	if got, want := names(t, dir), []string{".ix.tmp3", ".ix.tmpfoo", ".other.tmp4", "ix"}; !slices.Equal(got, want) {
		t.Errorf("left %v, want %v", got, want)
	}
	if got, _ := os.ReadFile(filepath.Join(path, "part")); string(got) != ".ix.tmp2.old" {
		t.Errorf("the folder that was being replaced is now %q, want .ix.tmp2.old", got)
	}
	if got := names(t, filepath.Join(dir, ".ix.tmp3")); !slices.Equal(got, []string{"foreign"}) {
		t.Errorf("the folder with a foreign file has %v, want only that", got)
	}
}

// If a link leads to a missing file, Commit creates that file.
func TestDanglingLink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("target", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	err := WriteFile(filepath.Join(dir, "link"), func(f *File) error { _, err := f.WriteString("new"); return err })
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "target")); string(got) != "new" {
		t.Errorf("the target is %q, want new", got)
	}
}

// withoutExchange is a system that cannot exchange folders.
type withoutExchange struct{}

func (withoutExchange) After(disk.Op, string) {}
func (withoutExchange) Before(op disk.Op, _ string) error {
	if op == disk.Exchange {
		return errors.ErrUnsupported
	}
	return nil
}

func TestDirWithoutExchange(t *testing.T) {
	defer disk.Use(withoutExchange{})()
	TestDirReplacesTheOldOne(t)
}

// A name that is taken, or that another process took for a stale one, is not the end: others are
// tried, but not for ever.
func TestTakenNamesAreTriedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "result")
	for _, taken := range []error{&fs.PathError{Op: "open", Path: "x", Err: fs.ErrExist}, errTaken} {
		names := map[string]bool{}
		err := withFreshName(path, func(tmp string) error {
			if names[tmp] = true; len(names) < 4 {
				return taken
			}
			return nil
		})
		if err != nil || len(names) != 4 {
			t.Errorf("%v three times: %d names, %v", taken, len(names), err)
		}
		tries := 0
		err = withFreshName(path, func(string) error { tries++; return taken })
		if err == nil || tries != 101 {
			t.Errorf("%v always: %d tries, %v", taken, tries, err)
		}
	}
}

// What is done is done: a second Commit is an error, and Abort after Commit touches nothing, not
// even what has got the temporary name since.
func TestDoneIsDone(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "file"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := CreateDir(filepath.Join(dir, "folder"), isPart)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		temporary string
		commit    func() error
		abort     func()
	}{"file": {f.OS().Name(), f.Commit, f.Abort}, "folder": {d.Path("part"), d.Commit, d.Abort}} {
		if err := c.commit(); err != nil {
			t.Fatal(err)
		}
		if err := c.commit(); err == nil {
			t.Errorf("%s: a second Commit is no error", name)
		}
		if err := os.MkdirAll(filepath.Dir(c.temporary), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.temporary, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		c.abort()
		if _, err := os.Stat(c.temporary); err != nil {
			t.Errorf("%s: Abort after Commit removed a file: %v", name, err)
		}
		if err := c.commit(); err == nil {
			t.Errorf("%s: Commit after Abort is no error", name)
		}
	}
}

// A folder inside another belongs to it: its Abort leaves the files, and the next folder of that
// name replaces both, since the names inside are owned.
func TestFoldersInside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder")
	owned := func(name string) bool { return name == "sub/" || name == "sub/part" }
	for range 2 {
		d, err := CreateDir(path, owned)
		if err != nil {
			t.Fatal(err)
		}
		sub, err := d.Sub("sub")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(sub.Path("part"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		sub.Abort()
		if err := d.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := names(t, filepath.Join(path, "sub")); !slices.Equal(got, []string{"part"}) {
			t.Errorf("the folder inside has %v", got)
		}
	}
}

// Another process may take a new file for a stale one and remove it before it is locked.
func TestARemovedFileIsNotLocked(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "new"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := lock(f); err != nil {
		t.Errorf("a new file: %v", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		t.Skipf("open files cannot be removed here: %v", err)
	}
	if err := lock(f); !errors.Is(err, errTaken) {
		t.Errorf("a file that was removed: %v, want %v", err, errTaken)
	}
}

// A folder that contains what somebody else put there is not replaced, whether it was there before
// or came while the new one was written: nothing of it is removed.
func TestForeignFilesStay(t *testing.T) {
	for _, foreign := range []string{"notes.txt", "photos/one.jpg"} {
		path := filepath.Join(t.TempDir(), "index")
		put := func() {
			t.Helper()
			name := filepath.Join(path, foreign)
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		d, err := CreateDir(path, isPart)
		if err != nil {
			t.Fatal(err)
		}
		put()
		if err := d.Commit(); err == nil {
			t.Errorf("%s came while the folder was written, and Commit replaced it", foreign)
		}
		d.Abort()
		if _, err := CreateDir(path, isPart); err == nil {
			t.Errorf("%s was there before, and is no error", foreign)
		}
		if _, err := os.Stat(filepath.Join(path, foreign)); err != nil {
			t.Errorf("%s is gone: %v", foreign, err)
		}
	}
}

// A temporary name has the target's name in it: a file named .tmp5 is somebody's own.
func TestTemporaryNames(t *testing.T) {
	for name, want := range map[string]bool{".index.tmp5": true, ".tmp5": false, "index.tmp5": false, ".index.tmp": false,
		".index.tmpx": false} {
		if IsTemporary(name) != want {
			t.Errorf("%q is temporary: %v, want %v", name, !want, want)
		}
	}
}

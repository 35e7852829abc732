package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
	if _, err := CreateDir(path, isPart); !errors.Is(err, os.ErrNotExist) || err.Error() != want {
		t.Errorf("folder: %v, want %s", err, want)
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

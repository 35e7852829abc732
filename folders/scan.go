package folders

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// file is a file of the folder.
type file struct {
	path     string // below the folder, with slashes
	size     int64
	modified time.Time
	old      *known // what the index has of it, or nil
}

// scanned is what a folder holds.
type scanned struct {
	files   []file   // in byte order of their paths
	folders []string // all that were read, as paths of the system
	ignored int      // files and folders, without what is in these
	links   int      // symbolic links, which are not followed
	special int      // pipes, sockets and devices
	failed  []string // folders that could not be read: "" or paths that end in a slash
	err     []Problem
}

// ignoreFiles are files that list what is to be left out of the folder they are in.
var ignoreFiles = []string{".gitignore", ".ignore"}

// scan walks a folder. except are files and folders to leave out.
func scan(ctx context.Context, folder string, o *Options, except ...os.FileInfo) (*scanned, error) {
	s := &scanned{}
	named := parseRules("", strings.Join(o.Exclude, "\n"))
	if err := s.walk(ctx, folder, "", nil, named, o, except); err != nil {
		return nil, err
	}
	slices.SortFunc(s.files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return s, nil
}

func (s *scanned) walk(ctx context.Context, folder, below string, above []*rules, named *rules, o *Options,
	except []os.FileInfo) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir := filepath.Join(folder, filepath.FromSlash(below))
	entries, err := os.ReadDir(dir)
	if err != nil {
		if below == "" {
			return err
		}
		if !errors.Is(err, fs.ErrNotExist) { // else it was removed just now
			s.failed, s.err = append(s.failed, below), append(s.err, Problem{below, short(err)})
		}
		return nil
	}
	s.folders = append(s.folders, dir)
	if !o.NoIgnore {
		for _, name := range ignoreFiles {
			if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name }) {
				continue
			}
			lines, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				s.err = append(s.err, Problem{below + name, short(err)})
				continue
			}
			above = append(slices.Clip(above), parseRules(below, string(lines)))
		}
	}
	for _, e := range entries {
		path := below + e.Name()
		if left, count := o.leavesOut(e, path, above, named); left {
			if count {
				s.ignored++
			}
			continue
		}
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			s.links++
			continue
		case !e.IsDir() && !e.Type().IsRegular():
			s.special++
			continue
		}
		if strings.ContainsAny(path, "\n\r") || !utf8.ValidString(path) {
			s.err = append(s.err, Problem{strings.Trim(strconv.Quote(path), `"`), "its name is not UTF-8 on one line: rename it"})
			continue
		}
		info, err := e.Info()
		if err != nil { // it was removed just now
			continue
		}
		if slices.ContainsFunc(except, func(x os.FileInfo) bool { return os.SameFile(x, info) }) {
			continue
		}
		if e.IsDir() {
			if err := s.walk(ctx, folder, path+"/", above, named, o, except); err != nil {
				return err
			}
			continue
		}
		s.files = append(s.files, file{path: path, size: info.Size(), modified: info.ModTime()})
	}
	return nil
}

// leavesOut reports whether a file or folder is not looked at, and whether that is worth counting.
func (o *Options) leavesOut(e fs.DirEntry, path string, above []*rules, named *rules) (left, count bool) {
	if ignored, said := named.match(path, e.IsDir()); said {
		return ignored, ignored
	}
	if e.Name() == ".git" || !o.Hidden && strings.HasPrefix(e.Name(), ".") {
		return true, false
	}
	for i := len(above) - 1; i >= 0; i-- {
		if ignored, said := above[i].match(path, e.IsDir()); said {
			return ignored, ignored
		}
	}
	return false, false
}

// short is the reason of an error without the path, which stands beside it.
func short(err error) string {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

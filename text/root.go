package text

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// Root says how an index names files, so that a file has the same ID whenever it is read.
type Root struct {
	// Folder is an absolute path. The names of files in IDs are paths relative to it, with slashes.
	// It is "" as long as no ID was made from the name of a file: the first files choose it.
	Folder string `json:"folder"`
	// Whole says that files were read as one document each.
	Whole bool `json:"whole,omitempty"`
}

// WithRoot returns the corpus with its Root set: to Options.Root, or else to the one that an index
// remembers, known. If that has no folder, it is set to the deepest folder that holds all files.
// has reports whether the index has a document with an ID; nil means that the index is empty. If it
// remembers nothing, but has documents of these files by the names they have without a Root, as old
// ones do, they keep these names, and Note says so. After the corpus was read, used returns the
// Root to be remembered.
//
// A file that the index has in another form, as one document or as several, is an error: its text
// would be there twice.
func (c *Corpus) WithRoot(known *Root, has func(id string) (bool, error)) (rooted *Corpus, used func() *Root, err error) {
	if c.Source != nil || len(c.Streams) > 0 {
		return c, func() *Root { return known }, nil
	}
	with := *c
	o := &with.Options
	note, old := "", false
	if known == nil && has != nil && o.Root == "" {
		if old, err = c.namedBefore(has); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case o.Root != "":
		if o.Root, err = filepath.Abs(o.Root); err != nil {
			return nil, nil, err
		}
		info, err := os.Stat(o.Root)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s: want a folder, to which the IDs of files are relative", o.Root)
		}
		if err != nil {
			return nil, nil, err
		}
		if known != nil && known.Folder != "" && known.Folder != o.Root {
			note = fmt.Sprintf("IDs of files are paths relative to %s from now on; until now to %s", o.Root, known.Folder)
		}
	case known != nil && known.Folder != "":
		o.Root = known.Folder
	case !old:
		several := false
		if o.Root, several, err = commonFolder(c.Paths); err != nil {
			return nil, nil, err
		}
		if known == nil && has != nil {
			note = fmt.Sprintf("IDs of files are paths relative to %s from now on (text.Options.Root names another folder)", o.Root)
		} else if several {
			note = fmt.Sprintf("IDs of files are paths relative to %s (text.Options.Root names another folder)", o.Root)
		}
	default:
		note = "this index does not remember a folder to which IDs of files are relative: they are " +
			"taken to be relative to the folder that is named here, or names without a folder, as the " +
			"files were added before; text.Options.Root=DIR makes them relative to DIR, and is remembered"
	}
	o.whole = known != nil && known.Whole
	var some, whole atomic.Bool
	o.onName = func(name string, file bool) error {
		if file {
			whole.Store(true)
		}
		if !some.Swap(true) && note != "" && o.Note != nil {
			o.Note(note)
		}
		return otherForm(name, file, has)
	}
	return &with, func() *Root {
		if !some.Load() || o.Root == "" {
			return known
		}
		return &Root{Folder: o.Root, Whole: o.whole || whole.Load()}
	}, nil
}

// namedBefore reports whether an index has documents of the corpus' files by the names that they
// have without a Root.
func (c *Corpus) namedBefore(has func(id string) (bool, error)) (bool, error) {
	quiet := *c
	quiet.Options.SkipBad = func(string, error) {} // errors are told when the corpus is read
	list, err := quiet.inputs()
	for _, in := range list {
		for _, id := range []string{in.name, in.name + ":1"} {
			if err != nil || in.path == "-" {
				break
			}
			var found bool
			if found, err = has(id); found {
				return true, err
			}
		}
	}
	return false, err
}

// otherForm returns an error if an index has a file as several documents and it is to be added as
// one, or the reverse.
func otherForm(name string, file bool, has func(id string) (bool, error)) error {
	if has == nil {
		return nil
	}
	is, as, id, other := "as one document", "as several", name+":1", name
	if file {
		is, as, id, other = "as several documents", "as one", name, name+":1"
	}
	if before, err := has(other); err != nil || !before {
		return err
	}
	if both, err := has(id); err != nil || both { // it replaces what was added in this form
		return err
	}
	return fmt.Errorf("%s: the index has this file %s (%q), so that added %s its text would be there twice: "+
		"name the format that it was added with (text.Options.Format), or delete what is there first",
		name, is, other, as)
}

// Remembers reports whether the corpus comes from WithRoot, whose caller remembers the Root.
func (c *Corpus) Remembers() bool { return c.Options.onName != nil }

// commonFolder returns the deepest folder that contains all paths, which it is itself if it is the
// only one. It reports whether they are several folders, or lie in several.
func commonFolder(paths []string) (common string, several bool, err error) {
	for _, path := range paths {
		if path == "-" {
			continue
		}
		folder, err := filepath.Abs(path)
		if err != nil {
			return "", false, err
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			folder = filepath.Dir(folder)
		}
		if common == "" {
			common = folder
		}
		for common != folder && !strings.HasPrefix(folder, strings.TrimSuffix(common, sep)+sep) {
			several = true
			common = filepath.Dir(common)
		}
		several = several || common != folder
	}
	return common, several, nil
}

const sep = string(filepath.Separator)

// relative returns the path of a file or folder relative to root, with slashes. If it is not below
// root as it is written, links are followed.
func relative(root, path string) (name string, ok bool) {
	try := func(root, path string) (string, bool) {
		name, err := filepath.Rel(root, path)
		if err != nil || name == ".." || strings.HasPrefix(name, ".."+sep) {
			return "", false
		}
		return filepath.ToSlash(name), true
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", false
	}
	if name, ok := try(root, abs); ok {
		return name, true
	}
	realRoot, err1 := filepath.EvalSymlinks(root)
	realPath, err2 := filepath.EvalSymlinks(abs)
	if err1 != nil || err2 != nil {
		return "", false
	}
	return try(realRoot, realPath)
}

// underRoot names files by their paths relative to Options.Root, and drops those that a folder
// of the corpus contains as well.
func (c *Corpus) underRoot(list []input, from []string) []input {
	places := map[string]string{} // of the paths of the corpus: their names, or "" if outside
	seen := map[string]*input{}
	kept := list[:0]
	var twice []string
	for i, in := range list {
		if in.path == "-" {
			kept = append(kept, in)
			continue
		}
		at, known := places[from[i]]
		if !known {
			at, _ = relative(c.Options.Root, from[i])
			places[from[i]] = at
		}
		switch {
		case at == "":
			name, ok := relative(c.Options.Root, in.path)
			if in.outside = !ok; ok {
				in.name = name
			} else {
				in.name = filepath.ToSlash(filepath.Clean(in.path))
			}
		case !in.inFolder:
			in.name = at
		case at != ".":
			in.name = at + "/" + in.name
		}
		if other := seen[in.name]; other != nil && (other.inFolder || in.inFolder) {
			twice = append(twice, in.path)
			continue
		}
		kept = append(kept, in)
		seen[in.name] = &kept[len(kept)-1]
	}
	if note := c.Options.Note; note != nil && len(twice) > 0 {
		more := ""
		if n := len(twice) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more)", n)
		}
		note(twice[0] + more + ": named twice, by itself or by a folder that holds it, and read once")
	}
	return kept
}

// errOutside is the error of a file whose documents get IDs from its name.
func (s *source) errOutside() error {
	return fmt.Errorf("%s: lies outside %s, to which the IDs of files in this index are relative: "+
		"add files of that folder, or name another with text.Options.Root (if the files were moved, the one they are in now)",
		s.path, s.options.Root)
}

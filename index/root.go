package index

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/text"
)

// The file "root" says to which folder the IDs of files are relative, for documents that are added
// later. It is a container of package sections, version 1, with one section "root": a text.Root as
// JSON, such as
//
//	{"folder":"/home/anna/mail","whole":true}
//
// It is there only if IDs were made from names of files. The other files do not depend on it, so an
// index has the same bytes wherever its documents lay. An index with segments has this in its
// manifest, where the folder is "" as long as no ID was made from the name of a file.
const rootFile = "root"

// Root returns to which folder the IDs of files are relative in the index in a folder, or nil if
// the index does not say. It does not read the manifest of an index with segments.
func Root(dir string) (*text.Root, error) {
	path := filepath.Join(dir, rootFile)
	f, err := sections.Open(path, magics[rootFile], 1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := f.Section("root")
	if err = errors.Join(err, f.Verify()); err == nil {
		root := &text.Root{}
		if err = json.Unmarshal(b, root); err == nil {
			return root, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

func (w *Writer) writeRoot(root *text.Root) error { return WriteRoot(w.dir.Path(""), root) }

// WriteRoot writes the file "root" of an index without segments, unless there is no folder.
func WriteRoot(dir string, root *text.Root) error {
	if root == nil || root.Folder == "" {
		return nil
	}
	b, err := json.Marshal(root)
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(dir, rootFile), func(f *atomicfile.File) error {
		s, err := sections.NewWriter(f, magics[rootFile], 1)
		if err != nil {
			return err
		}
		return errors.Join(s.Section("root", b), s.Close())
	})
}

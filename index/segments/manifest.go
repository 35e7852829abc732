package segments

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/text"
)

// The manifest is a container of package sections, version 1. The section "manifest" is JSON. Each
// segment that has deleted documents has a section with the segment's name: the numbers of the
// deleted documents, ascending, 4 bytes each, or, unless that takes less space, a bitmap of them.
// The section of the segment "." is called ".".
const (
	magic   = index.SegmentsMagic
	version = 1
)

// manifest is a generation of an index.
type manifest struct {
	Generation uint64 `json:"generation"`
	Analyzer   string `json:"analyzer"`
	// Analyzers is the version of the analyzers whose names are here; 0 means 2.
	Analyzers int  `json:"analyzers,omitempty"`
	StoreText bool `json:"store_text"`
	Positions bool `json:"positions,omitempty"`
	// Schema describes the fields of documents, if they have any.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Root is the folder to which the IDs of files are relative, if any ID is a file's name.
	Root     *text.Root `json:"root,omitempty"`
	Next     int        `json:"next"` // the number of the next segment
	Segments []entry    `json:"segments"`
}

// entry is a segment of a generation.
type entry struct {
	Name    string `json:"name"`
	Docs    int    `json:"docs"`
	Deleted int    `json:"deleted,omitempty"`
	// Stamp of the segment's index, so that another index in its place is refused.
	Bytes    uint64 `json:"bytes"`
	Checksum uint32 `json:"checksum"`

	live *docset.Set // nil if nothing is deleted
}

// here is the name of the segment whose files are in the folder of the index itself.
const here = "."

func nameOf(number int) string { return fmt.Sprintf("s%06d", number) }

func manifestPath(dir string) string { return filepath.Join(dir, index.SegmentsFile) }

// readManifest reads the newest generation. Its error wraps fs.ErrNotExist if there is none.
func readManifest(dir string) (*manifest, error) {
	path := manifestPath(dir)
	data, err := os.ReadFile(path)
	if errors.Is(err, syscall.ENOTDIR) {
		err = fs.ErrNotExist // package index then reports what dir is
	}
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	m, err := parseManifest(data)
	if err != nil {
		return nil, fmt.Errorf("open index: %s: %w", path, err)
	}
	return m, nil
}

// parseManifest parses a manifest and checks everything that does not need the segments.
func parseManifest(data []byte) (*manifest, error) {
	f, err := sections.Parse(data, magic, version)
	if err != nil {
		return nil, err
	}
	if err := f.Verify(); err != nil {
		return nil, err
	}
	about, err := f.Section("manifest")
	if err != nil {
		return nil, err
	}
	m := &manifest{}
	if err := json.Unmarshal(about, m); err != nil {
		return nil, fmt.Errorf("corrupted: %w", err)
	}
	if err := m.rename(); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i := range m.Segments {
		e := &m.Segments[i]
		if e.Name != here && !index.IsSegment(e.Name) || seen[e.Name] || e.Docs < 0 || e.Docs >= 1<<32 {
			return nil, fmt.Errorf("corrupted: segment %q of %d documents", e.Name, e.Docs)
		}
		seen[e.Name] = true
		if e.Deleted == 0 {
			continue
		}
		b, err := f.Section(e.Name)
		if err != nil {
			return nil, err
		}
		if e.live, err = readLive(b, e.Docs, e.Deleted); err != nil {
			return nil, fmt.Errorf("corrupted: segment %s: %w", e.Name, err)
		}
	}
	return m, nil
}

// asList reports whether deleted documents are stored as a list rather than a bitmap.
func asList(docs, deleted int) bool { return 4*deleted < (docs+63)/64*8 }

// readLive reads the deleted documents of a segment and returns the others.
func readLive(b []byte, docs, deleted int) (*docset.Set, error) {
	live := docset.Full(docs)
	if asList(docs, deleted) {
		list, err := sections.View[uint32](b)
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			if int(d) >= docs || !live.Remove(d) {
				return nil, fmt.Errorf("document %d of %d is deleted", d, docs)
			}
		}
	} else {
		words, err := sections.View[uint64](b)
		if err != nil {
			return nil, err
		}
		gone, err := docset.FromWords(words, docs)
		if err != nil {
			return nil, err
		}
		live.AndNot(gone)
	}
	if live.Count() != docs-deleted {
		return nil, fmt.Errorf("%d documents are deleted, not %d", docs-live.Count(), deleted)
	}
	return live, nil
}

// liveBytes is the inverse of readLive.
func liveBytes(live *docset.Set) []byte {
	gone := live.Clone()
	gone.Not()
	if !asList(gone.Len(), gone.Count()) {
		return sections.Bytes(gone.Words())
	}
	list := make([]uint32, 0, gone.Count())
	for d := range gone.All() {
		list = append(list, d)
	}
	return sections.Bytes(list)
}

// rename gives analyzers the names that they have now.
func (m *manifest) rename() error {
	version := cmp.Or(m.Analyzers, 2)
	m.Analyzer, m.Analyzers = text.Recorded(m.Analyzer, version), text.Version
	if len(m.Schema) == 0 || version == text.Version {
		return nil
	}
	s, err := fields.ParseJSON(m.Schema)
	if err != nil {
		return fmt.Errorf("corrupted: the schema: %w", err)
	}
	for i := range s.Fields {
		s.Fields[i].Analyzer = text.Recorded(s.Fields[i].Analyzer, version)
	}
	m.Schema = s.JSON()
	return nil
}

// write makes this generation the newest. The folders of its segments must be synced to disk.
func (m *manifest) write(dir string) error {
	return atomicfile.WriteFile(manifestPath(dir), func(f *atomicfile.File) error { return m.encode(f) })
}

// encode is the inverse of parseManifest.
func (m *manifest) encode(to io.Writer) error {
	m.Analyzers = text.Version
	about, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	w, err := sections.NewWriter(to, magic, version)
	if err != nil {
		return err
	}
	if err := w.Section("manifest", about); err != nil {
		return err
	}
	for _, e := range m.Segments {
		if e.Deleted > 0 {
			if err := w.Section(e.Name, liveBytes(e.live)); err != nil {
				return err
			}
		}
	}
	return w.Close()
}

// Numbered returns a manifest with another number for its generation: the one that it has where
// generations are counted, such as in a bucket.
func Numbered(manifest []byte, generation uint64) ([]byte, error) {
	m, err := parseManifest(manifest)
	if err != nil || m.Generation == generation {
		return manifest, err
	}
	m.Generation = generation
	var b bytes.Buffer
	err = m.encode(&b)
	return b.Bytes(), err
}

// Living reports whether a folder is an index with segments.
func Living(dir string) bool {
	_, err := os.Lstat(manifestPath(dir))
	return err == nil
}

// openSegment opens a segment of a generation, and checks its stamp.
func openSegment(dir string, e *entry) (*index.Reader, error) {
	r, err := index.OpenSegment(filepath.Join(dir, e.Name))
	if err != nil {
		return nil, err
	}
	if bytes, checksum := r.Stamp(); bytes != e.Bytes || checksum != e.Checksum || r.Docs() != e.Docs {
		r.Close()
		return nil, fmt.Errorf("open index: segment %s: %w", filepath.Join(dir, e.Name), errOther)
	}
	return r, nil
}

var errOther = errors.New("it belongs to another index")

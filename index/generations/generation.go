package generations

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/collocate/collocate/internal/sections"
)

// The object of a generation is a container of package sections, version 1. The section
// "generation" is JSON, as the type Generation writes it. The section "manifest" is the manifest
// of package segments, the file "segments" of a folder: analyzer, schema, and the deleted documents
// of each segment as a list or a bitmap.
//
// Version 1 of an index without documents has, for example, this JSON:
//
//	{"number": 1, "index": "5f1c2a90b7d34e68", "commit": "0123456789abcdef", "grace": 3600,
//	 "segments": []}
const (
	magic   = "COLOGEN\n"
	version = 1
	// mostBytes bounds the object of a generation: 1 GB, enough for bitmaps of 8G documents.
	mostBytes = 1 << 30
	// mostRecent is how many tokens of commits a generation lists.
	mostRecent = 64
	// DefaultGrace is the grace period of an index that was made without one.
	DefaultGrace = time.Hour
)

// Generation is what an index is after a commit. It must not be changed.
type Generation struct {
	// Number counts commits; the first one made the index.
	Number uint64 `json:"number"`
	// Index is a random name of the index, so that another one in its place is noticed.
	Index string `json:"index"`
	// Commit is a random name of the commit that made this generation.
	Commit string `json:"commit"`
	// Recent has the names of the commits before, the last one first.
	Recent []string `json:"recent,omitempty"`
	// Grace is the grace period in seconds.
	Grace float64 `json:"grace"`
	// Segments are in the order of their documents.
	Segments []Segment `json:"segments"`
	// Dropped are segments that no generation from this one on may list, but whose objects may
	// still be there.
	Dropped []Drop `json:"dropped,omitempty"`
	// Manifest is the manifest of package segments.
	Manifest []byte `json:"-"`

	// since is when this was known to be the newest generation, by the clock of the process.
	since time.Duration
}

// Segment describes a segment of a generation.
type Segment struct {
	Name     string `json:"name"`              // s and 15 digits
	Docs     int    `json:"docs"`              // with deleted ones
	Deleted  int    `json:"deleted,omitempty"` // of these
	Postings int64  `json:"postings"`          // pairs of a word and a document
	Tokens   int64  `json:"tokens"`            // the sum of the lengths of its documents
	Bytes    int64  `json:"bytes"`             // of its files
	FirstID  string `json:"first_id"`          // the smallest ID in the order of bytes
	LastID   string `json:"last_id"`           // the largest one
	Files    []File `json:"files"`             // all that it needs
}

// File is a file of a segment.
type File struct {
	Name     string `json:"name"`     // within the segment, with slashes
	Size     int64  `json:"size"`     // in bytes
	Checksum uint32 `json:"checksum"` // CRC-32C
}

// Drop is a segment that was dropped by a generation.
type Drop struct {
	Segment    string `json:"segment"`    // its name
	Generation uint64 `json:"generation"` // the first without it
}

func (g *Generation) grace() time.Duration {
	return time.Duration(g.Grace * float64(time.Second))
}

// Encode returns the bytes of a generation's object.
func (g *Generation) Encode() ([]byte, error) {
	about, err := json.Marshal(g)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := sections.NewWriter(&b, magic, version)
	if err != nil {
		return nil, err
	}
	if err := w.Section("generation", about); err != nil {
		return nil, err
	}
	if err := w.Section("manifest", g.Manifest); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Parse is the inverse of Encode.
func Parse(data []byte) (*Generation, error) {
	if len(data) >= 12 && string(data[:8]) == magic {
		if v := binary.LittleEndian.Uint32(data[8:]); v > version {
			return nil, fmt.Errorf("version %d of the format, and this program knows up to %d: %w", v, version, ErrNewer)
		}
	}
	f, err := sections.Parse(data, magic, version)
	if err != nil {
		return nil, err
	}
	if err := f.Verify(); err != nil {
		return nil, err
	}
	about, err := f.Section("generation")
	if err != nil {
		return nil, err
	}
	g := &Generation{}
	if err := json.Unmarshal(about, g); err != nil {
		return nil, fmt.Errorf("corrupted: %w", err)
	}
	if g.Manifest, err = f.Section("manifest"); err != nil {
		return nil, err
	}
	return g, g.check()
}

func (g *Generation) check() error {
	if g.Number == 0 || g.Index == "" || g.Commit == "" || !(g.Grace > 0) || g.Grace > 1e9 {
		return fmt.Errorf("corrupted: generation %d of %q, commit %q, grace %v", g.Number, g.Index, g.Commit, g.Grace)
	}
	seen := map[string]bool{}
	for _, d := range g.Dropped {
		seen[d.Segment] = true
	}
	for i := range g.Segments {
		s := &g.Segments[i]
		if !isSegment(s.Name) || seen[s.Name] || s.Docs < 0 || s.Deleted < 0 || s.Deleted > s.Docs {
			return fmt.Errorf("corrupted: segment %q of %d documents, %d of them deleted", s.Name, s.Docs, s.Deleted)
		}
		seen[s.Name] = true
		for _, f := range s.Files {
			if f.Size < 0 || !localName(f.Name) {
				return fmt.Errorf("corrupted: segment %s: file %q of %d bytes", s.Name, f.Name, f.Size)
			}
		}
	}
	return nil
}

// localName reports whether a name of a file stays in the folder that it is joined to.
func localName(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\:\x00") {
			return false
		}
	}
	return true
}

// segmentDigits is the number of digits in the name of a segment, which are random. A folder's own
// segments have 6.
const segmentDigits = 15

func isSegment(name string) bool {
	digits, ok := strings.CutPrefix(name, "s")
	return ok && len(digits) == segmentDigits && strings.Trim(digits, "0123456789") == ""
}

// Has reports whether a generation lists a segment.
func (g *Generation) Has(name string) bool {
	return slices.ContainsFunc(g.Segments, func(s Segment) bool { return s.Name == name })
}

// dropped reports whether a segment must not be listed.
func (g *Generation) dropped(name string) bool {
	return slices.ContainsFunc(g.Dropped, func(d Drop) bool { return d.Segment == name })
}

// contains reports whether a commit is the one that made g or one of those shortly before. It is
// known to be none only if g is at most mostRecent generations after it.
func (g *Generation) contains(commit string) bool {
	return g.Commit == commit || slices.Contains(g.Recent, commit)
}

const (
	generationsFolder = "generations/"
	segmentsFolder    = "segments/"
	leasesFolder      = "leases/"
	probeName         = "probe"
	begunName         = "begun" // the first object of a segment
)

// numbered returns a name that sorts before those of smaller numbers.
func numbered(folder string, n uint64) string {
	return fmt.Sprintf("%s%016x-%d", folder, math.MaxUint64-n, n)
}

// numberOf is the inverse of numbered.
func numberOf(folder, name string) (uint64, bool) {
	_, number, _ := strings.Cut(name, "-")
	n, err := strconv.ParseUint(number, 10, 64)
	return n, err == nil && numbered(folder, n) == name
}

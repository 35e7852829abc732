package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/lockfile"
	"github.com/collocate/collocate/internal/sections"
)

// The files of an index, each a container of package sections with its own magic.
const (
	metaFile     = "index"
	termsFile    = "terms"
	postingsFile = "postings"
	skipsFile    = "skips"
	docsFile     = "documents"
	textFile     = "text"
	levelsFile   = "levels"
	impactsFile  = "impacts"
	schemaFile   = "schema"
	columnsFile  = "columns"
	storedFile   = "stored"
	vectorsFile  = "vectors"

	fieldsFolder = "fields" // contains the indexes of text fields

	positionsFile = "positions"

	formatVersion = 4
	oldestVersion = 2 // oldest readable one: 2 has no dense blocks, 3 no page checksums
)

var magics = map[string]string{
	metaFile:     "COLOIDX\n",
	termsFile:    "COLOTRM\n",
	postingsFile: "COLOPST\n",
	skipsFile:    "COLOSKP\n",
	docsFile:     "COLODOC\n",
	textFile:     "COLOTXT\n",
	levelsFile:   "COLOLVL\n",
	impactsFile:  "COLOIMP\n",
	schemaFile:   "COLOSCH\n",
	columnsFile:  "COLOCOL\n",
	storedFile:   "COLOSTO\n",
	vectorsFile:  "COLOVEC\n",

	positionsFile: "COLOPOS\n",
	rootFile:      "COLOROT\n",
}

// isOurs reports whether a file of that name in an index's folder is part of the index, or of one
// of its segments. A name that ends with a slash is a folder.
func isOurs(name string) bool {
	folder, file, inside := strings.Cut(name, "/")
	if inside && (IsSegment(folder) || IsUnfinished(folder)) {
		return file == "" || isOursAlone(file)
	}
	return isOursAlone(name) || name == SegmentsFile || name == lockfile.Name
}

// IsSegment reports whether a folder of that name in an index's folder is a segment: s and at least
// six digits.
func IsSegment(name string) bool {
	digits, ok := strings.CutPrefix(name, "s")
	return ok && len(digits) >= 6 && onlyDigits(digits)
}

func onlyDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// IsUnfinished reports whether a folder of that name in an index's folder is a segment that is
// being written, or was when its writer was killed.
func IsUnfinished(name string) bool {
	name, _ = strings.CutSuffix(name, ".old")
	name, hidden := strings.CutPrefix(name, ".")
	segment, number, temporary := strings.Cut(name, ".tmp")
	return hidden && temporary && IsSegment(segment) && onlyDigits(number)
}

// isOursAlone is isOurs for an index without segments.
func isOursAlone(name string) bool {
	if rest, ok := strings.CutPrefix(name, fieldsFolder+"/"); ok {
		_, file, field := strings.Cut(rest, "/")
		return rest == "" || field && (file == "" || magics[file] != "")
	}
	return magics[name] != ""
}

// RemoveFiles removes the files of an index from a folder that also holds other files. Files that
// cannot be removed are left behind.
func RemoveFiles(dir string) {
	for name := range magics {
		disk.RemoveFile(filepath.Join(dir, name))
	}
}

// outFile is one file being written.
type outFile struct {
	*sections.Writer
	f    *atomicfile.File
	name string
}

func createFile(dir *atomicfile.Dir, name string) (*outFile, error) {
	f, err := atomicfile.Create(dir.Path(name))
	if err != nil {
		return nil, err
	}
	w, err := sections.NewPaged(f, magics[name], formatVersion)
	if err != nil {
		f.Abort()
		return nil, err
	}
	return &outFile{Writer: w, f: f, name: name}, nil
}

func (o *outFile) commit() error {
	err := o.Close()
	if err == nil {
		err = o.f.Commit()
	}
	if err != nil {
		o.f.Abort()
		return fmt.Errorf("write %s: %w", o.name, err)
	}
	return nil
}

// fileStamp identifies the content of a file cheaply: its length, and the
// checksum in its trailer, which covers the checksums of all its sections. The
// meta file holds the stamps of the others, so that a mixture of files from different
// indexes is detected.
type fileStamp struct {
	name string
	size uint64
	crc  uint32
}

const stampSize = 32

// stampOf returns the stamp of a file that sections.Parse has accepted.
func stampOf(name string, data []byte) fileStamp {
	return fileStamp{name, uint64(len(data)), binary.LittleEndian.Uint32(data[len(data)-20:])}
}

func (s fileStamp) append(dst []byte) []byte {
	var b [stampSize]byte
	copy(b[:16], s.name)
	binary.LittleEndian.PutUint64(b[16:], s.size)
	binary.LittleEndian.PutUint32(b[24:], s.crc)
	return append(dst, b[:]...)
}

func parseStamps(b []byte) ([]fileStamp, error) {
	if len(b)%stampSize != 0 {
		return nil, fmt.Errorf("corrupted: the list of files has %d bytes", len(b))
	}
	var list []fileStamp
	for ; len(b) > 0; b = b[stampSize:] {
		list = append(list, fileStamp{
			name: string(bytes.TrimRight(b[:16], "\x00")),
			size: binary.LittleEndian.Uint64(b[16:]),
			crc:  binary.LittleEndian.Uint32(b[24:]),
		})
	}
	return list, nil
}

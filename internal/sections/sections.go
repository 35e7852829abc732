// Package sections is the container of all binary files of Collocate: named, checksummed byte
// ranges that are written as a stream and read through a memory map.
//
// Layout, all numbers little-endian:
//
//	0   magic, 8 bytes: the kind of file, such as "COLOIDX\n"
//	8   version of that kind, uint32; 4 zero bytes
//	16  zero bytes up to 64
//	64  the sections, each starting at a multiple of 64
//	T   the table, 40 bytes per section: name (16 bytes, zero-padded),
//	    offset uint64, length uint64, CRC-32C of its bytes uint32, 4 zero bytes
//	E   the trailer, 32 bytes: T uint64, number of sections uint32,
//	    CRC-32C of header, table and the 12 trailer bytes before it uint32,
//	    8 zero bytes, magic again
//
// A paged file has a last section "checksums", which Sections does not list: a CRC-32C (uint32) of
// every 4,096 bytes of the file before it, the last of a shorter rest. So a reader can verify pages
// when it first reads them: see Touch.
//
// A truncated file has no trailer, which is noticed at once. Example: one section "docs" with the
// byte 'x', kind "TESTFILE", version 1, is 64 bytes of header, 'x', 63 zero bytes, 40 bytes of
// table at T = 128, and 32 bytes of trailer: 200 bytes in all.
package sections

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"unsafe"

	"github.com/collocate/collocate/internal/mmap"
)

const (
	headerSize  = 64
	align       = 64 // a cache line, and enough for any element type
	entrySize   = 40
	trailerSize = 32
	maxName     = 16
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	order      = binary.LittleEndian
)

// Writer writes one file. Sections are written one after the other: Begin,
// Write..., Begin, Write..., Close.
type Writer struct {
	w      io.Writer
	magic  string
	header [headerSize]byte
	table  []entry
	at     uint64
	open   bool
	pages  *pageWriter // nil if the file is not paged
}

type entry struct {
	name        string
	offset, len uint64
	crc         uint32
}

// NewWriter starts a file of the given kind (magic, 8 bytes) and version.
func NewWriter(w io.Writer, magic string, version uint32) (*Writer, error) {
	return newWriter(w, magic, version, nil)
}

// NewPaged starts a paged file, which has a checksum for every page: a reader can verify a part
// without reading all of it.
func NewPaged(w io.Writer, magic string, version uint32) (*Writer, error) {
	return newWriter(w, magic, version, &pageWriter{})
}

func newWriter(w io.Writer, magic string, version uint32, pages *pageWriter) (*Writer, error) {
	if len(magic) != 8 {
		return nil, fmt.Errorf("sections: magic %q: want 8 bytes", magic)
	}
	s := &Writer{w: w, magic: magic, pages: pages}
	copy(s.header[:], magic)
	binary.LittleEndian.PutUint32(s.header[8:], version)
	_, err := s.emit(s.header[:])
	return s, err
}

// emit writes to the file.
func (s *Writer) emit(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if s.pages != nil {
		s.pages.add(p[:n])
	}
	s.at += uint64(n)
	return n, err
}

// Begin ends the current section and starts a new one.
func (s *Writer) Begin(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("sections: name %q: want 1 to %d bytes", name, maxName)
	}
	if err := s.pad(); err != nil {
		return err
	}
	s.table = append(s.table, entry{name: name, offset: s.at})
	s.open = true
	return nil
}

// Write appends to the current section.
func (s *Writer) Write(p []byte) (int, error) {
	if !s.open {
		return 0, errors.New("sections: Write before Begin")
	}
	n, err := s.emit(p)
	e := &s.table[len(s.table)-1]
	e.crc = crc32.Update(e.crc, castagnoli, p[:n])
	e.len += uint64(n)
	return n, err
}

// Section writes a whole section at once.
func (s *Writer) Section(name string, data []byte) error {
	if err := s.Begin(name); err != nil {
		return err
	}
	_, err := s.Write(data)
	return err
}

// Offset returns the number of bytes written to the current section so far.
func (s *Writer) Offset() uint64 { return s.table[len(s.table)-1].len }

func (s *Writer) pad() error {
	if n := -s.at % align; n > 0 {
		if _, err := s.emit(make([]byte, n)); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the table. It does not close the underlying writer.
func (s *Writer) Close() error {
	if err := s.pad(); err != nil {
		return err
	}
	if s.pages != nil {
		sums := s.pages.end()
		s.pages = nil
		if err := errors.Join(s.Section(checksums, Bytes(sums)), s.pad()); err != nil {
			return err
		}
	}
	var buf bytes.Buffer
	for _, e := range s.table {
		var b [entrySize]byte
		copy(b[:maxName], e.name)
		binary.LittleEndian.PutUint64(b[16:], e.offset)
		binary.LittleEndian.PutUint64(b[24:], e.len)
		binary.LittleEndian.PutUint32(b[32:], e.crc)
		buf.Write(b[:])
	}
	var t [trailerSize]byte
	binary.LittleEndian.PutUint64(t[0:], s.at)
	binary.LittleEndian.PutUint32(t[8:], uint32(len(s.table)))
	binary.LittleEndian.PutUint32(t[12:], tableCRC(s.header[:], buf.Bytes(), t[:12]))
	copy(t[24:], s.magic)
	buf.Write(t[:])
	_, err := s.w.Write(buf.Bytes())
	return err
}

func tableCRC(parts ...[]byte) (crc uint32) {
	for _, p := range parts {
		crc = crc32.Update(crc, castagnoli, p)
	}
	return crc
}

// File is an open container.
type File struct {
	Version uint32
	// Path is the file's name in errors of Touch, or "".
	Path   string
	data   []byte
	table  []entry
	pages  *pages // nil if the file is not paged
	mapped *mmap.File
}

// KindError says that a file is not of the expected kind, or not one of Collocate's.
type KindError struct{ Want string }

func (e *KindError) Error() string { return fmt.Sprintf("not a %q file", e.Want) }

// Open maps a file and checks its kind, version (1 to maxVersion), table and bounds, but not the
// bytes of the sections: see Verify.
func Open(path, magic string, maxVersion uint32) (*File, error) {
	m, err := mmap.Open(path)
	if err != nil {
		return nil, err
	}
	var f *File
	err = mmap.Safely(func() (err error) {
		f, err = Parse(m.Data, magic, maxVersion)
		return err
	})
	if err != nil {
		m.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.mapped = m
	return f, nil
}

// Parse reads a container in memory, at an address that is a multiple of 8 (which View requires).
func Parse(data []byte, magic string, maxVersion uint32) (*File, error) {
	if len(data) < 8 || string(data[:8]) != magic {
		return nil, &KindError{strings.TrimSpace(magic)}
	}
	size := uint64(len(data))
	if size < headerSize+trailerSize || string(data[size-8:]) != magic {
		return nil, errors.New("truncated: the end of the file is missing")
	}
	t := data[size-trailerSize:]
	tableAt, n := binary.LittleEndian.Uint64(t), uint64(binary.LittleEndian.Uint32(t[8:]))
	if tableAt > size-trailerSize || size-trailerSize-tableAt != n*entrySize {
		return nil, errors.New("corrupted: the table of sections is not where the trailer says")
	}
	table := data[tableAt : size-trailerSize]
	if tableCRC(data[:headerSize], table, t[:12]) != binary.LittleEndian.Uint32(t[12:]) {
		return nil, errors.New("corrupted: wrong checksum of the table of sections")
	}
	f := &File{Version: binary.LittleEndian.Uint32(data[8:]), data: data}
	if f.Version == 0 || f.Version > maxVersion {
		return nil, fmt.Errorf("format version %d: this program reads 1 to %d", f.Version, maxVersion)
	}
	for ; len(table) > 0; table = table[entrySize:] {
		e := entry{
			name:   string(bytes.TrimRight(table[:maxName], "\x00")),
			offset: binary.LittleEndian.Uint64(table[16:]),
			len:    binary.LittleEndian.Uint64(table[24:]),
			crc:    binary.LittleEndian.Uint32(table[32:]),
		}
		if e.offset%align != 0 || e.offset > tableAt || e.len > tableAt-e.offset {
			return nil, fmt.Errorf("corrupted: section %q lies outside the file", e.name)
		}
		if e.name == checksums {
			var err error
			if f.pages, err = newPages(data, e); err != nil {
				return nil, err
			}
			continue
		}
		f.table = append(f.table, e)
	}
	for _, e := range f.table {
		if f.pages != nil && e.len > 0 && e.offset+e.len > uint64(len(f.pages.data)) {
			return nil, fmt.Errorf("corrupted: section %q lies after the checksums", e.name)
		}
	}
	return f, nil
}

// Section returns the bytes of a section.
func (f *File) Section(name string) ([]byte, error) {
	for _, e := range f.table {
		if e.name == name {
			return f.data[e.offset : e.offset+e.len : e.offset+e.len], nil
		}
	}
	return nil, fmt.Errorf("corrupted: section %q is missing", name)
}

// Data returns all bytes of the file.
func (f *File) Data() []byte { return f.data }

// Info describes one section.
type Info struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Sections lists the sections in file order.
func (f *File) Sections() []Info {
	var list []Info
	for _, e := range f.table {
		list = append(list, Info{e.name, int64(e.len)})
	}
	return list
}

// Verify reads the whole file and compares checksums.
func (f *File) Verify() error {
	if f.pages != nil {
		return f.pages.check("", 0, len(f.pages.sums)-1)
	}
	for _, e := range f.table {
		if crc32.Checksum(f.data[e.offset:e.offset+e.len], castagnoli) != e.crc {
			return fmt.Errorf("corrupted: wrong checksum of section %q", e.name)
		}
	}
	return nil
}

// Close unmaps the file.
func (f *File) Close() error {
	if f.mapped == nil {
		return nil
	}
	return f.mapped.Close()
}

// Number is an element type of a section.
type Number interface {
	~uint8 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64 | ~uint16
}

// View returns bytes as a slice of numbers, without copying. All machines that Collocate runs on
// are little-endian.
func View[T Number](b []byte) ([]T, error) {
	size := int(unsafe.Sizeof(*new(T)))
	if len(b)%size != 0 {
		return nil, fmt.Errorf("corrupted: %d bytes are not a whole number of %d-byte values", len(b), size)
	}
	if len(b) == 0 {
		return nil, nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size), nil
}

// Bytes returns numbers as bytes, without copying.
func Bytes[T Number](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}

// Put writes numbers to an open section, or to any other writer.
func Put[T Number](to io.Writer, v []T) error {
	_, err := to.Write(Bytes(v))
	return err
}

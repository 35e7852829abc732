package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/collocate/collocate/internal/s3"
	"github.com/collocate/collocate/internal/textfile"
	"github.com/collocate/collocate/text"
)

// Split reads part i of n of some files whose documents are lines: the lines that begin in the i-th
// of n equal ranges of all bytes. A path may be an S3 address, s3://bucket/file. Compressed files
// cannot be split: if there are any, whole files are assigned, file f of m to part f*n/m.
func Split(paths []string, i, n int) (io.ReadCloser, error) {
	list, err := pieces(paths, i, n)
	if err != nil {
		return nil, err
	}
	return &splitReader{pieces: list}, nil
}

// Streams returns the parts of files that Split reads as streams of a corpus whose documents have
// IDs. Documents without an ID of their own are numbered in their file; therefore the lines before
// a part are counted, without blank ones if blank is true.
func Streams(paths []string, i, n int, blank bool) ([]text.Stream, error) {
	list, err := pieces(paths, i, n)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for f, name := range namesOf(paths) {
		names[paths[f]] = name
	}
	streams := []text.Stream{}
	for _, p := range list {
		before, err := linesBefore(p, blank)
		if err != nil {
			return nil, err
		}
		streams = append(streams, text.Stream{Name: names[p.path], Before: before,
			Open: func() (io.ReadCloser, error) { return &splitReader{pieces: []piece{p}}, nil }})
	}
	if len(streams) == 0 { // a corpus without streams would read its paths
		streams = append(streams, text.Stream{Name: "nothing",
			Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }})
	}
	return streams, nil
}

// linesBefore counts the lines that begin before a piece.
func linesBefore(p piece, blank bool) (n int64, err error) {
	if p.from <= 0 {
		return 0, nil
	}
	f, err := openAt(p.path, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(io.LimitReader(f, p.from), 1<<18)
	empty := true // whether the current line is empty so far
	for {
		line, err := in.ReadSlice('\n')
		empty = empty && len(bytes.TrimSpace(line)) == 0
		switch {
		case err == nil || errors.Is(err, io.EOF) && len(line) > 0:
			if blank || !empty {
				n++
			}
			empty = true
		case errors.Is(err, io.EOF):
			return n, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return 0, err
		}
	}
}

// pieces returns the pieces of part i of n.
func pieces(paths []string, i, n int) (list []piece, err error) {
	if n < 1 || i < 0 || i >= n {
		return nil, fmt.Errorf("part %d of %d: want 0 to %d", i, n, n-1)
	}
	var sizes []int64
	total := int64(0)
	for _, path := range paths {
		size, err := sizeOf(path)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, size)
		total += size
	}
	if slices.ContainsFunc(paths, isCompressed) {
		for f, path := range paths {
			if f*n/len(paths) == i {
				list = append(list, piece{path: path, to: -1})
			}
		}
		return list, nil
	}
	border := func(i int64) int64 { return total/int64(n)*i + total%int64(n)*i/int64(n) }
	from, to := border(int64(i)), border(int64(i)+1)
	at := int64(0)
	for f, path := range paths {
		if lo, hi := max(from-at, 0), min(to-at, sizes[f]); lo < hi {
			list = append(list, piece{path, lo, hi})
		}
		at += sizes[f]
	}
	return list, nil
}

// sizeOf returns the size of a file or an object in S3.
func sizeOf(path string) (int64, error) {
	if s3.Is(path) {
		return s3.Size(context.Background(), path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s: want a regular file, of which parts can be read", path)
	}
	return info.Size(), nil
}

// openAt opens a file or an object in S3 at an offset.
func openAt(path string, from int64) (io.ReadCloser, error) {
	if s3.Is(path) {
		return s3.Open(context.Background(), path, from)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// OpenBytes opens a file or an S3 object and decompresses it if it is compressed.
func OpenBytes(path string) (io.ReadCloser, error) {
	if !s3.Is(path) {
		return textfile.OpenBytes(path)
	}
	in, err := s3.Open(context.Background(), path, 0)
	if err != nil {
		return nil, err
	}
	return textfile.BytesOf(in, path)
}

func isCompressed(path string) bool {
	return slices.Contains([]string{".gz", ".zst", ".bz2", ".xz"}, strings.ToLower(filepath.Ext(path)))
}

// piece is a range of a file; to is -1 for the whole file.
type piece struct {
	path     string
	from, to int64
}

// splitReader concatenates pieces. Each ends with a newline.
type splitReader struct {
	pieces []piece
	file   io.Closer
	in     *bufio.Reader
	left   int64  // bytes in which lines may still begin; -1 means all
	line   []byte // rest of the current line
	last   byte
}

func (s *splitReader) Read(p []byte) (int, error) {
	for len(s.line) == 0 {
		if s.in == nil {
			if len(s.pieces) == 0 {
				return 0, io.EOF
			}
			if err := s.open(); err != nil {
				return 0, err
			}
		}
		if s.left == 0 && s.last == '\n' {
			s.in = nil
			if err := s.file.Close(); err != nil {
				return 0, err
			}
			continue
		}
		line, err := s.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if len(line) == 0 { // end of the file
			if s.left = 0; s.last != '\n' {
				s.last, s.line = '\n', []byte{'\n'}
			}
			continue
		}
		s.line, s.last = line, line[len(line)-1]
		if s.left > 0 {
			s.left = max(0, s.left-int64(len(line)))
		}
	}
	n := copy(p, s.line)
	s.line = s.line[n:]
	return n, nil
}

// open opens the next piece and skips to the first line that begins in it.
func (s *splitReader) open() error {
	next := s.pieces[0]
	s.pieces = s.pieces[1:]
	s.last = '\n'
	if next.to < 0 {
		f, err := OpenBytes(next.path)
		if err != nil {
			return err
		}
		s.file, s.in, s.left = f, bufio.NewReaderSize(f, 1<<18), -1
		return nil
	}
	// A line that begins before the piece belongs to another part.
	f, err := openAt(next.path, max(0, next.from-1))
	if err != nil {
		return err
	}
	s.file, s.left = f, next.to-next.from
	if next.from == 0 {
		s.in = bufio.NewReaderSize(f, 1<<18)
		return nil
	}
	s.in = bufio.NewReaderSize(f, 1<<18)
	skipped := int64(-1)
	for {
		line, err := s.in.ReadSlice('\n')
		skipped += int64(len(line))
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		break
	}
	s.left = max(0, s.left-skipped)
	return nil
}

// Close closes the file that is open.
func (s *splitReader) Close() error {
	if s.in == nil {
		return nil
	}
	s.in = nil
	return s.file.Close()
}

// namesOf returns the names that stand for files in the IDs of a new index: their paths relative to
// the deepest folder that holds them all. Paths may be addresses, such as s3://bucket/file.
func namesOf(paths []string) []string {
	names := make([]string, len(paths))
	for i, path := range paths {
		if names[i] = path; !strings.Contains(path, "://") {
			names[i] = filepath.ToSlash(filepath.Clean(path))
		}
	}
	folder := func(name string) string { return name[:strings.LastIndexByte(name, '/')+1] }
	common := ""
	if len(names) > 0 {
		common = folder(names[0])
	}
	for _, name := range names {
		for !strings.HasPrefix(folder(name), common) {
			common = folder(strings.TrimSuffix(common, "/"))
		}
	}
	for i := range names {
		names[i] = names[i][len(common):]
	}
	return names
}

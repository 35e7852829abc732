package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/s3"
)

// Spill is a shared folder, or an S3 address, where stages keep their records in files. The engine
// then moves only records of kind s, which name ranges of these files, and need not read, sort and
// write the large records themselves. A task that fails or runs twice leaves a file that no record
// names.
//
// A file holds records in ascending order of keys. Each is the key as a uvarint, the length of its
// payload as a uvarint, and the payload. Buckets are ranges of keys, so the records of a bucket are
// a range of the file:
//
//	03 02 05 07  09 01 00    key 3 with the bytes 05 07, then key 9 with the byte 00
type Spill struct {
	Dir     string // path of the folder, or an address s3://BUCKET/PREFIX
	Buckets int64  // number of buckets that maps divide keys into; 0 means 1
	Memory  int64  // about the size of all buffers together; 0 means 256 MB
}

// spillSuffix is the suffix of file names.
const spillSuffix = ".spill"

// Clean removes the files of a spill, and its folder if it is then empty.
func (s *Spill) Clean(ctx context.Context) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	if s3.Is(s.Dir) {
		list, err := s3.List(ctx, s.Dir)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		for _, o := range list {
			if err == nil && path.Ext(o.Address) == spillSuffix {
				err = s3.Remove(ctx, o.Address)
			}
		}
		return err
	}
	files, err := os.ReadDir(s.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, f := range files {
		if err == nil && filepath.Ext(f.Name()) == spillSuffix {
			err = os.Remove(filepath.Join(s.Dir, f.Name()))
		}
	}
	if err != nil {
		return err
	}
	os.Remove(s.Dir) // fails if it has other files
	return nil
}

// spillRange is the payload of a record s, as JSON.
type spillRange struct {
	Name    string `json:"name"` // file name
	From    int64  `json:"from"`
	Bytes   int64  `json:"bytes"`
	Records uint64 `json:"records"`
	Sum     uint32 `json:"sum"` // CRC-32C of the bytes
}

func parseSpillRange(raw []byte) (r spillRange, err error) {
	in := json.NewDecoder(bytes.NewReader(raw))
	in.DisallowUnknownFields()
	if err := in.Decode(&r); err != nil || in.More() || r.From < 0 || r.Bytes < 0 || r.From+r.Bytes < 0 ||
		r.Name == "" || filepath.Base(r.Name) != r.Name || filepath.Ext(r.Name) != spillSuffix {
		return r, fmt.Errorf("a range of a file: %w", errPayload)
	}
	return r, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// spillWriter writes the file of a task.
type spillWriter struct {
	ctx    context.Context
	spill  *Spill
	name   string
	file   *os.File
	out    *bufio.Writer
	head   []byte
	at     int64
	keys   []int64 // buckets of the ranges
	ranges []spillRange
}

// spillTo makes the writer write records to a file of spill, if that is not nil. Keys are less than
// limit.
func (w *writer) spillTo(ctx context.Context, spill *Spill, limit int64) (err error) {
	if spill == nil {
		return nil
	}
	buckets := min(max(1, spill.Buckets), max(1, limit))
	w.bucket = func(key int64) int64 { return key * buckets / limit }
	s := &spillWriter{ctx: ctx, spill: spill, name: w.end.Task + spillSuffix}
	if s3.Is(spill.Dir) { // objects are written as a whole
		s.file, err = os.CreateTemp("", "collocate-*"+spillSuffix)
	} else if err = os.MkdirAll(spill.Dir, 0o755); err == nil {
		s.file, err = os.Create(filepath.Join(spill.Dir, s.name))
	}
	if err != nil {
		return err
	}
	s.out = bufio.NewWriterSize(s.file, 1<<18)
	w.spill = s
	return nil
}

// write writes a record of a bucket. Buckets and keys must not decrease.
func (s *spillWriter) write(bucket, key int64, raw []byte) error {
	n := len(s.keys)
	if n == 0 || s.keys[n-1] != bucket {
		s.keys = append(s.keys, bucket)
		s.ranges = append(s.ranges, spillRange{Name: s.name, From: s.at})
		n++
	}
	s.head = binary.AppendUvarint(s.head[:0], uint64(key))
	s.head = binary.AppendUvarint(s.head, uint64(len(raw)))
	r := &s.ranges[n-1]
	for _, data := range [][]byte{s.head, raw} {
		r.Sum = crc32.Update(r.Sum, castagnoli, data)
		if _, err := s.out.Write(data); err != nil {
			return err
		}
	}
	r.Records++
	r.Bytes += int64(len(s.head) + len(raw))
	s.at = r.From + r.Bytes
	return nil
}

// closeSpill completes the file, if there is one, and writes records that name its ranges.
func (w *writer) closeSpill() error {
	s := w.spill
	if s == nil {
		return nil
	}
	if err := errors.Join(s.out.Flush(), s.file.Close()); err != nil {
		return err
	}
	if s3.Is(s.spill.Dir) {
		err := s3.Put(s.ctx, s.spill.Dir+"/"+s.name, s.file.Name())
		if err := errors.Join(err, os.Remove(s.file.Name())); err != nil {
			return err
		}
	}
	return w.nameRanges(s)
}

// nameRanges writes records that name the ranges of a file.
func (w *writer) nameRanges(s *spillWriter) error {
	w.spill = nil
	for i, r := range s.ranges {
		raw, err := json.Marshal(&r)
		if err == nil {
			err = w.writeLine(kindSpills, s.keys[i], raw)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// abort removes the file of a task, unless that is complete.
func (w *writer) abort() {
	if w.spill != nil {
		w.spill.file.Close()
		os.Remove(w.spill.file.Name())
	}
}

// rangeStream reads the records of a range. It opens the file each time that it fills its buffer,
// so that there may be more ranges than open files.
type rangeStream struct {
	spillRange
	spill *Spill
	kind  byte
	left  int64  // unread bytes
	size  int    // of the buffer, except for larger records
	data  []byte // buffered bytes that are not used yet
	store []byte
	sum   uint32
	key   int64
	body  []byte
	n     uint64 // number of records read
	ended bool
}

// share divides the memory for buffers among streams.
func (r *rangeStream) share(streams int) {
	memory := r.spill.Memory
	if memory <= 0 {
		memory = 256 << 20
	}
	r.size = int(min(max(memory/int64(streams), 1<<15), 1<<20))
}

func (r *rangeStream) head() (byte, int64) {
	if r.ended {
		return 0, 0
	}
	return r.kind, r.key
}

func (r *rangeStream) raw() ([]byte, error) { return r.body, nil }

func (r *rangeStream) fault(err error) error {
	return fmt.Errorf("%s: bytes %d to %d: %w", filepath.Join(r.spill.Dir, r.Name), r.From, r.From+r.Bytes, err)
}

func (r *rangeStream) step() error {
	if err := r.fill(2 * binary.MaxVarintLen64); err != nil {
		return r.fault(err)
	}
	if len(r.data) == 0 {
		r.ended = true
		if r.sum != r.Sum || r.n != r.Records {
			return r.fault(fmt.Errorf("%d records with checksum %08x, want %d with %08x: use a folder of its own for each job",
				r.n, r.sum, r.Records, r.Sum))
		}
		return nil
	}
	key, ok1 := uvarint(&r.data)
	size, ok2 := uvarint(&r.data)
	if !ok1 || !ok2 || int64(key) < r.key || int64(size) < 0 || int64(size) > int64(len(r.data))+r.left {
		return r.fault(errPayload)
	}
	if err := r.fill(int(size)); err != nil {
		return r.fault(err)
	}
	r.key, r.body, r.data = int64(key), r.data[:size], r.data[size:]
	r.n++
	return nil
}

// maxFill is the largest number of bytes to read at once, so that a wrong length does not allocate
// more.
const maxFill = 1 << 26

// fill buffers at least n bytes, or all that are left.
func (r *rangeStream) fill(n int) error {
	if len(r.data) >= n || r.left == 0 {
		return nil
	}
	r.store = append(r.store[:0], r.data...)
	for len(r.store) < n && r.left > 0 {
		had := len(r.store)
		more := int(min(int64(max(min(n-had, maxFill), r.size)), r.left))
		r.store = slices.Grow(r.store, more)[:had+more]
		if err := r.read(r.store[had:]); err != nil {
			return err
		}
		r.sum = crc32.Update(r.sum, castagnoli, r.store[had:])
	}
	r.data = r.store
	return nil
}

// read reads the next bytes of the file.
func (r *rangeStream) read(p []byte) error {
	from := r.From + r.Bytes - r.left
	var in io.ReadCloser
	var err error
	if s3.Is(r.spill.Dir) {
		in, err = s3.OpenRange(context.Background(), r.spill.Dir+"/"+r.Name, from, int64(len(p)))
	} else {
		in, err = openAt(filepath.Join(r.spill.Dir, r.Name), from)
	}
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := io.ReadFull(in, p); err != nil {
		return fmt.Errorf("the file is cut off: %w", err)
	}
	r.left -= int64(len(p))
	return nil
}

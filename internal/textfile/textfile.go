// Package textfile recognises by a file's first bytes whether it is compressed and whether it is
// text. It opens the small files that accompany a corpus: topics, judgments, runs, vocabularies,
// word lists.
package textfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/collocate/collocate/internal/bytesize"
)

// HeadSize is the number of bytes that Codec and WhyNotText should be given, if the file has as
// many.
const HeadSize = 1 << 16

// maxWindow is the largest window of a zstd stream: that of `zstd --long=31`. Files made with
// --long=27 (128 MB) are common.
const maxWindow = 1 << 31

// Codec returns the compression of a file that begins like this: gzip, zstd or bzip2, which all
// mark their own end, or "".
func Codec(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b\x08")):
		return "gzip"
	case len(head) >= 4 && (string(head[:4]) == "\x28\xb5\x2f\xfd" ||
		head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18"):
		return "zstd"
	case len(head) >= 10 && string(head[:3]) == "BZh" &&
		(string(head[4:10]) == "1AY&SY" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90"):
		return "bzip2"
	}
	return ""
}

// openGzip is the reader of gzip. That of the standard library serves programs that do not read
// corpora; package formats registers a faster one.
var openGzip = func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }

// RegisterGzip is called by package text/gzip.
func RegisterGzip(open func(r io.Reader) (io.Reader, error)) { openGzip = open }

// openBzip2 is the reader of bzip2; nil unless package text/bzip2 is imported.
var openBzip2 func(r io.Reader) io.Reader

// RegisterBzip2 is called by package text/bzip2.
func RegisterBzip2(open func(r io.Reader) io.Reader) { openBzip2 = open }

// Decompress returns the decompressed text of r, and the codec. concurrent lets zstd read ahead on
// other cores. free frees the decoder; it does not close r.
func Decompress(r *bufio.Reader, concurrent bool) (plain *bufio.Reader, codec string, free func(), err error) {
	return DecompressWithin(r, maxWindow, concurrent)
}

// WindowError reports that the window of zstd data is larger than a limit.
type WindowError struct {
	Window, Limit int64 // in bytes
}

func (e *WindowError) Error() string {
	return fmt.Sprintf("the zstd data needs a window of %v, and at most %v are allowed: decompress it first, "+
		"by zstd -dc --long=%d", bytesize.Size(e.Window), bytesize.Size(e.Limit), bits.Len64(uint64(e.Window)-1))
}

// DecompressWithin is Decompress with a limit on the memory for zstd's window. A larger one is a
// *WindowError, here or, if a later frame has it, when that is read.
func DecompressWithin(r *bufio.Reader, window int64,
	concurrent bool) (plain *bufio.Reader, codec string, free func(), err error) {
	head, err := r.Peek(zstd.HeaderMaxSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", nil, err
	}
	free = func() {}
	var z io.Reader
	switch codec = Codec(head); codec {
	case "gzip":
		z, err = openGzip(r)
	case "zstd":
		var h zstd.Header
		if h.Decode(head) == nil && h.WindowSize > uint64(window) {
			return nil, codec, nil, &WindowError{int64(min(h.WindowSize, math.MaxInt64)), window}
		}
		opts := []zstd.DOption{zstd.WithDecoderMaxWindow(uint64(min(window, maxWindow)))}
		if !concurrent {
			opts = append(opts, zstd.WithDecoderConcurrency(1))
		}
		var d *zstd.Decoder
		if d, err = zstd.NewReader(r, opts...); err == nil {
			z, free = d, d.Close
		}
	case "bzip2":
		if openBzip2 == nil {
			return nil, "", nil, errors.New("packed with bzip2: this program does not read it; it would import package text/bzip2, or formats")
		}
		z, err = openBzip2(r), nil
	default:
		return r, "", free, nil
	}
	if err != nil {
		return nil, codec, nil, fmt.Errorf("begins like a %s file, but cannot be decompressed: %w", codec, err)
	}
	return bufio.NewReaderSize(&named{z, codec}, HeadSize), codec, free, nil
}

// File is an open text file, decompressed.
type File struct {
	*bufio.Reader
	file io.Closer
	free func()
}

// Open opens a file, plain or compressed, and refuses one that is not text. A byte order mark of
// UTF-8 at the beginning is skipped. Errors name the file.
func Open(path string) (*File, error) { return openPath(path, true) }

// OpenBytes is Open for text in another encoding, which is not converted.
func OpenBytes(path string) (*File, error) { return openPath(path, false) }

func openPath(path string, utf8 bool) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s: want a file, not a folder", path)
	}
	return from(f, path, utf8)
}

// BytesOf is OpenBytes for an open file, which Close closes.
func BytesOf(in io.ReadCloser, name string) (*File, error) { return from(in, name, false) }

func from(f io.ReadCloser, path string, utf8 bool) (*File, error) {
	t, err := open(f, utf8)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func open(f io.ReadCloser, utf8 bool) (*File, error) {
	r, _, free, err := Decompress(bufio.NewReaderSize(f, HeadSize), false)
	if err != nil {
		return nil, err
	}
	t := &File{r, f, free}
	if !utf8 {
		return t, nil
	}
	head, err := r.Peek(HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		free()
		return nil, err
	}
	if what := WhyNotText(head); what != "" {
		free()
		return nil, errors.New(what)
	}
	SkipMark(r)
	return t, nil
}

// mark is the byte order mark, which some editors and spreadsheets put before UTF-8 text.
const mark = "\ufeff"

// SkipMark skips a byte order mark of UTF-8, which would become part of the first word.
func SkipMark(r *bufio.Reader) {
	if head, _ := r.Peek(len(mark)); string(head) == mark { // the next read returns the error again
		r.Discard(len(mark))
	}
}

// Close closes the file.
func (f *File) Close() error {
	f.free()
	return f.file.Close()
}

// ReadFile returns the whole text of a file, as Open would read it.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// named adds the codec to a decoder's errors, such as an unexpected end.
type named struct {
	r     io.Reader
	codec string
}

func (n *named) Read(p []byte) (int, error) {
	got, err := n.r.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) { // of a later frame
		return got, errors.New("a part of the zstd data needs a larger window than its first part, and than is allowed: " +
			"decompress it first, by zstd -dc --long=31")
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("corrupted %s data: %w", n.codec, err)
	}
	return got, err
}

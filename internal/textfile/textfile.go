// Package textfile tells by a file's first bytes whether it is compressed and whether
// it is text at all, and opens the small files that stand beside a corpus: topics,
// judgments, runs, vocabularies, lists of words.
package textfile

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/collocate/collocate/internal/zstdlong"
)

// HeadSize is how many bytes Codec and WhyNotText want to see, if there are this many.
const HeadSize = 1 << 16

// maxWindow is how far back a zstd stream may refer: what `zstd --long=31` asks
// for. Files made with --long=27 (128 MB) are common.
const maxWindow = 1 << 31

// Codec names what a file that begins like this is compressed with: gzip, zstd or
// bzip2, which have an end of their own, or "".
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

// Decompress undoes what Codec says of r. concurrent lets zstd read ahead on other
// cores. The function it returns frees what the decoder holds; it does not close r.
func Decompress(r *bufio.Reader, concurrent bool) (plain *bufio.Reader, codec string, free func(), err error) {
	return DecompressWithin(r, maxWindow, "", concurrent)
}

// DecompressWithin is Decompress with a bound on the memory for plain text that zstd refers
// back to. Beyond, this is in a file in tempDir ("" for the system's place), and slower.
func DecompressWithin(r *bufio.Reader, window int64, tempDir string,
	concurrent bool) (plain *bufio.Reader, codec string, free func(), err error) {
	head, err := r.Peek(zstd.HeaderMaxSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", nil, err
	}
	free = func() {}
	var z io.Reader
	switch codec = Codec(head); codec {
	case "gzip":
		z, err = gzip.NewReader(r)
	case "zstd":
		var h zstd.Header
		if h.Decode(head) == nil && h.WindowSize > uint64(window) && h.WindowSize <= maxWindow {
			long := zstdlong.NewReader(r, window, tempDir)
			z, free = long, func() { long.Close() }
			break
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
		z, err = bzip2.NewReader(r), nil
	default:
		return r, "", free, nil
	}
	if err != nil {
		return nil, codec, nil, fmt.Errorf("it begins like a %s file, but is none: %w", codec, err)
	}
	return bufio.NewReaderSize(&named{z, codec}, HeadSize), codec, free, nil
}

// File is an open file of text, as it is without compression.
type File struct {
	*bufio.Reader
	file io.Closer
	free func()
}

// Open opens a file, plain or compressed, and refuses one that is no text. A byte order
// mark of UTF-8 at its begin is passed over. Errors name the file.
func Open(path string) (*File, error) { return openPath(path, true) }

// OpenBytes is Open for text in another encoding, which is given as it is.
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

// BytesOf is OpenBytes for what is open already. Close closes it.
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

// mark is what some editors and spreadsheets put before text in UTF-8.
const mark = "\ufeff"

// SkipMark passes over a byte order mark of UTF-8: it would become a part of the first word.
func SkipMark(r *bufio.Reader) {
	if head, _ := r.Peek(len(mark)); string(head) == mark { // whoever reads on meets the error again
		r.Discard(len(mark))
	}
}

// Close closes the file.
func (f *File) Close() error {
	f.free()
	return f.file.Close()
}

// ReadFile is all that Open gives.
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

// named says of a decoder's errors whose they are: an unexpected end, of what?
type named struct {
	r     io.Reader
	codec string
}

func (n *named) Read(p []byte) (int, error) {
	got, err := n.r.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return got, errors.New("the window of the zstd data does not fit the memory: raise --memory, or decompress the file first")
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("corrupted %s data: %w", n.codec, err)
	}
	return got, err
}

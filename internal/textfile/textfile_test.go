package textfile

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func init() { RegisterBzip2(bzip2.NewReader) } // as package text/bzip2 does

func write(t *testing.T, data string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

func zstded(text string) string {
	w, _ := zstd.NewWriter(nil)
	return string(w.EncodeAll([]byte(text), nil))
}

// bzipped is "one\ntwo\n", by bzip2 -9.
const bzipped = "BZh91AY&SY\xa7\x14+w\x00\x00\x02\xc1\x80\x00\x10\x02\x01\x84\x80 \x00!\x80\x0c\x028\xf5\x1b\x8b\xb9\"\x9c(HS\x8a\x15\xbb\x80"

// A file gives the same text however it is compressed. A truncated file is an error, never a
// shorter text.
func TestReadsCompressedText(t *testing.T) {
	long := strings.Repeat("line of text\n", 20_000) // more than HeadSize
	for name, c := range map[string]struct{ packed, want string }{
		"plain": {long, long}, "empty": {"", ""}, "short": {"BZh", "BZh"},
		"gzip": {gzipped(long), long}, "zstd": {zstded(long), long},
		"bzip2": {bzipped, "one\ntwo\n"},
	} {
		got, err := ReadFile(write(t, c.packed))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %d bytes, want %d, %v", name, len(got), len(c.want), err)
		}
	}
	for _, packed := range []string{gzipped(long), zstded(long), bzipped} {
		codec := Codec([]byte(packed))
		path := write(t, packed[:len(packed)-5])
		_, err := ReadFile(path)
		if err == nil || !strings.Contains(err.Error(), path+": ") || !strings.Contains(err.Error(), codec) {
			t.Errorf("%s, truncated: %v, want an error", codec, err)
		}
	}
}

// Files that are not text are refused with an error that names the file and says what it is.
func TestRefusesWhatIsNotText(t *testing.T) {
	program := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00code", 200)
	for _, c := range []struct{ data, want string }{
		{"%PDF-1.7\n", "a PDF document: convert it to text"},
		{gzipped("%PDF-1.7\n"), "a PDF document: convert it to text"},
		{program, "binary data, not text: it holds NUL bytes"},
		{zstded(program), "binary data, not text: it holds NUL bytes"},
		{"\x1f\x8b\x08", "begins like a gzip file, but cannot be decompressed: unexpected EOF"},
		{"COLODIC\n\x02" + strings.Repeat("\x00", 7),
			"a file that Collocate made, not a corpus: name the text that it was made from"},
	} {
		path := write(t, c.data)
		if _, err := Open(path); err == nil || !strings.HasPrefix(err.Error(), path+": "+c.want) {
			t.Errorf("%.20q: %v, want %s", c.data, err, c.want)
		}
	}
	dir := t.TempDir()
	if _, err := Open(dir); err == nil || err.Error() != dir+": want a file, not a folder" {
		t.Errorf("a folder: %v, want an error that says so", err)
	}
	if _, err := ReadFile(filepath.Join(dir, "absent")); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v, want ErrNotExist", err)
	}
}

// A single NUL is a byte like any other; many of them are not text.
func TestAStrayNULIsText(t *testing.T) {
	for text, want := range map[string]bool{
		"a\x00b":                              true,
		"a\x00b\x00":                          false, // UTF-16
		strings.Repeat("word ", 120) + "\x00": true,
		strings.Repeat("word ", 999) + "\x00": true,
		strings.Repeat("word\x00", 999):       false,
	} {
		if got := WhyNotText([]byte(text)) == ""; got != want {
			t.Errorf("%.12q...: text %t, want %t", text, got, want)
		}
	}
}

// Any file is either text or an error that names the file.
func FuzzOpen(f *testing.F) {
	for _, seed := range []string{"", "text\n", gzipped("text"), zstded("text"), bzipped,
		"PK\x03\x04", "\x1f\x8b\x08\x00", "\x51\x2a\x4d\x18\x00\x00\x00\x00"} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "file")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := ReadFile(path)
		if err != nil && !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("an error that does not name the file: %v", err)
		}
		if err == nil && Codec(data) == "" && !bytes.Equal(got, data) {
			t.Errorf("%q came back as %q", data, got)
		}
	})
}

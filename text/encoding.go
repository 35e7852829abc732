package text

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Encoding is the character encoding of files.
type Encoding string

const (
	Bytes Encoding = ""      // unchanged; unicode and the languages treat bytes that are not UTF-8 as separators
	UTF8  Encoding = "utf-8" // bytes that are not UTF-8 are an error
)

// byMark has its byte order from the mark at a file's begin; utf-16le and utf-16be are others.
const byMark = "utf-16"

// ParseEncoding returns the encoding with the given name: bytes, utf-8, or a name of the WHATWG
// Encoding Standard such as latin1, windows-1251, utf-16, shift_jis or gbk. Text in these is
// converted to UTF-8.
func ParseEncoding(name string) (Encoding, error) {
	switch name = strings.ToLower(name); name {
	case "bytes":
		return Bytes, nil
	case byMark:
		return byMark, nil
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		return "", fmt.Errorf("unknown encoding %q: want bytes, utf-8, latin1, windows-1252, utf-16, or another one that browsers know", name)
	}
	canonical, err := htmlindex.Name(e)
	if err != nil {
		return "", fmt.Errorf("encoding %q: %w", name, err)
	}
	return Encoding(canonical), nil
}

// Converts reports whether text in this encoding is converted to UTF-8.
func (e Encoding) Converts() bool { return e != Bytes && e != UTF8 }

// Reader returns a reader that converts r to UTF-8, or r itself if nothing needs converting.
func (e Encoding) Reader(r io.Reader) (io.Reader, error) {
	if !e.Converts() {
		return r, nil
	}
	return e.reader(r)
}

// reader converts what it reads to UTF-8.
func (e Encoding) reader(r io.Reader) (io.Reader, error) {
	if e == byMark {
		decoder := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
		return transform.NewReader(r, decoder.NewDecoder()), nil
	}
	coding, err := htmlindex.Get(string(e))
	if err != nil {
		return nil, fmt.Errorf("encoding %q: %w", e, err)
	}
	return transform.NewReader(r, coding.NewDecoder()), nil
}

// checkUTF8 says where text is not UTF-8.
func checkUTF8(b []byte) error {
	if utf8.Valid(b) {
		return nil
	}
	at := validLength(b)
	return wrong(at, "byte 0x%02X is not UTF-8: is the text Latin-1? Say what it is (--encoding latin1), "+
		"or take the bytes as they are (--encoding bytes)", b[at])
}

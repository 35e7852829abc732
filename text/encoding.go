package text

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/collocate/collocate/internal/choice"
)

// Encoding is the character encoding of files. The zero value is Bytes.
type Encoding int

// Encodings without conversion. ParseEncoding knows the others.
const (
	Bytes  Encoding = iota // unchanged; unicode and the languages treat bytes that are not UTF-8 as separators
	UTF8                   // bytes that are not UTF-8 are an error
	byMark                 // UTF-16, with the byte order given by the mark at the start of the file
)

// encodingNames are the names of the encodings above, then those of the WHATWG standard.
var encodingNames = choice.New[Encoding]("encoding", "bytes", "utf-8", "utf-16",
	"big5", "euc-jp", "euc-kr", "gb18030", "gbk", "ibm866", "iso-2022-jp", "iso-8859-10", "iso-8859-13",
	"iso-8859-14", "iso-8859-15", "iso-8859-16", "iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5",
	"iso-8859-6", "iso-8859-7", "iso-8859-8", "iso-8859-8-i", "koi8-r", "koi8-u", "macintosh",
	"replacement", "shift_jis", "utf-16be", "utf-16le", "windows-1250", "windows-1251", "windows-1252",
	"windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-1258",
	"windows-874", "x-mac-cyrillic", "x-user-defined")

// Encodings lists the names of all encodings. ParseEncoding takes others, such as latin1, too.
func Encodings() []string { return encodingNames.List() }

func (e Encoding) String() string { return encodingNames.Of(e) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (e Encoding) MarshalText() ([]byte, error) { return encodingNames.Text(e) }

// UnmarshalText takes what ParseEncoding does.
func (e *Encoding) UnmarshalText(name []byte) (err error) {
	parsed, err := ParseEncoding(string(name))
	if err == nil {
		*e = parsed
	}
	return err
}

// ParseEncoding returns the encoding with the given name: bytes, utf-8, or a name of the WHATWG
// Encoding Standard such as latin1, windows-1251, utf-16, shift_jis or gbk. Text in these is
// converted to UTF-8.
func ParseEncoding(name string) (Encoding, error) {
	name = strings.ToLower(name)
	if e, err := encodingNames.Parse(name); err == nil {
		return e, nil
	}
	if convert == nil {
		return 0, noEncodings(name)
	}
	canonical, _, err := convert(name)
	if err != nil {
		return 0, fmt.Errorf("unknown encoding %q: want bytes, utf-8, latin1, windows-1252, utf-16, or another name of the WHATWG standard", name)
	}
	return encodingNames.Parse(canonical)
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

// reader converts r to UTF-8.
func (e Encoding) reader(r io.Reader) (io.Reader, error) {
	if convert == nil {
		return nil, noEncodings(e.String())
	}
	_, toUTF8, err := convert(e.String())
	if err != nil {
		return nil, fmt.Errorf("encoding %q: %w", e, err)
	}
	return toUTF8(r), nil
}

func noEncodings(name string) error {
	return fmt.Errorf("encoding %q: bytes and utf-8 are known; for others import "+
		"github.com/collocate/collocate/text/encodings", name)
}

// checkUTF8 returns an error with the position of the first byte that is not UTF-8.
func checkUTF8(b []byte) error {
	if utf8.Valid(b) {
		return nil
	}
	at := validLength(b)
	return wrong(at, "byte 0x%02X is not UTF-8: is the text Latin-1? Say what it is (text.Options.Encoding=latin1), "+
		"or take the bytes as they are (text.Options.Encoding=bytes)", b[at])
}

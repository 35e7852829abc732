package extract

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

const windows1252 = "windows-1252"

// isText reports whether bytes look like text. Control characters that no text has do not; zeros
// are those of UTF-16 if every other byte of the beginning is one.
func isText(data []byte) bool {
	start := data[:min(len(data), 8<<10)]
	if mark, _ := byMark(start); mark != "" || wide(start) != "" {
		return true
	}
	controls := 0
	for _, c := range start {
		switch {
		case c == 0:
			return false
		case c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b && c != '\b':
			controls++
		}
	}
	return controls*50 <= len(start)
}

// byMark returns the encoding of a byte order mark, and its length.
func byMark(data []byte) (name string, length int) {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return "utf-8", 3
	case bytes.HasPrefix(data, []byte("\xff\xfe\x00\x00")) && len(data)%4 == 0:
		return "utf-32le", 4
	case bytes.HasPrefix(data, []byte("\x00\x00\xfe\xff")) && len(data)%4 == 0:
		return "utf-32be", 4
	case bytes.HasPrefix(data, []byte("\xff\xfe")) && len(data)%2 == 0:
		return "utf-16le", 2
	case bytes.HasPrefix(data, []byte("\xfe\xff")) && len(data)%2 == 0:
		return "utf-16be", 2
	}
	return "", 0
}

// wide returns the byte order of UTF-16 without a mark, or "". Text in scripts of Europe has a zero
// in nearly every pair, always on the same side.
func wide(data []byte) string {
	if len(data) < 8 {
		return ""
	}
	var zeros [2]int
	for i, c := range data {
		if c == 0 {
			zeros[i%2]++
		}
	}
	pairs := len(data) / 2
	switch {
	case zeros[1]*10 >= pairs*8 && zeros[0]*50 <= pairs:
		return "utf-16le"
	case zeros[0]*10 >= pairs*8 && zeros[1]*50 <= pairs:
		return "utf-16be"
	}
	return ""
}

// declared finds what files say of their encoding: Python and Emacs in a comment, XML and HTML.
var declared = regexp.MustCompile(`(?i)(?:coding[=:]\s*|charset\s*=\s*["']?|encoding\s*=\s*["'])([-\w.]+)`)

// toUTF8 converts a file to UTF-8 and names its encoding. said is what the file's surroundings
// declare, such as the header of a mail; it may be "".
func (in *input) toUTF8(data []byte, said string) ([]byte, string) {
	if name, length := byMark(data); name != "" {
		return convert(data[length:], name)
	}
	if name := wide(data[:min(len(data), 8<<10)]); name != "" {
		return convert(data, name)
	}
	if said == "" {
		if m := declared.FindSubmatch(data[:min(len(data), 1024)]); m != nil {
			said = string(m[1])
		}
	}
	// A declaration of UTF-16 cannot be true here: its bytes would have zeros.
	if utf8.Valid(data) && !escapes(said) {
		return data, "utf-8"
	}
	for _, name := range []string{said, in.o.Encoding} {
		if known(name) && canonical(name) != "utf-8" && !strings.HasPrefix(canonical(name), "utf-16") {
			return convert(data, canonical(name))
		}
	}
	if canonical(said) == "utf-8" { // with some wrong bytes
		return bytes.ToValidUTF8(data, []byte("\ufffd")), "utf-8"
	}
	return convert(data, windows1252)
}

// escapes reports whether text in an encoding may consist of bytes below 128 only.
func escapes(name string) bool { return canonical(name) == "iso-2022-jp" }

func known(name string) bool { return canonical(name) != "" }

// canonical returns the name of an encoding in the WHATWG standard, or "".
func canonical(name string) string {
	e, err := htmlindex.Get(strings.TrimSpace(name))
	if err != nil || name == "" {
		return ""
	}
	if name, err = htmlindex.Name(e); err != nil || name == "replacement" {
		return ""
	}
	return name
}

// convert decodes an encoding; bytes that are wrong in it become U+FFFD.
func convert(data []byte, name string) ([]byte, string) {
	var e encoding.Encoding
	switch name {
	case "utf-8":
		return bytes.ToValidUTF8(data, []byte("\ufffd")), name
	case "utf-16le":
		e = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case "utf-16be":
		e = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case "utf-32le":
		e = utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case "utf-32be":
		e = utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	default:
		var err error
		if e, err = htmlindex.Get(name); err != nil {
			return bytes.ToValidUTF8(data, []byte("\ufffd")), "utf-8"
		}
	}
	out, err := e.NewDecoder().Bytes(data)
	if err != nil {
		return bytes.ToValidUTF8(data, []byte("\ufffd")), "utf-8"
	}
	return bytes.ToValidUTF8(out, []byte("\ufffd")), name
}

// Package encodings lets package text read files that are not in UTF-8: the encodings of the WHATWG
// Encoding Standard. A program that reads such files imports it for that effect:
//
//	import _ "github.com/collocate/collocate/text/encodings"
//
// Experimental: it may change with any version; package collocate says what may not.
package encodings

import (
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/collocate/collocate/text"
)

func init() { text.RegisterEncodings(of) }

// of finds an encoding. The standard's utf-16 is little endian; here the mark at the beginning of
// the file decides.
func of(name string) (canonical string, toUTF8 func(io.Reader) io.Reader, err error) {
	var coding encoding.Encoding = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	canonical = "utf-16"
	if name != canonical {
		if coding, err = htmlindex.Get(name); err != nil {
			return "", nil, err
		}
		if canonical, err = htmlindex.Name(coding); err != nil {
			return "", nil, err
		}
	}
	return canonical, func(r io.Reader) io.Reader {
		return transform.NewReader(r, coding.NewDecoder())
	}, nil
}

// Package gzip lets the libraries read files in gzip faster. A program that reads large ones
// imports it for that effect:
//
//	import _ "github.com/collocate/collocate/text/gzip"
//
// Experimental: it may change with any version; package collocate says what may not.
package gzip

import (
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/collocate/collocate/internal/textfile"
)

func init() {
	textfile.RegisterGzip(func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) })
}

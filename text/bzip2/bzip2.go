// Package bzip2 lets the libraries read files in bzip2. A program that reads some imports it for
// that effect:
//
//	import _ "github.com/collocate/collocate/text/bzip2"
//
// Experimental: it may change with any version; package collocate says what may not.
package bzip2

import (
	"compress/bzip2"

	"github.com/collocate/collocate/internal/textfile"
)

func init() { textfile.RegisterBzip2(bzip2.NewReader) }

// Package formats registers every format that the libraries read and write only if it is imported.
// A program that takes whatever its users have imports it for that effect, as the command does:
//
//	import _ "github.com/collocate/collocate/formats"
//
// A program that needs one of them imports that alone.
//
// Experimental: it may change with any version; package collocate says what may not.
package formats

import (
	_ "github.com/collocate/collocate/text/bzip2"     // bzip2
	_ "github.com/collocate/collocate/text/encodings" // text that is not in UTF-8
	_ "github.com/collocate/collocate/text/gzip"      // gzip, faster
	_ "github.com/collocate/collocate/text/parquet"   // Parquet tables as documents
	_ "github.com/collocate/collocate/weigh/npz"      // weights as NumPy's archives
	_ "github.com/collocate/collocate/weigh/parquet"  // weights as Parquet tables
)

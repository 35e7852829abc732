// Package parquet lets package weigh write Parquet files. A program that does imports it for that
// effect:
//
//	import _ "github.com/collocate/collocate/weigh/parquet"
//
// Experimental: it may change with any version; package collocate says what may not.
package parquet

import (
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/collocate/collocate/weigh"
)

// rowsPerGroup bounds the memory of the writer, which holds a row group.
const rowsPerGroup = 1 << 18

func init() {
	weigh.RegisterParquet(func(to io.Writer) weigh.ParquetWriter {
		return parquet.NewGenericWriter[weigh.ParquetRow](to,
			parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(rowsPerGroup),
			parquet.CreatedBy("collocate", "", ""))
	})
}

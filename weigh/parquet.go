package weigh

import (
	"context"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
)

// parquetRow is a line of a Parquet file: one weight. Words and documents are
// dictionary-encoded, so their repetition costs little.
type parquetRow struct {
	Term     string  `parquet:"term,dict"`
	Document string  `parquet:"document,dict"`
	TF       int32   `parquet:"tf"`
	Weight   float32 `parquet:"weight"`
}

// rowsPerGroup bounds the memory of the Parquet writer, which holds a row group.
const rowsPerGroup = 1 << 18

// writeParquet writes a table with the columns of parquetRow, sorted by term,
// then by the document's place in the corpus, compressed with Snappy.
func (w *Weights) writeParquet(ctx context.Context, to io.Writer) (Counts, error) {
	out := parquet.NewGenericWriter[parquetRow](to,
		parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(rowsPerGroup),
		parquet.CreatedBy("collocate", "", ""))
	ids := idCursor{v: w.docs}
	var rows []parquetRow
	var word string
	counts, err := w.each(ctx, func(t Weighted, begins bool) error {
		if begins {
			if word = string(t.Word); !utf8.ValidString(word) { // readers would refuse the file
				return fmt.Errorf("word %.60q is not UTF-8, as Parquet requires: name the encoding of the corpus "+
					"(text.Options.Encoding=latin1), or write another format", word)
			}
		}
		for i, d := range t.Docs {
			rows = append(rows, parquetRow{word, string(ids.at(int(d))), int32(t.TFs[i]), t.Weights[i]})
			if len(rows) < pieceLen {
				continue
			}
			// Write the same number of rows each time, whatever pieces a method yields: the bytes
			// of the file depend on it.
			if _, err := out.Write(rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
		return nil
	})
	if err != nil {
		return counts, err
	}
	if _, err := out.Write(rows); err != nil {
		return counts, err
	}
	return counts, out.Close()
}

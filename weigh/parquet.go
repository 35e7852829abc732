package weigh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// ParquetRow is a row of a Parquet file: one weight. Words and documents are dictionary-encoded, so
// their repetition costs little.
type ParquetRow struct {
	Term     string  `parquet:"term,dict"`     // a word
	Document string  `parquet:"document,dict"` // ID of a document that contains it
	TF       int32   `parquet:"tf"`            // occurrences in the document
	Weight   float32 `parquet:"weight"`        // by the scheme that was chosen
}

// ParquetWriter writes the rows of one file.
type ParquetWriter interface {
	Write(rows []ParquetRow) (int, error)
	Close() error
}

// newParquet makes a writer, if package weigh/parquet was imported.
var newParquet func(to io.Writer) ParquetWriter

// RegisterParquet is called by package weigh/parquet.
func RegisterParquet(writer func(to io.Writer) ParquetWriter) { newParquet = writer }

// writeParquet writes a table with the columns of ParquetRow, sorted by term,
// then by the document's place in the corpus, compressed with Snappy.
func (w *Weights) writeParquet(ctx context.Context, to io.Writer) (Counts, error) {
	if newParquet == nil {
		return Counts{}, errors.New("to write Parquet, import github.com/collocate/collocate/weigh/parquet")
	}
	out := newParquet(to)
	ids := idCursor{v: w.docs}
	var rows []ParquetRow
	var word string
	counts, err := w.each(ctx, func(t Weighted, begins bool) error {
		if begins {
			if word = string(t.Word); !utf8.ValidString(word) { // readers would refuse the file
				return fmt.Errorf("word %.60q is not UTF-8, as Parquet requires: name the encoding of the corpus "+
					"(text.Options.Encoding=latin1), or write another format", word)
			}
		}
		for i, d := range t.Docs {
			rows = append(rows, ParquetRow{word, string(ids.at(int(d))), int32(t.TFs[i]), t.Weights[i]})
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

package cooccur

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
)

// parquetRow is an entry in a Parquet file: IDs from 0, the words, dictionary-encoded, and the
// value.
type parquetRow struct {
	ID1   int32   `parquet:"id1,delta"`
	ID2   int32   `parquet:"id2"`
	Word1 string  `parquet:"word1,dict"`
	Word2 string  `parquet:"word2,dict"`
	Value float64 `parquet:"value"`
}

// Keys of a Parquet file's metadata: the vocabulary as lines, and the note as JSON.
const (
	parquetVocabulary = "collocate.vocabulary"
	parquetAbout      = "collocate.about"
)

// parquetGroup is the number of rows in a row group, which is kept in memory until it is written.
const parquetGroup = 1 << 19

type parquetEncoder struct {
	w     *parquet.GenericWriter[parquetRow]
	vocab *Vocabulary
	opt   Options
	buf   []parquetRow
}

func newParquetEncoder(w io.Writer, v *Vocabulary, opt Options) (*parquetEncoder, error) {
	if err := v.utf8(); err != nil {
		return nil, err
	}
	return &parquetEncoder{vocab: v, opt: opt, w: parquet.NewGenericWriter[parquetRow](w,
		parquet.MaxRowsPerRowGroup(parquetGroup),
		parquet.Compression(&parquet.Zstd),
		parquet.CreatedBy("collocate", "1", ""),
	)}, nil
}

// utf8 returns an error if a word is not valid UTF-8, as Parquet requires.
func (v *Vocabulary) utf8() error {
	for id := range v.Len() {
		if !utf8.Valid(v.Word(id)) { // readers would reject the whole file
			return fmt.Errorf("word %q is not UTF-8, as Parquet requires: name the encoding of the corpus "+
				"(text.Options.Encoding=latin1), or write another format", shorten(v.Word(id)))
		}
	}
	return nil
}

// wordRow is a word in the Parquet file of a vocabulary.
type wordRow struct {
	ID    int32  `parquet:"id,delta"`
	Word  string `parquet:"word"`
	Count int64  `parquet:"count"`
}

// WriteParquet writes a vocabulary as a Parquet table with the columns id (from 0, as in matrices),
// word and count.
func (v *Vocabulary) WriteParquet(to io.Writer) error {
	if err := v.utf8(); err != nil {
		return err
	}
	w := parquet.NewGenericWriter[wordRow](to, parquet.MaxRowsPerRowGroup(parquetGroup),
		parquet.Compression(&parquet.Zstd), parquet.CreatedBy("collocate", "1", ""))
	buf := make([]wordRow, 0, 1<<12)
	for id := range v.Len() {
		buf = append(buf, wordRow{int32(id), string(v.Word(id)), int64(v.Count(id))})
		if len(buf) == cap(buf) || id == v.Len()-1 {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	return w.Close()
}

func (e *parquetEncoder) Rows(r *Rows) error {
	for i := range r.Ends {
		cols, values := r.Row(i)
		word := string(e.vocab.Word(r.First + i))
		for k, c := range cols {
			e.buf = append(e.buf, parquetRow{int32(r.First + i), int32(c), word,
				string(e.vocab.Word(int(c))), values[k]})
			if len(e.buf) == 1<<12 {
				if err := e.flush(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// flush writes the buffered entries. Their number is the same in every call but the last, because
// the bytes of the file depend on it, and must not depend on how many rows an engine emits at once.
func (e *parquetEncoder) flush() error {
	_, err := e.w.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

func (e *parquetEncoder) close(about Corpus) error {
	if err := e.flush(); err != nil {
		return err
	}
	// The metadata hold all words, even those without entries, and their counts; see convert.go.
	note, err := json.Marshal(newNote(e.opt, about))
	if err != nil {
		return err
	}
	var words bytes.Buffer
	if _, err := e.vocab.WriteTo(&words); err != nil {
		return err
	}
	e.w.SetKeyValueMetadata(parquetAbout, string(note))
	e.w.SetKeyValueMetadata(parquetVocabulary, words.String())
	return e.w.Close()
}
func (e *parquetEncoder) abort() {}

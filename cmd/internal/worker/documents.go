package worker

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strconv"
	"unsafe"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/text"
)

// corpusArgs says where documents are and how they are split into words.
type corpusArgs struct {
	Paths    []string `json:"paths"` // none: documents follow the call
	Format   string   `json:"format"`
	Fields   []string `json:"fields"`
	Schema   []string `json:"schema"` // fields with types, as in 'index --fields'; excludes Fields
	IDField  string   `json:"id_field"`
	Encoding string   `json:"encoding"`
	IDRoot   string   `json:"id_root"` // folder to which the IDs of files are relative
	Analyzer string   `json:"analyzer"`
	Threads  int      `json:"threads"`
	Memory   int64    `json:"memory"`

	needIDs bool // documents without IDs are an error
}

// corpus returns the corpus of the paths, or of the documents that follow the call. In folders the
// files in results are skipped.
func (a *corpusArgs) corpus(c *pipe.Call, results ...string) (*text.Corpus, text.Analyzer, error) {
	if a.Analyzer == "" {
		a.Analyzer = "unicode"
	}
	if err := resources(a.Threads, a.Memory); err != nil {
		return nil, nil, err
	}
	an, err := text.ParseAnalyzer(a.Analyzer)
	if err != nil {
		return nil, nil, pipe.ValueError{Err: err}
	}
	files := api.Files{Fields: a.Fields, IDField: a.IDField, Encoding: a.Encoding}
	if a.Format != "" {
		if files.Format, err = text.ParseFormat(a.Format); err != nil {
			return nil, nil, pipe.ValueError{Err: err}
		}
	}
	corpus, err := corpusOf(c, &files, a.Analyzer, a.Paths, a.needIDs)
	if err != nil {
		return nil, nil, err
	}
	o := &corpus.Options
	o.Except, o.Threads, o.Memory, o.Root = results, a.Threads, a.Memory, a.IDRoot
	if len(a.Schema) > 0 {
		if o.Schema, err = fields.ParseList(a.Schema); err != nil {
			return nil, nil, pipe.ValueError{Err: err}
		}
	}
	return corpus, an, nil
}

// corpusOf returns the corpus of the paths, or of the documents that follow the call if there are
// none.
func corpusOf(c *pipe.Call, files *api.Files, analyzer string, paths []string, needIDs bool) (*text.Corpus, error) {
	o, err := files.Options(analyzer)
	if err != nil {
		return nil, err
	}
	o.Progress, o.Note = c.Stage("reading"), c.Note
	if files.SkipBad {
		o.SkipBad = func(path string, err error) { c.Note(fmt.Sprintf("skipped %s: %v", path, err)) }
	}
	corpus := &text.Corpus{Paths: paths, Options: o}
	if len(paths) == 0 {
		corpus.Source = func(context.Context) iter.Seq2[[]text.Document, error] { return documents(c, needIDs) }
	}
	return corpus, nil
}

// documents yields the documents that follow a call. Their messages have an array texts, in which
// text i ends at ends[i], and likewise ids with id_ends. Without these, IDs are numbers from 0.
// Each pass over the corpus reads the messages up to the next end.
func documents(c *pipe.Call, needIDs bool) iter.Seq2[[]text.Document, error] {
	return func(yield func([]text.Document, error) bool) {
		number := 0
		for {
			m, err := c.Next()
			if err == io.EOF {
				return
			}
			if err == nil && needIDs && !hasIDs(m) {
				err = pipe.Valuef("documents that are added need IDs: each replaces older ones with its ID")
			}
			var docs []text.Document
			if err == nil {
				docs, err = group(m, &number)
			}
			if !yield(docs, err) || err != nil {
				return
			}
		}
	}
}

func hasIDs(m *pipe.Message) bool {
	_, ok := m.Array("ids")
	return ok
}

// group returns the documents of one message.
func group(m *pipe.Message, number *int) ([]text.Document, error) {
	texts, err := split(m, "texts", "ends")
	if err != nil {
		return nil, err
	}
	docs := make([]text.Document, len(texts))
	for i := range docs {
		docs[i].Text = texts[i]
	}
	if !hasIDs(m) {
		for i := range docs {
			docs[i].ID = strconv.Itoa(*number)
			*number++
		}
		return docs, nil
	}
	ids, err := split(m, "ids", "id_ends")
	if err != nil {
		return nil, err
	}
	if len(ids) != len(docs) {
		return nil, pipe.Valuef("%d IDs of %d documents: want one for each", len(ids), len(docs))
	}
	for i := range docs {
		docs[i].ID = string(ids[i])
	}
	*number += len(docs)
	return docs, nil
}

// split splits an array of bytes at the ends in another array.
func split(m *pipe.Message, bytes, ends string) ([][]byte, error) {
	all, err := pipe.Get[uint8](m, bytes)
	if err != nil {
		return nil, err
	}
	to, err := pipe.Get[int64](m, ends)
	if err != nil {
		return nil, err
	}
	list := make([][]byte, len(to))
	at := int64(0)
	for i, end := range to {
		if end < at || end > int64(len(all)) {
			return nil, pipe.Valuef("array %q: %d after %d: want numbers that do not fall, up to %d, the length of %q",
				ends, end, at, len(all), bytes)
		}
		list[i] = all[at:end:end]
		at = end
	}
	return list, nil
}

// joined holds strings as an array of bytes and one of ends.
type joined struct {
	bytes []byte
	ends  []int64
}

// end ends a string whose bytes were appended.
func (j *joined) end() { j.ends = append(j.ends, int64(len(j.bytes))) }

func (j *joined) add(s []byte) {
	j.bytes = append(j.bytes, s...)
	j.end()
}

func (j *joined) arrays(name, ends string) []pipe.Array {
	return []pipe.Array{pipe.NewArray(name, j.bytes), pipe.NewArray(ends, j.ends)}
}

// asString returns bytes of a message as a string, without copying: messages do not change.
func asString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

package api

import (
	"fmt"
	"os"
	"strings"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/text"
)

// Files says how files are read as documents.
type Files struct {
	Format      text.Format `ask:"format" group:"Corpus" default:"auto" one:"formats" help:"what a file is"`
	Fields      []string    `ask:"fields" group:"Corpus" help:"fields or columns that hold text (default contents, or title,abstract,text,body and the like)"`
	IDField     string      `ask:"id_field" group:"Corpus" help:"field or column that holds the document's ID (default id, _id, docno, docid or the like)"`
	Encoding    string      `ask:"encoding" group:"Corpus" help:"encoding of the text: utf-8, latin1, windows-1252, utf-16 or another name of the WHATWG standard, or bytes for no conversion (default utf-8, which makes other bytes an error; bytes for the analyzers whitespace and ascii)"`
	MaxDocument Size        `ask:"max_document" group:"Corpus" default:"64MB" not:"python: of a file a document may have 64 MB" help:"longest document in bytes; it may also take at most a 30th of the working memory"`
	SkipBad     bool        `ask:"skip_bad" group:"Corpus" help:"skip files that cannot be opened, are not text, or not in their format or encoding, and name them"`
}

// Reading says how files are read as documents, and these split into words.
type Reading struct {
	Analyzer  string `ask:"analyzer" group:"Corpus" default:"unicode" some:"analyzers" help:"how text is split into words; languages are stemmed, and +stop drops stop words, as in english+stop, the best for English (no list for irish, tamil and turkish); impact, for indexes only, reads objects of tokens and whole weights, impact:100 rounds weights to hundredths; or a chain of steps, such as words | lower | fold | stem(english): see docs/analysis.md"`
	Stopwords string `ask:"stopwords" file:"" group:"Corpus" help:"drop the words in this file, one per line, instead of the analyzer's own stop words"`
	Files
}

// FilesQuestion and ReadingQuestion declare their parameters, for verbs that ask no question.
var (
	FilesQuestion   = part[Files]("files", "how files are read as documents")
	ReadingQuestion = part[Reading]("reading", "how files are read as documents, and these split into words")
)

// Options returns how the files are read, for an analyzer. Analyzers of bytes read text as it is,
// unless an encoding is given. Those of Unicode need UTF-8: they would take Latin-1's letters for
// separators.
func (q *Files) Options(analyzer string) (o text.Options, err error) {
	if q.Format == text.Lines || q.Format == text.File || q.Format == text.Blank {
		const other = "documents of the format %v have none: name a format that does, such as jsonl or csv"
		if len(q.Fields) > 0 {
			return o, wrongf("fields", other, q.Format)
		}
		if q.IDField != "" {
			return o, wrongf("id_field", strings.Replace(other, "none", "no fields", 1), q.Format)
		}
	}
	o = text.Options{Format: q.Format, Fields: q.Fields, IDField: q.IDField, MaxDocument: int64(q.MaxDocument),
		Weights: text.OfWeights(analyzer)}
	switch {
	case q.Encoding != "":
		if o.Encoding, err = text.ParseEncoding(q.Encoding); err != nil {
			return o, wrong("encoding", err)
		}
	case !text.OfBytes(analyzer):
		o.Encoding = text.UTF8
	}
	return o, nil
}

// Split returns the analyzer, with the stop words if these were given.
func (q *Reading) Split() (text.Analyzer, error) {
	name, err := text.Inline(q.Analyzer, os.ReadFile)
	if err != nil {
		return nil, wrong("analyzer", err)
	}
	an, err := text.ParseAnalyzer(name)
	if err != nil {
		return nil, wrong("analyzer", err)
	}
	if q.Stopwords == "" {
		return an, nil
	}
	if strings.HasSuffix(q.Analyzer, "+stop") {
		return nil, wrongf("stopwords", "the analyzer %s has a list of its own: leave out +stop", q.Analyzer)
	}
	data, err := os.ReadFile(q.Stopwords)
	if err != nil {
		return nil, fmt.Errorf("stop words: %w", err)
	}
	list := text.StopWords(data)
	if len(list) == 0 {
		return nil, wrongf("stopwords", "no words in %s", q.Stopwords)
	}
	if an, err = text.WithStopWords(q.Analyzer, list); err != nil {
		return nil, wrong("stopwords", err)
	}
	return an, nil
}

// Size is a number of bytes, which is written with a unit: 64MB.
type Size int64

// UnmarshalText reads a number with or without a unit, such as 512MB or 2GiB.
func (s *Size) UnmarshalText(size []byte) error {
	n, err := bytesize.Parse(string(size))
	*s = Size(n)
	return err
}

// Shape describes the size in the terms of JSON Schema.
func (s *Size) Shape() map[string]any { return map[string]any{"type": "string", "example": "64MB"} }

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/text"
)

// corpusFlags are the flags of every verb that reads documents. A verb sets
// analyzerName to its default before register.
type corpusFlags struct {
	format       text.Format
	fields       []string
	idField      string
	analyzerName string
}

func (c *corpusFlags) register(cmd *cobra.Command) {
	if c.analyzerName == "" {
		c.analyzerName = "unicode"
	}
	f := cmd.Flags()
	f.Var(&c.format, "format", "what a file is: "+strings.Join(text.Formats(), ", "))
	f.StringSliceVar(&c.fields, "fields", nil, "fields or columns that hold text (default contents, or title,abstract,text)")
	f.StringVar(&c.idField, "id-field", "", "field or column that holds the document's ID (default id, _id or docid)")
	f.StringVar(&c.analyzerName, "analyzer", c.analyzerName, "how text becomes words: whitespace, ascii, unicode, english, ...; with +stop without stop words")
	choices(cmd, map[string][]string{"format": text.Formats(), "analyzer": text.Analyzers()})
}

// corpus makes the corpus of these paths; no path means standard input. Where results
// go is no part of a folder that is read.
func (c *corpusFlags) corpus(a *app, paths []string, results ...string) *text.Corpus {
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	return &text.Corpus{Paths: paths, Options: text.Options{
		Format:   c.format,
		Fields:   c.fields,
		IDField:  c.idField,
		Except:   results,
		Threads:  a.textThreads(),
		Progress: a.progress("reading"),
		Log:      a.log,
	}}
}

// analyzer is the one that --analyzer names. It is asked for before anything is read,
// and refuses flags that would have no effect.
func (c *corpusFlags) analyzer() (text.Analyzer, error) {
	if c.format == text.Lines || c.format == text.File || c.format == text.Blank {
		if len(c.fields) > 0 {
			return nil, usagef("--fields: documents of --format %v have none; name a format that does, such as jsonl or csv", c.format)
		}
		if c.idField != "" {
			return nil, usagef("--id-field: documents of --format %v have no fields; name a format that does, such as jsonl or csv", c.format)
		}
	}
	an, err := text.ParseAnalyzer(c.analyzerName)
	if err != nil {
		return nil, usageError{err}
	}
	return an, nil
}

package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/text"
)

// corpusFlags are the flags of every verb that reads documents. A verb sets
// analyzerName to its default before register.
type corpusFlags struct {
	format       text.Format
	plain        text.Format // of plain text without --format; Auto detects it
	fields       []string
	idField      string
	analyzerName string
	stopwords    string
	encoding     string
	skipBad      bool
	maxDocument  bytesize.Size

	idRoot string

	typed      bool // the verb makes or changes an index: it accepts types in --fields, and --id-root
	schemaPath string
	schema     *fields.Schema // filled by analyzer
}

func (c *corpusFlags) register(cmd *cobra.Command) {
	if c.analyzerName == "" {
		c.analyzerName = "unicode"
	}
	c.registerReading(cmd)
	f := cmd.Flags()
	f.StringVar(&c.analyzerName, "analyzer", c.analyzerName, analyzerHelp())
	f.StringVar(&c.stopwords, "stopwords", "",
		"drop the words in this file, one per line, instead of the analyzer's own stop words")
	choices(cmd, map[string][]string{"analyzer": text.Analyzers()})
}

// analyzerHelp lists all analyzers.
func analyzerHelp() string {
	return "how text is split into words: " + described(text.Analyzers(), analyzerWords) +
		"; languages are stemmed, and +stop drops stop words, as in english+stop, the best for English (no list for irish, tamil and turkish)"
}

// registerReading registers the flags for reading documents, for verbs whose analyzer is known.
func (c *corpusFlags) registerReading(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(textFlag{&c.format, "format"}, "format", "what a file is: "+described(text.Formats(), formatWords))
	f.StringSliceVar(&c.fields, "fields", nil,
		"fields or columns that hold text (default contents, or title,abstract,text,body and the like)")
	if c.typed {
		f.Lookup("fields").Usage = "fields or columns that hold text (default contents, or title,abstract,text,body and the like), or with types " +
			"title:text,tags:keyword,year:number,day:date,place:geo,url:stored: see docs/fields.md"
		f.StringVar(&c.idRoot, "id-root", "", "folder to which the IDs of files are relative (default the one that the index remembers; for a new index the folder that is named, or the deepest that holds all files)")
		f.StringVar(&c.schemaPath, "schema", "", "JSON file that lists fields with types, instead of --fields")
	}
	f.StringVar(&c.idField, "id-field", "",
		"field or column that holds the document's ID (default id, _id, docno, docid or the like)")
	f.StringVar(&c.encoding, "encoding", "", "encoding of the text: utf-8, latin1, windows-1252, utf-16 or another name of the WHATWG standard, or bytes for no conversion (default utf-8, which makes other bytes an error; bytes for --analyzer whitespace and ascii)")
	c.maxDocument = 64 * bytesize.MB
	f.Var(&c.maxDocument, "max-document", "longest document in bytes; it may also take at most a 30th of --memory")
	choices(cmd, map[string][]string{"format": text.Formats(), "encoding": encodingNames})
	f.BoolVar(&c.skipBad, "skip-bad", false, "skip files that cannot be opened, are not text, or not in their format or encoding, and name them")
}

// corpus returns the corpus of these paths; no path means standard input. Results are paths to be
// written: where they lie in a folder of the corpus, they are not read.
func (c *corpusFlags) corpus(a *app, paths []string, results ...string) *text.Corpus {
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	var skip func(path string, err error)
	if c.skipBad {
		skip = a.skip
	}
	names := c.fields
	if c.schema != nil {
		names = nil // they are in the schema, with their types
	}
	return &text.Corpus{Paths: paths, Options: text.Options{
		Format:      c.format,
		Plain:       c.plain,
		Fields:      names,
		Schema:      c.schema,
		IDField:     c.idField,
		Encoding:    c.encodingOf(),
		Root:        c.idRoot,
		Except:      results,
		Memory:      int64(a.memory),
		MaxDocument: int64(c.maxDocument),
		Threads:     a.textThreads(),
		Progress:    a.progress("reading"),
		Note:        a.note,
		Guess:       a.guess,
		SkipBad:     skip,
		Log:         a.log,
	}}
}

// formatWords and analyzerWords describe formats and analyzers for --help. Analyzers that are not
// listed are languages.
var (
	formatWords = map[string]string{
		"auto": "by its first bytes, Parquet as well", "lines": "a document a line", "file": "a document a file",
		"blank": "blank lines between documents", "jsonl": "a JSON object a line", "trec": "<DOC> tags",
		"smart": ".I and .W sections", "tsv": "ID and text, or named columns", "csv": "named columns",
		"json": "objects or a list of them",
	}
	analyzerWords = map[string]string{
		"whitespace": "between blanks, as written", "ascii": "letters a-z", "unicode": "Unicode's words",
		"lucene-english": "as Lucene's EnglishAnalyzer",
	}
)

// described lists names, each followed by its description in brackets if it has one.
func described(names []string, words map[string]string) string {
	list := make([]string, len(names))
	for i, name := range names {
		if list[i] = name; words[name] != "" {
			list[i] += " (" + words[name] + ")"
		}
	}
	return strings.Join(list, ", ")
}

// encodingNames are the values of --encoding for shell completion.
var encodingNames = append(text.Encodings(), "latin1")

// encodingOf returns the encoding of --encoding, which method analyzer has validated. Without the
// flag, byte analyzers read text as it is. Unicode analyzers need UTF-8: they would take Latin-1's
// letters for separators.
func (c *corpusFlags) encodingOf() text.Encoding {
	if c.encoding == "" {
		if text.OfBytes(c.analyzerName) {
			return text.Bytes
		}
		return text.UTF8
	}
	e, _ := text.ParseEncoding(c.encoding)
	return e
}

// analyzer returns the analyzer of --analyzer. Verbs call it before anything is read: it also
// refuses flags that would have no effect.
func (c *corpusFlags) analyzer() (text.Analyzer, error) {
	if c.format == text.Lines || c.format == text.File || c.format == text.Blank {
		if len(c.fields) > 0 {
			return nil, usagef("--fields: documents of --format %v have none; name a format that does, such as jsonl or csv", c.format)
		}
		if c.idField != "" {
			return nil, usagef("--id-field: documents of --format %v have no fields; name a format that does, such as jsonl or csv", c.format)
		}
	}
	if err := c.readSchema(); err != nil {
		return nil, err
	}
	if c.encoding != "" {
		if _, err := text.ParseEncoding(c.encoding); err != nil {
			return nil, usageError{err}
		}
	}
	an, err := text.ParseAnalyzer(c.analyzerName)
	if err == nil && c.stopwords != "" {
		an, err = c.withStopwords()
	}
	if err != nil {
		return nil, usageError{err}
	}
	return an, nil
}

// readSchema sets the schema from --schema, or from --fields with types.
func (c *corpusFlags) readSchema() (err error) {
	switch {
	case c.schemaPath != "" && len(c.fields) > 0:
		return usagef("--fields and --schema: give only one of them")
	case c.schemaPath != "":
		data, err := os.ReadFile(c.schemaPath)
		if err != nil {
			return err
		}
		if c.schema, err = fields.ParseJSON(data); err != nil {
			return fmt.Errorf("%s: %w", c.schemaPath, err)
		}
	case !fields.IsList(c.fields):
		return nil
	case !c.typed:
		return usagef("--fields %s: types of fields are for 'collocate index'; give names alone here", strings.Join(c.fields, ","))
	default:
		if c.schema, err = fields.ParseList(c.fields); err != nil {
			return usagef("--fields: %v", err)
		}
	}
	for _, f := range c.schema.Fields {
		if strings.EqualFold(f.Name, "id") && f.Type != fields.Stored {
			return usagef("field %q: a query's id: means the ID of the document: give the field another name, as in sku:%s:from=%s",
				f.Name, f.Type, f.Sources()[0])
		}
		if f.Type == fields.Text && f.Analyzer != "" {
			if _, err := text.ParseAnalyzer(f.Analyzer); err != nil {
				return usagef("field %q: %v", f.Name, err)
			}
		}
	}
	return nil
}

// withStopwords returns the analyzer with the stopwords of --stopwords.
func (c *corpusFlags) withStopwords() (text.Analyzer, error) {
	if strings.HasSuffix(c.analyzerName, "+stop") {
		return nil, fmt.Errorf("--stopwords with --analyzer %s: the analyzer has a list of its own: leave out +stop", c.analyzerName)
	}
	data, err := os.ReadFile(c.stopwords)
	if err != nil {
		return nil, err
	}
	list := text.StopWords(data)
	if len(list) == 0 {
		return nil, fmt.Errorf("--stopwords %s: no words in this file", c.stopwords)
	}
	return text.WithStopWords(c.analyzerName, list)
}

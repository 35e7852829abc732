package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/encoder"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/text"
)

// corpusFlags are the flags of every verb that reads documents. A verb with another analyzer than
// unicode sets it before register.
type corpusFlags struct {
	api.Reading
	plain text.Format // of plain text without --format; Auto detects it

	typed bool // the verb makes or changes an index: it accepts types in --fields, and Fielding
	api.Fielding
	api.SynonymFile
	schema *fields.Schema // filled by analyzer

	encodes bool             // the verb may have documents encoded
	encoder encoderFlags     // of documents
	field   string           // --encoder-field
	coder   *encoder.Encoder // filled by analyzer; nil means none

	asked  api.Beside
	beside api.BesideFile // filled by analyzer; nil means none
}

// close closes what analyzer opened.
func (c *corpusFlags) close() error {
	err := c.coder.Close()
	if c.beside != nil {
		err = errors.Join(err, c.beside.Close())
	}
	return err
}

func (c *corpusFlags) register(cmd *cobra.Command) {
	usual := c.Analyzer
	addFlags(cmd, api.ReadingQuestion, &c.Reading)
	f := cmd.Flags()
	if usual != "" {
		c.Analyzer, f.Lookup("analyzer").DefValue = usual, usual
	}
	if c.typed {
		f.Lookup("fields").Usage += ", or with types " +
			"title:text,tags:keyword,year:number,day:date,place:geo,url:stored: see docs/fields.md"
		addFlags(cmd, api.FieldingQuestion, &c.Fielding)
		addFlags(cmd, api.SynonymsQuestion, &c.SynonymFile)
	}
	if c.encodes {
		c.encoder.register(cmd, "documents", &c.encoder.o.Document)
		f.StringVar(&c.field, "encoder-field", "", "vector `FIELD` that the encoder fills where a document has none (default the only one)")
		group(cmd, "Vectors", "encoder-field")
		addFlags(cmd, api.BesideQuestion, &c.asked)
	}
	choices(cmd, map[string][]string{"encoding": encodingNames})
}

// corpus returns the corpus of these paths; no path means standard input. Results are paths to be
// written: where they lie in a folder of the corpus, they are not read.
func (c *corpusFlags) corpus(a *app, paths []string, results ...string) *text.Corpus {
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	o, _ := c.Files.Options(c.Analyzer) // no error: method analyzer has checked it
	o.Plain, o.Schema, o.Root, o.Except = c.plain, c.schema, c.IDRoot, results
	if c.schema.Documents() != nil {
		o.Fields = nil // they are in the schema, with their types
	}
	o.Memory, o.Threads, o.Progress = int64(a.memory), a.textThreads(), a.progress("reading")
	o.Note, o.Guess, o.Log = a.note, a.guess, a.log
	if c.SkipBad {
		o.SkipBad = a.skip
	}
	if c.coder != nil {
		o.Finish = func(ctx context.Context, schema *fields.Schema, docs []text.Document) error {
			return c.coder.Fill(ctx, schema, c.field, docs)
		}
	}
	if c.beside != nil {
		o.Beside = c.beside
	}
	return &text.Corpus{Paths: paths, Options: o}
}

// encodingNames are the values of --encoding for shell completion.
var encodingNames = append(text.Encodings(), "latin1")

// analyzer returns the analyzer of --analyzer. Verbs call it before anything is read: it also
// refuses flags that would have no effect.
func (c *corpusFlags) analyzer() (text.Analyzer, error) {
	if _, err := c.Files.Options(c.Analyzer); err != nil {
		return nil, asFlags(api.ReadingQuestion, err)
	}
	if c.encodes {
		var err error
		if c.coder, err = c.encoder.open("encoder-field"); err != nil {
			return nil, err
		}
		if c.beside, err = c.asked.Open(); err != nil {
			return nil, asFlags(api.BesideQuestion, err)
		}
	}
	if err := c.readSchema(); err != nil {
		return nil, err
	}
	if c.typed {
		var err error
		if c.schema, err = c.Cut(c.schema); err != nil {
			return nil, asFlags(api.FieldingQuestion, err)
		}
	}
	an, err := c.Split()
	if err != nil {
		return nil, asFlags(api.ReadingQuestion, err)
	}
	an, err = c.With(an)
	return an, asFlags(api.SynonymsQuestion, err)
}

// noteAnalyzers says which fields have an analyzer of their own: words of a query that name no
// field are split by that of the index.
func (c *corpusFlags) noteAnalyzers(a *app, of text.Analyzer) {
	if c.schema == nil {
		return
	}
	var own []string
	for _, f := range c.schema.Fields {
		if f.Type == fields.Text && f.Analyzer != "" && text.Canonical(f.Analyzer) != text.Canonical(c.Analyzer) {
			own = append(own, fmt.Sprintf("%s:(...) by %s", f.Name, f.Analyzer))
		}
	}
	if len(own) > 0 {
		a.note(fmt.Sprintf("the words of a query are split by %s, the analyzer of the index, and those in %s",
			of.Name(), strings.Join(own, ", ")))
	}
}

// readSchema sets the schema from --schema, or from --fields with types.
func (c *corpusFlags) readSchema() (err error) {
	switch {
	case c.Schema != "" && len(c.Fields) > 0:
		return usagef("--fields and --schema: give only one of them")
	case c.Schema != "":
		data, err := os.ReadFile(c.Schema)
		if err != nil {
			return err
		}
		if c.schema, err = fields.ParseJSON(data); err != nil {
			return fmt.Errorf("%s: %w", c.Schema, err)
		}
	case !fields.IsList(c.Fields):
		return nil
	case !c.typed:
		return usagef("--fields %s: types of fields are for 'collocate index'; give names alone here", strings.Join(c.Fields, ","))
	default:
		if c.schema, err = fields.ParseList(c.Fields); err != nil {
			return usagef("--fields: %v", err)
		}
	}
	for _, f := range c.schema.Fields {
		if strings.EqualFold(f.Name, "id") && f.Type != fields.Stored {
			return usagef("field %q: a query's id: means the ID of the document: give the field another name, as in sku:%s:from=%s",
				f.Name, f.Type, f.Sources()[0])
		}
	}
	if err := api.InlineFields(c.schema); err != nil {
		return usagef("%v", err)
	}
	return nil
}

// analyzerHelp describes the analyzers, for flags with another default.
func analyzerHelp() string { return api.ReadingQuestion.Find("analyzer").Usage() }

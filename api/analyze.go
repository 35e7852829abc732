package api

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
)

// Analyze asks what an analyzer makes of a text, step by step.
type Analyze struct {
	Text     string `ask:"text" needed:"" help:"the text to split into words"`
	Field    string `ask:"field" help:"a text field, whose analyzer is used; without it that of the index"`
	Analyzer string `ask:"analyzer" help:"another analyzer, or a chain such as words | lower | fold, to try it"`
	Side     string `ask:"side" default:"document" one:"document,query" help:"what the text is: a document, or a query, which some steps treat otherwise"`
}

// AnalyzeQuestion declares the parameters of Analyze.
var AnalyzeQuestion = about(OfIndex, declare[Analyze]("analyze",
	"show the words that an analyzer makes of a text, after each of its steps", noShards, noGPU,
	"page: it shows documents").in("python: Index.analyze"), (*Analyze).Do)

// Analyzed is the answer to Analyze.
type Analyzed struct {
	Analyzer string         `json:"analyzer"` // its name: the declaration, if it is a chain
	Tokens   []AnalyzedWord `json:"tokens"`   // the words after each step, step by step
}

// AnalyzedWord is a word after a step of an analyzer.
type AnalyzedWord struct {
	Step     string `json:"step"`     // the step, as it is declared
	Word     string `json:"word"`     // as the step leaves it
	Position uint32 `json:"position"` // place among the words, from 0, by which phrases match
	Start    uint32 `json:"start"`    // offset of its first byte in the text
	End      uint32 `json:"end"`      // offset behind its last byte
}

// Do splits the text.
func (q *Analyze) Do(ctx context.Context, e *Env) (*Analyzed, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	a := e.Analyzer
	var err error
	switch {
	case q.Text == "":
		return nil, wrong("text", errors.New("want the text to split into words"))
	case q.Analyzer != "" && q.Field != "":
		return nil, wrongf("field", "%q has an analyzer: leave out the other one", q.Field)
	case q.Analyzer != "":
		name := q.Analyzer
		if e.Door == Command || e.Door == Python { // others must not read files
			if name, err = text.Inline(name, os.ReadFile); err != nil {
				return nil, wrong("analyzer", err)
			}
		}
		if a, err = text.ParseAnalyzer(name); err != nil {
			return nil, wrong("analyzer", err)
		}
	case e.Searcher == nil:
		return nil, ErrNoIndex
	case q.Field != "":
		s := e.Searcher.Index().Schema()
		at := -1
		if s != nil {
			at = s.Find(q.Field)
		}
		if at < 0 || s.Fields[at].Type != fields.Text {
			return nil, wrongf("field", "the index has no text field %q", q.Field)
		}
		if a, err = text.ParseAnalyzer(s.Fields[at].Analyzer); err != nil {
			return nil, wrong("field", err)
		}
	}
	if q.Side == "query" {
		a = text.ForQuery(a)
	}
	steps, err := text.Steps(a, []byte(q.Text))
	if err != nil {
		return nil, wrong("text", err)
	}
	out := &Analyzed{Analyzer: a.Name(), Tokens: []AnalyzedWord{}}
	for _, s := range steps {
		for _, w := range s.Words {
			out.Tokens = append(out.Tokens, AnalyzedWord{text.Short(s.Step), w.Word, w.Position, w.Start, w.End})
		}
	}
	return out, nil
}

// SynonymFile names synonyms for the queries of a new index.
type SynonymFile struct {
	Synonyms string `ask:"synonyms" file:"" group:"Corpus" help:"file of synonyms for the queries of a new index, in the form of Solr, as in car, automobile; it becomes the last step of the analyzer of the index, and of fields that name none: see docs/analysis.md"`
}

// With returns an analyzer with the synonyms, if there are any.
func (q *SynonymFile) With(a text.Analyzer) (text.Analyzer, error) {
	if q.Synonyms == "" {
		return a, nil
	}
	rules, err := ReadSynonyms(q.Synonyms)
	if err != nil {
		return nil, wrong("synonyms", err)
	}
	if a, err = text.ParseAnalyzer(text.WithSynonyms(a.Name(), rules)); err != nil {
		return nil, wrong("synonyms", err)
	}
	return a, nil
}

// ReadSynonyms reads a file of synonyms.
func ReadSynonyms(path string) (*text.Synonyms, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	rules, err := text.ParseSynonyms(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rules, nil
}

// NoSynonyms as the synonyms of a search leaves out those of the index.
const NoSynonyms = "none"

// InlineFields replaces the files in the analyzers of fields by their contents, and checks them.
func InlineFields(s *fields.Schema) error {
	for i := range s.Fields {
		f := &s.Fields[i]
		name, err := text.Inline(f.Analyzer, os.ReadFile)
		if err == nil && f.Type == fields.Text && name != "" {
			_, err = text.ParseAnalyzer(name)
		}
		if err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
		f.Analyzer = name
	}
	return nil
}

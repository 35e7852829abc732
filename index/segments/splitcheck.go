package segments

import (
	"fmt"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/text"
)

// splitter is the analyzer of a text field, or of the text of all of them.
type splitter struct {
	field    int // -1 means all
	analyzer text.Analyzer
	fails    bool // it may not split every text: it reads weights, or is a program's own
}

// splitters returns the analyzers of a schema. The first is that of the index.
func splitters(s *fields.Schema, given []text.Analyzer) (list []splitter, err error) {
	add := func(field int, name string) {
		if name == "" || err != nil {
			return
		}
		var a text.Analyzer
		if a, err = text.ParseAnalyzer(name, given...); err == nil {
			_, unknown := text.ParseAnalyzer(name)
			list = append(list, splitter{field, a, unknown != nil || text.OfWeights(name)})
		}
	}
	add(-1, given[0].Name())
	for _, i := range s.Indexed() {
		add(i, s.Fields[i].Analyzer)
	}
	return list, err
}

// roomy is the size from which a text may have a word that is too long: some analyzers make words
// up to three times as long as they are in the text.
const roomy = index.MaxWord / 4

// trySplitting returns an error if the words of a document with fields could not be written. They
// are found again when the documents are written; an error would be too late then, as all of them
// would be lost. Only long texts, those of analyzers of a program's own, and weights may have such
// words.
func (b *buffer) trySplitting(d *text.Document) error {
	for _, s := range b.splitters {
		body := d.Text
		if s.field >= 0 {
			if body = nil; s.field < len(d.Fields) && len(d.Fields[s.field]) > 0 {
				body = d.Fields[s.field][0]
			}
		}
		if len(body) == 0 || !s.fails && len(body) < roomy {
			continue
		}
		b.tokens.WantSource = b.places && len(d.Breaks) > 0
		err := s.analyzer.Analyze(body, &b.tokens)
		if err == nil {
			err = wordsFit(&b.tokens)
		}
		if err != nil {
			if s.field >= 0 {
				err = fmt.Errorf("field %q: %w", b.schema.Fields[s.field].Name, err)
			}
			return fmt.Errorf("document %q: %w", d.ID, err)
		}
	}
	return nil
}

// wordsFit returns an error if a word is longer than an index may have it.
func wordsFit(t *text.Tokens) error {
	if len(t.Bytes) <= index.MaxWord {
		return nil
	}
	for i := range t.Words {
		if n := len(t.Word(i)); n > index.MaxWord {
			return fmt.Errorf("a word of %d bytes: want at most %d", n, index.MaxWord)
		}
	}
	return nil
}

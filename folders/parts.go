package folders

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/collocate/collocate/extract"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/text"
)

// parts divides a text that is larger than a document of the index may be, such as a log, at ends
// of lines. Like the messages of a mail box, each part is a document with a number.
func (s *syncer) parts(d extract.Document) (list []extract.Document) {
	most := s.maxText()
	if len(d.Text) <= most {
		return []extract.Document{d}
	}
	before := ""
	if d.Part != "" {
		before = d.Part + "/"
	}
	all, headings := d.Text, d.Headings
	for from := 0; from < len(all); {
		n := cutBefore(all[from:], most)
		one := d
		one.Part, one.Text, one.Headings = before+strconv.Itoa(len(list)+1), all[from:from+n], nil
		for ; len(headings) > 0 && headings[0].At < from+n; headings = headings[1:] {
			h := headings[0]
			h.At -= from
			one.Headings = append(one.Headings, h)
		}
		list = append(list, one)
		from += n
	}
	return list
}

// cutBefore returns where a part of at most so many bytes ends: after a line, a blank or a letter.
func cutBefore(text []byte, most int) int {
	if len(text) <= most {
		return len(text)
	}
	for _, end := range []string{"\n", " \t\r"} {
		if i := bytes.LastIndexAny(text[most/2:most], end); i >= 0 {
			return most/2 + i + 1
		}
	}
	for n := most; n > most-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			return n
		}
	}
	return most
}

// longText is the size from which a text may have a word that is too long for an index: analyzers
// make words up to three times as long as they are in the text.
const longText = index.MaxWord / 4

// wordsFit returns an error if a text has a word that is too long, such as a genome on one line.
// The index would refuse it, and all other files with it.
func (s *syncer) wordsFit(d *extract.Document) error {
	if len(d.Text) < longText {
		return nil
	}
	for _, a := range s.analyzers {
		var t text.Tokens
		err := a.Analyze(d.Text, &t)
		if err != nil {
			return &extract.Error{Why: extract.TooLarge, Err: err}
		}
		if len(t.Bytes) <= index.MaxWord {
			continue
		}
		for i := range t.Words {
			if n := len(t.Word(i)); n > index.MaxWord {
				return &extract.Error{Why: extract.TooLarge, Err: fmt.Errorf("a word of %d bytes: want at most %d", n, index.MaxWord)}
			}
		}
	}
	return nil
}

// splitters finds the analyzers that split texts: that of the index, and that of the field if it is
// another one.
func (s *syncer) splitters() error {
	names := []string{s.schema.Fields[s.schema.Find("text")].Analyzer}
	if s.old != nil && text.Canonical(s.old.Analyzer()) != text.Canonical(names[0]) {
		names = append(names, s.old.Analyzer())
	}
	var own []text.Analyzer
	if s.o.Analyzer != nil {
		own = append(own, s.o.Analyzer)
	}
	for _, name := range names {
		a := s.o.Analyzer
		if name != "" {
			var err error
			if a, err = text.ParseAnalyzer(name, own...); err != nil {
				return err
			}
		}
		s.analyzers = append(s.analyzers, a)
	}
	return nil
}

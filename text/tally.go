package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collocate/collocate/fields"
)

// headRecords is the number of JSON records that are examined before any is read.
const headRecords = 16

// tally is what is known of JSON records only when all of a file are read. It is added up in the
// order of the corpus, so that notes do not depend on the number of threads.
type tally struct {
	full    []bool   // wanted fields that a record has: texts, IDs if not empty, others
	later   []string // fields that none of the first records has
	unnamed int64    // records without an ID
	example int64    // the number of the first of these in its file
}

// see takes over the statistics of a scanner.
func (t *tally) see(sc *jsonScanner) { t.full, t.later = sc.full, sc.later }

// add adds the statistics of the records that follow.
func (t *tally) add(u tally) {
	if len(u.full) > 0 {
		full := make([]bool, len(u.full)) // a new slice: t may share the old one with a copy
		for i := range full {
			full[i] = u.full[i] || len(t.full) > 0 && t.full[i]
		}
		t.full = full
	}
	t.later = slices.Clip(t.later)
	for _, name := range u.later {
		t.later = addName(t.later, nil, name)
	}
	t.unnamed += u.unnamed
}

// addName appends a name that is in neither list to the first, up to a limit: in files whose names
// are data they never end.
func addName(list, known []string, name string) []string {
	const most = 100
	if len(list) == most || slices.Contains(known, name) || slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

func (s *source) isJSON() bool { return s.format == JSON || s.format == JSONL }

// mixed refuses a record with text in contents if the first one has none there, or vice versa, if
// that leaves out text or makes the note about the fields wrong.
func (s *source) mixed(sc *jsonScanner) error {
	if !sc.wants.usualTexts || s.names == nil || sc.fields[0].found == s.whole {
		return nil
	}
	for i, f := range sc.fields[1:len(sc.wants.texts)] {
		if f.last == f.first {
			continue
		}
		has, lacks := "contents besides "+sc.names[i+1], "no contents"
		if s.whole {
			has, lacks = "no contents but "+sc.names[i+1], "contents"
		}
		return fmt.Errorf("this record has %s, and the first one has %s: name all fields that hold text (text.Options.Fields)", has, lacks)
	}
	return nil
}

// endFile reports what is known only at the end of a file.
func (pos *position) endFile() error {
	s, t := pos.src, pos.file
	pos.src, pos.file = nil, tally{}
	if s == nil || !s.isJSON() {
		return nil
	}
	docs := pos.docs - s.before() // the others are in earlier parts of the file
	if docs == 0 {
		return nil
	}
	named := t.unnamed < docs
	pos.files.add(t)
	pos.records += docs
	// A file of one record says nothing about the others.
	if docs > 1 {
		if err := t.check(s.options); err != nil {
			return fmt.Errorf("%s: %w: its fields are %s", s.path, err,
				shortList(append(slices.Clip(s.names), t.later...)))
		}
	}
	if t.unnamed > 0 && named {
		s.say(s.path, fmt.Sprintf("%d of %d records have no ID and are named by file and number, such as %s:%d (text.Options.IDField chooses)",
			t.unnamed, docs, s.name, t.example))
	}
	w := s.options.wantedFields()
	var texts, others []string
	for _, name := range t.later {
		switch {
		case w.find(w.texts, []string{name}) >= 0:
			texts = append(texts, name)
		case w.find(w.ids, []string{name}) < 0 &&
			!slices.ContainsFunc(w.others, func(f otherField) bool { return f.name == name }):
			others = append(others, name)
		}
	}
	var says []string
	if len(texts) > 0 {
		says = append(says, "text is also "+shortList(texts))
	}
	if len(others) > 0 {
		says = append(says, "left out is also "+shortList(others))
	}
	if len(says) > 0 && (w.usualTexts || len(others) > 0 && s.options.Schema != nil) {
		how := "text.Options.Fields chooses"
		if s.options.Schema != nil {
			how, says = "the schema does not name them", says[len(says)-1:]
		}
		s.say(s.path, fmt.Sprintf("after the first %d records %s (%s)", headRecords, strings.Join(says, "; "), how))
	}
	return nil
}

// endCorpus ends the last file and reports fields that no file has.
func (pos *position) endCorpus() error {
	s := pos.src
	if err := pos.endFile(); err != nil || pos.records == 0 {
		return err
	}
	if s == nil {
		return nil
	}
	if lacking := pos.files.lacking(s.options); len(lacking) > 0 && s.options.Sparse && s.options.Note != nil {
		s.options.Note("no record has " + shortList(lacking))
	}
	return pos.files.check(s.options)
}

// check refuses named fields that no record has.
func (t *tally) check(o *Options) error {
	if lacking := t.lacking(o); len(lacking) > 0 && !o.Sparse {
		by := "text.Options.Fields"
		if o.Schema != nil {
			by = "the schema"
		}
		return fmt.Errorf("%s: no record has a field %q", by, lacking[0])
	}
	if o.IDField != "" && !t.full[len(o.wantedFields().texts)] {
		return fmt.Errorf("text.Options.IDField: no record has an ID in a field %q", o.IDField)
	}
	return nil
}

// lacking returns the named fields that no record has, but for those of vectors that are made
// later.
func (t *tally) lacking(o *Options) (list []string) {
	w := o.wantedFields()
	if !w.usualTexts {
		for i, name := range w.texts {
			if !t.full[i] {
				list = append(list, name)
			}
		}
	}
	others := t.full[len(w.texts)+len(w.ids):]
	for i, f := range w.others {
		if !others[i] && !o.madeLater(f.name) {
			list = append(list, f.name)
		}
	}
	return list
}

// madeLater reports whether a field is one of vectors, which Finish or Beside may
// make.
func (o *Options) madeLater(name string) bool {
	return (o.Finish != nil || o.Beside != nil) && o.Schema != nil && slices.ContainsFunc(o.Schema.Fields, func(f fields.Field) bool {
		return f.Type == fields.Vector && slices.Contains(f.Sources(), name)
	})
}

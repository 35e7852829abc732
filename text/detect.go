package text

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/collocate/collocate/internal/textfile"
)

// detect determines the format of the file from the options, its first bytes and, for CSV and TSV,
// its name. head is the whole file or its first detectSize bytes.
func (s *source) detect(head []byte, whole bool) error {
	if what := textfile.WhyNotText(head); what != "" {
		return fmt.Errorf("%s: %s", s.path, what)
	}
	head = bytes.TrimPrefix(head, bom)
	s.format = s.options.Format
	if s.codec == "parquet" {
		s.format = JSONL
	}
	if s.format == Auto {
		var err error
		if s.format, s.guess, err = s.options.guess(head, whole, s.name, s.inFolder || s.options.whole); err != nil {
			return fmt.Errorf("%s: %w", s.path, err)
		}
	}
	if s.format < 0 || int(s.format) >= len(layouts) || layouts[s.format].split == nil {
		return fmt.Errorf("%s: unknown format %v", s.path, s.format)
	}
	open := layouts[s.format].open
	if open == nil {
		open = (*source).withoutFields
	}
	if err := open(s, head); err != nil {
		return err
	}
	if (s.format == Lines || s.format == File || s.format == Blank || s.format == TSV) &&
		bytes.IndexByte(head, '\n') < 0 &&
		bytes.IndexByte(bytes.TrimRight(head, "\r"), '\r') >= 0 {
		s.note = strings.TrimPrefix(s.note+"; its lines end with CR alone, which ends no line and parts no words of "+
			"analyzer whitespace: convert them to LF (tr '\\r' '\\n')", "; ")
	}
	return nil
}

// PlainLines reports whether a file without a format is read as one document per line, and nothing
// has to be said about that. The file's first bytes are the whole file or about 64 KB of it.
func (o *Options) PlainLines(head []byte, whole bool, name string) bool {
	format, said, err := o.guess(bytes.TrimPrefix(head, bom), whole, name, false)
	return format == Lines && said == "" && err == nil
}

// guess detects the format of a file. said is a guess that changes the documents, if it is one.
func (o *Options) guess(head []byte, whole bool, name string, inFolder bool) (f Format, said string, err error) {
	f = guess(head, whole, name, inFolder)
	if f == TSV && plainName(name) != ".tsv" {
		return f, "lines are a number, a tab and text: the numbers are read as IDs (text.Options.Format=lines counts them as words)", nil
	}
	if f == TREC && findTag(head, 0, "DOCNO") < 0 && isVertical(head, whole) {
		f = Lines // vertical text may have its documents in <doc>, too
	}
	if f != Lines && f != Blank && f != File {
		return f, "", nil
	}
	if err := refuseAnnotated(head, whole); err != nil {
		return f, "", err
	}
	if lang := markup(head); lang != "" {
		said = lang + " is read as plain text: its tags count as words; convert it to text first"
	} else if words := tagged(head, whole); words != "" {
		said = "every line is a word with columns beside it, as in a tagged corpus, and all columns count as words: " +
			words + " keeps the words, to be read with text.Options.Format=file"
		if f == Blank {
			said = strings.TrimSuffix(said, "file") + "blank; documents are what stands between blank lines"
		}
	}
	switch {
	case o.Plain != Auto:
		return o.Plain, said, nil
	case said != "":
	case f == Blank:
		said = "documents are what stands between blank lines (text.Options.Format=lines: one a line)"
	case f == Lines && wrapped(head, whole):
		said = "lines end in the middle of sentences, and each is read as a document, beyond which no window " +
			"reaches (text.Options.Format=blank: a paragraph, text.Options.Format=file: the whole file; text.Options.Format=lines says that it is meant)"
	}
	return f, said, nil
}

func guess(head []byte, whole bool, name string, inFolder bool) Format {
	text := bytes.TrimLeft(head, " \t\r\n")
	first, _ := nextLine(text)
	if format, _, ok := jsonShape(text); ok {
		return format
	}
	switch {
	case isTag(text, "DOC"):
		return TREC
	case smartField(first) == 'I':
		return SMART
	}
	switch plainName(name) {
	case ".csv":
		return CSV
	case ".tsv":
		return TSV
	case ".jsonl", ".ndjson":
		return JSONL
	}
	switch {
	case numberedLines(head, whole):
		return TSV
	case inFolder:
		return File
	case blankShare(head) >= 0.02:
		return Blank
	default:
		return Lines
	}
}

// plainName returns the ending of a file's name in lower case, without that of a compressed file.
func plainName(name string) string {
	name = strings.ToLower(name)
	ext := filepath.Ext(name)
	switch ext {
	case ".gz", ".zst", ".bz2":
		ext = filepath.Ext(strings.TrimSuffix(name, ext))
	}
	return ext
}

// numberedLines reports whether every line is a number, one tab and text. The last line of a head
// that is not the whole file may be truncated and does not count.
func numberedLines(head []byte, whole bool) bool {
	n := 0
	for ; len(head) > 0; n++ {
		end := bytes.IndexByte(head, '\n')
		if end < 0 {
			if !whole {
				break
			}
			end = len(head)
		}
		id, text, ok := bytes.Cut(head[:end], []byte("\t"))
		if !ok || len(id) == 0 || bytes.IndexByte(text, '\t') >= 0 || len(bytes.Trim(id, "0123456789")) > 0 {
			return false
		}
		head = head[min(end+1, len(head)):]
	}
	return n > 0
}

// blankShare returns the share of blank lines after the first line with text.
func blankShare(head []byte) float64 {
	head = bytes.TrimLeft(head, " \t\r\n")
	lines, blank, trailing := 0, 0, 0
	for len(head) > 0 {
		line, size := nextLine(head)
		lines++
		if isBlank(line) {
			trailing++
		} else {
			blank += trailing
			trailing = 0
		}
		head = head[size:]
	}
	if lines == 0 {
		return 0
	}
	return float64(blank) / float64(lines)
}

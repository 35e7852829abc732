package text

import (
	"fmt"
	"slices"
	"strings"
)

// Format says how the bytes of a file become documents. The zero value is Auto.
type Format int

const (
	Auto  Format = iota // detected for each file from its first bytes
	Lines               // one document a line
	File                // one document a file
	Blank               // documents separated by blank lines
	JSONL               // one JSON object a line
	TREC                // <DOC> <DOCNO>...</DOCNO> ... </DOC>
	SMART               // .I number, .T title, .W abstract: the old test collections
	TSV                 // id<TAB>text, as MS MARCO has it
	CSV                 // comma-separated with a header that names the columns
)

var formatNames = []string{"auto", "lines", "file", "blank", "jsonl", "trec", "smart", "tsv", "csv"}

func (f Format) String() string {
	if f < 0 || int(f) >= len(formatNames) {
		return fmt.Sprintf("text.Format(%d)", int(f))
	}
	return formatNames[f]
}

// Formats returns the names that ParseFormat knows.
func Formats() []string { return slices.Clone(formatNames) }

// ParseFormat returns the format of that name.
func ParseFormat(name string) (Format, error) {
	if i := slices.Index(formatNames, name); i >= 0 {
		return Format(i), nil
	}
	return Auto, fmt.Errorf("unknown format %q: want %s", name, strings.Join(formatNames, ", "))
}

// Set and Type make *Format a command-line flag.
func (f *Format) Set(name string) (err error) {
	*f, err = ParseFormat(name)
	return err
}

// Type names the flag's value in help texts.
func (f *Format) Type() string { return "format" }

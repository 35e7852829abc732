package text

import "github.com/collocate/collocate/internal/choice"

// Format is the way in which a file holds documents. The zero value is Auto.
type Format int

const (
	Auto  Format = iota // detected for each file from its first bytes
	Lines               // one document per line; the ID is file:line
	File                // one document per file, whose name is the ID
	Blank               // documents separated by blank lines; the ID is file:number
	JSONL               // one JSON object per line; the ID is in a field
	TREC                // <DOC><DOCNO>ID</DOCNO> text </DOC>
	SMART               // .I ID, then sections .T, .W, ...: the old test collections
	TSV                 // ID<TAB>text, as MS MARCO has it, or a header that names columns, then records
	CSV                 // a header that names columns, then records; the ID is in a column
	JSON                // JSON objects over several lines, or one list of objects
)

// formats has the name of each format, and a few words on it for help.
var formats = [...]struct{ name, help string }{
	Auto:  {"auto", "by its first bytes, Parquet as well"},
	Lines: {"lines", "a document a line"},
	File:  {"file", "a document a file"},
	Blank: {"blank", "blank lines between documents"},
	JSONL: {"jsonl", "a JSON object a line"},
	TREC:  {"trec", "<DOC> tags"},
	SMART: {"smart", ".I and .W sections"},
	TSV:   {"tsv", "ID and text, or named columns"},
	CSV:   {"csv", "named columns"},
	JSON:  {"json", "objects or a list of them"},
}

var formatNames = func() choice.Names[Format] {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return choice.New[Format]("format", names...)
}()

func (f Format) String() string { return formatNames.Of(f) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (f Format) MarshalText() ([]byte, error) { return formatNames.Text(f) }

// UnmarshalText is the inverse of MarshalText.
func (f *Format) UnmarshalText(name []byte) error { return formatNames.Set(f, string(name)) }

// Formats returns the names that ParseFormat accepts.
func Formats() []string { return formatNames.List() }

// Help returns a few words on the format.
func (f Format) Help() string {
	if formatNames.Check(f) != nil {
		return ""
	}
	return formats[f].help
}

// ParseFormat returns the format with the given name.
func ParseFormat(name string) (Format, error) { return formatNames.Parse(name) }

package text

import "github.com/collocate/collocate/internal/choice"

// Format is the way in which a file holds documents. The zero value is Auto.
type Format int

const (
	Auto  Format = iota // detected for each file from its first bytes
	Lines               // one document per line
	File                // one document per file
	Blank               // documents separated by blank lines
	JSONL               // one JSON object per line
	TREC                // <DOC> <DOCNO>...</DOCNO> ... </DOC>
	SMART               // .I number, .T title, .W abstract: the old test collections
	TSV                 // id<TAB>text, as MS MARCO has it
	CSV                 // comma-separated with a header that names the columns
	JSON                // JSON objects over several lines, or one list of objects
)

var formatNames = choice.New[Format]("format", "auto", "lines", "file", "blank", "jsonl", "trec",
	"smart", "tsv", "csv", "json")

func (f Format) String() string { return formatNames.Of(f) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (f Format) MarshalText() ([]byte, error) { return formatNames.Text(f) }

// UnmarshalText is the inverse of MarshalText.
func (f *Format) UnmarshalText(name []byte) error { return formatNames.Set(f, string(name)) }

// Formats returns the names that ParseFormat accepts.
func Formats() []string { return formatNames.List() }

// ParseFormat returns the format with the given name.
func ParseFormat(name string) (Format, error) { return formatNames.Parse(name) }

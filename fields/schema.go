package fields

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/collocate/collocate/internal/choice"
)

// Type is the type of a field. The zero value is Text.
type Type int

const (
	Text    Type = iota // words to search for
	Keyword             // exact values, one or several, to filter by and to count
	Number              // one number, to filter and to sort by
	Date                // one moment, to filter and to sort by
	Geo                 // one point on the globe, to filter by
	Stored              // kept to be shown, not searched
	Vector              // numbers of a fixed count, to find documents with similar ones
	Sparse              // weighted tokens, as those of learned sparse retrieval, to rank by
)

var typeNames = choice.New[Type]("type of a field", "text", "keyword", "number", "date", "geo",
	"stored", "vector", "sparse")

func (t Type) String() string { return typeNames.Of(t) }

// MarshalText writes the name.
func (t Type) MarshalText() ([]byte, error) { return typeNames.Text(t) }

// UnmarshalText reads a name.
func (t *Type) UnmarshalText(name []byte) error { return typeNames.Set(t, string(name)) }

// HasColumn reports whether values of the type are kept in a column, for filters and sorting.
func (t Type) HasColumn() bool { return t >= Keyword && t <= Geo }

// HasIndex reports whether fields of the type have an index of their own.
func (t Type) HasIndex() bool { return t == Text || t == Sparse }

// Field is one field of a Schema.
type Field struct {
	// Name is what queries and hits call the field: 1 to 64 bytes, of letters, digits, _, - and .,
	// beginning with a letter or _. Names of a schema must differ in more than case.
	Name string `json:"name"`
	// Type tells how values are interpreted and what they are used for; the zero value is Text.
	Type Type `json:"type"`
	// From names the columns or JSON fields that hold the values; if it is empty, they are in the
	// one called Name. A point may come from two, latitude and longitude.
	From []string `json:"from,omitempty"`
	// Analyzer is the name of the analyzer of a text field, or a chain; "" means that of the index.
	// That of a sparse field is impact, or impact:SCALE to multiply and round weights.
	Analyzer string `json:"analyzer,omitempty"`
	// Weight is the weight of a text field in BM25F; 0 means 1.
	Weight float64 `json:"weight,omitempty"`
	// Unstored fields are not stored and cannot be shown.
	Unstored bool `json:"unstored,omitempty"`
	// Split is a separator that divides a value into several keywords.
	Split string `json:"split,omitempty"`
	// Missing is a text that means no value, such as NA.
	Missing string `json:"missing,omitempty"`
	// Dim is the number of dimensions of a vector field, 1 to MaxDim.
	Dim int `json:"dim,omitempty"`
	// Metric says how vectors of the field are compared; the zero value is Cosine.
	Metric Metric `json:"metric,omitempty"`
	// Precision is that of the stored vectors; the zero value is Float32.
	Precision Precision `json:"precision,omitempty"`
	// Optional allows documents without a vector; otherwise one is an error.
	Optional bool `json:"optional,omitempty"`
	// Many allows documents with several vectors, of which the most similar one counts.
	Many bool `json:"many,omitempty"`
}

// Sources returns the columns or JSON fields that hold the values.
func (f *Field) Sources() []string {
	if len(f.From) == 0 {
		return []string{f.Name}
	}
	return f.From
}

// Schema lists the fields of documents. It has at least one text field.
type Schema struct {
	// Fields are at most MaxFields. Their places in the list, from 0, are their numbers.
	Fields []Field `json:"fields"`
	// Passages says how documents are cut; nil means that they are not. See Passages.Cut.
	Passages *Passages `json:"passages,omitempty"`
}

// Find returns the number of the field of that name, or -1.
func (s *Schema) Find(name string) int {
	return slices.IndexFunc(s.Fields, func(f Field) bool { return f.Name == name })
}

// Names returns the names of the fields for which chosen returns true.
func (s *Schema) Names(chosen func(*Field) bool) (list []string) {
	for i := range s.Fields {
		if chosen(&s.Fields[i]) {
			list = append(list, s.Fields[i].Name)
		}
	}
	return list
}

// Of returns the numbers of the fields of a type.
func (s *Schema) Of(t Type) (list []int) {
	for i, f := range s.Fields {
		if f.Type == t {
			list = append(list, i)
		}
	}
	return list
}

// Indexed returns the numbers of the fields that have an index of their own.
func (s *Schema) Indexed() (list []int) {
	for i := range s.Fields {
		if s.Fields[i].Type.HasIndex() {
			list = append(list, i)
		}
	}
	return list
}

// Has reports whether test returns true for at least one field.
func (s *Schema) Has(test func(*Field) bool) bool {
	return slices.ContainsFunc(s.Fields, func(f Field) bool { return test(&f) })
}

// IsStored reports whether the values of a field are stored, so that they can be shown.
// Vectors and weighted tokens are kept for searches alone.
func IsStored(f *Field) bool { return !f.Unstored && f.Type != Vector && f.Type != Sparse }

// Equal reports whether two schemas are equal.
func (s *Schema) Equal(t *Schema) bool {
	return bytes.Equal(s.JSON(), t.JSON())
}

// JSON returns the schema as it is stored in an index.
func (s *Schema) JSON() []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // cannot happen: Check refuses numbers that JSON does not have
	}
	return b
}

// MaxFields is the largest number of fields of a schema.
const MaxFields = 1000

// Check returns an error if the schema is not valid.
func (s *Schema) Check() error {
	if len(s.Fields) > MaxFields {
		return fmt.Errorf("%d fields: want at most %d", len(s.Fields), MaxFields)
	}
	seen := map[string]bool{}
	for i := range s.Fields {
		f := &s.Fields[i]
		if err := f.check(); err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
		if folded := strings.ToLower(f.Name); seen[folded] {
			return fmt.Errorf("field %q is named twice; names must differ in more than case, as they are file names", f.Name)
		} else {
			seen[folded] = true
		}
	}
	if len(s.Of(Text)) == 0 {
		return errors.New("no field is text: name one whose words are searched, such as body:text")
	}
	return s.checkPassages()
}

func (f *Field) check() error {
	if err := checkName(f.Name); err != nil {
		return err
	}
	if _, err := typeNames.Parse(f.Type.String()); err != nil {
		return err
	}
	switch {
	case slices.ContainsFunc(append([]string{f.Analyzer, f.Split, f.Missing}, f.From...), notUTF8):
		return errors.New("the options are not UTF-8")
	case f.Type == Sparse && f.Analyzer != sparseAnalyzer && !strings.HasPrefix(f.Analyzer, sparseAnalyzer+":"):
		return fmt.Errorf("analyzer %q: weighted tokens have impact, or impact:SCALE", f.Analyzer)
	case f.Type == Sparse && (f.Unstored || f.Missing != ""):
		return errors.New("unstored and missing have no effect on weighted tokens, which are not stored and may be missing")
	case !f.Type.HasIndex() && f.Analyzer != "":
		return fmt.Errorf("an analyzer (%s) needs a text field, not a %s", f.Analyzer, f.Type)
	case f.Type != Text && f.Weight != 0:
		return fmt.Errorf("a weight needs a text field, not a %s", f.Type)
	case math.IsNaN(f.Weight) || math.IsInf(f.Weight, 0) || f.Weight < 0:
		return fmt.Errorf("weight %v: want a positive number", f.Weight)
	case f.Type != Keyword && f.Split != "":
		return fmt.Errorf("split needs a keyword field; a %s field has one value", f.Type)
	case f.Type == Text && f.Missing != "":
		return errors.New("missing has no effect on text, which may be empty")
	case f.Type == Vector && (f.Dim < 1 || f.Dim > MaxDim):
		return fmt.Errorf("%d dimensions: want 1 to %d, as in embedding:vector:384", f.Dim, MaxDim)
	case f.Type == Vector && (f.Unstored || f.Missing != ""):
		return errors.New("unstored and missing have no effect on a vector; optional allows documents without one")
	case f.Type != Vector && (f.Dim != 0 || f.Metric != Cosine || f.Precision != Float32 || f.Optional || f.Many):
		return fmt.Errorf("dimensions, a metric, a precision, optional and many need a vector field, not a %s", f.Type)
	case f.Type == Stored && f.Unstored:
		return errors.New("a stored field cannot be unstored: nothing would be left of it")
	case len(f.From) > 2 || len(f.From) == 2 && f.Type != Geo:
		return fmt.Errorf("from %s: want one column, or two for the latitude and longitude of a geo field", strings.Join(f.From, "/"))
	case slices.Contains(f.From, ""):
		return errors.New("from: an empty name")
	}
	return nil
}

// sparseAnalyzer reads weighted tokens; package text has it.
const sparseAnalyzer = "impact"

// isScale reports whether an option is a number, which the analyzer checks.
func isScale(item string) bool {
	_, err := strconv.ParseUint(item, 10, 32)
	return err == nil
}

func notUTF8(s string) bool { return !utf8.ValidString(s) }

// checkName returns an error for a name that is not valid in queries or as a file name.
func checkName(name string) error {
	const most = 64
	if name == "" || len(name) > most || !utf8.ValidString(name) {
		return fmt.Errorf("want a name of 1 to %d bytes", most)
	}
	for i, r := range name {
		if unicode.IsLetter(r) || r == '_' ||
			i > 0 && (unicode.IsDigit(r) || unicode.IsMark(r) || r == '-' || r == '.') {
			continue
		}
		return fmt.Errorf("want a name of letters, digits, _, - and . that begins with a letter: rename the field, and give its column with from=, as in year:number:from=%q", name)
	}
	return nil
}

// IsList reports whether a list of fields, as on a command line, names a type for at least one of
// them. Otherwise it is a plain list of names.
func IsList(list []string) bool {
	return slices.ContainsFunc(list, func(item string) bool {
		_, _, ok := cutType(item)
		return ok
	})
}

// cutType separates a name from its type and options. Names may contain colons.
func cutType(item string) (name, rest string, ok bool) {
	for at := 0; ; {
		i := strings.IndexByte(item[at:], ':')
		if i < 0 {
			return item, "", false
		}
		at += i + 1
		word, _, _ := strings.Cut(item[at:], ":")
		if _, err := typeNames.Parse(word); err == nil {
			return item[:at-1], item[at:], true
		}
	}
}

// ParseList makes a schema from a list of fields, each NAME:TYPE followed by options, separated by
// colons. A name without a type is a text field.
func ParseList(list []string) (*Schema, error) {
	s := &Schema{}
	for _, item := range list {
		name, rest, ok := cutType(item)
		if !ok && strings.Contains(item, ":") {
			name, kind, _ := strings.Cut(item, ":")
			_, err := typeNames.Parse(kind)
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
		f := Field{Name: strings.TrimSpace(name)}
		if ok {
			kind, options, _ := strings.Cut(rest, ":")
			f.Type, _ = typeNames.Parse(kind)
			if err := f.options(options); err != nil {
				return nil, fmt.Errorf("field %q: %w", name, err)
			}
		}
		s.Fields = append(s.Fields, f)
	}
	s.fill()
	return s, s.Check()
}

func (f *Field) options(list string) error {
	for list != "" {
		var item string
		item, list = cutOption(list)
		key, value, given := strings.Cut(item, "=")
		var err error
		switch {
		case f.Type == Text && f.Analyzer == "" && strings.ContainsAny(item, "|("):
			f.Analyzer = item // a chain
		case key == "from" && given:
			if f.Type == Geo {
				f.From = strings.Split(value, "/")
			} else {
				f.From = []string{value}
			}
		case key == "split" && value == "":
			return errors.New("split= names no separator; a comma ends the field " +
				`unless it is in quotes, as in 'title:text,"tags:keyword:split=,"'`)
		case key == "split":
			f.Split = value
		case key == "missing" && given:
			f.Missing = value
		case key == "weight" && given:
			if f.Weight, err = strconv.ParseFloat(value, 64); err != nil || f.Weight <= 0 {
				return fmt.Errorf("weight %q: want a positive number", value)
			}
		case f.Type == Vector && f.vectorOption(item):
		case f.Type == Sparse && f.Analyzer == "" && isScale(item):
			f.Analyzer = sparseAnalyzer + ":" + item
		case item == "unstored":
			f.Unstored = true
		case f.Type == Text && !given && f.Analyzer == "":
			f.Analyzer = item
		default:
			if f.Type == Sparse {
				return fmt.Errorf("option %q: want the scale of the weights, as in v:sparse:100, or from=COLUMN", item)
			}
			if f.Type == Vector {
				return fmt.Errorf("option %q: want the number of dimensions, %s, %s, optional, many or from=COLUMN",
					item, strings.Join(metricNames.List(), ", "), strings.Join(precisionNames.List(), ", "))
			}
			return fmt.Errorf("option %q: want from=COLUMN, split=SEPARATOR, missing=TEXT, weight=NUMBER, unstored, or an analyzer for text", item)
		}
	}
	return nil
}

// cutOption divides options at the first colon that is not part of a chain: in parentheses, or
// after the side of a step, as in words|index:edge(2-5).
func cutOption(list string) (item, rest string) {
	depth := 0
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '\\' && depth > 0:
			i++
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case c == ':' && depth == 0:
			step := strings.TrimSpace(list[strings.LastIndexByte(list[:i], '|')+1 : i])
			if strings.Contains(list[:i], "|") && (step == "index" || step == "query") {
				continue
			}
			return list[:i], list[i+1:]
		}
	}
	return list, ""
}

// ParseJSON reads a schema in its JSON form.
func ParseJSON(data []byte) (*Schema, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	s := &Schema{}
	var wrong *json.UnmarshalTypeError
	switch err := d.Decode(s); {
	case errors.As(err, &wrong) && wrong.Field == "":
		return nil, fmt.Errorf(`want {"fields": [{"name": .., "type": ..}, ...]}, not %s`,
			wrong.Value)
	case err != nil:
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("want one JSON object and nothing after it")
	}
	s.fill()
	return s, s.Check()
}

// fill names the analyzer of sparse fields that name none.
func (s *Schema) fill() {
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Type == Sparse && f.Analyzer == "" {
			f.Analyzer = sparseAnalyzer
		}
	}
}

package text

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/collocate/collocate/fields"
)

// maxDepth is the deepest nesting of JSON values, the same as in encoding/json.
const maxDepth = 10000

// jsonValue is the position of a value: the inside of a string, or a number.
type jsonValue struct {
	start, end int
	escaped    bool // contains backslashes
}

// jsonField holds the values of a wanted field: parts[first:last], more than one if the value is an
// array.
type jsonField struct {
	found       bool
	first, last int
}

// jsonScanner checks an object against the JSON grammar and records the wanted fields. It reads
// every byte once and copies nothing.
type jsonScanner struct {
	b      []byte
	at     int
	wants  wantedFields
	names  []string    // wanted fields: texts, then IDs, then others
	fields []jsonField // values of each
	parts  []jsonValue // non-empty values of wanted fields
	key    []byte      // buffer for an unescaped name
	seen   func(name string)
	head   []string // fields of the first records of the file
	later  []string // fields that are not among them
	full   []bool   // wanted fields that were there; of IDs, those that have had a value
	schema *fields.Schema
	// weights: a text may be an object
	weights bool
	inside  map[string]bool // fields that contain wanted fields, as a for a.b

	// The fields of the object before, by position. Objects of a file are mostly alike.
	before []knownName
}

type knownName struct {
	name   string
	fields []int // usually one or none; several if a name is wanted more than once
}

func newJSONScanner(o *Options) *jsonScanner {
	s := &jsonScanner{wants: o.wantedFields(), weights: o.Weights}
	s.names = append(append([]string{}, s.wants.texts...), s.wants.ids...)
	for _, f := range s.wants.others {
		s.names = append(s.names, f.name)
	}
	s.schema, s.inside = o.Schema, insideOf(s.names)
	s.fields = make([]jsonField, len(s.names))
	s.full = make([]bool, len(s.names))
	return s
}

// record parses the object at an offset of b, after blanks.
func (s *jsonScanner) record(b []byte, at int) error {
	s.b, s.at, s.parts = b, at, s.parts[:0]
	clear(s.fields)
	return s.object()
}

// text returns the fields that hold the text of the object.
func (s *jsonScanner) text() []jsonField {
	text := s.fields[:len(s.wants.texts)]
	if s.wants.usualTexts && text[0].found {
		text = text[:1]
	}
	return text
}

// object parses one object.
func (s *jsonScanner) object() error {
	s.blanks()
	if s.at == len(s.b) || s.b[s.at] != '{' {
		return s.unexpected("an object {...}")
	}
	s.at++
	if s.blanks(); s.take('}') {
		return nil
	}
	for n := 0; ; n++ {
		s.blanks()
		name, err := s.string()
		if err != nil {
			return err
		}
		s.blanks()
		if !s.take(':') {
			return s.unexpected("a colon")
		}
		s.blanks()
		if wanted := s.wanted(name, n); len(wanted) > 0 {
			err = s.field(wanted)
		} else if s.inside != nil && s.inside[string(s.nameOf(name))] {
			err = s.inner(string(s.nameOf(name)), 1)
		} else {
			err = s.skip(1)
		}
		if err != nil {
			return err
		}
		s.blanks()
		if s.take('}') {
			return nil
		}
		if !s.take(',') {
			return s.unexpected("a comma or }")
		}
	}
}

func (s *jsonScanner) finish() error {
	if s.blanks(); s.at < len(s.b) {
		return s.unexpected("the end of the line")
	}
	return nil
}

// wanted returns the numbers of the wanted fields with the name of the n-th field of the object.
func (s *jsonScanner) wanted(v jsonValue, n int) []int {
	name := s.nameOf(v)
	if s.seen != nil && !s.inside[string(name)] {
		s.seen(string(name))
	}
	if n < len(s.before) && s.before[n].name == string(name) {
		return s.before[n].fields
	}
	known := knownName{name: string(name)}
	for i, want := range s.names {
		if s.wants.matches(want, known.name) {
			known.fields = append(known.fields, i)
		}
	}
	if s.head != nil && !s.inside[known.name] {
		s.later = addName(s.later, s.head, known.name)
	}
	if n < len(s.before) {
		s.before[n] = known
	} else if n == len(s.before) && n < 64 {
		s.before = append(s.before, known)
	}
	return known.fields
}

// nameOf returns the unescaped name.
func (s *jsonScanner) nameOf(v jsonValue) []byte {
	name := s.b[v.start:v.end]
	if v.escaped {
		s.key = appendUnescaped(s.key[:0], name)
		name = s.key
	}
	return name
}

// insideOf returns the fields that contain wanted ones: a and a.b for a.b.c. It is nil if there are
// none.
func insideOf(names []string) (list map[string]bool) {
	for _, name := range names {
		for i := range len(name) {
			if name[i] == '.' && i > 0 {
				if list == nil {
					list = map[string]bool{}
				}
				list[name[:i]] = true
			}
		}
	}
	return list
}

// inner parses a value that may contain wanted fields: an object, or an array of objects, whose
// values are combined.
func (s *jsonScanner) inner(name string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	switch {
	case s.at < len(s.b) && s.b[s.at] == '{':
		return s.innerObject(name, depth)
	case s.at == len(s.b) || s.b[s.at] != '[':
		return s.skip(depth)
	}
	s.at++
	if s.blanks(); s.take(']') {
		return nil
	}
	all := map[int][]jsonValue{}
	before := slices.Clone(s.fields)
	for {
		copy(s.fields, before)
		s.blanks()
		if err := s.inner(name, depth+1); err != nil {
			return err
		}
		for i, f := range s.fields {
			if f != before[i] {
				all[i] = append(all[i], s.parts[f.first:f.last]...)
			}
		}
		s.blanks()
		if s.take(']') {
			break
		}
		if !s.take(',') {
			return s.unexpected("a comma or ]")
		}
	}
	copy(s.fields, before)
	for i := range s.fields {
		if parts, ok := all[i]; ok {
			s.fields[i] = jsonField{true, len(s.parts), len(s.parts) + len(parts)}
			s.parts = append(s.parts, parts...)
		}
	}
	return nil
}

// innerObject parses an object that may contain wanted fields.
func (s *jsonScanner) innerObject(outer string, depth int) error {
	s.at++
	if s.blanks(); s.take('}') {
		return nil
	}
	for {
		s.blanks()
		v, err := s.string()
		if err != nil {
			return err
		}
		s.blanks()
		if !s.take(':') {
			return s.unexpected("a colon")
		}
		s.blanks()
		name := outer + "." + string(s.nameOf(v))
		var wanted []int
		for i, want := range s.names {
			if want == name {
				wanted = append(wanted, i)
			}
		}
		if !s.inside[name] {
			if s.seen != nil {
				s.seen(name)
			}
			if s.head != nil {
				s.later = addName(s.later, s.head, name)
			}
		}
		switch {
		case len(wanted) > 0:
			err = s.field(wanted)
		case s.inside[name]:
			err = s.inner(name, depth+1)
		default:
			err = s.skip(depth + 1)
		}
		if err != nil {
			return err
		}
		s.blanks()
		if s.take('}') {
			return nil
		}
		if !s.take(',') {
			return s.unexpected("a comma or }")
		}
	}
}

// field parses the value of a wanted field: a string, a number, null, which counts as missing, or
// an array of these. Of several fields with the same name the last one counts. A name may be wanted
// twice, as text and as ID.
func (s *jsonScanner) field(wanted []int) error {
	i := wanted[0]
	f := jsonField{found: true, first: len(s.parts)}
	err := error(nil)
	switch {
	case s.isWhole(wanted), s.weights && i < len(s.wants.texts) && s.at < len(s.b) && s.b[s.at] == '{':
		if err = s.whole(); err != nil {
			return err
		}
	case s.take('['):
		if s.blanks(); s.take(']') {
			break
		}
		for {
			s.blanks()
			if _, err = s.part(i); err != nil {
				return err
			}
			s.blanks()
			if s.take(']') {
				break
			}
			if !s.take(',') {
				return s.unexpected("a comma or ]")
			}
		}
	default:
		if f.found, err = s.part(i); err != nil {
			return err
		}
	}
	f.last = len(s.parts)
	for _, j := range wanted {
		s.fields[j] = f
		isID := j >= len(s.wants.texts) && j < len(s.wants.texts)+len(s.wants.ids)
		s.full[j] = s.full[j] || !isID || f.last > f.first
	}
	return nil
}

// isWhole reports whether the next value is an object or array of a geo or vector field.
func (s *jsonScanner) isWhole(wanted []int) bool {
	if s.at == len(s.b) || s.b[s.at] != '{' && s.b[s.at] != '[' {
		return false
	}
	for _, i := range wanted {
		if i -= len(s.wants.texts) + len(s.wants.ids); i >= 0 &&
			slices.Contains(takenWhole, s.schema.Fields[s.wants.others[i].field].Type) {
			return true
		}
	}
	return false
}

// takenWhole are the types of fields whose objects and arrays are one value.
var takenWhole = []fields.Type{fields.Geo, fields.Vector, fields.Sparse}

// whole takes an object or an array as it is. Package fields parses vectors, and points, of which
// it refuses an array, as its order of latitude and longitude is ambiguous; the analyzer parses
// weights.
func (s *jsonScanner) whole() error {
	start := s.at
	if err := s.skip(2); err != nil {
		return err
	}
	s.parts = append(s.parts, jsonValue{start: start, end: s.at})
	return nil
}

// part parses one string, number or null of a wanted field. It returns false for null.
func (s *jsonScanner) part(i int) (bool, error) {
	start := s.at
	v := jsonValue{start: start}
	c := byte(0)
	if s.at < len(s.b) {
		c = s.b[s.at]
	}
	var err error
	switch {
	case c == '"':
		v, err = s.string()
	case c == '-' || c >= '0' && c <= '9':
		err = s.number()
		v.end = s.at
	case c == 'n':
		return false, s.literal("null")
	case (c == 't' || c == 'f') && i >= len(s.wants.texts)+len(s.wants.ids):
		err = s.literal(map[byte]string{'t': "true", 'f': "false"}[c])
		v.end = s.at
	case c == '{' || c == '[' || c == 't' || c == 'f':
		if err = s.skip(2); err == nil {
			s.at = start
			err = fmt.Errorf("field %q: want a string or a list of strings", s.names[i])
		}
	default:
		err = s.unexpected("a string")
	}
	if err == nil && v.end > v.start {
		s.parts = append(s.parts, v)
	}
	return true, err
}

// skip parses any value.
func (s *jsonScanner) skip(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	if s.at == len(s.b) {
		return s.unexpected("a value")
	}
	switch c := s.b[s.at]; {
	case c == '"':
		_, err := s.string()
		return err
	case c == '{' || c == '[':
		s.at++
		if s.blanks(); s.take(c + 2) { // in ASCII, } and ] are two after { and [
			return nil
		}
		for {
			s.blanks()
			if c == '{' {
				if _, err := s.string(); err != nil {
					return err
				}
				s.blanks()
				if !s.take(':') {
					return s.unexpected("a colon")
				}
				s.blanks()
			}
			if err := s.skip(depth + 1); err != nil {
				return err
			}
			s.blanks()
			if s.take(c + 2) {
				return nil
			}
			if !s.take(',') {
				return s.unexpected("a comma or " + string(rune(c+2)))
			}
		}
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	default:
		return s.number()
	}
}

func (s *jsonScanner) literal(word string) error {
	if !bytes.HasPrefix(s.b[s.at:], []byte(word)) {
		return s.unexpected(word)
	}
	s.at += len(word)
	return nil
}

func (s *jsonScanner) number() error {
	s.take('-')
	if !s.take('0') && !s.digits() {
		return s.unexpected("a value")
	}
	if s.take('.') && !s.digits() {
		return s.unexpected("a digit")
	}
	if s.take('e') || s.take('E') {
		if !s.take('+') {
			s.take('-')
		}
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	return nil
}

func (s *jsonScanner) digits() bool {
	start := s.at
	for s.at < len(s.b) && s.b[s.at] >= '0' && s.b[s.at] <= '9' {
		s.at++
	}
	return s.at > start
}

// string parses a string and returns the position of its inside.
func (s *jsonScanner) string() (jsonValue, error) {
	if !s.take('"') {
		return jsonValue{}, s.unexpected("a string")
	}
	v := jsonValue{start: s.at}
	for {
		s.at = skipPlain(s.b, s.at)
		if s.at == len(s.b) {
			return v, fmt.Errorf("unterminated string")
		}
		switch c := s.b[s.at]; {
		case c == '"':
			v.end = s.at
			s.at++
			return v, nil
		case c != '\\':
			return v, s.unexpected("no control character in a string, but \\u00..")
		}
		v.escaped = true
		if s.at++; s.at == len(s.b) {
			return v, fmt.Errorf("unterminated string")
		}
		switch s.b[s.at] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			s.at++
		case 'u':
			s.at++
			if _, ok := hex4(s.b[s.at:]); !ok {
				return v, s.unexpected("four hexadecimal digits after \\u")
			}
			s.at += 4
		default:
			return v, s.unexpected(`one of "\/bfnrtu after a backslash`)
		}
	}
}

func (s *jsonScanner) blanks() {
	for s.at < len(s.b) && (s.b[s.at] == ' ' || s.b[s.at] == '\t' || s.b[s.at] == '\r' || s.b[s.at] == '\n') {
		s.at++
	}
}

func (s *jsonScanner) take(c byte) bool {
	if s.at < len(s.b) && s.b[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *jsonScanner) unexpected(want string) error {
	if s.at >= len(s.b) {
		return fmt.Errorf("JSON ends early: want %s", want)
	}
	r, _ := utf8.DecodeRune(s.b[s.at:])
	return fmt.Errorf("JSON has %q: want %s", r, want)
}

// hex4 parses four hexadecimal digits.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// appendUnescaped appends the inside of a string with its escapes replaced. An unpaired surrogate
// becomes U+FFFD. The result is never longer than b.
func appendUnescaped(dst, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			return append(dst, b...)
		}
		dst = append(dst, b[:i]...)
		c := b[i+1]
		b = b[i+2:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r, _ := hex4(b)
			b = b[4:]
			if utf16.IsSurrogate(r) {
				low := rune(0)
				if bytes.HasPrefix(b, []byte(`\u`)) {
					low, _ = hex4(b[2:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					b = b[6:]
				}
			}
			dst = utf8.AppendRune(dst, r)
			continue
		}
		dst = append(dst, c)
	}
}

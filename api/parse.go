package api

import (
	"bytes"
	"encoding"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Error says what is wrong with a parameter. Its text begins with the parameter's name; a door that
// writes names in another way, such as --name, puts the text after it.
type Error struct {
	Param string // the name, as declared; "" if several contradict each other
	Said  string // the value as it was given, or ""
	Err   error  // what was expected
}

func (e *Error) Error() string { return e.Text(e.Param) }

// Text returns the text with the parameter's name as a door writes it. What was expected may begin
// with the parameter's own name, as in "facet "lang:0": ..." or "field weights: ...", which is then
// written once.
func (e *Error) Text(name string) string {
	if name == "" {
		return e.Err.Error()
	}
	own := strings.ReplaceAll(e.Param, "_", " ")
	if said, ok := strings.CutPrefix(e.Err.Error(), own); ok && e.Said == "" && strings.IndexAny(said, " :") == 0 {
		return name + said
	}
	if e.Said != "" {
		name += " " + e.Said
	}
	return name + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Unknown is the error of a name that a question does not have.
type Unknown struct {
	Name  string // as it was given
	Known string // the names there are, with commas between them; "" if there are none
}

func (e *Unknown) Error() string {
	if e.Known == "" {
		return fmt.Sprintf("unknown name %q: this request takes none in its URL", e.Name)
	}
	return fmt.Sprintf("unknown name %q: want %s", e.Name, e.Known)
}

// wrong returns an error about a parameter.
func wrong(param string, err error) error {
	if about := new(Error); errors.As(err, &about) && about.Param == "" && about.Said != "" {
		return &Error{param, about.Said, about.Err} // of a type that reads itself
	}
	return &Error{Param: param, Err: err}
}

func wrongf(param, format string, args ...any) error {
	return wrong(param, fmt.Errorf(format, args...))
}

// Set parses the values of a parameter, as a URL or a command line has them, and stores them in a
// question, which is a pointer to a struct. Only a list may have several.
func (p *Param) Set(question any, values ...string) error {
	to := reflect.ValueOf(question).Elem().FieldByIndex(p.field)
	if p.Kind == List || p.Kind == Numbers {
		return p.setList(to, values)
	}
	if len(values) != 1 {
		return wrongf(p.Name, "it is given %d times: want it once", len(values))
	}
	if p.Filled && values[0] == "" {
		return p.empty()
	}
	return p.set(to, values[0])
}

// empty is the error of a value that says nothing.
func (p *Param) empty() error { return wrongf(p.Name, "it is empty: give a value, or leave it out") }

// setList parses the values of a list: each may have several, with commas between them.
func (p *Param) setList(to reflect.Value, values []string) error {
	list := reflect.MakeSlice(to.Type(), 0, len(values))
	for _, v := range values {
		if v == "" {
			continue
		}
		parts := strings.Split(v, ",")
		switch {
		case p.unsplit:
			parts = []string{v}
		case p.Kind == List && strings.Contains(v, `"`): // quotes keep commas, as in CSV
			in := csv.NewReader(strings.NewReader(v))
			in.LazyQuotes = true
			var err error
			if parts, err = in.Read(); err != nil {
				return wrong(p.Name, err)
			}
		}
		for _, part := range parts {
			one := reflect.New(to.Type().Elem()).Elem()
			if err := p.setOne(one, part); err != nil {
				return err
			}
			list = reflect.Append(list, one)
		}
	}
	to.Set(list)
	return nil
}

// set parses a value into a field.
func (p *Param) set(to reflect.Value, s string) error {
	if p.Optional {
		new := reflect.New(to.Type().Elem())
		if err := p.setValue(new.Elem(), s); err != nil {
			return err
		}
		to.Set(new)
		return nil
	}
	return p.setValue(to, s)
}

func (p *Param) setValue(to reflect.Value, s string) error {
	if p.Kind == List || p.Kind == Numbers { // a default
		return p.setList(to, []string{s})
	}
	return p.setOne(to, s)
}

// setOne parses a value that is no list, or one of a list.
func (p *Param) setOne(to reflect.Value, s string) error {
	fail := func(want string) error {
		return &Error{p.Name, strconv.Quote(s), errors.New("want " + want)}
	}
	switch {
	case p.text:
		if err := p.among(s); err != nil {
			return err
		}
		if err := to.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)); err != nil {
			return wrong(p.Name, err)
		}
		return nil
	case p.Kind == Whole && to.CanUint():
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return fail("a whole number that is not negative")
		}
		to.SetUint(n)
	case p.Kind == Whole:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return fail("a whole number")
		}
		to.SetInt(n)
	case p.Kind == Number, p.Kind == Numbers:
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(x) {
			return fail("a number")
		}
		to.SetFloat(x)
	case p.Kind == Switch:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return fail("1 or 0")
		}
		to.SetBool(b)
	default:
		to.SetString(s)
	}
	return p.check(to)
}

// among returns an error for a name that is none of the values, where these are fewer than the
// names of their type.
func (p *Param) among(name string) error {
	if !p.fewer || slices.Contains(p.Values, name) {
		return nil
	}
	return &Error{p.Name, strconv.Quote(name), errors.New("want " + strings.Join(p.Values, ", "))}
}

// check compares a value, or each of a list, with the bounds and the list of values.
func (p *Param) check(v reflect.Value) error {
	var n float64
	switch {
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			if err := p.check(v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case p.text:
		return nil // it has read itself
	case v.CanInt():
		n = float64(v.Int())
	case v.CanUint():
		n = float64(v.Uint())
	case v.CanFloat():
		n = v.Float()
	case v.Kind() == reflect.String:
		if len(p.Values) > 0 && !p.Some && !slices.Contains(p.Values, v.String()) {
			return &Error{p.Name, strconv.Quote(v.String()),
				errors.New("want " + strings.Join(p.Values, ", "))}
		}
		return nil
	default:
		return nil
	}
	if n < p.Low || n > p.High || p.Open && n == p.Low || math.IsNaN(n) {
		return &Error{p.Name, fmt.Sprint(v.Interface()), errors.New("want " + p.Wants())}
	}
	return nil
}

// Wants describes the bounds: "1 to 9", "0 or more", "more than 0".
func (p *Param) Wants() string {
	text := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	switch low, high := !math.IsInf(p.Low, -1), !math.IsInf(p.High, 1); {
	case p.Open && high:
		return "more than " + text(p.Low) + ", at most " + text(p.High)
	case p.Open:
		return "more than " + text(p.Low)
	case low && high:
		return text(p.Low) + " to " + text(p.High)
	case low:
		return text(p.Low) + " or more"
	case high:
		return "at most " + text(p.High)
	case p.Kind == Whole:
		return "a whole number"
	}
	return "a number"
}

// Values parses the parameters of a URL into a question with its defaults. A name that the door
// does not have is an error.
func (q *Question) Values(d Door, values url.Values, question any) error {
	for _, name := range slices.Sorted(maps.Keys(values)) { // sorted, for the same error each time
		p, err := q.lookUp(d, name)
		if err != nil {
			return err
		}
		if p.Path != "" {
			return wrongf(name, "it is in the path")
		}
		if name != p.Name && values.Has(p.Name) {
			return wrongf(p.Name, "%s means the same: give only one of them", name)
		}
		if err := p.Set(question, values[name]...); err != nil {
			return err
		}
	}
	return nil
}

// lookUp returns the parameter of a name, if the door has it.
func (q *Question) lookUp(d Door, name string) (*Param, error) {
	p := q.tags().named[name]
	if p == nil {
		return nil, &Unknown{name, q.Names(d)}
	}
	if why := p.Without(d); why != "" {
		return nil, wrongf(name, "not here: %s", why)
	}
	return p.at(d), nil
}

// JSON reads an object into a question with its defaults. It is stricter than encoding/json: names
// must be written as declared, none may come twice, and null is no value.
func (q *Question) JSON(d Door, in *json.Decoder, question any) error {
	v := reflect.ValueOf(question).Elem()
	var seen []*Param // a slice, as there are few
	return Object(in, func(name string, raw json.RawMessage) error {
		p, err := q.lookUp(d, name)
		if err != nil {
			return err
		}
		if slices.Contains(seen, p) {
			return wrongf(p.Name, "it is given twice")
		}
		seen = append(seen, p)
		return p.json(v.FieldByIndex(p.field), raw)
	})
}

// SetJSON reads the value of one parameter, for a door whose objects have others besides.
func (q *Question) SetJSON(d Door, question any, name string, raw json.RawMessage) error {
	p, err := q.lookUp(d, name)
	if err != nil {
		return err
	}
	return p.json(reflect.ValueOf(question).Elem().FieldByIndex(p.field), raw)
}

// Marshal writes what a question says, a pointer to a struct: parameters that are not as Fill sets
// them.
func (q *Question) Marshal(question any) ([]byte, error) {
	said := map[string]any{}
	v := reflect.ValueOf(question).Elem()
	for i := range q.Params() {
		p := &q.Params()[i]
		if f := v.FieldByIndex(p.field); !reflect.DeepEqual(f.Interface(), q.tags().defaults.FieldByIndex(p.field).Interface()) {
			said[p.Name] = f.Interface()
		}
	}
	return json.Marshal(said)
}

// json decodes and checks a value.
func (p *Param) json(to reflect.Value, raw json.RawMessage) error {
	if p.Kind == List && len(raw) > 0 && raw[0] == '"' { // a list of one
		raw = slices.Concat([]byte("["), raw, []byte("]"))
	}
	if name := ""; p.fewer && json.Unmarshal(raw, &name) == nil {
		if err := p.among(name); err != nil {
			return err
		}
	}
	if err := Decode(p.Name, raw, to.Addr().Interface()); err != nil {
		return err
	}
	if p.Filled && to.IsZero() {
		return p.empty()
	}
	if p.Optional {
		to = to.Elem()
	}
	return p.check(to)
}

// Decode reads the value of a name. An error about its type is in the terms of JSON, not of Go.
func Decode(name string, raw json.RawMessage, to any) error {
	err := json.Unmarshal(raw, to)
	bad := new(json.UnmarshalTypeError)
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &bad):
		return wrong(name, err)
	}
	want := map[reflect.Kind]string{reflect.String: "a string", reflect.Int: "a whole number", reflect.Int64: "a whole number",
		reflect.Uint64: "a whole number that is not negative", reflect.Float64: "a number",
		reflect.Bool: "true or false", reflect.Slice: "a list"}[bad.Type.Kind()]
	if bad.Type.Implements(textType) || reflect.PointerTo(bad.Type).Implements(textType) { // a name
		want = "a string"
	}
	got, number := strings.CutPrefix(bad.Value, "number ")
	if said := map[string]string{"string": "a string", "number": "a number", "bool": "true or false",
		"array": "a list", "object": "an object"}[got]; said != "" && !number {
		got = said
	}
	if want == "" {
		return wrong(name, err)
	}
	return wrongf(name, "want %s, not %s", want, got)
}

// Object reads an object, and calls field with each name and its value, which is not null. No name
// may come twice.
func Object(in *json.Decoder, field func(name string, raw json.RawMessage) error) error {
	open, err := in.Token()
	if err != nil {
		return UnexpectedEnd(err)
	}
	if open != json.Delim('{') {
		return fmt.Errorf("want an object, not %s", describeToken(open))
	}
	var seen []string
	for in.More() {
		token, err := in.Token()
		if err != nil {
			return UnexpectedEnd(err)
		}
		name := token.(string) // the decoder allows nothing else here
		if slices.Contains(seen, name) {
			return wrongf(name, "it is given twice")
		}
		seen = append(seen, name)
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			return wrong(name, UnexpectedEnd(err))
		}
		if bytes.Equal(raw, []byte("null")) {
			return wrongf(name, "null is no value: give one, or leave it out")
		}
		if err := field(name, raw); err != nil {
			return err
		}
	}
	_, err = in.Token()
	return UnexpectedEnd(err)
}

// UnexpectedEnd makes the end of input in the middle of a value an error of its own.
func UnexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func describeToken(t json.Token) string {
	switch t := t.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(t)
	}
	return fmt.Sprint(t)
}

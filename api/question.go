package api

import (
	"context"
	"encoding"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/collocate/collocate/internal/choice"
)

// Door is a way to ask.
type Door uint8

// The doors. A root answers the requests of HTTP by asking shards. The page asks over HTTP, and
// shows only some parameters; which ones is not declared here. GPU stands for jobs on a GPU, which
// any door can ask for.
const (
	Command Door = iota
	HTTP
	Python
	MCP
	Root
	Page
	GPU
)

var doorNames = choice.New[Door]("door", "command", "http", "python", "mcp", "root", "page", "gpu")

func (d Door) String() string { return doorNames.Of(d) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (d Door) MarshalText() ([]byte, error) { return doorNames.Text(d) }

// UnmarshalText is the inverse of MarshalText.
func (d *Door) UnmarshalText(name []byte) error { return doorNames.Set(d, string(name)) }

// Doors lists those that take parameters by name, in the order of tables.
func Doors() []Door { return []Door{Command, HTTP, Python, MCP, Root} }

// AllDoors lists also those that are declared for whole questions only.
func AllDoors() []Door { return append(Doors(), Page, GPU) }

// Kind is the kind of a parameter's value.
type Kind uint8

// The kinds: text, a list of texts, a whole number, a number, on or off, and a list of numbers.
const (
	Text Kind = iota
	List
	Whole
	Number
	Switch
	Numbers
)

var kindNames = choice.New[Kind]("kind of value", "string", "list of strings", "whole number", "number",
	"true or false", "list of numbers")

func (k Kind) String() string { return kindNames.Of(k) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (k Kind) MarshalText() ([]byte, error) { return kindNames.Text(k) }

// UnmarshalText is the inverse of MarshalText.
func (k *Kind) UnmarshalText(name []byte) error { return kindNames.Set(k, string(name)) }

// Question describes the parameters of a struct.
type Question struct {
	Name string // as in a path or as a verb
	Help string // what is asked, in one sentence without a full stop
	Of   Source // of a question about words, what it is asked of

	kind    reflect.Type
	answer  reflect.Type // of its answers
	do      func(ctx context.Context, e *Env, question any) (any, error)
	places  func(ctx context.Context, on *Places, question any) (any, error)
	without map[Door]string
	called  map[Door]string // where the name differs
	differs [][2]string     // parameters and their settings, as at declares them

	once sync.Once // reads the tags when they are first needed: that takes 0.1 ms a question
	read tags
}

// tags is what the tags of a question's struct say.
type tags struct {
	params   []Param           // in the order of the struct
	named    map[string]*Param // by name and by older names
	defaults reflect.Value     // a question with the defaults
	lists    []*Param          // those whose default is a list
}

// tags reads them once. A mistake is a panic, which every test meets.
func (q *Question) tags() *tags {
	q.once.Do(func() {
		if err := q.readTags(); err != nil {
			panic(fmt.Sprintf("%s, %v: %v", q.Name, q.kind, err))
		}
	})
	return &q.read
}

// Params returns the parameters, in the order of the struct.
func (q *Question) Params() []Param { return q.tags().params }

// Param is a parameter of a question.
type Param struct {
	Name    string            // in all doors
	Also    []string          // older names
	Flag    string            // of the command, without --; "" if there is none
	Short   string            // its letter
	Help    string            // what it does, in one sentence without a full stop
	Default string            // as text; "" is the zero value
	Group   string            // heading in help; "" is the first
	Values  []string          // the allowed ones; nil means any
	Words   map[string]string // a few words on each of the Values, or nil
	Some    bool              // the Values are only some of the allowed ones
	Kind    Kind              // of its value
	// Low and High bound a number; they are infinite if there is no bound.
	Low, High float64
	Open      bool // Low itself is not allowed
	// Optional parameters have no default: nil says that none was given.
	Optional bool
	// Path is its name in the path of a URL; "" if it is not there.
	Path string
	// Needed says that the question means nothing without it.
	Needed bool
	// File says that its value names a file, or may.
	File bool
	// Filled says that a value that is given must not be empty, as an unset variable of a shell
	// script is: the answer would be about something else without a word.
	Filled bool
	// Argument is its name in Python, if that has another, such as from_.
	Argument string

	without map[Door]string
	differs map[Door]string // the tag at, as a sentence
	doors   map[Door]*Param // of doors where the default or the bound differs
	field   []int
	unsplit bool           // the values of a list may have commas
	text    bool           // a type with names or a shape, which reads and writes itself
	fewer   bool           // the Values are fewer than the names of the type
	shape   map[string]any // of a shaped type
}

// Usage returns the help with the allowed values, where it does not explain them itself.
func (p *Param) Usage() string {
	if len(p.Values) == 0 || strings.Contains(p.Help, p.Values[0]+":") {
		return p.Help
	}
	list := slices.Clone(p.Values)
	for i, v := range list {
		if words := p.Words[v]; words != "" {
			list[i] += " (" + words + ")"
		}
	}
	return p.Help + ": " + strings.Join(list, ", ")
}

// Without returns the reason why a door does not have the parameter, or "" if it has it.
func (p *Param) Without(d Door) string { return p.without[d] }

// Differs says how the default or the bound of a door is another than that of the rest, and why. It
// is "" if they are the same.
func (p *Param) Differs(d Door) string { return p.differs[d] }

// at returns the parameter as a door has it.
func (p *Param) at(d Door) *Param {
	if own := p.doors[d]; own != nil {
		return own
	}
	return p
}

// Without returns the reason why a door does not answer the question, or "" if it does.
func (q *Question) Without(d Door) string { return q.without[d] }

// In returns what the question is called in a door: a verb, a path, a function of Python or a tool.
// Unless it was declared otherwise, all have the question's name, as they write names.
func (q *Question) In(d Door) string {
	if name := q.called[d]; name != "" {
		return name
	}
	switch d {
	case HTTP, Root, Page:
		if name := q.called[HTTP]; name != "" {
			return name
		}
		return "/v1/" + strings.ReplaceAll(q.Name, " ", "/")
	case Python:
		return strings.ReplaceAll(q.Name[strings.LastIndex(q.Name, " ")+1:], "-", "_")
	case MCP:
		return strings.NewReplacer(" ", "_", "-", "_").Replace(q.Name)
	}
	return q.Name
}

// Route returns the method and the path over HTTP.
func (q *Question) Route() (method, path string) {
	method, path, ok := strings.Cut(q.In(HTTP), " ")
	if !ok {
		return "GET", method
	}
	return method, path
}

// in declares what the question is called in some doors, as in "http: /v1/keywords; mcp: keys".
func (q *Question) in(names string) *Question {
	called, err := leftOut(names)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", q.Name, err))
	}
	q.called = called
	return q
}

// at gives a parameter that several questions have another default or bound in some doors, as the
// tag does.
func (q *Question) at(param, settings string) *Question {
	q.differs = append(q.differs, [2]string{param, settings})
	return q
}

// declare declares a question by the tags of its struct. Each of not names doors that do not answer
// it, and the reason, as in the tag.
func declare[Q any](name, help string, not ...string) *Question {
	q := part[Q](name, help, not...)
	all = append(all, q)
	return q
}

// part declares parameters that several questions have.
func part[Q any](name, help string, not ...string) *Question {
	q := &Question{Name: name, Help: help, kind: reflect.TypeFor[Q]()}
	var err error
	if q.without, err = leftOut(strings.Join(not, ";")); err != nil {
		panic(fmt.Sprintf("%s: %v", name, err))
	}
	return q
}

// readTags reads the tags of the struct.
func (q *Question) readTags() error {
	t, r := q.kind, &q.read
	r.named, r.defaults = map[string]*Param{}, reflect.New(t).Elem()
	for _, f := range reflect.VisibleFields(t) {
		if ask := f.Tag.Get("ask"); ask != "" {
			p, err := declareParam(f, ask)
			if err == nil {
				err = p.leaveOut(t, f)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			r.params = append(r.params, p)
		}
	}
	for i := range r.params {
		p := &r.params[i]
		for _, n := range append([]string{p.Name}, p.Also...) {
			if r.named[n] != nil {
				return fmt.Errorf("%s is declared twice", n)
			}
			r.named[n] = p
		}
	}
	for _, d := range q.differs {
		if err := r.named[d[0]].inDoors(d[1]); err != nil {
			return fmt.Errorf("%s: %w", d[0], err)
		}
	}
	for i := range r.params {
		p := &r.params[i]
		if err := p.fill(r.defaults); err != nil {
			return fmt.Errorf("the default of %s: %w", p.Name, err)
		}
		if f := r.defaults.FieldByIndex(p.field); f.Kind() == reflect.Slice && f.Len() > 0 {
			r.lists = append(r.lists, p)
		}
		for _, own := range p.doors {
			if err := own.fill(reflect.New(t).Elem()); err != nil {
				return fmt.Errorf("a default of %s: %w", p.Name, err)
			}
		}
	}
	return nil
}

// fill sets the default in a question.
func (p *Param) fill(question reflect.Value) error {
	if p.Default == "" || p.Optional {
		return nil
	}
	return p.set(question.FieldByIndex(p.field), p.Default)
}

var textType, shapedType = reflect.TypeFor[encoding.TextUnmarshaler](), reflect.TypeFor[shaped]()

// shaped is a type of parameters with a grammar of its own, such as numbers or the word auto. It
// checks its values itself. Shape describes what it has in JSON, as a schema.
type shaped interface {
	encoding.TextUnmarshaler
	Shape() map[string]any
}

func declareParam(f reflect.StructField, name string) (p Param, err error) {
	p = Param{Name: name, Help: f.Tag.Get("help"), Default: f.Tag.Get("default"),
		Group: f.Tag.Get("group"), Short: f.Tag.Get("short"), field: f.Index,
		Low: math.Inf(-1), High: math.Inf(1)}
	if p.Help == "" || strings.HasSuffix(p.Help, ".") {
		return p, fmt.Errorf("help %q: want a sentence without a full stop", p.Help)
	}
	flag, said := f.Tag.Lookup("flag")
	if p.Flag = flag; !said {
		p.Flag = strings.ReplaceAll(name, "_", "-")
	}
	if also := f.Tag.Get("also"); also != "" {
		p.Also = strings.Split(also, ",")
	}
	t := f.Type
	if p.Optional = t.Kind() == reflect.Pointer; p.Optional {
		t = t.Elem()
	}
	switch {
	case reflect.PointerTo(t).Implements(shapedType):
		p.text, p.shape = true, reflect.New(t).Interface().(shaped).Shape()
	case reflect.PointerTo(t).Implements(textType):
		p.text = true
		if p.Values = namesOf[t]; p.Values == nil {
			return p, fmt.Errorf("the names of %v are missing in namesOf", t)
		}
	case t.Kind() == reflect.String:
	case t.Kind() == reflect.Slice && reflect.PointerTo(t.Elem()).Implements(textType):
		p.Kind, p.text = List, true
		if p.Values = namesOf[t.Elem()]; p.Values == nil {
			return p, fmt.Errorf("the names of %v are missing in namesOf", t.Elem())
		}
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		p.Kind = List
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Float64:
		p.Kind = Numbers
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64, t.Kind() == reflect.Uint64:
		p.Kind = Whole
	case t.Kind() == reflect.Float64:
		p.Kind = Number
	case t.Kind() == reflect.Bool:
		p.Kind = Switch
	default:
		return p, fmt.Errorf("a parameter cannot have type %v", f.Type)
	}
	if some := f.Tag.Get("some"); some != "" {
		p.Values, p.Words, p.Some = lists[some], wordsOn[some], true
	}
	if one := f.Tag.Get("one"); one != "" {
		names := len(p.Values)
		if p.Values, p.Words = lists[one], wordsOn[one]; p.Values == nil {
			p.Values = strings.Split(one, ",")
		}
		p.fewer = len(p.Values) < names
	}
	p.Path, p.Argument = f.Tag.Get("path"), f.Tag.Get("python")
	_, p.Needed = f.Tag.Lookup("needed")
	_, p.File = f.Tag.Lookup("file")
	_, p.Filled = f.Tag.Lookup("filled")
	_, p.unsplit = f.Tag.Lookup("commas")
	if err := p.bounds(f.Tag); err != nil {
		return p, err
	}
	return p, p.inDoors(f.Tag.Get("at"))
}

// leaveOut reads the tag not of a field, and of the structs in t that it is embedded in.
func (p *Param) leaveOut(t reflect.Type, f reflect.StructField) error {
	p.without = map[Door]string{}
	for i := range f.Index {
		without, err := leftOut(t.FieldByIndex(f.Index[:i+1]).Tag.Get("not"))
		if err != nil {
			return err
		}
		maps.Copy(p.without, without)
	}
	return nil
}

// inDoors reads the tag at: the doors with a default or a bound of their own.
func (p *Param) inDoors(tag string) error {
	p.differs, p.doors = map[Door]string{}, map[Door]*Param{}
	said, err := leftOut(tag)
	for d, text := range said {
		own := *p
		settings, why, ok := strings.Cut(text, ",")
		if !ok {
			return fmt.Errorf("at %q: want settings, a comma and the reason", text)
		}
		var differs []string
		for part := range strings.FieldsSeq(settings) {
			name, value, _ := strings.Cut(part, "=")
			switch name {
			case "default":
				own.Default = value
				differs = append(differs, "by default "+value)
			case "least":
				if own.Low, err = strconv.ParseFloat(value, 64); err != nil {
					return fmt.Errorf("at %q: %w", text, err)
				}
				differs = append(differs, "at least "+value)
			case "most":
				if own.High, err = strconv.ParseFloat(value, 64); err != nil {
					return fmt.Errorf("at %q: %w", text, err)
				}
				differs = append(differs, "at most "+value)
			default:
				return fmt.Errorf("at %q: want default=VALUE, least=NUMBER or most=NUMBER", text)
			}
		}
		p.differs[d] = strings.Join(differs, ", ") + ": " + strings.TrimSpace(why)
		p.doors[d] = &own
	}
	if own := p.doors[HTTP]; own != nil && p.doors[Root] == nil { // it takes the requests of HTTP
		p.doors[Root], p.differs[Root] = own, p.differs[HTTP]
	}
	return err
}

// bounds reads the tags range and above.
func (p *Param) bounds(tag reflect.StructTag) (err error) {
	number := func(s string, to *float64) {
		if s != "" && err == nil {
			*to, err = strconv.ParseFloat(s, 64)
		}
	}
	if s := tag.Get("range"); s != "" {
		low, high, ok := strings.Cut(s, "..")
		if !ok {
			return fmt.Errorf("range %q: want two numbers with .. between them", s)
		}
		number(low, &p.Low)
		number(high, &p.High)
	}
	if s := tag.Get("above"); s != "" {
		p.Open = true
		number(s, &p.Low)
	}
	return err
}

// leftOut reads the tag not: the doors, each with the reason.
func leftOut(s string) (map[Door]string, error) {
	without := map[Door]string{}
	if s == "" {
		return without, nil
	}
	for part := range strings.SplitSeq(s, ";") {
		doors, why, ok := strings.Cut(part, ":")
		if !ok || strings.TrimSpace(why) == "" {
			return nil, fmt.Errorf("not %q: want doors, a colon and the reason", part)
		}
		for name := range strings.FieldsSeq(strings.ReplaceAll(doors, ",", " ")) {
			d, err := doorNames.Parse(name)
			if err != nil {
				return nil, fmt.Errorf("not %q: %w", part, err)
			}
			without[d] = strings.TrimSpace(why)
		}
	}
	return without, nil
}

// Find returns the parameter of a name or older name, or nil if there is none.
func (q *Question) Find(name string) *Param { return q.tags().named[name] }

// At returns the parameters that a door has, with its own defaults and bounds.
func (q *Question) At(d Door) (list []*Param) {
	for i := range q.Params() {
		if p := &q.Params()[i]; p.Without(d) == "" {
			list = append(list, p.at(d))
		}
	}
	return list
}

// Names returns the names of the parameters that a door has, for messages.
func (q *Question) Names(d Door) string {
	var names []string
	for _, p := range q.At(d) {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// Fill sets the defaults in a question, a pointer to a struct, and clears what has none.
func (q *Question) Fill(question any) {
	v := reflect.ValueOf(question).Elem()
	v.Set(q.tags().defaults)
	for _, p := range q.tags().lists { // copied, as encoding/json writes into a list that is there
		f := v.FieldByIndex(p.field)
		f.Set(reflect.AppendSlice(reflect.MakeSlice(f.Type(), 0, f.Len()), f))
	}
}

// FillAt sets the defaults of a door.
func (q *Question) FillAt(d Door, question any) {
	q.Fill(question)
	for i := range q.Params() {
		if own := q.Params()[i].doors[d]; own != nil {
			own.fill(reflect.ValueOf(question).Elem()) // no error: readTags has filled it
		}
	}
}

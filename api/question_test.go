package api

import (
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/trec"
)

// greet is the example of the package comment, with one parameter of each kind.
type greet struct {
	Name  string      `ask:"name" also:"whom" help:"whom to greet"`
	Times int         `ask:"times" default:"1" range:"1..9" help:"how often" not:"mcp: once is enough"`
	Loud  *float64    `ask:"loud_ness" above:"0" range:"..11" help:"how loud"`
	With  []string    `ask:"with" help:"what else to say"`
	Tone  string      `ask:"tone" one:"kind,gruff" help:"in which tone"`
	Mode  search.Mode `ask:"mode" help:"a type with names"`
	Fuse  trec.Fusion `ask:"fuse" default:"combmnz" one:"combsum,combmnz" help:"a type of which not all names are allowed"`
	Twice bool        `ask:"twice" group:"Rare" short:"t" help:"again"`
	Inner int
}

var greeting = part[greet]("greet", "say hello")

func asked(t *testing.T, query string) (g greet, err error) {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	greeting.Fill(&g)
	return g, greeting.Values(HTTP, values, &g)
}

// A URL and an object of JSON give the same question.
func TestURLAndJSON(t *testing.T) {
	a, err := asked(t, "whom=Ann&times=3&loud_ness=10.5&with=a,b&tone=gruff&mode=and&twice=1")
	if err != nil {
		t.Fatal(err)
	}
	var b greet
	greeting.Fill(&b)
	in := json.NewDecoder(strings.NewReader(`{"name": "Ann", "times": 3, "loud_ness": 10.5, "with": ["a", "b"],
		"tone": "gruff", "mode": "and", "twice": true}`))
	if err := greeting.JSON(HTTP, in, &b); err != nil {
		t.Fatal(err)
	}
	for _, g := range []greet{a, b} {
		if g.Name != "Ann" || g.Times != 3 || *g.Loud != 10.5 || strings.Join(g.With, "+") != "a+b" ||
			g.Tone != "gruff" || g.Mode != search.And || !g.Twice {
			t.Errorf("got %+v", g)
		}
	}
	if g, err := asked(t, ""); err != nil || g.Times != 1 || g.Loud != nil {
		t.Errorf("nothing said: %+v, %v, want the defaults", g, err)
	}
}

// A list may have names with commas, in quotes.
func TestCommasInLists(t *testing.T) {
	for query, want := range map[string]string{
		`with=a,b&with=c`:     "a|b|c",
		`with="Bars, pubs",b`: "Bars, pubs|b",
		`with=5" nails`:       `5" nails`,
	} {
		values, _ := url.ParseQuery(query)
		var g greet
		if err := greeting.Values(HTTP, values, &g); err != nil || strings.Join(g.With, "|") != want {
			t.Errorf("%s: %q, %v, want %q", query, g.With, err, want)
		}
	}
}

// Errors begin with the parameter's name and say what was expected.
func TestWrongValues(t *testing.T) {
	for query, want := range map[string]string{
		"times=10":          `times 10: want 1 to 9`,
		"times=x":           `times "x": want a whole number`,
		"times=1&times=2":   `times: it is given 2 times: want it once`,
		"loud_ness=0":       `loud_ness 0: want more than 0, at most 11`,
		"loud_ness=NaN":     `loud_ness "NaN": want a number`,
		"tone=sad":          `tone "sad": want kind, gruff`,
		"mode=xor":          `mode: unknown mode "xor": want or, and`,
		"fuse=rrf":          `fuse "rrf": want combsum, combmnz`,
		"twice=maybe":       `twice "maybe": want 1 or 0`,
		"nam=x":             `unknown name "nam": want name, times, loud_ness, with, tone, mode, fuse, twice`,
		"inner=1":           `unknown name "inner": want name, times, loud_ness, with, tone, mode, fuse, twice`,
		"name=Ann&whom=Bob": `name: whom means the same: give only one of them`,
	} {
		if _, err := asked(t, query); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", query, err, want)
		}
	}
	for body, want := range map[string]string{
		`{"times": 10}`:              `times 10: want 1 to 9`,
		`{"fuse": "rrf"}`:            `fuse "rrf": want combsum, combmnz`,
		`{"times": "3"}`:             `times: want a whole number, not a string`,
		`{"times": 1.5}`:             `times: want a whole number, not 1.5`,
		`{"with": 1}`:                `with: want a list, not a number`,
		`{"name": null}`:             `name: null is no value: give one, or leave it out`,
		`{"name": "a", "name": "b"}`: `name: it is given twice`,
		`{"name": "a", "whom": "b"}`: `name: it is given twice`,
		`{"Name": "a"}`:              `unknown name "Name": want name, times, loud_ness, with, tone, mode, fuse, twice`,
		`[]`:                         `want an object, not [`,
		`{"name": "a"`:               `unexpected EOF`,
	} {
		var g greet
		err := greeting.JSON(HTTP, json.NewDecoder(strings.NewReader(body)), &g)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", body, err, want)
		}
	}
}

// A door without a parameter says why, and each door can write the name in its own way.
func TestDoors(t *testing.T) {
	err := greeting.Values(MCP, url.Values{"times": {"2"}}, new(greet))
	if err == nil || err.Error() != "times: not here: once is enough" {
		t.Errorf("times through MCP: %v", err)
	}
	if names := greeting.Names(MCP); strings.Contains(names, "times") {
		t.Errorf("the names of MCP are %s, want them without times", names)
	}
	_, err = asked(t, "times=10")
	if bad := new(Error); !errors.As(err, &bad) || bad.Text("--times") != "--times 10: want 1 to 9" {
		t.Errorf("%v as the command says it: %v", err, bad)
	}
}

// Declarations are read as the package comment says.
func TestDeclarations(t *testing.T) {
	p := greeting.Find("whom")
	if p == nil || p.Name != "name" || p.Flag != "name" {
		t.Errorf("whom is %+v, want the parameter name", p)
	}
	if p := greeting.Find("loud_ness"); p.Flag != "loud-ness" || !p.Optional || p.Low != 0 || !p.Open || p.High != 11 {
		t.Errorf("loud_ness is %+v", p)
	}
	if p := greeting.Find("twice"); p.Group != "Rare" || p.Short != "t" || p.Kind != Switch {
		t.Errorf("twice is %+v", p)
	}
	if p := greeting.Find("with"); !math.IsInf(p.High, 1) || p.Kind != List {
		t.Errorf("with is %+v", p)
	}
}

// Mistakes in declarations are found when the program starts.
func TestWrongDeclarations(t *testing.T) {
	for name, make := range map[string]func(){
		"no help": func() {
			part[struct {
				A int `ask:"a"`
			}]("x", "y").Params()
		},
		"a full stop": func() {
			part[struct {
				A int `ask:"a" help:"A."`
			}]("x", "y").Params()
		},
		"an odd type": func() {
			part[struct {
				A []int `ask:"a" help:"a"`
			}]("x", "y").Params()
		},
		"an odd range": func() {
			part[struct {
				A int `ask:"a" help:"a" range:"3"`
			}]("x", "y").Params()
		},
		"no reason": func() {
			part[struct {
				A int `ask:"a" help:"a" not:"mcp"`
			}]("x", "y").Params()
		},
		"an odd door": func() {
			part[struct {
				A int `ask:"a" help:"a" not:"fax: gone"`
			}]("x", "y").Params()
		},
		"the same names": func() {
			part[struct {
				A, B int `ask:"a" help:"a"`
			}]("x", "y").Params()
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			make()
		})
	}
}

// Every default of a question can be set.
func TestDefaults(t *testing.T) {
	var s Search
	SearchQuestion.Fill(&s)
	if s.K != 10 || s.SnippetSize != 200 || s.Mode != search.Or || s.Algorithm != search.Auto {
		t.Errorf("the defaults of a search are %+v", s)
	}
}

// What one question says in JSON is no default of the next one.
func TestDefaultsAreNotShared(t *testing.T) {
	var first, second farewell
	leaving.Fill(&first)
	in := json.NewDecoder(strings.NewReader(`{"steps": [3]}`))
	if err := leaving.JSON(HTTP, in, &first); err != nil {
		t.Fatal(err)
	}
	first.Steps[0] = 4 // nor is what a door does with it
	leaving.Fill(&second)
	if len(second.Steps) != 2 || second.Steps[0] != 1 {
		t.Errorf("after another question the default of steps is %v, want 1 and 2.5", second.Steps)
	}
}

// farewell has the kinds of parameters that greet lacks.
type farewell struct {
	Seed   uint64        `ask:"seed" default:"1" help:"of the choice of words"`
	Bytes  int64         `ask:"bytes" range:"0.." help:"how much to say"`
	Steps  []float64     `ask:"steps" default:"1,2.5" above:"0" help:"how far to go"`
	Modes  []search.Mode `ask:"modes" help:"a list of names"`
	Waves  int           `ask:"waves" default:"7" range:"1.." at:"mcp: default=2 most=3, it is shy" help:"how often to wave"`
	After  pause         `ask:"after" help:"how long to wait"`
	manner `not:"python: it has no manners"`
}

// manner is embedded: what a door lacks of it, it lacks whole.
type manner struct {
	Whom string `ask:"whom" path:"whom" help:"to whom"`
	Tone string `ask:"tone" not:"mcp: it has one tone" help:"in which tone"`
}

// pause is a type with a grammar of its own.
type pause struct{ seconds int }

func (p *pause) UnmarshalText(text []byte) error {
	if string(text) != "long" {
		return errors.New("want long")
	}
	p.seconds = 60
	return nil
}

func (p *pause) Shape() map[string]any { return map[string]any{"type": "string"} }

var leaving = part[farewell]("farewell", "say goodbye", "mcp, page: it never leaves")

// Whole numbers without a sign, lists of numbers and lists of names are read from URLs and JSON,
// and each member of a list is checked.
func TestListsAndLargeNumbers(t *testing.T) {
	var a, b farewell
	leaving.Fill(&a)
	leaving.Fill(&b)
	if len(a.Steps) != 2 || a.Steps[1] != 2.5 || a.Seed != 1 {
		t.Errorf("the defaults are %+v", a)
	}
	values, _ := url.ParseQuery("seed=18446744073709551615&bytes=5000000000&steps=1,2&steps=3&modes=or,and")
	if err := leaving.Values(HTTP, values, &a); err != nil {
		t.Fatal(err)
	}
	in := json.NewDecoder(strings.NewReader(`{"seed": 18446744073709551615, "bytes": 5000000000, "steps": [1, 2, 3],
		"modes": ["or", "and"]}`))
	if err := leaving.JSON(HTTP, in, &b); err != nil {
		t.Fatal(err)
	}
	for _, q := range []farewell{a, b} {
		if q.Seed != math.MaxUint64 || q.Bytes != 5e9 || len(q.Steps) != 3 || q.Steps[2] != 3 ||
			len(q.Modes) != 2 || q.Modes[1] != search.And {
			t.Errorf("got %+v", q)
		}
	}
	for query, want := range map[string]string{
		"seed=-1":      `seed "-1": want a whole number that is not negative`,
		"bytes=-1":     `bytes -1: want 0 or more`,
		"steps=1,0":    `steps 0: want more than 0`,
		"steps=1,":     `steps "": want a number`,
		"modes=or,xor": `modes: unknown mode "xor": want or, and`,
	} {
		values, _ := url.ParseQuery(query)
		var q farewell
		if err := leaving.Values(HTTP, values, &q); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", query, err, want)
		}
	}
	var q farewell
	err := leaving.JSON(HTTP, json.NewDecoder(strings.NewReader(`{"steps": [1, -1]}`)), &q)
	if err == nil || err.Error() != "steps -1: want more than 0" {
		t.Errorf("a negative step in JSON: %v", err)
	}
	if leaving.Without(MCP) == "" || leaving.Without(Page) == "" || leaving.Without(HTTP) != "" {
		t.Errorf("doors without the question: %v", leaving.without)
	}
	schema := leaving.Find("steps").Schema()
	if one := schema["items"].(map[string]any); one["exclusiveMinimum"] != 0.0 {
		t.Errorf("the schema of a list of numbers is %v, want the bound in its items", schema)
	}
}

// A door may have a default and a bound of its own, and its own name of the question.
func TestDifferencesOfDoors(t *testing.T) {
	var usual, shy farewell
	leaving.Fill(&usual)
	leaving.FillAt(MCP, &shy)
	if usual.Waves != 7 || shy.Waves != 2 {
		t.Errorf("it waves %d times, and %d for MCP: want 7 and 2", usual.Waves, shy.Waves)
	}
	values := url.Values{"waves": {"4"}, "after": {"long"}}
	if err := leaving.Values(HTTP, values, &usual); err != nil || usual.Waves != 4 || usual.After.seconds != 60 {
		t.Errorf("4 waves over HTTP: %+v, %v", usual, err)
	}
	if err := leaving.Values(MCP, values, &shy); err == nil || err.Error() != "waves 4: want 1 to 3" {
		t.Errorf("4 waves through MCP: %v", err)
	}
	err := leaving.Values(HTTP, url.Values{"after": {"short"}}, &usual)
	if err == nil || err.Error() != "after: want long" {
		t.Errorf("after short: %v", err)
	}
	p := leaving.At(MCP)[4]
	if p.Schema()["maximum"] != 3.0 || p.Schema()["default"] != 2.0 {
		t.Errorf("the schema for MCP is %v", p.Schema())
	}
	if got := leaving.Find("waves").Differs(MCP); got != "by default 2, at most 3: it is shy" {
		t.Errorf("the difference is %q", got)
	}
	q := part[farewell]("say good-bye", "leave").in("mcp: bye")
	for d, want := range map[Door]string{Command: "say good-bye", HTTP: "/v1/say/good-bye", Root: "/v1/say/good-bye",
		Python: "good_bye", MCP: "bye"} {
		if got := q.In(d); got != want {
			t.Errorf("it is called %q in %v, want %q", got, d, want)
		}
	}
}

// A door may lack all of an embedded struct, and a URL has some parameters in its path.
func TestEmbeddedAndInPaths(t *testing.T) {
	if names := leaving.Names(Python); names != "seed, bytes, steps, modes, waves, after" {
		t.Errorf("Python has %s, want no manners", names)
	}
	if names := leaving.Names(MCP); strings.Contains(names, "tone") || !strings.Contains(names, "whom") {
		t.Errorf("MCP has %s, want whom and no tone", names)
	}
	err := leaving.Values(HTTP, url.Values{"whom": {"Ann"}}, new(farewell))
	if err == nil || err.Error() != "whom: it is in the path" {
		t.Errorf("whom in the query of a URL: %v", err)
	}
}

// A door may list fewer things or shorter texts by default, or make fewer rounds; what an answer
// means is the same in all, but for two habits of those who come from other tools.
func TestDoorsDifferInSizesOnly(t *testing.T) {
	sizes := []string{"top", "steps", "rounds", "snippet_size"}
	habits := []string{"complete", "analyzer"} // of ir_measures and GloVe
	for _, q := range Questions() {
		for _, p := range q.Params() {
			for _, d := range Doors() {
				if p.at(d).Default != p.Default && !slices.Contains(append(sizes, habits...), p.Name) {
					t.Errorf("%s: %s is %q by default in %v and %q elsewhere: want one default", q.Name, p.Name,
						p.at(d).Default, d, p.Default)
				}
			}
		}
	}
}

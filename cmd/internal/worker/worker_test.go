package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/pipe"
)

// client calls a worker over a connection in memory.
type client struct {
	t    *testing.T
	conn net.Conn
}

func newClient(t *testing.T) *client {
	mine, theirs := net.Pipe()
	w := New("test")
	done := make(chan error, 1)
	go func() { done <- pipe.Answer(t.Context(), theirs, w.answer, kindOf) }()
	t.Cleanup(func() {
		mine.Close()
		<-done
		for _, o := range w.open {
			o.s.Close()
		}
	})
	return &client{t, mine}
}

// answer is the last message of a call.
type answer struct {
	Result json.RawMessage
	Notes  []string
	Error  string
	Kind   string
	*pipe.Message
}

func (c *client) send(do string, with any, arrays ...pipe.Array) {
	c.t.Helper()
	header := map[string]any{"do": do, "arrays": arrays}
	if with != nil {
		header["with"] = with
	}
	if err := pipe.Write(c.conn, header, arrays); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) receive() answer {
	c.t.Helper()
	for {
		var head bytes.Buffer
		m, err := pipe.Read(io.TeeReader(c.conn, &head))
		if err != nil {
			c.t.Fatal(err)
		}
		size := int(head.Bytes()[0]) | int(head.Bytes()[1])<<8 | int(head.Bytes()[2])<<16
		a := answer{Message: m}
		var told struct {
			Result   json.RawMessage
			Notes    []string
			Error    string
			Kind     string
			Progress []any
		}
		if err := json.Unmarshal(head.Bytes()[12:12+size], &told); err != nil {
			c.t.Fatal(err)
		}
		if told.Progress == nil {
			a.Result, a.Notes, a.Error, a.Kind = told.Result, told.Notes, told.Error, told.Kind
			return a
		}
	}
}

func (c *client) call(do string, with any, arrays ...pipe.Array) answer {
	c.t.Helper()
	c.send(do, with, arrays...)
	return c.receive()
}

// must is call; an error fails the test.
func (c *client) must(do string, with any, arrays ...pipe.Array) answer {
	c.t.Helper()
	a := c.call(do, with, arrays...)
	if a.Error != "" {
		c.t.Fatalf("%s: %s", do, a.Error)
	}
	return a
}

// list returns strings as two arrays.
func list(name, ends string, values ...string) []pipe.Array {
	var j joined
	for _, v := range values {
		j.add([]byte(v))
	}
	return j.arrays(name, ends)
}

type args map[string]any

// build indexes documents in a folder of the test, and opens the index.
func (c *client) build(more args, docs ...string) (number int) {
	c.t.Helper()
	with := args{"out": filepath.Join(c.t.TempDir(), "index"), "analyzer": "english"}
	for k, v := range more {
		with[k] = v
	}
	c.send("build", with)
	c.send("more", nil, list("texts", "ends", docs...)...)
	c.send("end", nil)
	if a := c.receive(); a.Error != "" {
		c.t.Fatal(a.Error)
	}
	var opened struct{ Index int }
	if err := json.Unmarshal(c.must("open", args{"path": with["out"]}).Result, &opened); err != nil {
		c.t.Fatal(err)
	}
	return opened.Index
}

// A * in a phrase is not a wildcard, and documents without fields make one a word. Notes say so,
// once for all queries of a call. A single query that finds nothing also tells which words are in
// no document.
func TestNotesOnQueries(t *testing.T) {
	c := newClient(t)
	number := c.build(args{"positions": true}, "cats sleep", "dogs bark")
	for query, want := range map[string]int{`"cats sle*"`: 1, `"cats sleep" do*`: 0, "titel:sleep": 1} {
		lacks := want // the words sle and titel:sleep
		if a := c.must("search", args{"index": number, "k": 1, "query": query, "syntax": true}); len(a.Notes) != want+lacks {
			t.Errorf("%s: notes %q, want %d", query, a.Notes, want+lacks)
		}
		many := c.must("search", args{"index": number, "k": 1, "syntax": true},
			list("texts", "ends", query, "cat", query)...)
		if len(many.Notes) != want {
			t.Errorf("%s twice: notes %q, want %d", query, many.Notes, want)
		}
	}
	if a := c.must("search", args{"index": number, "k": 1, "query": `"cats sle*"`}); len(a.Notes) > 0 {
		t.Errorf("plain text: notes %q, want none", a.Notes)
	}
	a := c.must("search", args{"index": number, "k": 1, "query": "sleap", "mode": "and"})
	if len(a.Notes) != 1 || a.Notes[0] != `no document has the word "sleap" (did you mean sleep?)` {
		t.Errorf("a misspelled word: notes %q", a.Notes)
	}
}

func TestBuildAndSearch(t *testing.T) {
	c := newClient(t)
	number := c.build(args{"store_text": true}, "cats sleep", "dogs bark", "a cat and a dog")
	one := c.must("search", args{"index": number, "k": 10, "query": "cat"})
	if !strings.HasSuffix(string(one.Result), `"ids":["0","2"]}`) {
		t.Errorf("cat is in %s, want documents 0 and 2", one.Result)
	}
	// A batch gives the same hits as its queries one by one.
	queries := []string{"cat", "nothing", "dog bark", "sleep", "cat dog"}
	many := c.must("search", args{"index": number, "k": 2, "k1": 0.9, "b": 0}, list("texts", "ends", queries...)...)
	offsets, _ := pipe.Get[int64](many.Message, "offsets")
	docs, _ := pipe.Get[uint32](many.Message, "docs")
	scores, _ := pipe.Get[float32](many.Message, "scores")
	if len(offsets) != len(queries)+1 {
		t.Fatalf("offsets are %v, want %d", offsets, len(queries)+1)
	}
	for i, q := range queries {
		alone := c.must("search", args{"index": number, "k": 2, "k1": 0.9, "b": 0, "query": q})
		wantDocs, _ := pipe.Get[uint32](alone.Message, "docs")
		wantScores, _ := pipe.Get[float32](alone.Message, "scores")
		from, to := offsets[i], offsets[i+1]
		if int(to-from) != len(wantDocs) {
			t.Fatalf("%s: %d hits, want %d as for the query alone", q, to-from, len(wantDocs))
		}
		for j := range wantDocs {
			if docs[int(from)+j] != wantDocs[j] || scores[int(from)+j] != wantScores[j] {
				t.Errorf("%s: hit %d differs from that of the query alone", q, j)
			}
		}
	}
	two := pipe.NewArray("docs", []uint32{2, 0})
	strs := c.must("texts", args{"index": number}, two)
	texts, err := split(strs.Message, "strings", "ends")
	if err != nil || string(texts[1]) != "cats sleep" {
		t.Errorf("texts are %q, %v; want the second to be cats sleep", texts, err)
	}
	about := args{"index": number, "query": "dog", "size": 100}
	if a := c.must("snippets", about, two); !strings.Contains(string(a.Result), `"text":"a cat and a dog"`) {
		t.Errorf("snippets are %s, want the text of document 2", a.Result)
	}
	if a := c.must("explain", args{"index": number, "query": "dog", "model": "dph"},
		two); !strings.Contains(string(a.Result), `"word":"dog"`) {
		t.Errorf("explanations are %s, want the word dog", a.Result)
	}
	found := c.must("find", args{"index": number}, list("ids", "ends", "2", "x")...)
	if got, _ := pipe.Get[int64](found.Message, "docs"); got[0] != 2 || got[1] != -1 {
		t.Errorf("found %v, want 2 and -1", got)
	}
	c.must("close", args{"index": number})
	c.must("close", args{"index": number})
	if a := c.call("search", args{"index": number, "k": 1}, list("texts", "ends", "cat")...); a.Kind != "value" {
		t.Errorf("a closed index: %q of kind %q, want a value error", a.Error, a.Kind)
	}
}

// Candidates of a query are scored as in the whole index, and nothing else is found. Lists of them
// that do not fit the queries or the index are refused.
func TestCandidatesOnly(t *testing.T) {
	c := newClient(t)
	number := c.build(nil, "cats sleep", "dogs bark", "a cat and a dog")
	with := args{"index": number, "k": 3}
	texts := list("texts", "ends", "cat", "dog")
	within := func(docs []uint32, ends ...int64) []pipe.Array {
		return append(texts, pipe.NewArray("within", docs), pipe.NewArray("within_ends", ends))
	}
	all := c.must("search", with, texts...)
	allDocs, _ := pipe.Get[uint32](all.Message, "docs")
	allScores, _ := pipe.Get[float32](all.Message, "scores")
	some := c.must("search", with, within([]uint32{0, 1, 2}, 2, 3)...)
	offsets, _ := pipe.Get[int64](some.Message, "offsets")
	docs, _ := pipe.Get[uint32](some.Message, "docs")
	scores, _ := pipe.Get[float32](some.Message, "scores")
	if len(offsets) != 3 || offsets[1] != 1 || len(docs) != 2 || docs[0] != 0 || docs[1] != 2 {
		t.Fatalf("offsets %v, docs %v: want document 0 for cat and 2 for dog", offsets, docs)
	}
	if allDocs[0] != 0 || allDocs[3] != 2 || scores[0] != allScores[0] || scores[1] != allScores[3] {
		t.Errorf("scores %v: want those of %v, which are %v", scores, allDocs, allScores)
	}
	for what, arrays := range map[string][]pipe.Array{
		"an unknown document": within([]uint32{3}, 1, 1), "too few lists": within([]uint32{1}, 1),
		"falling ends": within([]uint32{0, 1}, 2, 1), "an end outside": within([]uint32{0}, 1, 2),
	} {
		if a := c.call("search", with, arrays...); a.Kind != "value" {
			t.Errorf("%s: %q of kind %q, want a value error", what, a.Error, a.Kind)
		}
	}
}

// Parameters of the wrong type are named, with what was expected.
func TestWrongTypesAreNamed(t *testing.T) {
	c := newClient(t)
	for want, with := range map[string]args{
		"search: k1: want a number, not a string":                                  {"k1": "x"},
		"search: k: want a whole number, not 1.5":                                  {"k": 1.5},
		"search: filter: want a string, not a list":                                {"filter": []string{"a"}},
		"search: syntax: want true or false, not a string":                         {"syntax": "yes"},
		`search: unknown name "foo": want ` + api.SearchQuestion.Names(api.Python): {"foo": 1},
		"search: show: not here: hits have a method for it":                        {"show": []string{"title"}},
		"search: threads=-1: want at least 0":                                      {"k": 1, "threads": -1},
	} {
		if a := c.call("search", with); a.Error != want || a.Kind != "value" {
			t.Errorf("%v: %q of kind %q, want %q", with, a.Error, a.Kind, want)
		}
	}
}

func TestMistakesAreErrors(t *testing.T) {
	c := newClient(t)
	number := c.build(nil, "cats sleep")
	query := list("texts", "ends", "cat")
	none := filepath.Join(t.TempDir(), "none")
	for name, call := range map[string]struct {
		do     string
		with   any
		arrays []pipe.Array
		want   string
		kind   string
	}{
		"unknown call": {"dance", nil, nil, "unknown call", "value"},
		"unknown name": {"search", args{"index": number, "kay": 1}, query, "kay", "value"},
		"k":            {"search", args{"index": number, "k": -1}, query, "k -1: want 0 or more", "value"},
		"mode":         {"search", args{"index": number, "k": 1, "mode": "xor"}, query, "xor", "value"},
		"model":        {"search", args{"index": number, "k": 1, "model": "tfx"}, query, "tfx", "value"},
		"no fields":    {"search", args{"index": number, "k": 1, "model": "bm25f"}, query, "no fields", "value"},
		"b":            {"search", args{"index": number, "k": 1, "b": 2}, query, "b", "value"},
		"k1 without":   {"search", args{"index": number, "k": 1, "model": "dph", "k1": 1}, query, "belong", "value"},
		"mu without":   {"search", args{"index": number, "k": 1, "mu": 1}, query, "belongs", "value"},
		"algorithm":    {"search", args{"index": number, "k": 1, "algorithm": "x"}, query, "x", "value"},
		"no texts":     {"search", args{"index": number, "k": 1}, nil, `"texts" is missing`, ""},
		"document": {"ids", args{"index": number},
			[]pipe.Array{pipe.NewArray("docs", []uint32{9})}, "document 9", "value"},
		"about document": {"explain", args{"index": number, "query": "x"},
			[]pipe.Array{pipe.NewArray("docs", []uint32{9})}, "document 9", "value"},
		"no text": {"snippets", args{"index": number, "query": "x", "size": 9},
			[]pipe.Array{pipe.NewArray("docs", []uint32{0})}, "store_text=True", "value"},
		"no folder": {"open", args{"path": none}, nil, none, "missing"},
		"no out":    {"build", nil, nil, "out is missing", "value"},
		"analyzer":  {"build", args{"out": none, "analyzer": "klingon"}, nil, "klingon", "value"},
		"no corpus": {"build", args{"out": none, "paths": []string{none}}, nil, none, "missing"},
		"no points": {"enrichment", args{"paths": []string{none}, "rounds": 2}, nil, none, "missing"},
		"rounds":    {"enrichment", args{"rounds": 1}, nil, "rounds 1: want 2 or more", "value"},
		"bins":      {"curve", args{"bins": 0}, nil, "steps 0: want 1 to 10000", "value"},
		"label": {"enrichment", args{"rounds": 2, "features": []string{"a"}}, []pipe.Array{
			pipe.NewArray("start", []int64{0, 0}), pipe.NewArray("to", []int32{}),
			pipe.NewArray("label", []int32{1})}, "label 1: want 0 to 0", "value"},
	} {
		a := c.call(call.do, call.with, call.arrays...)
		if !strings.Contains(a.Error, call.want) || a.Error == "" || a.Kind != call.kind {
			t.Errorf("%s: %q, %q; want %q, %q", name, a.Error, a.Kind, call.want, call.kind)
		}
	}
	// A duplicate ID, arrays that do not match, and text that is not UTF-8.
	for want, arrays := range map[string][]pipe.Array{
		"same ID":              append(list("texts", "ends", "a", "b"), list("ids", "id_ends", "x", "x")...),
		"1 IDs of 2 documents": append(list("texts", "ends", "a", "b"), list("ids", "id_ends", "x")...),
		"do not fall":          {pipe.NewArray("texts", []uint8("abc")), pipe.NewArray("ends", []int64{2, 1})},
		"UTF-8":                list("texts", "ends", "caf\xe9"),
	} {
		c.send("build", args{"out": none})
		c.send("more", nil, arrays...)
		c.send("end", nil)
		if a := c.receive(); !strings.Contains(a.Error, want) {
			t.Errorf("%q, want %q", a.Error, want)
		}
		if _, err := os.Stat(none); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the folder exists", want)
		}
	}
}

// A call that is cancelled while documents are still being sent leaves nothing behind.
func TestCancelledBuildLeavesNothing(t *testing.T) {
	mine, theirs := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- pipe.Answer(context.Background(), theirs, New("test").answer, kindOf) }()
	c := &client{t, mine}
	folder := t.TempDir()
	c.send("build", args{"out": filepath.Join(folder, "index")})
	c.send("more", nil, list("texts", "ends", "cats sleep")...)
	mine.Close()
	<-done
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("the folder has %v, %v; want nothing", left, err)
	}
}

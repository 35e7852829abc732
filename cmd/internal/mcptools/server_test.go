package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/points"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/vectors"
)

var papers = `{"id": "droplets", "title": "Droplets", "text": "lipid droplets store lipid", "year": 1990}
{"id": "membranes", "title": "Membranes", "text": "a membrane is made of lipid", "year": 2005}
{"id": "bacteria", "title": "Bacteria", "text": "bacteria move", "year": 2010}
{"id": "letters", "title": "Letters", "text": "na\u00efve \u20ac \ud83d\udc0b"}
{"id": "long", "title": "Long", "text": "` + filler + `"}
`

var filler = strings.Repeat("filler ", 60)

// offered returns options that offer everything, and the folder of the index.
func offered(t *testing.T) (Options, string) {
	t.Helper()
	dir := t.TempDir()
	corpus := filepath.Join(dir, "papers.jsonl")
	write(t, corpus, papers)
	analyzer, err := text.ParseAnalyzer("english")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList([]string{"title:text", "text:text", "year:number"})
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "papers.index")
	from := &text.Corpus{Paths: []string{corpus}, Options: text.Options{Schema: schema}}
	if err := index.Build(t.Context(), folder, from, index.BuildOptions{Analyzer: analyzer,
		StoreText: true}); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	o := Options{Indexes: following(t, "papers", s), Matrix: "papers.cooc", Words: matrix(t, dir, corpus),
		Points: "places.csv", Threads: 2}
	places := filepath.Join(dir, "places.csv")
	write(t, places, "x,y,type\n0,0,bar\n1,0,pub\n50,50,bar\n51,50,pub\n90,90,bank\n")
	in, err := points.ReadFile(places, points.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o.Places = in.Set
	if o.Vectors, err = vectors.New([]string{"lipid", "droplet", "cell"}, 2, []float32{1, 0, 1, 0.1, 0, 1}); err != nil {
		t.Fatal(err)
	}
	return o, folder
}

func write(t *testing.T, path, body string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}

func matrix(t *testing.T, dir, corpus string) *cooccur.Reader {
	t.Helper()
	path := filepath.Join(dir, "papers.cooc")
	analyzer, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	o := cooccur.Options{Window: 3, Weighting: cooccur.Count}
	var out *cooccur.File
	begin := func(v *cooccur.Vocabulary) (_ cooccur.Sink, err error) {
		out, err = cooccur.Create(path, cooccur.CSR, v, o)
		return out, err
	}
	from := &text.Corpus{Paths: []string{corpus}, Options: text.Options{Fields: []string{"text"}}}
	if _, _, err := cooccur.Make(t.Context(), from, cooccur.VocabularyOptions{Analyzer: analyzer},
		o, begin); err != nil {
		t.Fatal(err)
	}
	if err := out.Commit(); err != nil {
		t.Fatal(err)
	}
	r, err := cooccur.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// following offers an index.
func following(t *testing.T, name string, s *search.Searcher) func() []Source {
	x := Follow(s)
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return func() []Source { return []Source{{Name: name, Read: x.Read}} }
}

// client returns a client of the SDK, connected through a pipe in memory.
func client(t *testing.T, o Options) *mcp.ClientSession {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	calls, toServer := io.Pipe()
	answers, toClient := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, Lines(calls, toClient)) }()
	caller := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	c, err := caller.Connect(ctx, &mcp.IOTransport{Reader: answers, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		cancel()
		<-done
	})
	return c
}

// call calls a tool and returns its answer as text.
func call(t *testing.T, c *mcp.ClientSession, tool string,
	args map[string]any) (answer string, failed bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	if !r.IsError {
		structured, err := json.Marshal(r.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		if err := fits(c, tool, r.StructuredContent); err != nil {
			t.Errorf("%s %v: the answer %s does not fit the schema of the tool: %v", tool, args, structured, err)
		}
		return string(structured), false
	}
	return r.Content[0].(*mcp.TextContent).Text, true
}

// schemas has those of the tools, which are the same in all tests.
var schemas sync.Map

// fits compares an answer with the schema that the tool has for it, as clients do.
func fits(c *mcp.ClientSession, name string, answer any) error {
	if checked, ok := schemas.Load(name); ok {
		return checked.(*jsonschema.Resolved).Validate(answer)
	}
	for tool, err := range c.Tools(context.Background(), nil) {
		if err != nil || tool.Name != name {
			continue
		}
		text, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			return err
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(text, &schema); err != nil {
			return err
		}
		checked, err := schema.Resolve(nil)
		if err != nil {
			return err
		}
		schemas.Store(name, checked)
		return checked.Validate(answer)
	}
	return fmt.Errorf("no tool %s", name)
}

// A question that assistants can ask is a tool, with an argument for each of its parameters. The
// guide names it.
func TestQuestionsAreTools(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/assistants.md")
	if err != nil {
		t.Fatal(err)
	}
	_, about, _ := strings.Cut(string(guide), "\n## Tools\n")
	about, _, _ = strings.Cut(about, "\n## ")
	o, _ := offered(t)
	list, err := client(t, o).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]map[string]any{}
	for _, tool := range list.Tools {
		tools[tool.Name], _ = tool.InputSchema.(map[string]any)["properties"].(map[string]any)
	}
	for _, q := range api.Questions() {
		args, has := tools[q.In(api.MCP)]
		if want := q.Without(api.MCP) == ""; has != want {
			t.Errorf("there is a tool %s: %v, want %v", q.In(api.MCP), has, want)
			continue
		}
		if name := q.In(api.MCP); has && !strings.Contains(about, "`"+name+"`") {
			t.Errorf("docs/assistants.md does not name the tool %s", name)
		}
		for _, p := range q.Params() {
			if _, ok := args[p.Name]; has && ok != (p.Without(api.MCP) == "") {
				t.Errorf("%s has an argument %s: %v", q.In(api.MCP), p.Name, ok)
			}
		}
	}
}

// A call that names no measure gets the default, whatever a call before it has named.
func TestCallsDoNotChangeDefaults(t *testing.T) {
	o, _ := offered(t)
	c := client(t, o)
	usual, _ := call(t, c, "company", map[string]any{"words": "lipid"})
	if other, _ := call(t, c, "company", map[string]any{"words": "lipid", "by": "mi"}); other == usual {
		t.Fatalf("by mi: %s, the same as by logdice", other)
	}
	if again, _ := call(t, c, "company", map[string]any{"words": "lipid"}); again != usual {
		t.Errorf("after a call with by mi, the default gives\n%s\nwant\n%s", again, usual)
	}
}

func TestTools(t *testing.T) {
	o, _ := offered(t)
	c := client(t, o)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if !tool.Annotations.ReadOnlyHint || tool.InputSchema == nil || tool.OutputSchema == nil {
			t.Errorf("%s lacks a schema or the hint that it only reads", tool.Name)
		}
	}
	for _, x := range []struct {
		tool string
		args map[string]any
		want string // a part of the answer
		bad  bool
	}{
		{"search", map[string]any{"query": "lipids store"},
			`{"end":35,"fields":{"text":"lipid droplets store lipid","title":"Droplets","year":1990},"id":"droplets","rank":1,`, false},
		{"search", map[string]any{"query": "lipids store"},
			`"snippet":"Droplets **lipid** droplets **store** **lipid**"`, false},
		{"search", map[string]any{"query": "filler"},
			`"fields":{"title":"Long"},"id":"long","long_fields":["text"],`, false},
		{"search", map[string]any{"query": "filler", "fields": []string{"text"}},
			`"fields":{"text":"filler filler`, false},
		{"search", map[string]any{"query": "+lipid -droplets"}, `"total":1`, false},
		{"search", map[string]any{"query": "title:membranes"}, `"id":"membranes"`, false},
		{"search", map[string]any{"query": "lipid move", "mode": "and"}, `"hits":[]`, false},
		{"search", map[string]any{"query": "lipid", "from": 1}, `"rank":2`, false},
		{"search", map[string]any{"query": "lipid", "k": 101}, "want 0 to 100", true},
		{"search", map[string]any{"query": "lipid", "k": -1}, "k -1: want 0 to 100", true},
		{"search", map[string]any{"query": "lipid", "limit": 5}, "limit", true},
		// A part of the query for a field is one of several; those of a filter must all match.
		{"search", map[string]any{"query": "lipid year:[2000 TO 2010]"}, `"total":3`, false},
		{"search", map[string]any{"query": "lipid year:[2000 TO 2010]"},
			`"notes":["year:[2000 TO 2010] is one of several parts, any of which may match`, false},
		{"search", map[string]any{"query": "lipid +year:[2000 TO 2010]"},
			`bacteria move","start":0}],"query":"lipid +year:[2000 TO 2010]","total":2`, false},
		{"search", map[string]any{"query": "lipid", "filter": "year:[2000 TO 2010]"},
			`"query":"lipid AND #year:[2000 TO 2010]","total":1`, false},
		{"search", map[string]any{"query": "lipid", "filter": "year:[1990 TO 2010] title:membranes"},
			`"id":"membranes"`, false},
		{"search", map[string]any{"query": "lipid", "filter": "year:[1990 TO 1995] title:membranes"},
			`"total":0`, false},
		{"search", map[string]any{"query": "(lipid", "plain": true, "filter": "title:membranes"},
			`"total":1`, false},
		{"search", map[string]any{"query": "lipid move", "mode": "and", "filter": "year:>1"},
			`"total":0`, false},
		{"search", map[string]any{"query": "lipid", "filter": "year:("}, "filter", true},
		{"search", map[string]any{"query": "lipid", "expand": "bo1", "filter": "year:[1980 TO 2010] -title:droplets"},
			`"total":1`, false},
		{"search", map[string]any{"query": "lipid", "from": -1}, "from -1", true},
		{"search", map[string]any{"query": "lipid", "mode": "xor"}, "xor", true},
		{"search", map[string]any{"query": "(lipid"}, "set plain to treat operators", true},
		{"search", map[string]any{"query": "(lipid", "plain": true}, `"total":2`, false},
		{"search", map[string]any{"query": "lipid", "fields": []string{"nothing"}}, "nothing",
			true},
		{"search", map[string]any{}, "q: it is empty", true},
		{"search", map[string]any{"query": " "}, "q: it is empty", true},
		// What finds nothing is explained.
		{"search", map[string]any{"query": "dropplets"},
			`"notes":["no document has the word \"dropplets\" (did you mean droplet?)"]`, false},
		{"search", map[string]any{"query": "zz*"}, `"notes":["no word begins with \"zz\""]`, false},
		{"search", map[string]any{"query": "?!"}, `"notes":["nothing is left of the query`, false},
		{"search", map[string]any{"query": "lipid", "filter": "year:1066"}, `"notes":["no document has`,
			false},
		{"search", map[string]any{"query": "yaer:1990"}, `no field "yaer"`, true},
		{"search", map[string]any{"query": "*", "filter": "year:1990"}, `"total":1`, false},
		// An answer keeps within a budget, and says how to go on.
		{"search", map[string]any{"query": "lipid", "tokens": 90}, `"next_from":1,"notes":["1 hits are left out to stay within 90 tokens: from 1 goes on"]`, false},
		{"search", map[string]any{"query": "lipid", "tokens": 9}, `"hits":[],"notes":["not even the first hit is within 9 tokens`, false},
		{"search", map[string]any{"query": "lipid", "k": 1}, `"next_from":1`, false},
		{"search", map[string]any{"query": "lipid", "snippet_count": 2}, `"id":"droplets"`, false},
		{"search", map[string]any{"query": "lipid", "index": "papers"}, `"total":2`, false},
		{"search", map[string]any{"query": "lipid", "index": "letters"}, `no index "letters": want one of papers`, true},
		{"search", map[string]any{"query": "lipid", "index": 7}, `index: want the name of an index`, true},
		{"search", map[string]any{"query": "lipid", "collapse": "best"}, "the index has no passages", true},
		{"describe", map[string]any{"examples": 1}, `{"analyzer":"english","documents":5,"examples":[{"fields":{"text":"lipid droplets store lipid",`, false},
		{"describe", map[string]any{}, `{"docs":3,"high":2010,"low":1990,"name":"year","query":"year:\u003e=1990","type":"number"}`, false},
		{"document", map[string]any{"id": "bacteria"}, `"fields":{"text":"bacteria move","title":"Bacteria","year":2010}`, false},
		{"document", map[string]any{"id": "bacteria", "tokens": 1}, `"next":1,"size":22,"start":0,"text":"B"}`, false},
		{"document", map[string]any{"id": "long", "around": 200, "bytes": 20}, `"start":19`, false},
		{"document", map[string]any{"id": "long", "around": 200, "start": 5}, "start is for whole texts", true},
		{"document", map[string]any{"id": "bacteria"}, `bacteria move`, false},
		{"document", map[string]any{"id": "bacteria", "bytes": 4}, `"next":4`, false},
		{"document", map[string]any{"id": "zebra"}, `no document "zebra"`, true},
		{"document", map[string]any{"id": "bacteria", "start": 1000}, "start 1000", true},
		{"document", map[string]any{"id": "bacteria", "bytes": 0}, "bytes 0: want 1", true},
		{"concordance", map[string]any{"query": "lipids", "sort": []string{"L1"}}, `"total":3`,
			false},
		{"concordance", map[string]any{"query": "zebra"}, `"lines":[]`, false},
		{"concordance", map[string]any{"query": "lipid", "sample": -1}, "sample -1", true},
		{"concordance", map[string]any{"query": "lipid", "window": 51}, "want 1 to 50", true},
		{"concordance", map[string]any{"query": "lipid", "sort": []string{"X9"}}, "X9", true},
		{"company", map[string]any{"word": "droplets"},
			`{"words":[{"by":"logdice","count":1,"docs":1,"neighbours":[{"count":3,"id":1,"score":14,"value":2,"word":"lipid"},{"count":1,"id":11,"score":14,"value":1,"word":"store"}],"rank":5,"total":2,"word":"droplets"}]}`, false},
		{"collocations", map[string]any{"min_count": 1, "min_docs": 1, "of": "lipid", "by": []string{"g2", "mi"}},
			`"word1":"lipid"`, false},
		{"collocations", map[string]any{"window": 0}, "window 0: want 1", true},
		{"ngrams", map[string]any{"n": "2", "min_count": 1, "of": "droplets"}, `"ngram":"lipid droplet"`, false},
		{"ngrams", map[string]any{"n": "0"}, "n 0: want a number of words", true},
		{"wordlist", map[string]any{"top": 1}, `"list":[{"count":`, false},
		{"wordlist", map[string]any{"top": 501}, "want 0 to 500", true},
		{"keywords", map[string]any{"q": "lipid", "top": 1, "by": "g2", "min_count": 1}, `"word":"lipid"}]`, false},
		{"keywords", map[string]any{"q": "lipid"}, "no word occurs 5 times in both together: a smaller min_count", false},
		{"keywords", map[string]any{"q": "zebra"}, "nothing to compare", true},
		{"keywords", map[string]any{"q": strings.Repeat("zebra ", 2000)}, "want at most 8192", true},
		{"dispersion", map[string]any{"of": "droplets", "parts": 2}, `"bars":[2,0],"count":2,`, false},
		{"dispersion", map[string]any{"of": "zebra"}, "zebra", true},
		{"analyze", map[string]any{"text": "createTask", "analyzer": "code | parts"}, `"word":"Task"`, false},
		{"analyze", map[string]any{"text": "x", "analyzer": "words | stop(@/etc/passwd)"}, "is a file", true},
		{"search", map[string]any{"q": "zebra", "synonyms": "zebra, droplets"}, "droplets", false},
		{"words", map[string]any{"prefix": "li", "limit": 1}, `"word":"lipid"`, false},
		{"similar", map[string]any{"words": []string{"lipid", "cell"}, "top": 1},
			`{"words":[{"similar":[{"cosine":0.995`, false},
		{"similar", map[string]any{"word": "lipids"}, "did you mean lipid?", true},
		{"analogy", map[string]any{"a": "lipid", "b": "droplet", "c": "cell"}, `{"similar":[]}`, false},
		{"analogy", map[string]any{"a": "lipid"}, "want the words a, b and c", true},
		{"company", map[string]any{"word": "droplets", "by": "g2", "top": 1}, `"by":"g2"`, false},
		{"company", map[string]any{"word": "zebra"}, "zebra", true},
		{"company", map[string]any{"word": "droplets*"}, "droplets*", true},
		{"company", map[string]any{"word": "droplets", "min_count": -1}, "min_count -1", true},
		{"company", map[string]any{"word": "droplets", "by": "guess"}, "npmi", true},
		{"places", map[string]any{"distance": 2},
			`{"features":["bar","pub"],"participation":{"bar":{"points":2,"total":2},"pub":{"points":2,"total":2}},"participation_index":1}`, false},
		{"places", map[string]any{"distance": []int{1, 2}, "rules": true}, `"runs":[{"distance":1,`, false},
		{"places", map[string]any{"distance": "auto"}, `"notes":["distance `, false},
		{"places", map[string]any{"knn": 1, "regions": "2x1"}, `"total":`, false},
		{"places", map[string]any{"distance": 2, "x": "lon"}, "x: not here: the server has read the points", true},
		{"places_pairs", map[string]any{"knn": 1, "of": []string{"bar"}, "near": []string{"pub"}},
			`{"pairs":[{"near":"pub","of":"bar","p_value":`, false},
		{"places_pairs", map[string]any{}, "want distance or knn", true},
		{"places_curve", map[string]any{"of": []string{"bar"}, "near": []string{"pub"}, "steps": 2, "rounds": 9},
			`"curves":[{"a":"bar",`, false},
		{"places", map[string]any{"distance": 2, "with": []string{"bank"}}, `"patterns":[]`, false},
		{"places", map[string]any{"distance": 2, "with": []string{"zoo"}}, "zoo", true},
		{"places", map[string]any{"distance": -1}, "distance -1: want 0 or more", true},
		{"places", map[string]any{}, "want distance or knn", true},
		{"places", map[string]any{"distance": 2, "min_prevalence": 2}, "prevalence", true},
		{"places", map[string]any{"distance": 2, "min_prevalence": 0}, "prevalence", true},
		{"search", map[string]any{"query": `"lipid droplets"`}, "with them (positions)", true},
		{"places_summary", nil, "say crs=EPSG:4326", false},
		{"places_summary", nil, `"features":[{"feature":"bar","points":2},`, false},
	} {
		answer, bad := call(t, c, x.tool, x.args)
		if bad != x.bad || !strings.Contains(answer, x.want) {
			t.Errorf("%s %v: %s (error %v), want %s", x.tool, x.args, answer, bad, x.want)
		}
	}
}

// A document of several with the same ID says so.
func TestDocumentsWithTheSameID(t *testing.T) {
	dir := t.TempDir()
	corpus, folder := filepath.Join(dir, "twice.jsonl"), filepath.Join(dir, "ix")
	write(t, corpus, `{"id": "a", "text": "moon"}`+"\n"+`{"id": "a", "text": "sun"}`+"\n")
	if err := index.Build(t.Context(), folder, &text.Corpus{Paths: []string{corpus}},
		index.BuildOptions{StoreText: true, AllowDuplicateIDs: true}); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := client(t, Options{Indexes: following(t, "twice", s)})
	answer, bad := call(t, c, "document", map[string]any{"id": "a"})
	if bad || !strings.Contains(answer, "2 documents have this ID: this is the first") {
		t.Errorf("answer %s, want a note", answer)
	}
}

// A document can be read in parts of any size, and no letter is split.
func TestDocumentInParts(t *testing.T) {
	o, _ := offered(t)
	c := client(t, o)
	const want = "na\u00efve \u20ac \U0001f40b"
	for bytes := 1; bytes < 8; bytes++ {
		var all strings.Builder
		for next, calls := 0, 0; ; calls++ {
			var part documentResult
			answer, bad := call(t, c, "document", map[string]any{"id": "letters", "start": next,
				"bytes": bytes})
			if err := json.Unmarshal([]byte(answer), &part); bad || err != nil || calls > len(want)+8 {
				t.Fatalf("%d bytes from %d: %s", bytes, next, answer)
			}
			all.WriteString(part.Text)
			if next = part.Next; next == 0 {
				break
			}
		}
		if got := all.String(); !strings.HasSuffix(got, want) {
			t.Errorf("in parts of %d bytes the text is %q, want %q", bytes, got, want)
		}
	}
	answer, bad := call(t, c, "document", map[string]any{"id": "letters", "start": 11})
	if !bad || !strings.Contains(answer, "start 11 is inside a letter: want 10") {
		t.Errorf("a start inside a letter: %s", answer)
	}
}

// Tools without data are not offered.
func TestOffersOnlyWhatHasData(t *testing.T) {
	o, _ := offered(t)
	o.Indexes, o.Vectors, o.Places = nil, nil, nil
	list, err := client(t, o).ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 2 || list.Tools[0].Name != "company" || list.Tools[1].Name != "words" {
		t.Errorf("the tools are %+v, %v; want those of a matrix only", list, err)
	}
	if _, err := New(Options{}); err == nil {
		t.Error("New accepted options that offer nothing")
	}
}

// A call that takes too long ends with an error.
func TestCallsAreLimited(t *testing.T) {
	o, _ := offered(t)
	o.Time = time.Nanosecond
	answer, bad := call(t, client(t, o), "search", map[string]any{"query": "lipid"})
	if !bad || !strings.Contains(answer, "took longer than 1ns") {
		t.Errorf("a call beyond the limit: %s", answer)
	}
}

// When the server ends, so do its calls, and Run waits for them.
func TestCallsEndWithTheServer(t *testing.T) {
	m := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	ctx, stop := context.WithCancel(t.Context())
	began, ended := make(chan bool), false
	mcp.AddTool(m, tool[struct{}]("wait", "Wait", "Wait."), func(call context.Context,
		_ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, struct{}, error) {
		close(began)
		<-call.Done()
		ended = true
		return nil, struct{}{}, call.Err()
	})
	calls, toServer := io.Pipe()
	go io.WriteString(toServer, strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{}}}`, ""}, "\n"))
	done := make(chan error, 1)
	go func() { done <- run(ctx, m, Lines(calls, io.Discard)) }()
	<-began
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) || !ended {
		t.Errorf("Run returned %v, and the call has ended: %v", err, ended)
	}
}

// Added documents are found by the next call.
func TestNewDocumentsAreFound(t *testing.T) {
	o, folder := offered(t)
	c := client(t, o)
	for _, id := range []string{"one", "two"} {
		w, err := segments.NewWriter(folder, segments.Options{})
		if err != nil {
			t.Fatal(err)
		}
		corpus := filepath.Join(t.TempDir(), "more.jsonl")
		write(t, corpus, `{"id": "`+id+`", "title": "Zebra `+id+`", "text": "a zebra"}`)
		if _, _, err := w.AddCorpus(t.Context(), &text.Corpus{Paths: []string{corpus}},
			index.BuildOptions{StoreText: true}); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		answer, _ := call(t, c, "search", map[string]any{"query": "zebra"})
		if !strings.Contains(answer, `"id":"`+id+`"`) {
			t.Errorf("%s was not found: %s", id, answer)
		}
	}
}

package mcptools

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// guide is a document whose passages are hits.
const guide = "# Guide\n\nRead this first of all.\n\n## Install\n\nTake the package and unpack it.\n\n## Use\n\nSearch for words, then read on.\n"

// several offers the papers and a guide in passages, and lists what was asked over HTTP.
func several(t *testing.T) Options {
	t.Helper()
	o, _ := offered(t)
	dir := t.TempDir()
	corpus := filepath.Join(dir, "guide.jsonl")
	body, _ := json.Marshal(guide)
	write(t, corpus, `{"id": "docs/the guide.md", "contents": `+string(body)+`}`+"\n"+`{"id": "empty.md", "contents": "nothing here"}`+"\n")
	cut, err := fields.Passages{Words: 8}.Cut(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := indexed(t, corpus, cut)
	papers, guides := o.Indexes()[0], following(t, "guide", s)()[0]
	guides.About = "How to use it."
	o.Indexes = func() []Source { return []Source{papers, guides} }
	return o
}

// overHTTP returns a client that is connected over HTTP.
func overHTTP(t *testing.T, o Options) (*mcp.ClientSession, string) {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: server.URL, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, server.URL
}

// Of several indexes a call names one, and is told which there are; both transports say the same.
func TestSeveralIndexes(t *testing.T) {
	o := several(t)
	web, _ := overHTTP(t, o)
	for _, c := range []*mcp.ClientSession{client(t, o), web} {
		about := c.InitializeResult().Instructions
		for _, want := range []string{"papers: 5 documents, analyzer english; fields title (text), text (text), year (number).",
			"guide: How to use it; 4 passages of documents, analyzer unicode; fields "} {
			if !strings.Contains(about, want) {
				t.Errorf("instructions %s: want %s", about, want)
			}
		}
		for _, x := range []struct {
			tool string
			args map[string]any
			want string
			bad  bool
		}{
			{"search", map[string]any{"q": "lipid"}, "index is missing: want one of papers, guide", true},
			{"search", map[string]any{"q": "lipid", "index": "papers"}, `"id":"droplets"`, false},
			{"search", map[string]any{"q": "package", "index": "guide"}, `"passage":{"document":"docs/the guide.md","end":`, false},
			{"search", map[string]any{"q": "package", "index": "guide"}, `"heading":"Guide \u003e Install","number":2,"of":3`, false},
			{"search", map[string]any{"q": "read", "index": "guide", "collapse": "sum"}, `"total":1`, false},
			{"document", map[string]any{"id": "docs/the guide.md", "index": "guide"}, `"text":"# Guide\n\nRead this first`, false},
			{"document", map[string]any{"id": "docs/the guide.md", "index": "guide", "around": 60, "bytes": 9}, `"heading":"Guide`, false},
			{"document", map[string]any{"id": "docs/the guide.md#2", "index": "guide"}, `"heading":"Guide \u003e Install"`, false},
			{"document", map[string]any{"id": "docs/the guide.md#2", "index": "guide", "neighbours": 1}, `Search for words`, false},
			// Sizes and offsets are those of the document, also of a passage and of its neighbours.
			{"document", map[string]any{"id": "docs/the guide.md#2", "index": "guide"}, `"size":119,"start":34`, false},
			{"document", map[string]any{"id": "docs/the guide.md#2", "index": "guide", "start": 79}, `"start":79,"text":"## Use`, false},
			{"document", map[string]any{"id": "docs/the guide.md#2", "index": "guide", "neighbours": 1, "start": 79}, `"text":"## Use`, false},
			{"document", map[string]any{"id": "docs/the guide.md#2", "index": "guide", "around": 60, "bytes": 9}, `"id":"docs/the guide.md"`, false},
			// A budget has the passage first.
			{"document", map[string]any{"id": "docs/the guide.md#2", "index": "guide", "neighbours": 1, "bytes": 44}, `"heading":"Guide \u003e Install","id":"docs/the guide.md#2","next":78`, false},
			{"document", map[string]any{"id": "docs/the guide.md#2", "index": "guide", "neighbours": 1, "bytes": 60}, `"heading":"Guide","id":"docs/the guide.md#2","next":87`, false},
			{"describe", map[string]any{"index": "guide"}, `"passages":true`, false},
			{"wordlist", map[string]any{"index": "guide", "top": 1}, `"list":[`, false},
			{"wordlist", map[string]any{"top": 1}, "index is missing", true},
			{"company", map[string]any{"word": "droplets"}, `"word":"lipid"`, false},
		} {
			answer, bad := call(t, c, x.tool, x.args)
			if bad != x.bad || !strings.Contains(answer, x.want) {
				t.Errorf("%s %v: %s (error %v), want %s", x.tool, x.args, answer, bad, x.want)
			}
		}
	}
}

// Documents with vectors are found by them, beside words and alone, and hits can be quoted.
func TestSearchByMeaning(t *testing.T) {
	o, _ := offered(t)
	dir := t.TempDir()
	corpus := filepath.Join(dir, "v.jsonl")
	write(t, corpus, `{"id": "cat", "text": "a cat on a mat", "v": [0.9, 0.1, 0]}`+"\n"+
		`{"id": "dog", "text": "the dog barks", "v": [0.2, 0.9, 0.1]}`+"\n")
	schema, err := fields.ParseList([]string{"text:text", "v:vector:3"})
	if err != nil {
		t.Fatal(err)
	}
	if schema, err = (fields.Passages{Words: 8}).Cut(schema); err != nil {
		t.Fatal(err)
	}
	s := indexed(t, corpus, schema)
	o.Indexes = following(t, "v", s)
	web, _ := overHTTP(t, o)
	for _, c := range []*mcp.ClientSession{client(t, o), web} {
		for _, x := range []struct {
			args map[string]any
			want string
			bad  bool
		}{
			{map[string]any{"vector": []float64{1, 0, 0}, "k": 1}, `"end":14,"fields":{"text":"a cat on a mat"},"id":"cat#1"`, false},
			{map[string]any{"q": "dog", "vector": []float64{1, 0, 0}, "word_weight": 5, "k": 1}, `"snippet":"the **dog** barks","start":0`, false},
			{map[string]any{"like": "dog#1", "k": 1}, `"passage":{"document":"dog","end":13`, false},
			{map[string]any{"vector": []float64{1, 0}}, "want 3", true},
			{map[string]any{"q": "dog", "encode": "also"}, "encoder", true},
		} {
			answer, bad := call(t, c, "search", x.args)
			if bad != x.bad || !strings.Contains(answer, x.want) {
				t.Errorf("%v: %s (error %v), want %s", x.args, answer, bad, x.want)
			}
		}
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		said := false
		for _, tool := range list.Tools {
			said = said || tool.Name == "search" && strings.Contains(tool.Description, "found by meaning")
		}
		if !said {
			t.Error("the search tool does not say that documents have vectors")
		}
	}
}

// Documents are resources: each is listed once, in pages, and can be read by its address.
func TestResources(t *testing.T) {
	o := several(t)
	c := client(t, o)
	texts := map[string]string{}
	for r, err := range c.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := texts[r.URI]; twice {
			t.Errorf("%s is listed twice", r.URI)
		}
		read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URI})
		if err != nil {
			t.Fatalf("%s: %v", r.URI, err)
		}
		texts[r.URI] = read.Contents[0].Text
	}
	if len(texts) != 2+5+2 {
		t.Errorf("%d resources, want two indexes with five and two documents", len(texts))
	}
	if got := texts["collocate://guide/docs/the%20guide.md"]; got != guide {
		t.Errorf("the guide is %q", got)
	}
	if got := texts["collocate://papers"]; !strings.Contains(got, `"documents":5`) {
		t.Errorf("the index is %q", got)
	}
	for _, uri := range []string{"collocate://guide/nothing", "collocate://nowhere/a", "collocate://", "file:///etc/passwd"} {
		if r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s can be read: %v", uri, r.Contents[0].Text)
		}
	}
	if _, err := c.ListResources(t.Context(), &mcp.ListResourcesParams{Cursor: "x"}); err == nil || !strings.Contains(err.Error(), "cursor") {
		t.Errorf("a wrong cursor: %v", err)
	}
	templates, err := c.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 1 {
		t.Errorf("templates %v, %v", templates, err)
	}
}

// Long lists of documents come in pages.
func TestResourcesInPages(t *testing.T) {
	dir := t.TempDir()
	corpus, folder := filepath.Join(dir, "many.txt"), filepath.Join(dir, "ix")
	write(t, corpus, strings.Repeat("a line\n", 2*pageOfList+7))
	if err := index.Build(t.Context(), folder, &text.Corpus{Paths: []string{corpus}}, index.BuildOptions{StoreText: true}); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := client(t, Options{Indexes: following(t, "many", s)})
	first, err := c.ListResources(t.Context(), nil)
	if err != nil || len(first.Resources) != pageOfList+1 || first.NextCursor == "" {
		t.Fatalf("the first page: %v, %v", first, err)
	}
	n := 0
	for _, err := range c.Resources(t.Context(), nil) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 2*pageOfList+7+1 {
		t.Errorf("%d resources, want %d", n, 2*pageOfList+8)
	}
}

func TestPrompts(t *testing.T) {
	c := client(t, several(t))
	list, err := c.ListPrompts(t.Context(), nil)
	if err != nil || len(list.Prompts) != 2 {
		t.Fatalf("prompts %v, %v", list, err)
	}
	got, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "answer", Arguments: map[string]string{"question": "What is stored?", "index": "papers"}})
	if err != nil || !strings.Contains(got.Messages[0].Content.(*mcp.TextContent).Text, `index "papers" only: What is stored?`) {
		t.Errorf("answer: %v, %v", got, err)
	}
	for _, args := range []map[string]string{{"question": "why"}, {"index": "papers"}, {"question": "why", "index": "x"}} {
		if _, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "answer", Arguments: args}); err == nil {
			t.Errorf("answer accepts %v", args)
		}
	}
}

// What is no message is answered over HTTP, too, and bodies are bounded.
func TestBadRequests(t *testing.T) {
	_, url := overHTTP(t, several(t))
	send := func(body string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	if got := send("this is no message"); got != http.StatusBadRequest {
		t.Errorf("garbage has status %d", got)
	}
	if got := send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", maxBody) + `"}}`); got != http.StatusRequestEntityTooLarge {
		t.Errorf("a long body has status %d", got)
	}
	if got := send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); got != http.StatusOK {
		t.Errorf("a call after garbage has status %d", got)
	}
}

// indexed returns an index of a corpus whose text is stored.
func indexed(t *testing.T, corpus string, schema *fields.Schema) *search.Searcher {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	if err := index.Build(t.Context(), dir, &text.Corpus{Paths: []string{corpus}, Options: text.Options{Schema: schema}},
		index.BuildOptions{StoreText: true}); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

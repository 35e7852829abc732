package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/serve"
	"github.com/collocate/collocate/text"
)

// A server answers assistants at /mcp, with the same checks as other requests.
func TestAssistantsOverHTTP(t *testing.T) {
	dir := t.TempDir()
	corpus := &text.Corpus{Paths: []string{dir + "/moon.jsonl"}}
	if err := os.WriteFile(corpus.Paths[0], []byte(`{"id": "a", "text": "the moon"}`+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := index.Build(t.Context(), dir+"/ix", corpus, index.BuildOptions{StoreText: true}); err != nil {
		t.Fatal(err)
	}
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	o := serve.Options{Tokens: []serve.Token{{Secret: "s3cret"}}, Limits: serve.Limits{Time: time.Minute}}
	o.MCP = func(v *serve.Server) http.Handler { return a.assistants(v, &o, nil) }
	server := serve.New(nil, o)
	defer server.Close()
	if err := server.Open(t.Context(), "sky", dir+"/ix"); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"q":"moon"}}}`
	for _, x := range []struct {
		name, body string
		header     map[string]string
		status     int
		want       string
	}{
		{"a call", call, nil, 200, `"id":"a"`},
		{"no token", call, map[string]string{"Authorization": ""}, 401, "no_token"},
		{"a page of another site", call, map[string]string{"Origin": "https://evil.example"}, 403, "may not send requests"},
		{"another host", call, map[string]string{"Host": "evil.example"}, 421, "wrong_host"},
		{"garbage", "garbage", nil, 400, ""},
		{"the list", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil, 200, `"name":"describe"`},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL+"/mcp", strings.NewReader(x.body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Authorization": "Bearer s3cret"} {
			r.Header.Set(k, v)
		}
		for k, v := range x.header {
			r.Header.Set(k, v)
		}
		r.Host = x.header["Host"]
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != x.status || !strings.Contains(string(body), x.want) {
			t.Errorf("%s: status %d, %s, %v; want %d and %s", x.name, answer.StatusCode, body, err, x.status, x.want)
		}
	}
	if err := server.Read("nothing", func(*search.Searcher) error { return nil }); err == nil {
		t.Error("an index that is not served can be read")
	}
}

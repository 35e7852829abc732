package main

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/collocate/collocate/api"
)

// Each flag of search is sent to a server, is used by the client, or is refused by an error that
// names it.
func TestFlagsOfSearchWithAServer(t *testing.T) {
	// Values of parameters that would not take one of their kind, as asked below.
	values := map[string]string{"field_weights": "title=3,body=1", "facet": "lang:5,year", "sort": "year:desc",
		"expand": "rm3:terms=5", "proximity": "sdm", "boost": "log(views, 9)", "synonyms": "none", "sparse": `{"a":2}`}
	ofKind := map[api.Kind]string{api.Text: "x", api.List: "x,y", api.Whole: "2", api.Number: "0.5",
		api.Switch: "true", api.Numbers: "1,-2.5"}
	sent := map[string]*api.Param{}
	for _, p := range api.SearchQuestion.At(api.Command) {
		if p.Without(api.HTTP) == "" {
			sent[p.Flag] = p
		}
	}
	used := []string{"token-file", "json", "quiet", "verbose", "all", "vector-of"}
	refused := []string{
		"topics", "sparse-of", "topic-field", "topic-ids", "encoding", "query-language", "run", "tag", "batch",
		"partition", "partition-size", "partitions", "policy", "slack", "recall",
		"block-threads", "slice", "insert", "start-threshold", "compressed",
		"engine", "threads", "memory", "device", "more-devices", "gpu-memory",
		"encoder", "encoder-model", "encoder-prefix", "embed", "reranker", "reranker-model", "cache", "cache-size", "generation",
	}
	var asked []url.Values
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query())
		io.WriteString(w, "{}")
	}))
	defer server.Close()
	search := func(flags ...string) (url.Values, error) {
		asked = nil
		args := append([]string{"search", server.URL, "cat"}, flags...)
		a := newApp(strings.NewReader(""), io.Discard, io.Discard)
		err := newRoot(a, args...).ExecuteContext(context.Background())
		if len(asked) > 0 {
			return asked[0], err
		}
		return nil, err
	}
	if got, err := search(); err != nil || got.Encode() != "q=cat" {
		t.Errorf("without flags: asked %v, %v, want only the query", got, err)
	}
	cmd, _, err := newRoot(newApp(strings.NewReader(""), io.Discard, io.Discard), "search").Find([]string{"search"})
	if err == nil {
		err = cmd.ParseFlags(nil) // adds the global flags
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value := f.DefValue
		if f.Value.Type() == "intSlice" {
			value = "1"
		}
		p, isSent := sent[f.Name]
		if isSent {
			if value = cmp.Or(values[p.Name], ofKind[p.Kind]); len(p.Values) > 0 {
				value = p.Values[1]
			}
		}
		got, err := search("--" + f.Name + "=" + value)
		switch {
		case isSent:
			if want := (url.Values{"q": {"cat"}, p.Name: {value}}); err != nil || got.Encode() != want.Encode() {
				t.Errorf("--%s: asked %v, %v, want %v", f.Name, got, err, want)
			}
		case slices.Contains(used, f.Name):
			if err != nil || got == nil {
				t.Errorf("--%s: asked %v, %v, want no error", f.Name, got, err)
			}
		case slices.Contains(refused, f.Name):
			want := "--" + f.Name + " is not supported with a server"
			if err == nil || !strings.Contains(err.Error(), want) || got != nil {
				t.Errorf("--%s: asked %v, error %v, want no request and %q", f.Name, got, err, want)
			}
		case f.Name != "help":
			t.Errorf("--%s is new: add it to used or refused here", f.Name)
		}
	})
}

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Each flag of search is sent to a server, is used by the client, or is refused by an error that
// names it.
func TestFlagsOfSearchWithAServer(t *testing.T) {
	sent := map[string]struct{ value, param, want string }{
		"k": {"3", "k", "3"}, "from": {"2", "from", "2"}, "mode": {"and", "mode", "and"},
		"model": {"dph", "model", "dph"}, "field-weights": {"title=3,body=1", "field_weights", "title=3,body=1"},
		"algorithm": {"wand", "algorithm", "wand"}, "plain": {"true", "plain", "true"},
		"count": {"true", "count", "true"}, "explain": {"true", "explain", "true"},
		"stats": {"true", "stats", "true"}, "snippets": {"true", "snippets", "true"},
		"show": {"title,url", "show", "title,url"}, "facet": {"lang:5,year", "facet", "lang:5,year"},
		"sort": {"year:desc", "sort", "year:desc"}, "expand": {"rm3:terms=5", "expand", "rm3:terms=5"},
		"proximity": {"sdm", "proximity", "sdm"}, "filter": {"lang:en", "filter", "lang:en"},
		"k1": {"0.9", "k1", "0.9"}, "b": {"0.4", "b", "0.4"}, "k3": {"8", "k3", "8"}, "mu": {"500", "mu", "500"},
		"variant": {"lucene", "variant", "lucene"}, "snippet-size": {"80", "snippet_size", "80"},
		"after": {"abc", "after", "abc"}, "boost": {"log(views, 9)", "boost", "log(views, 9)"},
		"synonyms": {"none", "synonyms", "none"}, "collapse": {"best", "collapse", "best"},
		"vector": {"1,-2.5", "vector", "1,-2.5"}, "vector-field": {"v", "vector_field", "v"},
		"vector-weight": {"2", "vector_weight", "2"}, "word-weight": {"3", "word_weight", "3"},
		"like": {"d7", "like", "d7"}, "encode": {"also", "encode", "also"}, "fusion": {"rrf", "fusion", "rrf"},
		"depth":  {"50", "depth", "50"},
		"sparse": {`{"a":2}`, "sparse", `{"a":2}`}, "sparse-field": {"v", "sparse_field", "v"},
		"sparse-weight": {"2", "sparse_weight", "2"},
		"snippet-count": {"2", "snippet_count", "2"}, "snippet-lines": {"true", "snippet_lines", "true"},
		"partial": {"refuse", "partial", "refuse"},
	}
	used := []string{"token-file", "json", "quiet", "verbose", "all", "vector-of"}
	refused := []string{
		"topics", "sparse-of", "topic-field", "topic-ids", "encoding", "query-language", "run", "tag", "batch",
		"partition", "partition-size", "partitions", "policy", "slack", "recall",
		"block-threads", "slice", "insert", "start-threshold", "compressed",
		"engine", "threads", "memory", "device", "more-devices", "gpu-memory",
		"encoder", "encoder-model", "encoder-prefix", "embed", "cache", "cache-size", "generation",
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
		s, isSent := sent[f.Name]
		if isSent {
			value = s.value
		}
		got, err := search("--" + f.Name + "=" + value)
		switch {
		case isSent:
			if want := (url.Values{"q": {"cat"}, s.param: {s.want}}); err != nil || got.Encode() != want.Encode() {
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
			t.Errorf("--%s is new: add it to sent, used or refused here", f.Name)
		}
	})
}

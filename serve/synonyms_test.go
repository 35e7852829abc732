package serve

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// Synonyms are found in shards as in one index, with the same scores: those of a request, and those
// of the index.
func TestSynonymsInShards(t *testing.T) {
	given := newCluster(t, 3, 1, RootOptions{})
	more := "&k=20&synonyms=" + url.QueryEscape("membrane, wall, lipid droplet; cell => neuron, cell; nosuch, neurons")
	for i, q := range []string{"membrane", "the cell membrane", "nosuch", `"lipid droplet" fish`, "+wall -cell", "zebra"} {
		if i%trials.Every(3) == 0 {
			given.same(t, "/v1/search?q="+url.QueryEscape(q)+more)
		}
	}
	if got := given.same(t, "/v1/search?q=nosuch"+more); len(got.Hits) == 0 {
		t.Error("a synonym is not found")
	}
	given.same(t, "/v1/search?q=membrane&synonyms=membrane")

	stored := newClusterOf(t, withSynonyms(t, "unicode | synonyms(w1, w2, w3 w4; w5 => w6)"), 3, 1, RootOptions{})
	for _, q := range []string{"w1", "w5 w0", "w3 w4", `"w0 w1"`, "w1 w2", "w7", "w1&mode=and", "w1&synonyms=none"} {
		stored.same(t, "/v1/search?k=30&q="+strings.ReplaceAll(strings.ReplaceAll(q, " ", "+"), `"`, "%22"))
	}
}

// withSynonyms opens an index of documents of few words.
func withSynonyms(t *testing.T, analyzer string) *search.Searcher {
	a, err := text.ParseAnalyzer(analyzer)
	if err != nil {
		t.Fatal(err)
	}
	source := func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) {
			var docs []text.Document
			for i := range 90 {
				words := ""
				for j := range i%7 + 1 {
					words += fmt.Sprintf("w%d ", (i*i+3*j*j+i*j)%9)
				}
				docs = append(docs, text.Document{ID: fmt.Sprint(i), Text: []byte(words)})
			}
			yield(docs, nil)
		}
	}
	dir := filepath.Join(t.TempDir(), "index")
	err = index.Build(t.Context(), dir, &text.Corpus{Source: source}, index.BuildOptions{Analyzer: a, Positions: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// An index is made with chains over HTTP, for its fields too, and shows what they do. A server
// reads no files.
func TestChainsOverHTTP(t *testing.T) {
	h := writable(t, Options{CommitEvery: time.Hour})
	must(t, h, "PUT", "/v1/indexes/code", `{"analyzer":"unicode|fold|synonyms(car, auto)","positions":true,"store_text":true,
		"fields":[{"name":"code","type":"text","analyzer":"code|parts|lower"},{"name":"about","type":"text"}]}`, 201)
	must(t, h, "POST", "/v1/indexes/code/documents?refresh=true", `{"id":"a","code":"asyncio.create_task","about":"un café"}
{"id":"b","code":"def createTask","about":"an auto"}`, 200)
	for q, want := range map[string]string{`code:"create task"`: "[a b]", "code:asyncio": "[a]", "cafe": "[a]", "about:car": "[b]",
		"car": "[b]", "car&synonyms=none": "[]", "cafe&synonyms=cafe,auto": "[a b]"} {
		if got := fmt.Sprint(find(t, h, "code", strings.ReplaceAll(q, `"`, "%22"))); got != want {
			t.Errorf("%s finds %s, want %s", q, got, want)
		}
	}
	a := decode[api.Analyzed](t, must(t, h, "GET", "/v1/indexes/code/analyze?text=createTask&field=code", "", 200))
	if a.Analyzer != "code | parts | lower" || !slices.Contains(a.Tokens, api.AnalyzedWord{Step: "lower", Word: "task", Position: 1, Start: 6, End: 10}) {
		t.Errorf("analyzed %+v", a)
	}
	for path, want := range map[string]string{"analyze?text=x&analyzer=words%7Cstop(@/etc/passwd)": "is a file",
		"search?q=x&synonyms=alone": "alone", "search?q=x&synonyms=a,b&expand=rm3": "plain words"} {
		if got := must(t, h, "GET", "/v1/indexes/code/"+path, "", 400); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	got := must(t, h, "PUT", "/v1/indexes/x", `{"analyzer":"words | synonyms(@/etc/passwd)"}`, 400)
	if !strings.Contains(got, "is a file") {
		t.Errorf("a file of the server: %s", got)
	}
}

package encoder

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/text"
)

// The test program itself is the command that is tested.
func TestMain(m *testing.M) {
	if kind := os.Getenv("ENCODER_TEST"); kind != "" {
		command4test(kind)
		return
	}
	os.Exit(m.Run())
}

// vector is what encoders of tests make of a text.
func vector(text string) []float32 {
	return []float32{float32(len(text)), float32(strings.Count(text, "a")), 0.5}
}

func command4test(kind string) {
	in := bufio.NewReader(os.Stdin)
	for n := 0; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var r struct{ Input []string }
		if err := json.Unmarshal(line, &r); err != nil {
			panic(err)
		}
		list := [][]float32{}
		for _, text := range r.Input {
			list = append(list, vector(text))
		}
		b, _ := json.Marshal(list)
		switch {
		case kind == "dies" && n == 1:
			fmt.Fprintln(os.Stderr, "out of memory")
			os.Exit(3)
		case kind == "sleeps":
			time.Sleep(time.Hour)
		case kind == "endless":
			for {
				os.Stdout.Write(bytes.Repeat([]byte("1"), 1<<16))
			}
		}
		fmt.Printf("%s\n", b)
	}
}

// endpoint is a server in OpenAI's format, whose answers a test may change. It answers in reverse
// order.
func endpoint(t *testing.T, change func(w http.ResponseWriter, r *http.Request, answer []byte)) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Input []string `json:"input"`
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		type datum struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		data := []datum{}
		for i := len(q.Input) - 1; i >= 0; i-- {
			data = append(data, datum{i, vector(q.Input[i])})
		}
		b, _ := json.Marshal(map[string]any{"data": data})
		if change != nil {
			change(w, r, b)
			return
		}
		w.Write(b)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func open(t *testing.T, target string, o Options) *Encoder {
	t.Helper()
	e, err := Open(target, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// me returns the command of this test program.
func me(t *testing.T, kind string) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(path, " \t") {
		link := filepath.Join(t.TempDir(), "me")
		if err := os.Symlink(path, link); err != nil {
			t.Skip(err)
		}
		path = link
	}
	t.Setenv("ENCODER_TEST", kind)
	return path
}

func TestEverySourceGivesTheVectorsInOrder(t *testing.T) {
	var texts []string
	var queries, documents [][]float32
	for i := range 70 {
		text := strings.Repeat("a", i) + "\n\xff"
		texts = append(texts, text)
		queries = append(queries, vector("q: "+strings.ToValidUTF8(text, "\uFFFD")))
		documents = append(documents, vector("d: "+strings.ToValidUTF8(text, "\uFFFD")))
	}
	for name, target := range map[string]string{"server": endpoint(t, nil), "command": me(t, "answers")} {
		e := open(t, target, Options{Query: "q: ", Document: "d: ", Batch: 7})
		for range 2 { // also from the cache
			if got, err := e.Queries(t.Context(), texts); err != nil || !reflect.DeepEqual(got, queries) {
				t.Errorf("%s: queries %v, %v", name, got, err)
			}
		}
		if got, err := e.Documents(t.Context(), texts); err != nil || !reflect.DeepEqual(got, documents) {
			t.Errorf("%s: documents %v, %v", name, got, err)
		}
		if got, err := e.Queries(t.Context(), nil); err != nil || len(got) != 0 {
			t.Errorf("%s: nothing gives %v, %v", name, got, err)
		}
	}
}

func TestQueriesAreAskedForOnce(t *testing.T) {
	asked := 0
	target := endpoint(t, func(w http.ResponseWriter, r *http.Request, answer []byte) {
		asked++
		w.Write(answer)
	})
	ask := func(e *Encoder, texts ...string) {
		t.Helper()
		if _, err := e.Queries(t.Context(), texts); err != nil {
			t.Fatal(err)
		}
	}
	e := open(t, target, Options{})
	ask(e, "a", "b")
	ask(e, "b", "a")
	ask(e, "a", "c")
	if asked != 2 {
		t.Errorf("%d requests, want 2", asked)
	}
	small := open(t, target, Options{Cache: 500}) // two queries
	asked = 0
	ask(small, "a")
	ask(small, "b")
	ask(small, "a")
	ask(small, "c") // drops b
	ask(small, "a")
	ask(small, "b")
	if asked != 4 || small.bytes > 500 || len(small.cache) != 2 || small.order.Len() != 2 {
		t.Errorf("%d requests, %d bytes, %d queries: want 4, at most 500, 2", asked, small.bytes, len(small.cache))
	}
}

func TestLongTextsAreCut(t *testing.T) {
	long := strings.Repeat("x", MaxText-1) + "ä" + "rest"
	if got := cut(long); got != long[:MaxText-1] {
		t.Errorf("%d bytes, want %d", len(got), MaxText-1)
	}
	if got := cut(long[:MaxText-1]); got != long[:MaxText-1] {
		t.Errorf("%d bytes, want all", len(got))
	}
}

func TestWrongAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		``:                                   "not JSON",
		`<html>`:                             "not JSON",
		`{}`:                                 `no "data"`,
		`{"error": {"message": "no model"}}`: "no model",
		`[[1, 2]]`:                           "1 vectors: want 2",
		`[[1, 2], [1]]`:                      "vector 2 of the answer has 1 numbers, the first 2",
		`[[1, 2], []]`:                       "vector 2 of the answer is empty",
		`[[1, 2], [1, 1e99]]`:                "1e99",
		`[[1, 2], [1, null]]`:                "is not a vector",
		`[[1, 2], 3]`:                        "is not a vector",
		`{"data": [{"embedding": [1]}]}`:     "1 vectors: want 2",
		`{"data": [{}, {}]}`:                 `no "embedding"`,
		`{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}`:  "index 0 out of place",
		`{"data": [{"index": -1, "embedding": [1]}, {"index": 0, "embedding": [1]}]}`: "index -1 out of place",
		`{"data": [{"index": 2, "embedding": [1]}, {"index": 0, "embedding": [1]}]}`:  "index 2 out of place",
	} {
		e := open(t, endpoint(t, func(w http.ResponseWriter, r *http.Request, _ []byte) { io.WriteString(w, answer) }), Options{})
		if got, err := e.Documents(t.Context(), []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %s", answer, got, err, want)
		}
	}
	sizes := 2
	e := open(t, endpoint(t, func(w http.ResponseWriter, r *http.Request, _ []byte) {
		fmt.Fprintf(w, "[[1%s]]", strings.Repeat(",1", sizes))
		sizes++
	}), Options{Batch: 1})
	if _, err := e.Documents(t.Context(), []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), "4 numbers, and of 3 before") {
		t.Errorf("vectors of two models: %v", err)
	}
}

func TestServersThatFail(t *testing.T) {
	before := waits
	waits = []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond}
	defer func() { waits = before }()
	for _, c := range []struct {
		status, times int
		want          string
	}{
		{503, 3, ""}, {429, 1, ""}, {503, 9, "status 503: later"}, {400, 1, "status 400: later"},
		{401, 1, "COLLOCATE_ENCODER_KEY"}, {307, 1, "status 307"},
	} {
		n := 0
		e := open(t, endpoint(t, func(w http.ResponseWriter, r *http.Request, answer []byte) {
			if r.Header.Get("Authorization") != "Bearer secret" {
				t.Error("no key")
			}
			if n++; n <= c.times {
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.WriteHeader(c.status)
				io.WriteString(w, "later\n")
				return
			}
			w.Write(answer)
		}), Options{Key: "secret"})
		_, err := e.Documents(t.Context(), []string{"a"})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d, %d times: %v, want %q", c.status, c.times, err, c.want)
		}
	}
	e := open(t, "http://127.0.0.1:1/v1/embeddings", Options{})
	if _, err := e.Documents(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("no server: %v", err)
	}
}

func TestLateAndEndlessAnswers(t *testing.T) {
	never := endpoint(t, func(w http.ResponseWriter, r *http.Request, _ []byte) { <-r.Context().Done() })
	endless := endpoint(t, func(w http.ResponseWriter, r *http.Request, _ []byte) {
		for r.Context().Err() == nil {
			w.Write(bytes.Repeat([]byte("1"), 1<<16))
		}
	})
	for name, c := range map[string]struct{ target, want string }{
		"a late server":      {never, "no answer within"},
		"an endless server":  {endless, "more than"},
		"a late command":     {me(t, "sleeps"), "no answer within"},
		"an endless command": {me(t, "endless"), "more than"},
	} {
		t.Setenv("ENCODER_TEST", strings.Fields(name)[1])
		if strings.Contains(name, "late") {
			t.Setenv("ENCODER_TEST", "sleeps")
		}
		o := Options{}
		if strings.Contains(name, "late") {
			o.Timeout = 50 * time.Millisecond
		}
		e := open(t, c.target, o)
		if _, err := e.Documents(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.Documents(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", name, err)
		}
	}
}

// A command that ended is started again for the next request.
func TestACommandThatDies(t *testing.T) {
	e := open(t, me(t, "dies"), Options{})
	for n := range 4 {
		_, err := e.Documents(t.Context(), []string{"a"})
		if died := n%2 == 1; died != (err != nil) {
			t.Fatalf("request %d: %v", n+1, err)
		} else if died && !strings.Contains(err.Error(), "ended without an answer; it says: out of memory") {
			t.Errorf("request %d: %v", n+1, err)
		}
	}
}

func TestTargetsThatAreNone(t *testing.T) {
	for target, want := range map[string]string{
		"": "want the address", " ": "want the address", "http://": "not the address", "no-such-command --x": "nor a command",
	} {
		if _, err := Open(target, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", target, err, want)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"data": [{"index": 1, "embedding": [1, 2]}, {"index": 0, "embedding": [3, 4e-1]}]}`))
	f.Add([]byte(`[[1, 2], [3, 4]]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		vectors, err := parseAnswer(b, 2)
		if err == nil && (len(vectors) != 2 || len(vectors[0]) == 0 || len(vectors[0]) != len(vectors[1])) {
			t.Errorf("%q gives %v", b, vectors)
		}
	})
}

func TestDocumentsAreFilled(t *testing.T) {
	schema, err := fields.ParseList([]string{"title:text", "v:vector:3", "text:text", "w:vector:3:optional"})
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, endpoint(t, nil), Options{Document: "d: "})
	shared := []fields.Values{{[]byte("a")}, nil, {[]byte("aa")}}
	docs := []text.Document{{Fields: shared}, {Fields: []fields.Values{nil, {[]byte("[1,2,3]")}, {[]byte("b")}}},
		{Fields: []fields.Values{nil, nil, nil, nil}}, {Fields: []fields.Values{nil, nil, {[]byte("aab")}, nil}}}
	if err := e.Fill(t.Context(), schema, "v", docs); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{string(fields.VectorValue(vector("d: a\naa"))), "[1,2,3]", "", string(fields.VectorValue(vector("d: aab")))} {
		if got := string(bytes.Join(docs[i].Fields[1], nil)); got != want {
			t.Errorf("document %d has the vector %q, want %q", i, got, want)
		}
	}
	if shared[1] != nil {
		t.Error("the values of another document were changed")
	}
	for field, want := range map[string]string{"": "name a vector field: v or w", "title": `unknown vector field "title"`} {
		if err := e.Fill(t.Context(), schema, field, docs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", field, err, want)
		}
	}
	if err := e.Fill(t.Context(), nil, "", docs); err == nil {
		t.Error("documents without fields are filled")
	}
}

// A function of the program is an encoder, too; where it makes no vector, there is none, and what
// a document has stays.
func TestFunction(t *testing.T) {
	made := 0
	e, err := New("lengths", func(_ context.Context, texts []string) ([][]float32, error) {
		made += len(texts)
		list := make([][]float32, len(texts))
		for i, text := range texts {
			if text != "passage: " && text != "nothing" {
				list[i] = vector(text)
			}
		}
		return list, nil
	}, Options{Document: "passage: "})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the unknown one is asked for again, the other is not
		got, err := e.Queries(t.Context(), []string{"a cat", "nothing"})
		if err != nil || !reflect.DeepEqual(got, [][]float32{vector("a cat"), nil}) {
			t.Fatalf("%v, %v; want one vector and nil", got, err)
		}
	}
	if made != 3 {
		t.Errorf("%d texts were encoded; want 3", made)
	}
	got, err := e.Documents(t.Context(), []string{"", "a"})
	if err != nil || got[0] != nil || !reflect.DeepEqual(got[1], vector("passage: a")) {
		t.Errorf("documents: %v, %v", got, err)
	}
	short, err := New("short", func(context.Context, []string) ([][]float32, error) { return nil, nil }, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := short.Queries(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), "0 vectors for 1 text") {
		t.Errorf("no vectors: %v", err)
	}
}

// Only so many requests are answered and wait at the same time: the next is an error at once.
func TestBusy(t *testing.T) {
	var running, most atomic.Int32
	gate := make(chan struct{})
	e, err := New("slow", func(_ context.Context, texts []string) ([][]float32, error) {
		now := running.Add(1)
		defer running.Add(-1)
		for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
		}
		<-gate
		return [][]float32{vector(texts[0])}, nil
	}, Options{AtOnce: 2, Waiting: 3})
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan error, 20)
	for i := range 20 {
		go func() {
			_, err := e.Queries(t.Context(), []string{strings.Repeat("a", i+1)})
			answers <- err
		}()
	}
	for range 15 {
		if err := <-answers; !errors.Is(err, ErrBusy) {
			t.Fatalf("%v; want ErrBusy", err)
		}
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if _, err := e.Queries(left, []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that left: %v", err)
	}
	close(gate)
	for range 5 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 2 {
		t.Errorf("%d requests were answered at once; want 2", most.Load())
	}
}

package filters

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// lists returns the lists of an index of 9,000 documents, in so much memory: "all" is in each of
// them, w2 in every second, and so on up to w99. The folder is that of the index.
func lists(t *testing.T, room int) (l *Lists, dir string) {
	var lines []string
	for doc := range 9000 {
		line := []string{"all"}
		for i := 2; i < 100; i++ {
			if doc%i == 0 {
				line = append(line, fmt.Sprint("w", i))
			}
		}
		lines = append(lines, strings.Join(line, " "))
	}
	dir = searchtest.IndexLines(t, "whitespace", lines...)
	r, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	e, err := eval.NewEngine(r)
	if err != nil {
		t.Fatal(err)
	}
	return NewLists(Sized(room), []*eval.Engine{e}, e.LookUpWords), dir
}

// some returns every n-th document, from the first of the given number on.
func some(n, from int) *ask.Within {
	set := docset.New(9000)
	for doc := from; doc < 9000; doc += n {
		set.Add(uint32(doc))
	}
	return &ask.Within{Sets: []*docset.Set{set}}
}

// answered reports whether the lists answer a request, if those before within the same documents
// have taken so long without lists.
func answered(t *testing.T, l *Lists, r ask.Request, spent time.Duration) bool {
	t.Helper()
	if r.Within != nil && len(r.Within.Sets) > 0 {
		if f := l.within(r.Within.Sets); f != nil {
			f.spent = spent
		}
	}
	found, _, err := l.Search(t.Context(), &r)
	if err != nil {
		t.Fatal(err)
	}
	if found != nil && found.Stats.Strategy&ask.FilterLists == 0 {
		t.Errorf("%q: the statistics do not say that lists within a filter were used: %v", r.Text, found.Stats.Strategy)
	}
	return found != nil
}

// Documents that are asked for the first time have no lists. From then on lists are made when the
// requests before took as long without them as making them takes, each time anew. A set that was
// changed is another one.
func TestWhenListsAreMade(t *testing.T) {
	l, _ := lists(t, 1<<20)
	within := some(10, 0)
	one := 900*docTime + 150*postingTime // to begin, and the list of w60
	for i, step := range []struct {
		text  string
		spent time.Duration
		want  bool
	}{{"w60", one, false}, {"w60", one - 1, false}, {"w60", one, true}, {"w60", 0, true},
		{"all", 9000*postingTime - 1, false}, {"w60", 0, true}, {"all", 9000 * postingTime, true},
		{"w60 all nowhere", 0, true}} {
		if got := answered(t, l, ask.Request{Text: step.text, Within: within}, step.spent); got != step.want {
			t.Errorf("step %d, %q: answered %v, want %v", i, step.text, got, step.want)
		}
	}
	r := ask.Request{Text: "all", Within: within, K: 900}
	before, _, err := l.Search(t.Context(), &r)
	if err != nil || len(before.Hits) != 900 {
		t.Fatalf("%v, %v; want 900 answers", before, err)
	}
	f := l.within(within.Sets)
	f.spent = time.Minute
	r.Text = "w70"
	if _, _, err := l.Search(t.Context(), &r); err != nil || f.spent >= time.Minute {
		t.Errorf("making a list takes no time of what was spent: %v, %v", f.spent, err)
	}
	left := f.spent
	m := Missed{f, time.Now().Add(-time.Second)}
	if m.Done(); f.spent < left+time.Second {
		t.Errorf("%v after a request of a second without lists, want a second more than %v", f.spent, left)
	}
	within.Sets[0].Remove(10)
	if answered(t, l, r, time.Hour) {
		t.Error("the lists of a set answer for what it has become")
	}
}

// What lists within a filter do not answer goes the usual way, however often it is asked.
func TestRequestsWithoutLists(t *testing.T) {
	l, _ := lists(t, 1<<20)
	short := docset.New(8000)
	short.AddRange(0, 100)
	for name, r := range map[string]ask.Request{
		"no filter":            {Text: "w60"},
		"another algorithm":    {Text: "w60", Within: some(10, 0), Algorithm: ask.WAND},
		"a trace":              {Text: "w60", Within: some(10, 0), Trace: true},
		"fields":               {Text: "w60", Within: some(10, 0), Model: model.BM25F{}},
		"a GPU":                {Text: "w60", Within: some(10, 0), Parallel: &ask.Parallel{Engine: engine.GPU}},
		"approximate":          {Text: "w60", Within: some(10, 0), Parallel: &ask.Parallel{Policy: ask.SharedHalf}},
		"unknown words":        {Text: "nowhere", Within: some(10, 0)},
		"all words and one is": {Text: "w60 nowhere", Mode: ask.And, Within: some(10, 0)},
		"no documents":         {Text: "w60", Within: some(10, 9000)},
		"many documents":       {Text: "w60", Within: some(2, 0)},
		"all of a segment":     {Text: "w60", Within: &ask.Within{Sets: []*docset.Set{nil}}},
		"too few sets":         {Text: "w60", Within: &ask.Within{}},
		"another index":        {Text: "w60", Within: &ask.Within{Sets: []*docset.Set{short}}},
	} {
		for use := range 4 {
			if answered(t, l, r, time.Hour) {
				t.Errorf("%s: use %d is answered by lists within a filter", name, use+1)
			}
		}
	}
	little, _ := lists(t, 100_000)
	large := some(4, 0)
	for use := range 4 { // of 2,250 documents, which take more than a quarter of this
		if answered(t, little, ask.Request{Text: "w60", Within: large}, time.Hour) {
			t.Errorf("use %d of a filter that needs too much memory is answered by lists within it", use+1)
		}
	}
	r := ask.Request{Text: "w60", Within: some(10, 0), Parallel: &ask.Parallel{Threads: 2}}
	if answered(t, l, r, time.Hour); !answered(t, l, r, time.Hour) {
		t.Error("several cores: the second use is not answered by lists within a filter")
	}
}

// An error while lists are made, or a fault in a file, leaves nothing half made.
func TestListsAfterErrors(t *testing.T) {
	l, dir := lists(t, 1<<20)
	r := ask.Request{Text: "w60 w61 w3", Within: some(10, 0)}
	answered(t, l, ask.Request{Text: "w99", Within: r.Within}, 0)
	answered(t, l, ask.Request{Text: "w99", Within: r.Within}, time.Hour)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := l.Search(cancelled, &r); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if !answered(t, l, r, time.Hour) {
		t.Error("after a cancelled request the lists are not made")
	}
	r.Text = "w60 w70 w71"
	if err := os.Truncate(filepath.Join(dir, "postings"), 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := index.Guarded(func() error { _, _, err := l.Search(t.Context(), &r); return err }); err == nil {
			t.Error("a truncated file: no error")
		}
	}
	for _, at := range l.cache.entries {
		for text, known := range at.Value.(*entry).within.words {
			if known.made != (text == "w60" || text == "w61" || text == "w3" || text == "w99") {
				t.Errorf("the list of %s is made: %v", text, known.made)
			}
		}
	}
	r.Text = "w60 w3" // are in memory
	if !answered(t, l, r, time.Hour) {
		t.Error("lists in memory do not answer once the file is gone")
	}
}

// The memory is what is there, a filter takes at most half of it, and words that were used lately
// stay when others go.
func TestListsRoom(t *testing.T) {
	const room = 60_000
	l, _ := lists(t, room)
	rng := rand.New(rand.NewPCG(44, 4))
	var filters []*ask.Within
	empty := map[string]int{} // what a filter takes without words, by its key
	for i := range 8 {
		w := some(20+i, i)
		key := binary.LittleEndian.AppendUint64(nil, w.Sets[0].Version())
		filters, empty[string(key)] = append(filters, w), bytesOf(w.Sets)
	}
	sweeps, before := 0, 0
	for i := range 4000 {
		r := ask.Request{Text: fmt.Sprintf("w%d w%d", 2+rng.IntN(98), 2+rng.IntN(98)), Within: filters[0]}
		if i%2 == 0 {
			r.Text = "w90 w91"
		}
		if i > 2000 {
			r.Within = filters[rng.IntN(len(filters))]
		}
		got := answered(t, l, r, time.Hour)
		if i%2 == 0 && i > 0 && i <= 2000 && !got {
			t.Fatalf("request %d: the lists of the words that are used most are not there", i)
		}
		sum := 0
		for _, at := range l.cache.entries {
			e := at.Value.(*entry)
			sum += e.bytes
			f := e.within
			if f == nil || f.x == nil {
				continue
			}
			bytes := empty[e.key]
			for text, known := range f.words {
				bytes += wordBytes + len(text) + known.list.Bytes()
			}
			if f.bytes != bytes || f.bytes > room/2 || e.bytes != f.bytes+entryBytes+len(e.key) {
				t.Fatalf("request %d: a filter takes %d bytes, %d are counted, and %d with its entry; want at most %d", i,
					bytes, f.bytes, e.bytes, room/2)
			}
			if i < 2000 {
				if len(f.words) < before {
					sweeps++
				}
				before = len(f.words)
			}
		}
		if _, held := l.cache.Held(); held != sum || held > room {
			t.Fatalf("request %d: %d bytes are held, %d counted, of %d", i, held, sum, room)
		}
	}
	if sweeps < 10 {
		t.Errorf("words made room for others %d times, want 10 or more", sweeps)
	}
}

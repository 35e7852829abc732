package search

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

func synonyms(t testing.TB, rules string) *text.Synonyms {
	t.Helper()
	s, err := text.ParseSynonyms([]byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newWithPositions(t testing.TB, analyzer string, lines ...string) *Searcher {
	t.Helper()
	s, err := New(searchtest.IndexWithPositions(t, analyzer, lines...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rewritten returns the query of a request after its synonyms became a part of it.
func rewritten(t testing.TB, s *Searcher, r Request) string {
	t.Helper()
	if err := s.rewrite(&r); err != nil {
		t.Fatal(err)
	}
	if r.Query == nil {
		return ""
	}
	return fmt.Sprintf("%v", r.Query)
}

// What synonyms make of queries of all kinds.
func TestSynonymsInQueries(t *testing.T) {
	s := newWithPositions(t, "english", "cars", "the united states")
	rules := synonyms(t, "car, auto, motor car\nusa, united states\ncolour => color\nteh => the")
	for _, tt := range []struct{ q, or, and string }{
		{"red boat", "", ""},
		{"cars", `car|auto "motor car"`, `car|auto "motor car"`},
		{"fast Autos", `fast car|auto "motor car"`, `fast AND (car|auto "motor car")`},
		{"colour", "color", "color"},
		{"usa now", `usa "united states" now`, `(usa "united states") AND now`},
		{"united states", "united\\ states usa", "united\\ states usa"},
	} {
		for _, mode := range []Mode{Or, And} {
			want := map[Mode]string{Or: tt.or, And: tt.and}[mode]
			if got := rewritten(t, s, Request{Text: tt.q, Mode: mode, Synonyms: rules}); got != want {
				t.Errorf("%s in mode %v is\n%s\nwant\n%s", tt.q, mode, got, want)
			}
		}
	}
	for _, tt := range [][2]string{
		{`"the usa army"`, `"the usa army" "the united states army"`},
		{`"colour code"~2`, `"color code"~2`},
		{`+cars -teh`, `+(car|auto "motor car") -the`},
		{`united states army`, `united\ states usa army`},
		{`cars^2 boat`, `(car|auto "motor car")^2 boat`},
		{`cars NEAR/3 boat`, `cars NEAR/3 boat`},
		{`cars* colours~1`, `cars* colours~1`},
	} {
		n, err := query.Parse(tt[0], query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := rewritten(t, s, Request{Query: n, Synonyms: rules}); got != tt[1] {
			t.Errorf("%s is\n%s\nwant\n%s", tt[0], got, tt[1])
		}
	}
	long := `"` + strings.Repeat("car ", 7) + `"`
	n, _ := query.Parse(long, query.Options{})
	if err := s.rewrite(&Request{Query: n, Synonyms: rules}); err == nil || !strings.Contains(err.Error(), "more than 64 phrases") {
		t.Errorf("a phrase of many forms: %v", err)
	}
	for _, r := range []Request{{Model: BM25F{}}, {Expand: &Expand{}}, {Proximity: &Proximity{}}} {
		r.Text, r.Synonyms = "car", rules
		if _, err := s.Search(context.Background(), r); err == nil || !strings.Contains(err.Error(), "synonyms: ") {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// Scores with synonyms are those of the definition, worked out word by word: synonyms of one word
// are one word with all of their occurrences and the document frequency of the most common of them,
// and each phrase adds the scores of its words with the frequency of the phrase. The same rules
// give the same scores if the index has them.
func TestSynonymScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	vocabulary := []string{"a", "b", "c", "d", "e", "f"}
	word := func() string { return vocabulary[rng.IntN(len(vocabulary))] }
	words := func(n int) string {
		var list []string
		for range n {
			list = append(list, word())
		}
		return strings.Join(list, " ")
	}
	for range trials.Cases(60) {
		var lines []string
		for range rng.IntN(30) + 5 {
			lines = append(lines, words(rng.IntN(8)+1))
		}
		x, y, z := word(), words(rng.IntN(2)+1), words(rng.IntN(3)+1)
		if x == y || y == z || x == z {
			continue
		}
		rules := fmt.Sprintf("%s, %s, %s", x, y, z)
		asked := strings.Fields(words(3))
		given := newWithPositions(t, "unicode", lines...)
		stored := newWithPositions(t, text.WithSynonyms("unicode", synonyms(t, rules)), lines...)
		want := synonymHits(t, given, lines, []string{x, y, z}, asked)
		for name, s := range map[string]*Searcher{"given": given, "stored": stored} {
			r := Request{Text: strings.Join(asked, " "), K: 100}
			if name == "given" {
				r.Synonyms = synonyms(t, rules)
			}
			found, err := s.Search(context.Background(), r)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(found.Hits, want) {
				t.Fatalf("%s %q for %q:\n got %v\nwant %v", name, rules, asked, found.Hits, want)
			}
		}
	}
}

// synonymHits are the hits of a query of words, some of which are one of the phrases that all mean
// the same.
func synonymHits(t *testing.T, s *Searcher, lines, same, asked []string) (hits []Hit) {
	c := model.NewCollection(s.Index().Segments()[0].Reader)
	w, err := model.WeigherOf(BM25{}, &c)
	if err != nil {
		t.Fatal(err)
	}
	count := func(line, phrase string) (n uint32) {
		list, want := strings.Fields(line), strings.Fields(phrase)
		for i := 0; i+len(want) <= len(list); i++ {
			if slices.Equal(list[i:i+len(want)], want) {
				n++
			}
		}
		return n
	}
	info := func(word string) (t index.Term) {
		for _, line := range lines {
			if n := count(line, word); n > 0 {
				t.DF, t.CF = t.DF+1, t.CF+uint64(n)
			}
		}
		return t
	}
	for doc, line := range lines {
		length, sum, matches := uint32(len(strings.Fields(line))), float32(0), false
		score := func(t index.Term, tf uint32, weight float64) float32 {
			matches = matches || tf > 0
			if tf == 0 {
				return 0
			}
			return w.ScorerOf(&model.Term{Weight: weight, Info: t}, 1).Score(tf, length)
		}
		// plain words that are next to each other in the tree and equal are one
		weights := map[string]float64{}
		var order []func()
		plain := func(word string) {
			if weights[word]++; weights[word] == 1 {
				order = append(order, func() { sum += score(info(word), count(line, word), weights[word]) })
			}
		}
		for i := 0; i < len(asked); {
			longest := 0
			for _, phrase := range same {
				n := len(strings.Fields(phrase))
				if n > longest && i+n <= len(asked) && strings.Join(asked[i:i+n], " ") == phrase {
					longest = n
				}
			}
			if longest == 0 {
				plain(asked[i])
				i++
				continue
			}
			said := strings.Join(asked[i:i+longest], " ")
			if longest > 1 {
				for _, word := range asked[i : i+longest] {
					plain(word)
				}
			}
			var all index.Term
			tf, singles := uint32(0), []string{}
			for _, phrase := range same {
				if !strings.Contains(phrase, " ") {
					t := info(phrase)
					all.DF, all.CF, tf = max(all.DF, t.DF), all.CF+t.CF, tf+count(line, phrase)
					singles = append(singles, phrase)
				}
			}
			if len(singles) == 1 {
				plain(singles[0])
			} else {
				order = append(order, func() { sum += score(all, tf, 1) })
			}
			for _, phrase := range same {
				if strings.Contains(phrase, " ") && phrase != said {
					order = append(order, func() {
						part := float32(0)
						for _, word := range strings.Fields(phrase) {
							part += score(info(word), count(line, phrase), 1)
						}
						sum += part
					})
				}
			}
			i += longest
		}
		for _, add := range order {
			add()
		}
		if matches {
			hits = append(hits, Hit{Doc: uint32(doc), Score: sum})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}

// found returns the numbers of the documents that a query in the language finds, in order.
func found(t testing.TB, s *Searcher, q string, and bool) string {
	t.Helper()
	n, err := query.Parse(q, query.Options{And: and})
	if err != nil {
		t.Fatal(err)
	}
	sets, err := s.Match(context.Background(), Request{Query: n})
	if err != nil {
		t.Fatal(err)
	}
	var docs []string
	for doc := range sets.Sets[0].All() {
		docs = append(docs, fmt.Sprint(doc))
	}
	return strings.Join(docs, " ")
}

// Names in code are found whole and by their parts, however they are written; phrases too.
func TestCodeIsFound(t *testing.T) {
	s := newWithPositions(t, "code | parts | lower", "await asyncio.create_task(job)", "def createTask():",
		"task create", "CREATE_TASK = 1", "the task to create now")
	for _, tt := range [][2]string{
		{"asyncio.create_task", "0"}, {"create_task", "0 1 2 3 4"}, {`"create_task"`, "0 1 3"}, {`"createTask"`, "0 1 3"},
		{`"create task"`, "0 1 3"}, {"asyncio", "0"}, {"createtask", "1"}, {`"await asyncio.create_task job"`, "0"},
		{`"task def"`, ""}, {"create_t*", "3"}, {"asyncio.c*", "0"}, {"now NEAR/1 create", "4"},
	} {
		if got := found(t, s, tt[0], true); got != tt[1] {
			t.Errorf("%s finds %q, want %q", tt[0], got, tt[1])
		}
	}
	for mode, want := range map[Mode]int{Or: 5, And: 5} {
		hits, err := s.Search(context.Background(), Request{Text: "create_task", Mode: mode})
		if err != nil || len(hits.Hits) != want || hits.Hits[0].Doc != 3 { // the whole name counts most
			t.Errorf("mode %v: %v, %v", mode, hits, err)
		}
	}
}

// Phrases of n-grams are parts of words, and beginnings are found by those of words.
func TestGramsAreFound(t *testing.T) {
	s := newWithPositions(t, "words | lower | ngrams(2-3)", "Hello World", "yellow", "low el", "lo wo")
	for _, tt := range [][2]string{{`"ell"`, "0 1"}, {`"ello"`, "0 1"}, {`"ellow"`, "1"}, {`"lo wo"`, "0 3"}, {"low", "1 2"}} {
		if got := found(t, s, tt[0], true); got != tt[1] {
			t.Errorf("%s finds %q, want %q", tt[0], got, tt[1])
		}
	}
	s = newWithPositions(t, "words | lower | edge(2-4)", "apple pie", "application", "pineapple")
	for _, tt := range [][2]string{{"app", "0 1"}, {"appl", "0 1"}, {"apple", "0"}, {`"ap pi"`, "0"}, {"pp", ""}} {
		if got := found(t, s, tt[0], true); got != tt[1] {
			t.Errorf("%s finds %q, want %q", tt[0], got, tt[1])
		}
	}
}

// Marks of snippets are where the words are, also of names with parts, and synonyms are marked.
func TestSnippetsOfChains(t *testing.T) {
	for _, tt := range []struct{ analyzer, line, q, want string }{
		{"code | parts | lower", "call asyncio.create_task now", "create", "call asyncio.[create]_task now"},
		{"code | parts | lower", "call asyncio.create_task now", "asyncio.create_task", "call [asyncio.create_task] now"},
		{"code | parts | lower", "x.create_task createTask", "create", "x.[create]_task [create]Task"},
		{"words | lower | fold | ngrams(3)", "ein großes Café hier", "afé", "ein großes C[afé] hier"},
		{"words | lower | edge(2-5)", "Apples pie", "app", "[App]les pie"},
		// Without positions, a synonym of several words is all of them.
		{"unicode | synonyms(car, auto, motor car)", "an auto or motor car", "car", "an [auto] or [motor] [car]"},
	} {
		s, err := Open(searchtest.IndexLines(t, tt.analyzer, tt.line))
		if err != nil {
			t.Fatal(err)
		}
		sn, err := s.Snippet(context.Background(), Request{Text: tt.q}, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		got, at := "", uint32(0)
		for _, m := range sn.Marks {
			got += sn.Text[at:m.Start] + "[" + sn.Text[m.Start:m.End] + "]"
			at = m.End
		}
		if got += sn.Text[at:]; got != tt.want {
			t.Errorf("%s of %s: %s, want %s", tt.q, tt.analyzer, got, tt.want)
		}
		s.Close()
	}
}

package datagen

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

func queryLines(t testing.TB, o QueryOptions) [][]string {
	t.Helper()
	var b bytes.Buffer
	if err := Queries(context.Background(), &b, o); err != nil {
		t.Fatal(err)
	}
	var lines [][]string
	for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		id, text, ok := strings.Cut(line, "\t")
		if !ok || id != strconv.Itoa(i+1) {
			t.Fatalf("line %d is %q, want its number, a tab and words", i+1, line)
		}
		lines = append(lines, strings.Split(text, " "))
	}
	return lines
}

// The four classes have the thesis' mean lengths of lists, as shares of documents.
func TestClassesHaveTheListLengthsOfTheThesis(t *testing.T) {
	v := lawVocabulary(Web, newLengths(6.0, 1.1))
	share := map[string]float64{}
	for i, s := range v.share {
		share[v.word(i)] = s
	}
	for class := Short; class <= Extra; class++ {
		sum, n := 0.0, 0.0
		for _, words := range queryLines(t, QueryOptions{Class: class, Count: 4000}) {
			if len(words) != 2 || words[0] == words[1] {
				t.Fatalf("%v: query %q, want two words", class, words)
			}
			for _, w := range words {
				sum += share[w]
				n++
			}
		}
		t.Logf("%-6v %.0f postings a list of 50.2M documents, want %.0f", class, sum/n*50.2e6,
			classShares[class]*50.2e6)
		if got := sum / n; math.Abs(got/classShares[class]-1) > 0.03 {
			t.Errorf("%v: lists of %.5f of all documents, want %.5f", class, got, classShares[class])
		}
	}
}

// The shares of documents by which words are chosen are those of generated text.
func TestSharesAreThoseOfGeneratedText(t *testing.T) {
	const n = 4000
	docs := strings.Split(string(text(t, TextOptions{Docs: n})), "\n\n")
	v := lawVocabulary(Web, newLengths(6.0, 1.1))
	for _, rank := range []int{0, 10, 100, 1000} {
		df := 0.0
		for _, d := range docs {
			if strings.Contains(" "+strings.TrimSpace(d)+" ", " "+v.word(rank)+" ") {
				df++
			}
		}
		want := n * v.share[rank]
		if math.Abs(df-want) > 5*math.Sqrt(want) {
			t.Errorf("rank %d: in %.0f documents, expected %.0f", rank, df, want)
		}
	}
}

func TestALogHasShortAndPopularQueries(t *testing.T) {
	const n = 20_000
	seen := map[string]int{}
	terms, most := 0, 0
	for _, words := range queryLines(t, QueryOptions{Count: n}) {
		if len(words) < 1 || len(words) > 10 {
			t.Fatalf("query %q", words)
		}
		terms += len(words)
		seen[strings.Join(words, " ")]++
		most = max(most, seen[strings.Join(words, " ")])
	}
	mean, distinct := float64(terms)/n, float64(len(seen))/n
	t.Logf("%.2f words a query, %.2f of queries different, the most popular %d times; of a million %.2f different",
		mean, distinct, most, popularity.distinct(1e6)/1e6)
	if math.Abs(mean-2.88) > 0.15 || distinct < 0.5 || distinct > 0.95 || most < 10 {
		t.Error("want queries like those of a web log: 2.9 words, and some repeated")
	}
	for _, words := range queryLines(t, QueryOptions{Count: 50, Terms: 4}) {
		if len(words) != 4 {
			t.Fatalf("query %q, want 4 words", words)
		}
	}
}

func TestQueriesArePinned(t *testing.T) {
	for _, threads := range []int{1, 3} {
		h := sha256.New()
		for class := Mixed; class <= Extra; class++ {
			if err := Queries(context.Background(), h,
				QueryOptions{Class: class, Count: 10_000, Threads: threads}); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := fmt.Sprintf("%x", h.Sum(nil))[:16], "0e67fc73c00889cc"; got != want {
			t.Errorf("threads %d: hash %s, want %s", threads, got, want)
		}
	}
}

func TestQueriesFromAWordCountFile(t *testing.T) {
	var file strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&file, "w%d %d\n", i, 100_000/(i+1))
	}
	counts, err := ReadCounts(strings.NewReader(file.String()), "vocab.txt")
	if err != nil || len(counts) != 2000 || counts[1] != (WordCount{"w1", 50_000}) {
		t.Fatalf("%d counts, %v", len(counts), err)
	}
	// Counts are documents out of a million: long lists are near 20,574.
	sum, n := 0, 0
	for _, words := range queryLines(t, QueryOptions{Class: Long, Terms: 3, Vocabulary: counts, Docs: 1_000_000}) {
		for _, w := range words {
			i, _ := strconv.Atoi(w[1:])
			sum += 100_000 / (i + 1)
			n++
		}
	}
	if mean := float64(sum) / float64(n); mean < 15_000 || mean > 26_000 {
		t.Errorf("mean list length %.0f, want about 20574", mean)
	}
	// Counts are occurrences.
	queryLines(t, QueryOptions{Class: Extra, Vocabulary: counts})
	queryLines(t, QueryOptions{Vocabulary: counts})
	// The vocabulary has fewer words than a query.
	for _, words := range queryLines(t, QueryOptions{Vocabulary: []WordCount{{"one", 3}, {"none", 0}}, Terms: 5}) {
		if len(words) != 1 || words[0] != "one" {
			t.Fatalf("query %q, want only the word one", words)
		}
	}
}

func TestBadQueryOptions(t *testing.T) {
	one := []WordCount{{"a", 5}}
	for want, o := range map[string]QueryOptions{
		"want numbers of 0 or more":             {Count: -1},
		"queries of class":                      {Class: 9},
		"in 5 documents, but there are only 4":  {Vocabulary: one, Docs: 4},
		"the vocabulary has 0":                  {Vocabulary: one, Docs: 5, Class: Short},
		"no word with a count above 0":          {Vocabulary: []WordCount{{"a", 0}}},
		"needs a vocabulary":                    {Docs: 5},
		"or the sum of counts, is out of range": {Vocabulary: []WordCount{{"a", math.MaxInt64}, {"b", 1}}},
	} {
		err := Queries(context.Background(), &bytes.Buffer{}, o)
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("%+v: %v, want an error with %q", o, err, want)
		}
	}
}

func TestBadWordCountFiles(t *testing.T) {
	for file, want := range map[string]string{
		"a 1\nb\n":               `v:2: want a word and a count, got "b"`,
		"a 1 2\n":                `v:1: want a word and a count, got "a 1 2"`,
		"a -1":                   `v:1: want a word and a count, got "a -1"`,
		"a 1\n\nb 2\na 3":        `v:4: the word "a" was on line 1 already`,
		"a 99999999999999999999": `v:1: want a word and a count`,
		"x 1\n" + strings.Repeat("y", maxCountLine+1): "v:2: a line of more than 1048576 bytes",
	} {
		if _, err := ReadCounts(strings.NewReader(file), "v"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", file, err, want)
		}
	}
}

func FuzzReadCounts(f *testing.F) {
	f.Add("the 10\nof 5\n")
	f.Add("a\t1\r\n\r\nb  2")
	f.Add("\xff 3\n")
	f.Fuzz(func(t *testing.T, file string) {
		counts, err := ReadCounts(strings.NewReader(file), "v")
		if err != nil {
			return
		}
		// Writing what was read, and reading that, gives the same.
		var b strings.Builder
		for _, c := range counts {
			fmt.Fprintf(&b, "%s %d\n", c.Word, c.Count)
		}
		again, err := ReadCounts(strings.NewReader(b.String()), "v")
		if err != nil || fmt.Sprint(again) != fmt.Sprint(counts) {
			t.Fatalf("%q: read %v, then %v, %v", file, counts, again, err)
		}
	})
}

package searchtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/trec"
)

// Shared is a path in the folder of data beside the repository; the test is skipped if it is not
// there.
func Shared(t testing.TB, path ...string) string {
	t.Helper()
	root, err := os.Getwd() // the package's folder; binaries may not know where their source was
	for err == nil {
		if _, missing := os.Stat(filepath.Join(root, "go.mod")); missing == nil {
			break
		}
		if root == filepath.Dir(root) {
			err = errors.New("no go.mod above the test's folder")
		}
		root = filepath.Dir(root)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := filepath.Join(append([]string{root, "..", "shared", "data"}, path...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skip("the shared data are not beside the repository: ", err)
	}
	return p
}

// The index of the eLife paragraphs is made once for all tests and benchmarks; or it is taken,
// ready made, from the folder that ELIFE_INDEX names.
var elife struct {
	sync.Once
	dir string
	err error
}

// Main runs the tests of a package and removes the index of the eLife paragraphs.
func Main(m *testing.M) {
	code := m.Run()
	if elife.dir != "" && os.Getenv("ELIFE_INDEX") == "" {
		os.RemoveAll(elife.dir)
	}
	os.Exit(code)
}

// ElifeIndex is the folder of the index of the eLife paragraphs.
func ElifeIndex(t testing.TB) string {
	t.Helper()
	corpus := Shared(t, "text", "elife-paragraphs.jsonl.zst")
	elife.Do(func() {
		if elife.dir = os.Getenv("ELIFE_INDEX"); elife.dir != "" {
			return
		}
		if elife.dir, elife.err = os.MkdirTemp("", "elife"); elife.err != nil {
			return
		}
		analyzer, err := text.ParseAnalyzer("unicode")
		if err != nil {
			elife.err = err
			return
		}
		c := text.Corpus{Paths: []string{corpus}}
		elife.err = index.Build(context.Background(), elife.dir, &c, index.BuildOptions{Analyzer: analyzer})
	})
	if elife.err != nil {
		t.Fatal(elife.err)
	}
	return elife.dir
}

// GameQueries are the queries of the search benchmark game without their operators.
func GameQueries(t testing.TB) []string {
	topics, err := trec.ReadTopics(Shared(t, "queries", "search-benchmark-game.jsonl"), trec.TopicOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	seen := map[string]bool{}
	for _, topic := range topics {
		q := strings.NewReplacer("+", "", `"`, "").Replace(topic.Text)
		if !seen[q] {
			seen[q] = true
			out = append(out, q)
		}
	}
	return out
}

func TerabyteQueries(t testing.TB, n int) []string {
	topics, err := trec.ReadTopics(Shared(t, "queries", "topics.terabyte05.efficiency.txt"), trec.TopicOptions{})
	if err != nil {
		t.Fatal(err)
	}
	step := len(topics) / n
	var out []string
	for i := range n {
		out = append(out, topics[i*step].Text)
	}
	return out
}

// LongQueries are n random words of the index, as often as they occur.
func LongQueries(t testing.TB, ix *index.Reader, count, n int) []string {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var words []string
	var ends []uint64
	total := uint64(0)
	for w, err := range ix.Words() {
		if err != nil {
			t.Fatal(err)
		}
		if w.Term.DF > 20 {
			words = append(words, string(w.Text))
			total += w.Term.CF
			ends = append(ends, total)
		}
	}
	var out []string
	for range count {
		var q []string
		for range n {
			i, _ := slices.BinarySearch(ends, rng.Uint64N(total))
			q = append(q, words[min(i, len(words)-1)])
		}
		out = append(out, strings.Join(q, " "))
	}
	return out
}

// IndexLines indexes documents, one a line, with their text, and returns the folder.
func IndexLines(t testing.TB, analyzer string, lines ...string) string {
	t.Helper()
	return indexLines(t, analyzer, false, lines)
}

// OpenLines is IndexLines with the index open.
func OpenLines(t testing.TB, analyzer string, lines ...string) *index.Reader {
	t.Helper()
	return openIndex(t, indexLines(t, analyzer, false, lines))
}

// IndexWithPositions is OpenLines for an index with positions.
func IndexWithPositions(t testing.TB, analyzer string, lines ...string) *index.Reader {
	t.Helper()
	return openIndex(t, indexLines(t, analyzer, true, lines))
}

func openIndex(t testing.TB, dir string) *index.Reader {
	t.Helper()
	r, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func indexLines(t testing.TB, analyzer string, positions bool, lines []string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "corpus.txt")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := text.ParseAnalyzer(analyzer)
	if err != nil {
		t.Fatal(err)
	}
	c := text.Corpus{Paths: []string{file}, Options: text.Options{Format: text.Lines}}
	if err := index.Build(context.Background(), filepath.Join(dir, "ix"), &c,
		index.BuildOptions{Analyzer: a, StoreText: true, Positions: positions}); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "ix")
}

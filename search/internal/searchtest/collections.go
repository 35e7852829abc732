package searchtest

import (
	"bufio"
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
	"github.com/collocate/collocate/internal/textfile"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/trec"
)

// Shared returns a path in the folder of data next to the repository. It skips the test if the path
// does not exist.
func Shared(t testing.TB, path ...string) string {
	t.Helper()
	root, err := os.Getwd() // the folder of the package
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

// elifeIndex builds the index of the eLife paragraphs once for all tests, or for all benchmarks, of
// a package.
type elifeIndex struct {
	sync.Once
	dir string
	err error
}

// somePart is the number of paragraphs that tests index; benchmarks index all 420,834. It is large
// enough that queries use the same strategies as with all of them.
const somePart = 100_000

var elifePart, elifeWhole elifeIndex

// Main runs the tests of a package and removes the indexes of the eLife paragraphs.
func Main(m *testing.M) {
	code := m.Run()
	for _, x := range []*elifeIndex{&elifePart, &elifeWhole} {
		if x.dir != "" {
			os.RemoveAll(x.dir)
		}
	}
	os.Exit(code)
}

// ElifeIndex returns the folder of an index of the eLife paragraphs: of the first 100,000 for
// tests, of all for benchmarks. If ELIFE_INDEX is set, it names an existing index to use instead.
func ElifeIndex(t testing.TB) string {
	t.Helper()
	corpus := Shared(t, "text", "elife-paragraphs.jsonl.zst")
	if dir := os.Getenv("ELIFE_INDEX"); dir != "" {
		return dir
	}
	x, part := &elifePart, true
	if _, bench := t.(*testing.B); bench {
		x, part = &elifeWhole, false
	}
	x.Do(func() { x.err = x.make(corpus, part) })
	if x.err != nil {
		t.Fatal(x.err)
	}
	return x.dir
}

func (x *elifeIndex) make(corpus string, part bool) error {
	analyzer, err := text.ParseAnalyzer("unicode")
	if err != nil {
		return err
	}
	if x.dir, err = os.MkdirTemp("", "elife"); err != nil {
		return err
	}
	if part {
		part := x.dir + ".jsonl"
		defer os.Remove(part)
		if err := firstLines(corpus, part, somePart); err != nil {
			return err
		}
		corpus = part
	}
	c := text.Corpus{Paths: []string{corpus}}
	return index.Build(context.Background(), x.dir, &c, index.BuildOptions{Analyzer: analyzer})
}

// firstLines copies the first lines of a file to another one.
func firstLines(from, to string, lines int) error {
	in, err := textfile.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(out, 1<<20)
	for range lines {
		line, err := in.ReadSlice('\n')
		for err == bufio.ErrBufferFull {
			w.Write(line)
			line, err = in.ReadSlice('\n')
		}
		w.Write(line)
		if err != nil {
			break
		}
	}
	return errors.Join(w.Flush(), out.Close())
}

// GameQueries returns the queries of the search benchmark game without their operators.
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

// LongQueries returns count queries of n words, drawn at random by their frequency in the index.
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

// IndexLines indexes documents, one per line, with their text, and returns the folder.
func IndexLines(t testing.TB, analyzer string, lines ...string) string {
	t.Helper()
	return indexLines(t, analyzer, false, lines)
}

// OpenLines is IndexLines, but returns the open index.
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

package cooccur

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
)

// foxPairs are the pairs of the paper's figure 2: a symmetric window of two words goes over the
// sentence. The figure is a picture; the paper's text has the sentence and the window. (Its
// algorithms, as printed, stop a word early on the right: i < pos(w)+jn.)
const foxPairs = `
the: quick brown jumps over lazy dog
quick: the brown fox
brown: the quick fox jumps
fox: quick brown jumps over
jumps: brown fox over the
over: fox jumps the lazy
lazy: over the dog
dog: the lazy`

// All engines, and the paper's algorithm on cores, count the pairs of the figure, each once.
func TestTheFoxOfThePaper(t *testing.T) {
	sentence := "The quick brown fox jumps over the lazy dog"
	files, err := filepath.Glob(filepath.Join("..", "..", "shared", "seeds", "001_*.txt"))
	if err == nil && len(files) == 1 {
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`(?s)seguinte\s+texto: “([^”]*)”. Para\s+uma\s+janela\s+\S+\s+de\s+tamanho\s+2,`).FindSubmatch(data)
		if m == nil {
			t.Fatal("the paper's text has no sentence with a window of 2")
		}
		if got := strings.Join(strings.Fields(string(m[1])), " "); got != sentence {
			t.Fatalf("the paper's sentence is %q, want %q", got, sentence)
		}
	}
	var want []string
	for line := range strings.Lines(strings.TrimSpace(foxPairs)) {
		word, company, _ := strings.Cut(line, ":")
		for _, c := range strings.Fields(company) {
			want = append(want, fmt.Sprintf("%s %s 1", word, c))
		}
	}
	slices.Sort(want)
	corpus := corpusOf(t, strings.ToLower(sentence))
	for _, e := range []struct {
		kind   engine.Kind
		method Method
	}{{engine.Sequential, Ours}, {engine.Multicore, Ours}, {engine.Multicore, Paper}} {
		var found cells
		var words *Vocabulary
		opt := Options{Window: 2, Weighting: Count, Engine: e.kind, Method: e.method, Threads: 2}
		_, _, err := Make(t.Context(), corpus, VocabularyOptions{MinCount: 1}, opt,
			func(v *Vocabulary) (Sink, error) {
				words = v
				return &found, nil
			})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for at, n := range found.m {
			got = append(got, fmt.Sprintf("%s %s %g", words.Word(int(at[0])), words.Word(int(at[1])), n))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%v, %v:\n%q\nwant\n%q", e.kind, e.method, got, want)
		}
	}
}

package vectors_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/vectors"
)

// The four collections of abstracts that are told apart: aerodynamics, computing, library science
// and medicine.
var collections = []string{"cranfield/cran.all.1400", "cacm/cacm.all", "cisi/CISI.ALL", "medline/MED.ALL"}

// Word vectors of an unlabelled corpus classify documents: a document is the sum of its words'
// vectors, each of length 1 and weighted by how rare the word is, and belongs to the class whose
// centre is nearest. Every other document is labelled; docs/words.md has the accuracy on the rest.
func TestVectorsClassifyDocuments(t *testing.T) {
	trials.Long(t, "an SVD of 7,000 abstracts")
	an, err := text.ParseAnalyzer("english")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, name := range collections {
		path := filepath.Join("..", "..", "shared", "data", "ir", filepath.FromSlash(name))
		if _, err := os.Stat(path); err != nil {
			t.Skip("no folder shared/data beside the project")
		}
		paths = append(paths, path)
	}
	all := &text.Corpus{Paths: paths, Options: text.Options{Format: text.SMART}}
	matrix := filepath.Join(t.TempDir(), "matrix.cooc")
	vopt := cooccur.VocabularyOptions{MinCount: 5, Analyzer: an}
	opt := cooccur.Options{Window: 10, Analyzer: an, Engine: engine.Multicore}
	if _, _, err := cooccur.MakeFile(t.Context(), matrix, all, vopt, opt); err != nil {
		t.Fatal(err)
	}
	r, err := cooccur.Open(matrix)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := vectors.TrainSVD(t.Context(), r, vectors.SVDOptions{Dim: 50})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	c := classifier{v: v, an: an, weights: rarities(r)}
	centres := make([][]float64, len(paths))
	docs := make([][][]float64, len(paths))
	for class, path := range paths {
		centres[class] = make([]float64, v.Dim)
		if docs[class], err = c.documents(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(docs[class]); i += 2 { // labelled
			add(centres[class], docs[class][i], 1)
		}
	}
	right, n := 0, 0
	for class := range docs {
		for i := 1; i < len(docs[class]); i += 2 {
			if n++; nearest(docs[class][i], centres) == class {
				right++
			}
		}
	}
	// The vectors are the same on every machine, and so is the accuracy.
	if got := fmt.Sprintf("%.3f of %d", float64(right)/float64(n), n); got != "0.888 of 3547" {
		t.Errorf("accuracy %s, want 0.888 of 3547 documents, as docs/words.md says", got)
	}
}

// rarities returns the logarithm of how much rarer each word is than the corpus is long.
func rarities(r *cooccur.Reader) map[string]float64 {
	total, of := 0.0, map[string]float64{}
	words := r.Vocabulary()
	for id := range words.Len() {
		total += float64(words.Count(id))
	}
	for id := range words.Len() {
		of[string(words.Word(id))] = math.Log(total / float64(words.Count(id)))
	}
	return of
}

type classifier struct {
	v       *vectors.Vectors
	an      text.Analyzer
	weights map[string]float64
}

// documents returns a vector of length 1 for each document with a known word.
func (c *classifier) documents(ctx context.Context, path string) (out [][]float64, err error) {
	corpus := &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.SMART}}
	var tokens text.Tokens
	for doc, err := range corpus.All(ctx) {
		if err != nil {
			return nil, err
		}
		if err := c.an.Analyze(doc.Text, &tokens); err != nil {
			return nil, err
		}
		sum := make([]float64, c.v.Dim)
		for i := range tokens.Words {
			word := string(tokens.Word(i))
			if n, ok := c.v.Lookup(word); ok {
				one := make([]float64, c.v.Dim)
				for j, x := range c.v.Of(n) {
					one[j] = float64(x)
				}
				if l := length(one); l > 0 {
					add(sum, one, c.weights[word]/l)
				}
			}
		}
		if l := length(sum); l > 0 {
			unit := make([]float64, c.v.Dim)
			add(unit, sum, 1/l)
			out = append(out, unit)
		}
	}
	return out, nil
}

func add(to, x []float64, times float64) {
	for i := range x {
		to[i] += times * x[i]
	}
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func length(x []float64) float64 { return math.Sqrt(dot(x, x)) }

// nearest returns the centre with the highest cosine.
func nearest(doc []float64, centres [][]float64) (class int) {
	for i := range centres {
		if dot(doc, centres[i])/length(centres[i]) > dot(doc, centres[class])/length(centres[class]) {
			class = i
		}
	}
	return class
}

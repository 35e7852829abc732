package vectors

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/collocate/collocate/internal/given"
)

// Judged is a pair of words with a human judgment of their similarity.
type Judged struct {
	Word1, Word2 string  // as the list spells them
	Score        float64 // the judgment; higher is more similar, on any scale
}

// ReadJudged reads lines of two words and a number, separated by tabs, blanks or commas. Lines that
// begin with # are skipped, and so is a first line without a number.
func ReadJudged(r io.Reader, name string) (list []Judged, err error) {
	in := bufio.NewScanner(r)
	for number := 1; in.Scan(); number++ {
		line := strings.TrimSpace(in.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.FieldsFunc(line, func(r rune) bool { return r == '\t' || r == ' ' || r == ',' || r == ';' })
		if len(f) < 3 {
			return nil, fmt.Errorf("%s:%d: want two words and a number", name, number)
		}
		score, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			if number == 1 {
				continue
			}
			return nil, fmt.Errorf("%s:%d: want a number, got %q", name, number, f[2])
		}
		list = append(list, Judged{f[0], f[1], score})
	}
	return list, in.Err()
}

// Similarity compares cosines with judgments. It returns Spearman's rank correlation over the pairs
// whose words both have vectors, and the number of these pairs. Words are looked up unchanged, then
// in lower case.
func (v *Vectors) Similarity(list []Judged) (spearman float64, known int) {
	var a, b []float64
	for _, j := range list {
		x, ok1 := v.find(j.Word1)
		y, ok2 := v.find(j.Word2)
		if ok1 && ok2 {
			a, b = append(a, v.Cosine(x, y)), append(b, j.Score)
		}
	}
	return pearson(ranks(a), ranks(b)), len(a)
}

func (v *Vectors) find(word string) (int, bool) {
	if i, ok := v.index[word]; ok {
		return i, true
	}
	i, ok := v.index[strings.ToLower(word)]
	return i, ok
}

// ranks returns the ranks of numbers; ties get their mean rank.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	out := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			out[k] = float64(i+j-1) / 2
		}
		i = j
	}
	return out
}

func pearson(a, b []float64) float64 {
	n := float64(len(a))
	var ma, mb float64
	for i := range a {
		ma += a[i] / n
		mb += b[i] / n
	}
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - ma) * (b[i] - mb)
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// Question is an analogy: A is to B as C is to D.
type Question struct {
	A, B, C, D string // D is the expected answer; Searcher.Analogy ignores it
}

// ReadQuestions reads lines of four words, as word2vec's questions-words.txt; lines that begin with
// a colon name sections.
func ReadQuestions(r io.Reader, name string) (list []Question, err error) {
	in := bufio.NewScanner(r)
	for number := 1; in.Scan(); number++ {
		f := strings.Fields(in.Text())
		if len(f) == 0 || f[0][0] == ':' {
			continue
		}
		if len(f) != 4 {
			return nil, fmt.Errorf("%s:%d: want four words", name, number)
		}
		list = append(list, Question{f[0], f[1], f[2], f[3]})
	}
	return list, in.Err()
}

// Analogies answers questions. It returns the number of correct answers, and the number of
// questions whose words all have vectors. Words are looked up unchanged, then in lower case.
func (s *Searcher) Analogies(ctx context.Context, list []Question) (right, known int, err error) {
	if err := given.Context(ctx); err != nil {
		return 0, 0, err
	}
	v := s.v
	var queries []query
	var want []int
	for _, q := range list {
		a, ok1 := v.find(q.A)
		b, ok2 := v.find(q.B)
		c, ok3 := v.find(q.C)
		d, ok4 := v.find(q.D)
		if ok1 && ok2 && ok3 && ok4 {
			queries, want = append(queries, v.offset(a, b, c)), append(want, d)
		}
	}
	near, err := s.nearest(ctx, queries, 1)
	if err != nil {
		return 0, 0, err
	}
	for i, n := range near {
		if len(n) == 1 && n[0].Word == v.Words[want[i]] {
			right++
		}
	}
	return right, len(queries), nil
}

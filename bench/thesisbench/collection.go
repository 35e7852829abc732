package thesisbench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
)

// Class is a class of queries by the length of their postings lists.
type Class struct {
	Name   string
	Length int // postings in a list
	Lists  int // number of lists; two neighbouring ones make a query
}

// Shape describes a collection to be generated.
type Shape struct {
	Documents int
	Classes   []Class
	Seed      uint64
}

// thesisClasses are the thesis' queries of two words by the mean length of their lists, table 5.2.
var thesisClasses = []Class{{Name: "short", Length: 89_615}, {Name: "medium", Length: 476_771},
	{Name: "long", Length: 1_032_795}, {Name: "extra", Length: 5_494_285}}

// Thesis describes a collection like the thesis': as many documents as ClueWeb09-B, and lists of
// the lengths of its four classes of queries. A share below 1 gives a smaller collection with lists
// of the same density.
func Thesis(share float64, lists int) Shape {
	s := Shape{Documents: int(50_220_423 * share), Seed: 1}
	for _, c := range thesisClasses {
		c.Length, c.Lists = max(int(float64(c.Length)*share), 2), lists
		s.Classes = append(s.Classes, c)
	}
	return s
}

// Word returns the word of the i-th list.
func (c *Class) Word(i int) string { return fmt.Sprintf("%s%03d", c.Name, i) }

// Build writes the index to a folder. The lengths of documents are lognormal, about 800 words, as
// on the web. The documents of a list are random, and term frequencies geometric.
func (s *Shape) Build(ctx context.Context, dir string) error {
	w, err := index.Create(dir)
	if err != nil {
		return err
	}
	defer w.Abort()
	lengths := make([]uint32, s.Documents)
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	const piece = 1 << 16
	for k := range workers {
		wg.Go(func() {
			for at := k * piece; at < len(lengths); at += workers * piece {
				rng := rand.New(rand.NewPCG(s.Seed, uint64(at)))
				for i := at; i < min(at+piece, len(lengths)); i++ {
					lengths[i] = uint32(math.Exp(6.3+0.9*rng.NormFloat64())) + 8
				}
			}
		})
	}
	wg.Wait()
	id := func(doc int) string { return strconv.Itoa(doc) }
	if err := w.SetDocuments(index.Documents{Analyzer: "whitespace", Lengths: lengths, ID: id}); err != nil {
		return err
	}
	type list struct{ docs, tfs []uint32 }
	type job struct {
		word string
		out  chan list
	}
	jobs := make(chan job, workers)
	go func() {
		defer close(jobs)
		for _, word := range s.words() {
			j := job{word.name, make(chan list, 1)}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
			go func() {
				docs, tfs := s.list(word.length, word.seed)
				j.out <- list{docs, tfs}
			}()
		}
	}()
	for j := range jobs {
		l := <-j.out
		if err := w.Add([]byte(j.word), l.docs, l.tfs); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.Commit()
}

type word struct {
	name   string
	length int
	seed   uint64
}

// words returns the words of all lists in byte order.
func (s *Shape) words() []word {
	var out []word
	for _, c := range s.Classes {
		for i := range c.Lists {
			out = append(out, word{name: c.Word(i), length: c.Length})
		}
	}
	slices.SortFunc(out, func(a, b word) int { return strings.Compare(a.name, b.name) })
	for i := range out {
		out[i].seed = uint64(i)
	}
	return out
}

// Zipf describes a collection whose words are distributed as in text: the r-th occurs in a share of
// 1/(r+2) of the documents.
func Zipf(documents, words int, seed uint64) Shape {
	s := Shape{Documents: documents, Seed: seed}
	for r := range words {
		s.Classes = append(s.Classes, Class{fmt.Sprintf("w%06d", r), max(1, documents/(r+2)), 1})
	}
	return s
}

// Query returns one to most words of a collection of [Zipf]; frequent words are more likely.
func (s *Shape) Query(rng *rand.Rand, most int) []search.Word {
	words := make([]search.Word, 1+rng.IntN(most))
	for i := range words {
		r := int(math.Exp(rng.Float64()*math.Log(float64(len(s.Classes))))) - 1
		words[i] = search.Word{Text: s.Classes[r].Word(0), Weight: float64(1 + rng.IntN(2))}
	}
	return words
}

// list draws n random documents: sums of exponential gaps, scaled to the size of the collection.
func (s *Shape) list(n int, seed uint64) (docs, tfs []uint32) {
	rng := rand.New(rand.NewPCG(s.Seed+1, seed))
	n = min(n, s.Documents)
	at := make([]float64, n)
	sum := 0.0
	for i := range at {
		sum += rng.ExpFloat64()
		at[i] = sum
	}
	sum += rng.ExpFloat64()
	docs, tfs = make([]uint32, n), make([]uint32, n)
	next := 0
	for i := range docs {
		d := max(int(at[i]/sum*float64(s.Documents)), next)
		docs[i] = uint32(min(d, s.Documents-n+i))
		next = int(docs[i]) + 1
		tfs[i] = uint32(rng.ExpFloat64()*1.5) + 1
	}
	return docs, tfs
}

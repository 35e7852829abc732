package index

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchIndex has lists of several densities, with frequencies as in prose: mostly 1, few above 4.
func benchIndex(b *testing.B) (*Reader, []Term) {
	rng := rand.New(rand.NewPCG(41, 42))
	p := &plainIndex{}
	for d := range 300_000 {
		p.lengths = append(p.lengths, uint32(50+rng.ExpFloat64()*100))
		p.ids = append(p.ids, fmt.Sprintf("doc-%06d.%d", d/20, d%20))
	}
	densities := []float64{0.5, 0.1, 0.01, 0.0003}
	for i, density := range densities {
		p.words = append(p.words, fmt.Sprintf("w%d", i))
		var docs, tfs []uint32
		for d := range p.lengths {
			if rng.Float64() < density {
				docs = append(docs, uint32(d))
				tfs = append(tfs, uint32(rng.ExpFloat64()*0.9)+1)
			}
		}
		p.docs, p.tfs = append(p.docs, docs), append(p.tfs, tfs)
	}
	for i := range 100_000 {
		p.words = append(p.words, fmt.Sprintf("x%05d", i))
		p.docs, p.tfs = append(p.docs, []uint32{rng.Uint32N(300_000)}), append(p.tfs, []uint32{1})
	}
	r := p.write(b)
	var terms []Term
	for i := range densities {
		t, err := r.Term(i)
		if err != nil {
			b.Fatal(err)
		}
		terms = append(terms, t)
	}
	return r, terms
}

func BenchmarkIndex(b *testing.B) {
	r, terms := benchIndex(b)
	var c Cursor
	var docs, tfs [BlockSize]uint32
	perPosting := func(b *testing.B, t Term) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(t.DF), "ns/posting")
	}
	for _, t := range terms {
		name := fmt.Sprintf("df=%d", t.DF)
		b.Run("docs/"+name, func(b *testing.B) {
			r.Open(t, &c)
			for b.Loop() {
				for k := range c.Blocks() {
					c.DecodeDocs(k, &docs)
				}
			}
			perPosting(b, t)
		})
		b.Run("tfs/"+name, func(b *testing.B) {
			r.Open(t, &c)
			for b.Loop() {
				for k := range c.Blocks() {
					c.DecodeTFs(k, &tfs)
				}
			}
			perPosting(b, t)
		})
		b.Run("next/"+name, func(b *testing.B) {
			for b.Loop() {
				r.Open(t, &c)
				for d := c.Doc(); d != End; d = c.Next() {
					tfs[0] += c.TF()
				}
			}
			perPosting(b, t)
		})
		b.Run("seek1000/"+name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				r.Open(t, &c)
				n = 0
				for d := c.Doc(); d != End; d = c.Seek(d + 1000) {
					n++
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/seek")
		})
		b.Run("open/"+name, func(b *testing.B) {
			for b.Loop() {
				r.Open(t, &c)
			}
		})
	}
	b.Run("lookup", func(b *testing.B) {
		words := make([][]byte, 1<<12)
		for i := range words {
			words[i] = fmt.Appendf(nil, "x%05d", i*24593%100_000)
		}
		i := 0
		for b.Loop() {
			r.Lookup(words[i&(len(words)-1)])
			i++
		}
	})
	b.Run("id", func(b *testing.B) {
		i := 0
		for b.Loop() {
			r.DocID(i * 7919 % r.Docs())
			i++
		}
	})
}

// BenchmarkStored reads the stored fields of 100 random documents of a warm index, as a page of
// hits does.
func BenchmarkStored(b *testing.B) {
	rng := rand.New(rand.NewPCG(27, 1))
	dir, err := buildFields(b, randomFields(rng, 50_000), fieldsList, BuildOptions{})
	if err != nil {
		b.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	docs := rng.Perm(r.Docs())[:100]
	for b.Loop() {
		for _, d := range docs {
			if _, err := r.Stored(d); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, p := range r.Stats().Parts {
		if p.Name == "stored fields" {
			b.ReportMetric(float64(p.Bytes)/float64(r.Docs()), "B/doc")
		}
	}
}

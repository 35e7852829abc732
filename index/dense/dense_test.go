package dense

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/sections"
)

const magic = "COLOVEC\n"

func schemaOf(t testing.TB, list string) *fields.Schema {
	t.Helper()
	s, err := fields.ParseList(append(strings.Split(list, ","), "body:text"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// written returns the bytes of the vectors of documents that are added in batches, last batch
// first.
func written(t testing.TB, s *fields.Schema, docs [][]fields.Values, batch int) []byte {
	t.Helper()
	b := NewBuilder(s, t.TempDir(), 1<<20)
	defer b.Close()
	for seq := (len(docs) - 1) / batch; seq >= 0 && len(docs) > 0; seq-- {
		part := b.Batch(seq)
		for _, d := range docs[seq*batch : min(len(docs), seq*batch+batch)] {
			if err := part.Add(d); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Put(part); err != nil {
			t.Fatal(err)
		}
	}
	return bytesOf(t, b, len(docs))
}

func bytesOf(t testing.TB, b *Builder, docs int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := sections.NewPaged(&out, magic, 1)
	if err == nil {
		err = b.Write(w, docs)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func opened(t testing.TB, s *fields.Schema, data []byte, docs int) *Set {
	t.Helper()
	f, err := sections.Parse(data, magic, 1)
	if err != nil {
		t.Fatal(err)
	}
	set, err := Open(f, s, docs)
	if err == nil {
		err = set.Check()
	}
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// The bytes of the worked example in the description of the format.
func TestTheFormatIsThatOfItsDescription(t *testing.T) {
	s := schemaOf(t, "v:vector:2:dot:optional")
	docs := [][]fields.Values{{{[]byte("[1, -0.5]")}, nil}, {nil, nil}}
	f, err := sections.Parse(written(t, s, docs, 1), magic, 1)
	if err != nil {
		t.Fatal(err)
	}
	zeros := func(n int) string { return strings.Repeat("00", n) }
	for name, want := range map[string]string{
		"0-head":   fmt.Sprintf("%x", sections.Bytes([]uint64{2, 1, 0, 2, 0, 0, 0, 0})),
		"0-rows":   "0000803f000000bf" + zeros(56) + zeros(64),
		"0-codes":  "7fc0" + zeros(62) + zeros(64),
		"0-scales": "0402013c" + zeros(4),
		"0-rests":  "0102813b" + zeros(4),
		"0-norms":  "bd1b8f3f" + zeros(4),
		"0-has":    "0100000000000000",
	} {
		b, err := f.Section(name)
		if got := fmt.Sprintf("%x", b); err != nil || got != want {
			t.Errorf("section %s: %s, %v; want %s", name, got, err, want)
		}
	}
	if n := len(f.Sections()); n != 7 {
		t.Errorf("%d sections, want 7", n)
	}
	// The second example: several vectors of a document.
	s = schemaOf(t, "v:vector:2:dot:optional:many")
	docs = [][]fields.Values{{nil, nil}, {{[]byte("[[1, -0.5], [1, -0.5]]")}, nil}, {nil, nil}}
	if f, err = sections.Parse(written(t, s, docs, 2), magic, 1); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"0-head":   fmt.Sprintf("%x", sections.Bytes([]uint64{2, 1, 0, 3, 2, 0, 0, 0})),
		"0-rows":   strings.Repeat("0000803f000000bf"+zeros(56), 2),
		"0-codes":  strings.Repeat("7fc0"+zeros(62), 2),
		"0-norms":  "bd1b8f3fbd1b8f3f",
		"0-has":    "0200000000000000",
		"0-starts": "00000000" + "00000000" + "02000000" + "02000000",
	} {
		b, err := f.Section(name)
		if got := fmt.Sprintf("%x", b); err != nil || got != want {
			t.Errorf("several vectors, section %s: %s, %v; want %s", name, got, err, want)
		}
	}
}

// randomDocs are documents with vectors of four fields: some lack those of the second, and have
// none or several of the fourth.
func randomDocs(r *rand.Rand, n int) [][]fields.Values {
	docs := make([][]fields.Values, n)
	for d := range docs {
		docs[d] = make([]fields.Values, 5)
		for i, dim := range []int{3, 40, 17, 5} {
			count := 1
			switch i {
			case 1:
				count = min(1, r.IntN(3))
			case 3:
				count = r.IntN(4)
			}
			for range count {
				v := make([]float32, dim)
				for k := range v {
					v[k] = float32(r.IntN(256) - 128)
				}
				v[0] = 1
				docs[d][i] = append(docs[d][i], fields.VectorValue(v))
			}
		}
	}
	return docs
}

const testFields = "a:vector:3,b:vector:40:float16:dot:optional,c:vector:17:int8:euclidean,d:vector:5:many:optional"

// Vectors are those that were added, whatever the batches, and merging some documents of several
// indexes gives the bytes of one that was built from them.
func TestVectorsComeBack(t *testing.T) {
	s := schemaOf(t, testFields)
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := NewBuilder(s, t.TempDir(), 1<<20)
		var kept [][]fields.Values
		for part := range 3 {
			docs := randomDocs(r, r.IntN(150))
			data := written(t, s, docs, 1+r.IntN(50))
			if !bytes.Equal(data, written(t, s, docs, 1+r.IntN(200))) {
				t.Fatalf("seed %d: the bytes depend on the size of the batches", seed)
			}
			set := opened(t, s, data, len(docs))
			for d, values := range docs {
				for i, name := range []string{"a", "b", "c", "d"} {
					c := set.Column(name)
					if c.Has(d) != (len(values[i]) > 0) {
						t.Fatalf("document %d, field %s: has a vector: %v", d, name, c.Has(d))
					}
					if !c.Has(d) {
						continue
					}
					row, end := c.Rows(d, d+1)
					if end-row != len(values[i]) {
						t.Fatalf("document %d, field %s: %d vectors, want %d", d, name, end-row, len(values[i]))
					}
					for _, v := range values[i] {
						want, _ := fields.ParseVector(nil, v)
						got, err := c.Vector(row, nil)
						if err != nil || !slices.Equal(got[:len(want)], want) || len(got) != Padded(len(want)) || c.Doc(row) != d {
							t.Fatalf("document %d, field %s: %v of document %d, %v; want %v", d, name, got, c.Doc(row), err, want)
						}
						row++
					}
				}
			}
			var order []uint32
			for d := range docs {
				if r.IntN(3) > 0 {
					order = append(order, uint32(d))
					kept = append(kept, docs[d])
				}
			}
			batch := b.Batch(part)
			if err := batch.From(set, slices.Values(order)); err != nil {
				t.Fatal(err)
			}
			if err := b.Put(batch); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(bytesOf(t, b, len(kept)), written(t, s, kept, 64)) {
			t.Fatalf("seed %d: merged vectors of %d documents have other bytes than built ones", seed, len(kept))
		}
		b.Close()
	}
}

// What is no vector of a field is an error that names the field and says what was expected.
func TestWrongVectorsAreRefused(t *testing.T) {
	s := schemaOf(t, testFields)
	good := randomDocs(rand.New(rand.NewPCG(1, 1)), 1)[0]
	for _, c := range []struct {
		field int
		value string
		want  string
	}{
		{0, "[1, 2]", `field "a": a vector of 2 dimensions: want 3`},
		{0, "[0, 0, 0]", `field "a": a zero vector has no direction`},
		{0, "[1, 2, 1e39]", `field "a": number 3 of the vector is 1e39, which a float32 cannot hold`},
		{0, "1 2 3", `field "a": "1 2 3" is not a vector: want a JSON array`},
		{0, "[1, 2, 3", "is not a vector"},
		{0, "[1, 2, 3] 4", "is not a vector"},
		{0, "[1,, 2]", "is not a vector"},
		{0, "[1, 2, NaN]", "is not a vector"},
		{0, string(fields.VectorValue(nil)) + "\x00\x00\xc0\x7f", "number 1 of the vector is NaN"},
		{0, "[1e-30, 0, 0]", "a vector of length 1e-30"},
		{0, "[1e20, 0, 0]", "a vector of length 1e+20: want at most"},
		{0, "", `field "a": there is no vector: give one, or declare the field optional`},
		{0, "[[1, 2, 3], [4, 5, 6]]", `field "a": a list of vectors: a document has one vector, unless the field is declared many`},
		{3, "[[1, 2, 3, 4, 5], [1, 2, 3, 4]]", `field "d": vector 2 of 2: a vector of 4 dimensions: want 5`},
		{3, "[[1, 2, 3, 4, 5], null]", `field "d": vector 2 of 2: "null" is not a vector`},
		{3, "[[1, 2, 3, 4, 5], [1, 2", `field "d": "[[1, 2, 3, 4, 5], [1, 2" is not a list of vectors`},
		{3, "[[]]", `field "d": a vector of 0 dimensions: want 5`},
		{2, "[" + strings.Repeat("1,", 16) + "0.5]", "the precision int8 wants whole numbers"},
		{1, "[" + strings.Repeat("1,", 39) + "7e4]", "a float16 holds less than 65520"},
	} {
		doc := slices.Clone(good)
		if doc[c.field] = nil; c.value != "" {
			doc[c.field] = fields.Values{[]byte(c.value)}
		}
		b := NewBuilder(s, t.TempDir(), 1<<20)
		if err := b.Batch(0).Add(doc); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v; want %q", c.value, err, c.want)
		}
	}
	b := NewBuilder(s, t.TempDir(), 1<<20)
	doc := slices.Clone(good)
	doc[0] = append(doc[0], doc[0][0])
	if err := b.Batch(0).Add(doc); err == nil || !strings.Contains(err.Error(), "2 vectors: a document has one, unless the field is declared many") {
		t.Errorf("two vectors: %v", err)
	}
}

// FuzzVectors changes a byte, repairs the checksums and calls every method; none may panic.
func FuzzVectors(f *testing.F) {
	s := schemaOf(f, testFields)
	r := rand.New(rand.NewPCG(7, 7))
	for range 3 {
		f.Add(written(f, s, randomDocs(r, 70), 20), 200, byte(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, at int, flip byte) {
		data = bytes.Clone(data)
		if at >= 0 && at < len(data) {
			data[at] ^= flip
		}
		sections.Repair(data)
		file, err := sections.Parse(data, magic, 1)
		if err != nil {
			return
		}
		set, err := Open(file, s, 70)
		if err != nil {
			return
		}
		set.Check()
		for _, c := range set.columns {
			for d := range 70 {
				c.Has(d)
				for row, end := c.Rows(d, d+1); row < end; row++ {
					c.Norm(row)
					c.Doc(row)
					c.Vector(row, nil)
				}
			}
			c.Parts(c.Rows(0, 70))
		}
	})
}

package columns

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/sections"
)

const magic = "COLOCOL\n"

func schemaOf(t testing.TB, list string) *fields.Schema {
	t.Helper()
	s, err := fields.ParseList(strings.Split(list, ","))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// written returns the bytes of the columns of documents that are added in batches, last batch
// first.
func written(t testing.TB, s *fields.Schema, docs [][]fields.Values, batch int) []byte {
	t.Helper()
	b := NewBuilder(s, 1<<30)
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

func openBytes(t testing.TB, s *fields.Schema, data []byte, docs int) *Set {
	t.Helper()
	f, err := sections.Parse(data, magic, 1)
	if err != nil {
		t.Fatal(err)
	}
	set, err := Open(f, s, docs)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func values(list ...string) (v fields.Values) {
	for _, s := range list {
		v = append(v, []byte(s))
	}
	return v
}

// The bytes of the worked example in the description of the format.
func TestTheFormatIsThatOfItsDescription(t *testing.T) {
	s := schemaOf(t, "body:text,year:number,tags:keyword")
	docs := [][]fields.Values{
		{nil, values("1999"), values("b")},
		{nil, nil, values("b", "a", "b")},
		{nil, values("2009"), nil},
	}
	f, err := sections.Parse(written(t, s, docs, 2), magic, 1)
	if err != nil {
		t.Fatal(err)
	}
	const pad = " 00 00 00 00 00 00 00 00"
	for name, want := range map[string]string{
		"0-head":   fmt.Sprintf("% x", sections.Bytes([]uint64{3, 1999, 10, 1, 0, 0, 0, 0})),
		"0-values": "04" + pad,
		"0-has":    "05 00 00 00 00 00 00 00",
		"1-head":   fmt.Sprintf("% x", sections.Bytes([]uint64{2, 2, 1, 3, 2, 0, 0, 0})),
		"1-words":  "00 01 61 00 01 62",
		"1-starts": fmt.Sprintf("% x", sections.Bytes([]uint64{0, 6})),
		"1-ends":   "3d" + pad,
		"1-ords":   "05" + pad,
	} {
		b, err := f.Section(name)
		if got := fmt.Sprintf("% x", b); err != nil || got != want {
			t.Errorf("section %s: %s, %v; want %s", name, got, err, want)
		}
	}
	if n := len(f.Sections()); n != 8 {
		t.Errorf("%d sections, want 8", n)
	}
}

// randomDocs returns n documents with random fields. By chance numbers are all whole, documents
// have at most one keyword, or every document has a value in each column.
func randomDocs(r *rand.Rand, n int) [][]fields.Values {
	several, whole, full := r.IntN(2), r.IntN(2) == 0, r.IntN(3) == 0
	unit, base := int64(1)<<r.IntN(30), r.Int64N(1<<40)-1<<39
	docs := make([][]fields.Values, n)
	for d := range docs {
		v := make([]fields.Values, 5)
		for range r.IntN(2 + 3*several) {
			v[1] = append(v[1], fmt.Appendf(nil, "%c%0*d", 'a'+r.IntN(3), 1+r.IntN(3), r.IntN(40)))
		}
		has := func() bool { return full || r.IntN(4) > 0 }
		if has() {
			x := float64(base + unit*r.Int64N(1000))
			if !whole {
				x = math.Round(r.NormFloat64()*1e6) / 1e3
			}
			v[2] = values(fmt.Sprint(x))
		}
		if has() {
			v[3] = values(fmt.Sprintf("%04d-%02d-%02d", 1900+r.IntN(200), 1+r.IntN(12), 1+r.IntN(28)))
		}
		if has() {
			v[4] = values(fmt.Sprintf("%.5f,%.3f", r.Float64()*180-90, r.Float64()*360-180))
		}
		docs[d] = v
	}
	return docs
}

const testFields = "body:text,k:keyword,n:number,d:date,g:geo"

// Columns return the values that were added, and filters find what a scan of the documents finds.
func TestColumnsAgainstDocuments(t *testing.T) {
	s := schemaOf(t, testFields)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		docs := randomDocs(r, r.IntN(300))
		data := written(t, s, docs, 1+r.IntN(50))
		if !bytes.Equal(data, written(t, s, docs, 1+r.IntN(300))) {
			t.Fatalf("seed %d: the bytes depend on the size of the batches", seed)
		}
		set := openBytes(t, s, data, len(docs))
		if err := set.Check(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		column := func(name string) *Column {
			c, err := set.Column(name)
			if err != nil || c == nil {
				t.Fatalf("Column(%s): %v, %v; want a column", name, c, err)
			}
			return c
		}
		k, n, day, g := column("k"), column("n"), column("d"), column("g")
		var ords []uint32
		for d, v := range docs {
			want := map[string]bool{}
			for _, w := range v[1] {
				want[string(w)] = true
			}
			ords = k.Ords(d, ords[:0])
			for _, ord := range ords {
				if w, err := k.Value(int(ord)); err != nil || !want[w] {
					t.Fatalf("document %d: keyword %q, %v; want one of %q", d, w, err, v[1])
				}
			}
			if len(ords) != len(want) || k.Has(d) != (len(want) > 0) {
				t.Fatalf("document %d: %d keywords, has some: %v; want %q", d, len(ords), k.Has(d), v[1])
			}
			x, ok := n.Number(d)
			if ok != (v[2] != nil) || ok && fmt.Sprint(x) != string(v[2][0]) || n.Has(d) != ok {
				t.Fatalf("document %d: number %v, %v; want %s", d, x, ok, v[2])
			}
			ms, ok := day.Date(d)
			if ok != (v[3] != nil) {
				t.Fatalf("document %d: date %d, %v; want %q", d, ms, ok, v[3])
			}
			if ok {
				if want, _ := fields.ParseDate(v[3][0]); ms != want {
					t.Fatalf("document %d: date %d, want %d", d, ms, want)
				}
			}
			if p, ok := g.Point(d); ok != (v[4] != nil) {
				t.Fatalf("document %d: point %v, %v; want %q", d, p, ok, v[4])
			} else if ok {
				if want, _ := fields.ParsePoint(v[4][0]); p != want {
					t.Fatalf("document %d: point %v, want %v", d, p, want)
				}
			}
		}
		check := func(what string, got *docset.Set, err error, want func(v []fields.Values) bool) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for d, v := range docs {
				if got.Has(uint32(d)) != want(v) {
					t.Fatalf("seed %d, %s: found document %d with %s: %v, want %v", seed, what, d, v,
						!want(v), want(v))
				}
			}
		}
		word := func(v []fields.Values, test func(w string) bool) bool {
			return slices.ContainsFunc(v[1], func(w []byte) bool { return test(string(w)) })
		}
		for _, w := range []string{"a1", "b02", "c", "zz", "", "b"} {
			got, err := k.Equal(w)
			check("equal "+w, got, err,
				func(v []fields.Values) bool { return word(v, func(x string) bool { return x == w }) })
			got, err = k.Prefix(w)
			check("prefix "+w, got, err, func(v []fields.Values) bool {
				return word(v, func(x string) bool { return strings.HasPrefix(x, w) })
			})
			got, err = k.Fitting(w, func(x []byte) bool { return x[len(x)-1]%2 == 0 }, func() error { return nil })
			check("fitting "+w, got, err, func(v []fields.Values) bool {
				return word(v, func(x string) bool { return strings.HasPrefix(x, w) && x[len(x)-1]%2 == 0 })
			})
			got, err = k.Range(Limit{Value: w, Exclusive: true}, Limit{Value: "b3"})
			check("range from "+w, got, err, func(v []fields.Values) bool {
				return word(v, func(x string) bool { return (w == "" || x > w) && x <= "b3" })
			})
		}
		for _, c := range []*Column{k, n, day, g} {
			got, err := c.Any()
			check("any", got, err, func(v []fields.Values) bool { return len(v[slices.Index([]*Column{nil, k, n, day, g}, c)]) > 0 })
		}
		pick := func(field int) string {
			for _, v := range docs {
				if v[field] != nil && r.IntN(5) == 0 {
					return string(v[field][0])
				}
			}
			return map[int]string{2: "0.5", 3: "1950"}[field]
		}
		for range 5 {
			low, high, open := pick(2), pick(2), r.IntN(2) == 0
			a, _ := fields.ParseNumber([]byte(low))
			b, _ := fields.ParseNumber([]byte(high))
			got, err := n.Range(Limit{Value: low, Exclusive: open}, Limit{Value: high, Exclusive: !open})
			check("numbers "+low+" to "+high, got, err, func(v []fields.Values) bool {
				if v[2] == nil {
					return false
				}
				x, _ := fields.ParseNumber(v[2][0])
				return (x > a || !open && x == a) && (x < b || open && x == b)
			})
			from, to := pick(3), pick(3)[:4]
			got, err = day.Range(Limit{Value: from}, Limit{Value: to})
			check("dates "+from+" to "+to, got, err, func(v []fields.Values) bool {
				return v[3] != nil && string(v[3][0]) >= from && string(v[3][0])[:4] <= to
			})
			south, north := float64(r.IntN(90)-90), float64(r.IntN(90))
			west, east := float64(r.IntN(360)-180), float64(r.IntN(360)-180)
			got, err = g.Box(south, west, north, east)
			check(fmt.Sprint("box ", south, west, north, east), got, err, func(v []fields.Values) bool {
				if v[4] == nil {
					return false
				}
				p, _ := fields.ParsePoint(v[4][0])
				lat, lon := p.Degrees()
				in := lon >= west && lon <= east
				if west > east {
					in = lon >= west || lon <= east
				}
				return lat >= south && lat <= north && in
			})
		}
		// Facets of the documents with a number.
		some, _ := n.Any()
		counts := map[string]int{}
		for _, v := range docs {
			seen := map[string]bool{}
			for _, w := range v[1] {
				if v[2] != nil && !seen[string(w)] {
					seen[string(w)] = true
					counts[string(w)]++
				}
			}
		}
		facets, distinct, err := k.Facets(some, 5)
		if err != nil || distinct != len(counts) || len(facets) != min(5, distinct) {
			t.Fatalf("%d facets of %d keywords, %v; want the first 5 of %d", len(facets), distinct, err,
				len(counts))
		}
		words := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
		})
		for i, f := range facets {
			if f.Value != words[i] || f.Docs != counts[f.Value] {
				t.Fatalf("seed %d: facet %d is %v, want %s with %d", seed, i, f, words[i], counts[words[i]])
			}
		}
	}
}

// Merging some documents of several columns gives the bytes of columns built from these documents.
func TestMergedColumnsEqualBuiltOnes(t *testing.T) {
	s := schemaOf(t, testFields)
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 2))
		b := NewBuilder(s, 1<<30)
		var kept [][]fields.Values
		for part := range 3 {
			docs := randomDocs(r, 1+r.IntN(100))
			set := openBytes(t, s, written(t, s, docs, 64), len(docs))
			order := []uint32{}
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
			t.Fatalf("seed %d: merged columns of %d documents have other bytes than built ones", seed, len(kept))
		}
	}
}

// Values that do not fit the type of a field, more than one value, too little memory, and filters
// that do not fit the type are errors that name the field or the option.
func TestWrongValuesAreRefused(t *testing.T) {
	s := schemaOf(t, testFields)
	for field, v := range map[int]fields.Values{2: values("x"), 3: values("soon"), 4: values("91,0")} {
		doc := make([]fields.Values, 5)
		doc[field] = v
		if err := NewBuilder(s, 1<<30).Batch(0).Add(doc); err == nil || !strings.Contains(err.Error(), `field "`) {
			t.Errorf("adding %s: error %v, want one that names the field", v, err)
		}
		doc[field] = append(v, v...)
		if err := NewBuilder(s, 1<<30).Batch(0).Add(doc); err == nil || !strings.Contains(err.Error(), "2 values") {
			t.Errorf("adding %s: error %v, want one about 2 values", doc[field], err)
		}
	}
	b := NewBuilder(s, 100)
	part := b.Batch(0)
	for range 100 {
		part.Add(nil)
	}
	if err := b.Put(part); err == nil || !strings.Contains(err.Error(), "BuildOptions.Memory") {
		t.Errorf("100 documents in 100 bytes: error %v, want one that names BuildOptions.Memory", err)
	}
	set := openBytes(t, s, written(t, s, randomDocs(rand.New(rand.NewPCG(1, 1)), 10), 5), 10)
	g, _ := set.Column("g")
	n, _ := set.Column("n")
	for what, err := range map[string]error{
		"equal of a point":          second(g.Equal("1,1")),
		"range from x of a number":  second(n.Range(Limit{Value: "x"}, Limit{})),
		"box of a number":           second(n.Box(0, 0, 1, 1)),
		"box with south of north":   second(g.Box(5, 0, 1, 1)),
		"box to longitude 181":      second(g.Box(0, 0, 1, 181)),
		"prefix of a number":        second(n.Prefix("1")),
		"pattern of a number":       second(n.Fitting("", nil, nil)),
		"box from latitude -91":     second(g.Box(-91, 0, 1, 1)),
		"range to x of a number":    second(n.Range(Limit{}, Limit{Value: "x"})),
		"equal to x of a number":    second(n.Equal("x")),
		"range of a point":          second(g.Range(Limit{}, Limit{Value: "1,1"})),
		"box from longitude -180.1": second(g.Box(0, -180.1, 1, 1)),
	} {
		if err == nil || !strings.Contains(err.Error(), `field "`) {
			t.Errorf("%s: error %v, want one that names the field", what, err)
		}
	}
}

func second(_ *docset.Set, err error) error { return err }

// FuzzColumns changes a byte, repairs the checksums and calls every method; none may panic.
func FuzzColumns(f *testing.F) {
	s := schemaOf(f, testFields)
	r := rand.New(rand.NewPCG(7, 7))
	for range 4 {
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
		for _, name := range set.names {
			c, err := set.Column(name)
			if err != nil {
				return
			}
			c.Any()
			c.Equal("a1")
			c.Range(Limit{Value: "1999"}, Limit{Value: "2010"})
			c.Box(-10, -10, 10, 10)
			c.Facets(nil, 10)
			for d := range 70 {
				c.Has(d)
				c.Number(d)
				c.Point(d)
				c.Ords(d, nil)
			}
		}
	})
}

// If bytes of a large column change after it was used, filters give an error at once, and look-ups
// give one as soon as the pages are verified again.
func TestLargeColumnsThatChange(t *testing.T) {
	const n = 100_000
	s := schemaOf(t, "tag:keyword,tags:keyword,year:number,price:number,day:date,at:geo,body:text")
	rng := rand.New(rand.NewPCG(71, 72))
	docs := make([][]fields.Values, n)
	for i := range docs {
		if rng.IntN(50) == 0 {
			docs[i] = make([]fields.Values, len(s.Fields))
			continue
		}
		docs[i] = []fields.Values{
			values(fmt.Sprintf("tag %d", rng.IntN(20_000))),
			values(fmt.Sprintf("t%d", rng.IntN(5000)), fmt.Sprintf("t%d", 5000+rng.IntN(5000))),
			values(fmt.Sprint(1000 + rng.IntN(1000))),
			values(fmt.Sprint(rng.Float64())),
			values(fmt.Sprintf("%d-%02d-%02d", 1000+rng.IntN(999), 1+rng.IntN(12), 1+rng.IntN(28))),
			values(fmt.Sprintf("%.4f,%.4f", rng.Float64()*90, rng.Float64()*90)),
			nil,
		}
	}
	data := written(t, s, docs, 10_000)
	set := openBytes(t, s, data, n)
	few := docset.New(n)
	few.AddAll([]uint32{0, 1, 17, 30_000, 55_555, n - 1})
	found := func(set *docset.Set, err error) (string, error) {
		if err != nil {
			return "", err
		}
		return fmt.Sprint(set.Count(), set.Words()), nil
	}
	value := func(c *Column, d int) string {
		v, ok := c.Number(d)
		date, _ := c.Date(d)
		at, _ := c.Point(d)
		return fmt.Sprint(c.Has(d), v, ok, date, at, c.Ords(d, nil))
	}
	lookUp := func(c *Column, docs *docset.Set) (string, error) {
		err := c.Verify(docs)
		text := ""
		for d := range few.All() {
			text += value(c, int(d))
		}
		return text, err
	}
	type use struct {
		name   string
		always bool // verifies at each use
		do     func(c *Column) (string, error)
	}
	keywords := []use{
		{"Equal", true, func(c *Column) (string, error) { return found(c.Equal("tag 777")) }},
		{"Prefix", true, func(c *Column) (string, error) { return found(c.Prefix("t7")) }},
		{"Fitting", true, func(c *Column) (string, error) {
			return found(c.Fitting("t", func(w []byte) bool { return len(w) > 1 && w[1] == '7' }, func() error { return nil }))
		}},
		{"Any", true, func(c *Column) (string, error) { return found(c.Any()) }},
		{"Facets", false, func(c *Column) (string, error) {
			list, n, err := c.Facets(few, 10)
			return fmt.Sprint(list, n), err
		}},
		{"all Facets", false, func(c *Column) (string, error) {
			list, n, err := c.Facets(nil, 10)
			return fmt.Sprint(list, n), err
		}},
		{"Value", false, func(c *Column) (string, error) { return c.Value(777) }},
	}
	ranges := func(low, high string) use {
		return use{"Range", true, func(c *Column) (string, error) {
			return found(c.Range(Limit{Value: low}, Limit{Value: high}))
		}}
	}
	both := []use{
		{"few values", false, func(c *Column) (string, error) { return lookUp(c, few) }},
		{"all values", false, func(c *Column) (string, error) { return lookUp(c, nil) }},
	}
	for _, c := range []struct {
		name string
		uses []use
	}{
		{"tag", append(keywords, both...)}, {"tags", append(keywords, both...)},
		{"year", append(both, ranges("1500", "1600"))}, {"price", append(both, ranges("0.1", "0.2"))},
		{"day", append(both, ranges("1500", "1600"))},
		{"at", append(both, use{"Box", true, func(c *Column) (string, error) {
			return found(c.Box(1, 2, 30, 40))
		}})},
	} {
		col, err := set.Column(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if col.small {
			t.Fatalf("%s: a small column", c.name)
		}
		for _, u := range c.uses {
			want, err := u.do(col)
			if err != nil {
				t.Fatal(c.name, u.name, err)
			}
			noticed := 0
			for i := range 16 {
				part := col.parts[1+rng.IntN(len(col.parts)-1)]
				if len(part) == 0 {
					continue
				}
				at := rng.IntN(len(part))
				if i%2 == 0 { // near the value of one of the few documents
					at = 30_000 * (len(part) - pad) / n
				}
				was := part[at]
				part[at] ^= 0x15
				if !u.always {
					col.file.Forget(0)
				}
				got, err := u.do(col)
				if part[at] = was; err != nil {
					noticed++
				} else if got != want {
					t.Fatalf("%s of %s: another answer and no error", u.name, c.name)
				}
			}
			if noticed == 0 && u.name != "Value" {
				t.Errorf("%s of %s: no change was noticed", u.name, c.name)
			}
		}
	}
}

// A column that is asked for again and again is verified again within about a second.
func TestLookUpsNoticeChangesInTime(t *testing.T) {
	const n = 100_000
	s := schemaOf(t, "price:number,body:text")
	docs := make([][]fields.Values, n)
	for i := range docs {
		docs[i] = []fields.Values{values(fmt.Sprint(float64(i) + 0.5)), nil}
	}
	set := openBytes(t, s, written(t, s, docs, 10_000), n)
	one := docset.New(n)
	one.Add(50_000)
	changed := false
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		c, err := set.Column("price")
		if err != nil {
			t.Fatal(err)
		}
		if err = c.Verify(one); err != nil && changed {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		if !changed {
			c.floats[50_000]++
			changed = true
		}
		if time.Since(began) > 20*recheck {
			t.Fatal("the change is not noticed")
		}
	}
}

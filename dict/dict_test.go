package dict

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/internal/trials"
)

// list returns Words of the given words, which may be in any order.
func list(t testing.TB, words ...string) *Words {
	t.Helper()
	w := &Words{}
	sort.Strings(words)
	for _, s := range slices.Compact(words) {
		if err := w.Add([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func build(t testing.TB, w *Words, k Kind) *File {
	t.Helper()
	var b bytes.Buffer
	if err := Build(t.Context(), w, Options{Kind: k}, &b); err != nil {
		t.Fatal(err)
	}
	d, err := Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The example of the paper: ten nodes, B_b = 1100100010, and two steps by b.
func TestThePapersExample(t *testing.T) {
	d := build(t, list(t, "aba", "ba", "bb", "cb", "cc"), XBWPaper)
	x := d.Dict.(*xbw)
	if d.meta.nodes != 10 {
		t.Errorf("%d nodes, want 10", d.meta.nodes)
	}
	const a, b, c = 1, 2, 3
	bits := ""
	for i := range 10 {
		_, one := x.rrr.rank(b-1, i)
		bits += map[bool]string{false: "0", true: "1"}[one]
	}
	if bits != "1100100010" {
		t.Errorf("B_b = %s, want 1100100010", bits)
	}
	// Table 1 of the paper, the STT, has all steps of the XBW.
	table := map[int][10]int{
		a: {1, -1, -1, -1, 2, 3, -1, -1, -1, -1},
		b: {4, 5, -1, -1, 6, -1, -1, -1, 7, -1},
		c: {8, -1, -1, -1, -1, -1, -1, -1, 9, -1},
	}
	for char, row := range table {
		for node, want := range row {
			got, ok := x.child(node, char)
			if !ok {
				got = -1
			}
			if got != want {
				t.Errorf("from %d by %c: %d, want %d", node, "_abc"[char], got, want)
			}
		}
	}
}

// check compares a dictionary with its words: numbers are 0 to Len()-1, ID and Word are inverse to
// each other, and strangers, other words, are not found.
func check(t testing.TB, w *Words, d *File, strangers [][]byte) {
	t.Helper()
	if d.Len() != w.Len() {
		t.Fatalf("%v: %d words, want %d", d.Kind(), d.Len(), w.Len())
	}
	seen := make([]bool, w.Len())
	for i := range w.Len() {
		word := w.At(i)
		id, ok := d.ID(word)
		if !ok || int(id) >= w.Len() || seen[id] {
			t.Fatalf("%v: %q has number %d, %v, want one of %d that no other word has", d.Kind(), word, id, ok,
				w.Len())
		}
		seen[id] = true
		if got := d.Word([]byte("x"), id); string(got) != "x"+string(word) {
			t.Fatalf("%v: %d is %q, want %q", d.Kind(), id, got, word)
		}
		switch d.Kind() {
		case STT, Hash, Double, Front:
			if int(id) != i {
				t.Fatalf("%v: %q has number %d, want %d, as in byte order", d.Kind(), word, id, i)
			}
		}
	}
	for _, s := range strangers {
		at := sort.Search(w.Len(), func(i int) bool { return bytes.Compare(w.At(i), s) >= 0 })
		known := at < w.Len() && bytes.Equal(w.At(at), s)
		if _, ok := d.ID(s); ok != known {
			t.Fatalf("%v: %q is found: %v, want %v", d.Kind(), s, ok, known)
		}
	}
	if got := d.Word(nil, uint32(w.Len())); len(got) > 0 {
		t.Fatalf("%v: number %d of %d words is %q, want nothing", d.Kind(), w.Len(), w.Len(), got)
	}
}

// strangers returns words near those of a dictionary: with a letter more, a letter less or another
// letter.
func strangers(w *Words) (out [][]byte) {
	for i := range w.Len() {
		s := w.At(i)
		out = append(out, append(bytes.Clone(s), 'a'), append(bytes.Clone(s), '~'), append([]byte{'b'}, s...))
		if len(s) > 0 {
			out = append(out, s[:len(s)-1], s[1:])
			x := bytes.Clone(s)
			x[len(x)/2] ^= 1
			out = append(out, x)
		}
	}
	return append(out, nil, []byte("a"), []byte{0}, []byte{255})
}

func TestEveryKindHoldsAnyWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]string{"a", "ab", "abcdefghijklmnopqrstuvwxyz",
			"\x00\x01\xfe\xff", "あいう日本語"}).Draw(t, "letters")
		words := map[string]bool{}
		for _, s := range rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, len(letters)-1), 0, 9), 0,
			60).Draw(t, "words") {
			var b []byte
			for _, i := range s {
				b = append(b, letters[i])
			}
			words[string(b)] = true
		}
		var all []string
		for s := range words {
			all = append(all, s)
		}
		sort.Strings(all)
		w := &Words{}
		for _, s := range all {
			w.add([]byte(s))
		}
		for k := range kinds {
			var b bytes.Buffer
			if err := Build(context.Background(), w, Options{Kind: k}, &b); err != nil {
				t.Fatal(err)
			}
			d, err := Parse(b.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			check2(t, w, d)
		}
	})
}

// check2 is check for a rapid.T.
func check2(t *rapid.T, w *Words, d *File) { check(rapidTB{t: t}, w, d, strangers(w)) }

type rapidTB struct {
	testing.TB
	t *rapid.T
}

func (r rapidTB) Helper()                           {}
func (r rapidTB) Fatalf(format string, args ...any) { r.t.Fatalf(format, args...) }

// All 256 characters, words that are prefixes of one another, and words much longer than the key of
// the first round of sorting.
func TestExtremeWords(t *testing.T) {
	long := strings.Repeat("abcdefghij", 300)
	var bytes256, chain, deep []string
	for i := range 256 {
		bytes256 = append(bytes256, string([]byte{byte(i)}), string([]byte{byte(i), 255 - byte(i), 7}))
	}
	for i := range trials.Of(200) {
		chain = append(chain, strings.Repeat("a", i))
		deep = append(deep, long[:1000+7*i], long[:500]+"x"+long[i:], strings.Repeat("ab", 100+i)+"c")
	}
	for name, words := range map[string][]string{
		"none": nil, "empty word": {""}, "one": {"word"}, "one letter": {"a"},
		"256 characters": bytes256, "chain": chain, "deep": deep,
	} {
		t.Run(name, func(t *testing.T) {
			w := list(t, words...)
			for k := range kinds {
				check(t, w, build(t, w, k), strangers(w))
			}
		})
	}
}

// generated returns n random words of about nine letters, with the frequencies of English letters.
func generated(n int, seed uint64) *Words {
	const letters = "eeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnsssssshhhhhhrrrrrrddddlllcccuuummmwwffggyyppbbvkjxqz"
	rng := rand.New(rand.NewPCG(seed, 3))
	seen := make(map[string]struct{}, n)
	list := make([]string, 0, n)
	for len(list) < n {
		size := max(1, int(9.4+3*rng.NormFloat64()))
		b := make([]byte, size)
		for i := range b {
			b[i] = letters[rng.IntN(len(letters))]
		}
		if _, ok := seen[string(b)]; !ok {
			seen[string(b)] = struct{}{}
			list = append(list, string(b))
		}
	}
	sort.Strings(list)
	w := &Words{}
	for _, s := range list {
		w.add([]byte(s))
	}
	return w
}

func TestManyWords(t *testing.T) {
	w := generated(30000/trials.Every(5), 1)
	var near [][]byte
	for i := 0; i < w.Len(); i += 10 {
		near = append(near, strangers(&Words{w.At(i), []uint64{uint64(len(w.At(i)))}})...)
	}
	for k := range kinds {
		check(t, w, build(t, w, k), near)
	}
}

// With enough words, the first four characters take one step, and so do shorter words.
func TestHeadsSaveTheFirstSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	seen := map[string]bool{"a": true, "bc": true, "cab": true, "abca": true, "abcab": true}
	for range 4000 {
		w := make([]byte, 1+rng.IntN(12))
		for i := range w {
			w[i] = "abc"[rng.IntN(3)]
		}
		seen[string(w)] = true
	}
	w := list(t, slices.Sorted(maps.Keys(seen))...)
	for _, k := range []Kind{XBW, XBWPlain} {
		d := build(t, w, k)
		x := d.Dict.(*xbw)
		if d.meta.heads != 4 || len(x.heads) != 81+27+9+3 {
			t.Fatalf("%v: %d heads of up to %d characters, want 120 of up to 4", k, len(x.heads), d.meta.heads)
		}
		for word, left := range map[string]int{"a": 0, "bc": 0, "cab": 0, "abca": 0, "abcab": 1} {
			if at, rest := x.head([]byte(word)); at == 0 || len(rest) != left {
				t.Errorf("%v: %q goes to node %d with %q left, want another node and %d characters", k, word, at,
					rest, left)
			}
		}
		check(t, w, d, strangers(w))
	}
}

// The same words give the same bytes on any number of threads.
func TestBuildIsDeterministic(t *testing.T) {
	w := generated(20000, 2)
	for k := range kinds {
		var first []byte
		for _, threads := range []int{1, 3, 8} {
			var b bytes.Buffer
			if err := Build(t.Context(), w, Options{Kind: k, Threads: threads}, &b); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = b.Bytes()
			} else if !bytes.Equal(first, b.Bytes()) {
				t.Errorf("%v: %d threads give another file than one", k, threads)
			}
		}
	}
}

func TestFilesOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words.dict")
	w := list(t, "one", "two", "three")
	for k := range kinds {
		if err := BuildFile(t.Context(), w, Options{Kind: k}, path); err != nil {
			t.Fatal(err)
		}
		d, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		check(t, w, d, strangers(w))
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data[70] ^= 1 // in the alphabet
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "checksum") ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%v: a wrong byte gives %v, want an error of a checksum that names the file", k, err)
		}
	}
}

// asked is a context that counts how often it is asked, and is cancelled from a question on.
type asked struct {
	context.Context
	times, until int
}

func (c *asked) Err() error {
	if c.times++; c.times > c.until {
		return context.Canceled
	}
	return nil
}

// A build of an xbw asks its context in every pass over the nodes, at least at every 65,536th, and
// stops wherever it is cancelled.
func TestBuildStopsEverywhere(t *testing.T) {
	words := generated(200_000, 1)
	for _, k := range []Kind{XBW, XBWPaper} {
		var b bytes.Buffer
		whole := &asked{t.Context(), 0, math.MaxInt}
		if err := Build(whole, words, Options{Kind: k}, &b); err != nil {
			t.Fatal(err)
		}
		d, err := Parse(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		// The words are read twice. Sorting keys and ends are passes over the nodes, and inner
		// nodes and heads of XBW; there is a bit vector for each character.
		m := d.meta
		passes := map[Kind]int{XBW: 4, XBWPaper: 2}[k]
		if want := 2*words.Len()>>16 + m.chars + passes*(m.nodes>>16); whole.times < want {
			t.Errorf("%v: a build of %d nodes asks %d times, want %d", k, m.nodes, whole.times, want)
		}
		for i := range 12 {
			stopped := &asked{t.Context(), 0, whole.times * (i + 1) / 13}
			if err := Build(stopped, words, Options{Kind: k}, io.Discard); !errors.Is(err, context.Canceled) {
				t.Errorf("%v: cancelled after %d of %d questions it gives %v", k, stopped.until, whole.times, err)
			}
			if over := stopped.times - stopped.until; over > m.chars+10 {
				t.Errorf("%v: cancelled, it asks %d times more", k, over)
			}
		}
	}
}

func TestBuildStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for k := range kinds {
		if err := Build(ctx, generated(100, 1), Options{Kind: k}, &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: a cancelled build gives %v", k, err)
		}
	}
	err := Build(t.Context(), generated(1000, 1), Options{Kind: STT, Memory: 1000}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "more than the memory") {
		t.Errorf("a table larger than the memory gives %v", err)
	}
	if err := Build(t.Context(), &Words{}, Options{Kind: kinds}, &bytes.Buffer{}); err == nil {
		t.Error("an unknown kind: no error")
	}
}

func TestReadWords(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	for in, want := range map[string][]string{
		"":                         nil,
		"b\na\n\nb\r\nc":           {"a", "b", "c"},
		"a\nb\nc\n":                {"a", "b", "c"},
		"b\n" + long + "\na\n":     {"a", "b", long},
		"\xff\n\x00\n\xff\x00\n\n": {"\x00", "\xff", "\xff\x00"},
	} {
		w, err := ReadWords(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range w.Len() {
			got = append(got, string(w.At(i)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%.20q gives %.40q, want %.40q", in, got, want)
		}
	}
	w := &Words{}
	if w.Add([]byte("b")) != nil || w.Add([]byte("a")) == nil || w.Add([]byte("b")) == nil {
		t.Error("Add takes words out of order, or not the first one")
	}
}

// A file with correct checksums and wrong content must be refused or give any answers, without a
// panic or an endless loop.
func FuzzOpen(f *testing.F) {
	w := list(f, "aba", "ba", "bb", "cb", "cc", "", "some", "longer words", "\xff\x00")
	files := make([][]byte, kinds)
	for k := range kinds {
		var b bytes.Buffer
		if err := Build(context.Background(), w, Options{Kind: k}, &b); err != nil {
			f.Fatal(err)
		}
		files[k] = b.Bytes()
		f.Add(uint8(k), uint16(200), uint8(255), []byte("aba"))
		f.Add(uint8(k), uint16(64), uint8(1), []byte("cc"))
	}
	f.Fuzz(func(t *testing.T, kind uint8, at uint16, xor uint8, word []byte) {
		data := bytes.Clone(files[kind%uint8(kinds)])
		for i := range 3 {
			data[(int(at)+i*97)%len(data)] ^= xor
		}
		file, err := sections.Parse(data, magic, version)
		if err != nil {
			return
		}
		d, err := open(file) // without Verify
		if err != nil {
			return
		}
		d.ID(word)
		for i := range w.Len() {
			d.ID(w.At(i))
			d.Word(nil, uint32(i))
		}
		d.Word(nil, uint32(at))
	})
}

// FuzzParse reads arbitrary bytes.
func FuzzParse(f *testing.F) {
	for k := range kinds {
		var b bytes.Buffer
		if err := Build(context.Background(), list(f, "ab", "b"), Options{Kind: k}, &b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, err := Parse(bytes.Clone(data)); err == nil {
			d.ID([]byte("ab"))
			d.Word(nil, 0)
		}
	})
}

func TestKindsHaveNames(t *testing.T) {
	for k := range kinds {
		var got Kind
		if err := got.UnmarshalText([]byte(k.String())); err != nil || got != k {
			t.Errorf("%v unmarshals to %v, %v", k, got, err)
		}
	}
	if _, err := ParseKind("trie"); err == nil || !strings.Contains(err.Error(), "xbw-plain") {
		t.Errorf("unknown kind: %v, want an error that lists the kinds", err)
	}
	if got := fmt.Sprint(Kind(99)); got != "Kind(99)" {
		t.Errorf("kind 99 is %s, want Kind(99)", got)
	}
}

// The size of a table is known without building it.
func TestTableBytes(t *testing.T) {
	w := generated(2000, 4)
	want := build(t, w, STT).Stats().STTBytes
	if size, err := TableBytes(t.Context(), w); err != nil || size != want {
		t.Errorf("the table takes %d bytes, %v, want %d", size, err, want)
	}
}

// BenchmarkID compares the kinds; all words are looked up equally often.
func BenchmarkID(b *testing.B) {
	w := generated(200000, 5)
	for k := range kinds {
		b.Run(k.String(), func(b *testing.B) {
			d := build(b, w, k)
			i := 0
			for b.Loop() {
				i = (i + 99991) % w.Len()
				d.ID(w.At(i))
			}
		})
	}
}

// If the file is truncated while it is open, Check and Guarded return errors.
func TestTruncatedWhileOpen(t *testing.T) {
	var w Words
	for i := range 5000 {
		if err := w.Add(fmt.Appendf(nil, "word%05d", i)); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "d")
	if err := BuildFile(context.Background(), &w, Options{Kind: Hash}, path); err != nil {
		t.Fatal(err)
	}
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := d.Check(context.Background()); err == nil {
		t.Error("Check of a truncated file: no error")
	}
	if err := Guarded(func() error { d.ID([]byte("word00077")); return nil }); err == nil {
		t.Error("ID in a truncated file: no error")
	}
}

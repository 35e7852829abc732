package words

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// spell turns a sequence into words, with "" for the end of a document.
func spell(t *testing.T, l *List, items []uint32) []string {
	t.Helper()
	byNumber := map[uint32]string{}
	for i := range l.Len() {
		w := string(l.AppendWord(nil, i))
		if w == "" {
			t.Fatalf("number %d is an empty word", l.Numbers[i])
		}
		byNumber[l.Numbers[i]] = w
	}
	out := make([]string, len(items))
	for i, item := range items {
		switch w, ok := byNumber[item-1]; {
		case item == 0:
		case ok:
			out[i] = w
		default:
			out[i] = "?"
		}
	}
	return out
}

// analyzed returns the expected items of documents, from the analyzers on the CPU.
func analyzed(t *testing.T, analyzer string, docs []string) (items []string) {
	t.Helper()
	a, err := text.ParseAnalyzer(analyzer)
	if err != nil {
		t.Fatal(err)
	}
	var tokens text.Tokens
	for _, doc := range docs {
		if err := a.Analyze([]byte(doc), &tokens); err != nil {
			t.Fatal(err)
		}
		for i := range tokens.Words {
			items = append(items, string(tokens.Word(i)))
		}
		items = append(items, "")
	}
	return items
}

// randomDocs makes documents of words of all lengths and bytes, few distinct ones so that they
// recur.
func randomDocs(rng *rand.Rand, n int) []string {
	pool := []string{"the", "a", "THE", "eightbyt", "ninebytes", "exactlyfifteen.",
		"exactlysixteen..", "naïve", "\x00", "a\x00", "\x00\x00", "\xff", "é"}
	for range 40 {
		b := make([]byte, 1+rng.IntN(1+rng.IntN(60)))
		for i := range b {
			b[i] = "abcXYZ_.\xc3\xa9\x01"[rng.IntN(11)]
		}
		pool = append(pool, string(b))
	}
	for _, n := range []int{998, 999, 1000, 1001, 3000} {
		pool = append(pool, strings.Repeat("x", n-1)+"y")
		for _, tail := range []string{"é", "€", "😀"} {
			for back := range 4 {
				pool = append(pool, strings.Repeat("z", n-back)+tail)
			}
		}
	}
	docs := make([]string, n)
	for i := range docs {
		var b strings.Builder
		for range rng.IntN(30) {
			if rng.IntN(200) > 0 {
				b.WriteString(pool[rng.IntN(53)])
			} else {
				b.WriteString(pool[rng.IntN(len(pool))])
			}
			b.WriteString([]string{" ", "  ", "\t", " \r", "\r"}[rng.IntN(5)])
		}
		docs[i] = b.String()
	}
	return docs
}

// TestSequencesMatchAnalyzers appends texts and compares the sequence with what the analyzers on
// the CPU make of them. Counts must be the numbers of occurrences.
func TestSequencesMatchAnalyzers(t *testing.T) {
	_, s := gputest.Device(t)
	for _, analyzer := range []string{"whitespace", "ascii"} {
		for seed := range uint64(trials.Of(3)) {
			t.Run(fmt.Sprintf("%s/%d", analyzer, seed), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 1))
				kind, ok := KindOf(analyzer)
				if !ok {
					t.Fatalf("no kind for the analyzer %s", analyzer)
				}
				d, err := NewDictionary(s, 1)
				if err != nil {
					t.Fatal(err)
				}
				defer d.Free()
				q, err := NewSequence(s, 200_000)
				if err != nil {
					t.Fatal(err)
				}
				defer q.Free()
				var all []string
				for range 3 {
					docs := randomDocs(rng, 300/trials.Every(3))
					all = append(all, docs...)
					up := kind.Squeeze([]byte(strings.Join(docs, "\n") + "\n"))
					if _, err := d.Append(t.Context(), s, kind, gputest.Upload(t, s, up), q); err != nil {
						t.Fatal(err)
					}
					if err := d.CountAdded(s, q); err != nil {
						t.Fatal(err)
					}
				}
				state, err := q.State(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				if state.Documents != int64(len(all)) {
					t.Errorf("%d documents, want %d", state.Documents, len(all))
				}
				items := q.Items(0, int(state.Length))
				if err := d.Count(s, items); err != nil {
					t.Fatal(err)
				}
				list, err := d.List(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				got, want := spell(t, list, gputest.Download(t, s, items)), analyzed(t, analyzer, all)
				if i := firstDifference(got, want); i >= 0 {
					t.Fatalf("item %d of %d is %.40q, want %.40q of %d", i, len(got), at(got, i),
						at(want, i), len(want))
				}
				counts := map[string]uint64{}
				for _, w := range want {
					counts[w]++
				}
				delete(counts, "")
				if list.Len() != len(counts) {
					t.Errorf("%d distinct words, want %d", list.Len(), len(counts))
				}
				for i := range list.Len() { // each was counted twice: by text, and all at the end
					if w := string(list.AppendWord(nil, i)); 2*counts[w] != list.Counts[i] {
						t.Errorf("%.40q was counted %d times, want twice %d", w, list.Counts[i], counts[w])
					}
				}
			})
		}
	}
}

func firstDifference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if at(a, i) != at(b, i) {
			return i
		}
	}
	return -1
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "(end)"
}

// TestDictionaryGrows inserts far more words than the first table holds. Words must keep their
// numbers, and each must have one.
func TestDictionaryGrows(t *testing.T) {
	_, s := gputest.Device(t)
	d, err := NewDictionary(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Free()
	q, err := NewSequence(s, 60_000)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Free()
	var want []string
	for round := range 3 {
		var b strings.Builder
		for i := range 2000 {
			w := fmt.Sprintf("w%d", (i*7919)%(1500*(round+1)))
			if i%50 == 0 {
				w += strings.Repeat("-long", 4)
			}
			want = append(want, w)
			b.WriteString(w + " ")
		}
		if _, err := d.Append(t.Context(), s, Whitespace, gputest.Upload(t, s, []byte(b.String())), q); err != nil {
			t.Fatal(err)
		}
	}
	if d.tables < 3 {
		t.Errorf("%d tables: want a test that needs more", d.tables)
	}
	list, err := d.List(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	got := spell(t, list, gputest.Download(t, s, q.Items(0, len(want))))
	if i := firstDifference(got, want); i >= 0 {
		t.Fatalf("item %d is %q, want %q", i, at(got, i), at(want, i))
	}
	seen := map[string]bool{}
	for i := range list.Len() {
		w := string(list.AppendWord(nil, i))
		if seen[w] {
			t.Errorf("%q has two numbers", w)
		}
		seen[w] = true
	}
}

// TestFind looks up words in a fixed vocabulary.
func TestFind(t *testing.T) {
	_, s := gputest.Device(t)
	d, err := NewDictionary(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Free()
	var textOf []byte
	var ends []uint64
	var vocabulary []string
	for i := range 2000 {
		w := fmt.Sprintf("word%d", i)
		if i%10 == 0 {
			w = strings.Repeat(w, 5)
		}
		vocabulary = append(vocabulary, w)
		textOf = append(textOf, w...)
		ends = append(ends, uint64(len(textOf)))
	}
	numbers, err := d.Put(t.Context(), s, textOf, ends)
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Put(t.Context(), s, textOf, ends)
	if err != nil || !slices.Equal(numbers, again) {
		t.Fatalf("words got new numbers when inserted again (%v)", err)
	}
	q, err := NewSequence(s, 60_000)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Free()
	up := []byte("word7 nothing " + vocabulary[10] + "\n\nword1999 x" + vocabulary[10] + " word3")
	if err := d.Queue(s, Whitespace, gputest.Upload(t, s, up), q, true); err != nil {
		t.Fatal(err)
	}
	state, err := q.State(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	got := gputest.Download(t, s, q.Items(0, int(state.Length)))
	want := []uint32{numbers[7] + 1, None, numbers[10] + 1, 0, 0, numbers[1999] + 1, None, numbers[3] + 1}
	if !slices.Equal(got, want) || state.Missed != 0 {
		t.Errorf("got %v, want %v; %d missed", got, want, state.Missed)
	}
}

// TestSeparatedWordsAreNotCut: another analyzer made these words, of any length.
func TestSeparatedWordsAreNotCut(t *testing.T) {
	_, s := gputest.Device(t)
	d, err := NewDictionary(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Free()
	q, err := NewSequence(s, 40_000)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Free()
	want := []string{strings.Repeat("x", 20_000), "y", ""}
	if _, err := d.Append(t.Context(), s, Separated, gputest.Upload(t, s, []byte(want[0]+" y\n")), q); err != nil {
		t.Fatal(err)
	}
	list, err := d.List(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if got := spell(t, list, gputest.Download(t, s, q.Items(0, 3))); !slices.Equal(got, want) {
		t.Errorf("got words of %d and %d bytes, want them uncut", len(got[0]), len(got[1]))
	}
}

// TestSqueeze: carriage returns are removed, and nothing else.
func TestSqueeze(t *testing.T) {
	for _, in := range []string{"", "a", "\r", "a\r", "\ra", "a\r\rb\nc\r\n"} {
		want := strings.ReplaceAll(in, "\r", "")
		if got := Whitespace.Squeeze([]byte(in)); string(got) != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		if got := ASCII.Squeeze([]byte(in)); !bytes.Equal(got, []byte(in)) {
			t.Errorf("%q became %q for ascii, want it unchanged", in, got)
		}
	}
}

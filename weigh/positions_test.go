package weigh

import (
	"fmt"
	"slices"
	"testing"

	"github.com/collocate/collocate/text"
)

// The positions of every word are those in the text, for runs in memory and spilled runs, with one
// worker and with several.
func TestPositions(t *testing.T) {
	docs := randomDocs(7, 400, 300, 200)
	long := []byte{}
	for i := range 300000 { // counts over 255, long gaps, more positions than a piece holds
		long = append(long, "x "...)
		if i%20011 == 0 {
			long = append(long, "rare "...)
		}
		if i%140000 == 139999 {
			long = append(long, "far "...)
		}
		if i == longGap-1-4 { // after 4 of rare: a gap of longGap, in two entries, the second 0
			long = append(long, "edge "...)
		}
	}
	docs = append(docs, text.Document{ID: "long", Text: long}, text.Document{ID: "last", Text: []byte("x rare x")})
	a, err := text.ParseAnalyzer("whitespace")
	if err != nil {
		t.Fatal(err)
	}
	type place struct {
		word string
		doc  uint32
	}
	want := map[place][]uint32{}
	var tok text.Tokens
	for d, doc := range docs {
		if err := a.Analyze(doc.Text, &tok); err != nil {
			t.Fatal(err)
		}
		for i := range tok.Words {
			p := place{string(tok.Word(i)), uint32(d)}
			want[p] = append(want[p], uint32(i))
		}
	}
	for _, memory := range []int64{1 << 30, 3 << 20} {
		for _, threads := range []int{1, 3} {
			t.Run(fmt.Sprint(memory, threads), func(t *testing.T) {
				v, err := invert(t.Context(), shuffled(docs, threads, 9, 3), &InvertOptions{
					Analyzer: a, Threads: threads, Memory: memory, TempDir: t.TempDir(), Positions: true,
				})
				if err != nil {
					t.Fatal(err)
				}
				defer v.Close()
				if small := memory < 1<<30; small != (len(v.files) > 0) {
					t.Fatalf("%d spill files in %d bytes of memory", len(v.files), memory)
				}
				found := 0
				for _, part := range v.Parts(t.Context(), 3) {
					for term, err := range part {
						if err != nil {
							t.Fatal(err)
						}
						gaps := term.Gaps
						for i, d := range term.Docs {
							n := int(term.TFs[i])
							var places []uint32
							next := uint32(0)
							for _, gap := range gaps[:n] {
								places = append(places, next+gap)
								next += gap + 1
							}
							if p := (place{string(term.Word), d}); !slices.Equal(places, want[p]) {
								t.Fatalf("%q in document %d: positions %d, want %d", p.word, p.doc, places, want[p])
							}
							gaps = gaps[n:]
							found++
						}
						if len(gaps) > 0 {
							t.Fatalf("%q: %d gaps too many", term.Word, len(gaps))
						}
					}
				}
				if found != len(want) {
					t.Errorf("%d postings, want %d", found, len(want))
				}
			})
		}
	}
}

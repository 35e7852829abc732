package weigh

import (
	"fmt"
	"slices"
	"testing"

	"github.com/collocate/collocate/text"
)

// A word has all its postings, however many chunks they are in, and wherever these are.
func TestPostingsOfWords(t *testing.T) {
	const docs, words = 2500, 400
	var (
		table = newTable()
		keys  [lookahead]key
		want  = make([][]uint32, words)
		tok   text.Tokens
	)
	for d := range uint32(docs) {
		tok.Bytes, tok.Words = tok.Bytes[:0], tok.Words[:0]
		for w := range uint32(words) {
			if w%2 == 0 && d%(w+1) != 0 { // half of the words are rare
				continue
			}
			start := uint32(len(tok.Bytes))
			tok.Bytes = fmt.Appendf(tok.Bytes, "word%d", w)
			tok.Words = append(tok.Words, text.Span{Start: start, End: uint32(len(tok.Bytes))})
			want[w] = append(want[w], d)
		}
		table.keysOf(&keys, tok.Bytes, tok.Words)
		table.count(&tok, &keys)
	}
	r := sortRun(table, nil)
	if len(r.post.segments) < 2 {
		t.Fatalf("%d segments", len(r.post.segments))
	}
	for i := range r.len() {
		var w int
		if _, err := fmt.Sscanf(string(r.word(i)), "word%d", &w); err != nil {
			t.Fatal(err)
		}
		n := int(r.lists[i].n)
		got, tfs := make([]uint32, n), make([]uint32, n)
		c := r.post.chain(r.lists[i])
		for at := 0; at < n; at += 50 { // not where chunks end
			r.post.read(&c, got[at:min(at+50, n)], tfs[at:min(at+50, n)])
		}
		if !slices.Equal(got, want[w]) || slices.Max(tfs) != 1 {
			t.Fatalf("word %d is in %d documents, want %d", w, n, len(want[w]))
		}
		want[w] = nil
	}
	for w := range want {
		if want[w] != nil {
			t.Errorf("no word %d", w)
		}
	}
}

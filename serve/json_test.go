package serve

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// FuzzAnswersEqualEncodingJSON compares the bytes of answers with those of encoding/json.
func FuzzAnswersEqualEncodingJSON(f *testing.F) {
	for _, s := range []string{"plain words", "a \"quoted\" \\ word", "tab\tand\x00", "<b>&</b>",
		"Grüße – 字", "\u2028 \u2029 \u202a", "broken \xff\xe2\x80", "\x7f"} {
		f.Add(s, "id", float32(1.5), int64(3), uint8(0))
		f.Add("q", s, float32(1e-9), int64(-1), uint8(255))
	}
	for _, score := range []float32{0, 1e-6, 9.9e-7, 1e21, 1e20, 1.0 / 3, 16777216, math.MaxFloat32, -2.5,
		float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(1))} {
		f.Add("q", "id", score, int64(0), uint8(6))
	}
	f.Fuzz(func(t *testing.T, s, id string, score float32, n int64, with uint8) {
		a := &api.Answer{Query: s, K: int(n), Mode: id, Hits: []api.Hit{{Rank: 1, ID: id, Doc: uint32(n), Score: score}, {ID: s}}}
		if with&1 != 0 {
			a.From, a.Total, a.Parsed = int(n), &n, s
			a.Notes = []string{s, "a note"}
		}
		if with&2 != 0 {
			more := n > 0
			a.More, a.Micros, a.Stats = &more, n, &search.Stats{Words: 2}
		}
		if with&4 != 0 {
			a.Hits[1].Snippet = &search.Snippet{Text: s, Before: true, Marks: []text.Span{{Start: 1, End: 2}, {Start: 4, End: uint32(n)}}}
			a.Hits[0].Snippet = &search.Snippet{Text: id, After: true, Start: int(n), End: 7}
			a.Hits[0].MoreSnippets = []*search.Snippet{{Text: s}}
			a.Hits[1].Passage = &api.Passage{Document: s, Number: 1, Of: 2, End: int(n), Heading: id}
		}
		if with&8 != 0 {
			a.Hits[0].Fields = map[string]any{s: []string{id}, "n": n}
			a.Hits[1].Explain = &search.Explanation{}
		}
		if with&16 != 0 {
			a.Expanded, a.Facets = []api.ExpandedWord{{Word: s, Weight: 1}}, []search.FacetCounts{{Field: id}}
			a.Shards = &api.Coverage{Answered: 1}
		}
		if with&32 != 0 {
			a.Hits = nil
		}
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		wantErr := e.Encode(a)
		got, err := line(a)
		if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want.Bytes()) {
			t.Errorf("got %s (%v)\nwant %s (%v)", got, err, want.Bytes(), wantErr)
		}
	})
}

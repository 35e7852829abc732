package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// sentences returns a text of about n words.
func sentences(r *rand.Rand, n int) string {
	words := []string{"moon", "sun", "star", "sea", "rock", "ice", "dust", "light", "orbit", "crater"}
	var b strings.Builder
	for i := range n {
		b.WriteString(words[min(r.IntN(len(words)), r.IntN(len(words)))])
		switch {
		case r.IntN(6) == 0:
			b.WriteString(". ")
		case r.IntN(40) == 0:
			fmt.Fprintf(&b, ".\n\n# Part %d\n\n", i)
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// passageIndex is an index of passages that documents are added to, and what it should have.
type passageIndex struct {
	t    *testing.T
	dir  string
	plan *fields.Schema
	has  map[string]string
}

func newPassageIndex(t *testing.T) *passageIndex {
	c := Cutting{Passages: 12, Overlap: 25, Headings: "markdown"}
	s, err := c.Cut(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &passageIndex{t, filepath.Join(t.TempDir(), "ix"), s, map[string]string{}}
}

func (x *passageIndex) change(fn func(w *segments.Writer) error) {
	x.t.Helper()
	an, err := text.ParseAnalyzer("unicode")
	if err != nil {
		x.t.Fatal(err)
	}
	w, err := segments.NewWriter(x.dir, segments.Options{Analyzer: an, Schema: x.plan, Positions: true, StoreText: x.plan == nil, MergeFactor: 2})
	if err == nil {
		err = fn(w)
	}
	if err == nil {
		_, err = w.CommitAndMerge(x.t.Context())
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// check compares the documents of the index with those that it should have.
func (x *passageIndex) check() {
	x.t.Helper()
	r, err := segments.Open(x.dir)
	if err != nil {
		x.t.Fatal(err)
	}
	defer r.Close()
	passages := 0
	for id, want := range x.has {
		d, err := (&Show{ID: id, Around: -1}).Do(r)
		if err != nil || d == nil || *d.Text != want {
			x.t.Fatalf("document %s: %+v, %v, want %q", id, d, err, want)
		}
		for n := 1; ; n++ {
			p, err := (&Show{ID: text.PassageID(id, n), Around: -1}).Do(r)
			if err != nil {
				x.t.Fatal(err)
			}
			if p == nil || p.Passage == nil {
				break
			}
			if got := want[p.Passage.Start:p.Passage.End]; p.Fields["text"] != got && got != "" {
				x.t.Fatalf("passage %s is %q, want %q", p.ID, p.Fields["text"], got)
			}
			passages++
		}
	}
	if r.Docs() != passages {
		x.t.Fatalf("the index has %d passages, its documents %d", r.Docs(), passages)
	}
}

// corpusOf is a corpus of documents from memory.
func corpusOf(docs map[string]string) *text.Corpus {
	return &text.Corpus{Source: func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) {
			var list []text.Document
			for _, id := range slices.Sorted(maps.Keys(docs)) {
				list = append(list, text.Document{ID: id, Text: []byte(docs[id])})
			}
			yield(list, nil)
		}
	}}
}

// Whatever is added, replaced and deleted, one by one or as a corpus, an index of passages has the
// passages of its documents and no others.
func TestPassagesLive(t *testing.T) {
	x, r := newPassageIndex(t), rand.New(rand.NewPCG(1, 2))
	for range 12 {
		x.change(func(w *segments.Writer) error {
			switch r.IntN(3) {
			case 0:
				more := map[string]string{}
				for range r.IntN(6) {
					more[fmt.Sprintf("d%d", r.IntN(12))] = sentences(r, r.IntN(120))
				}
				if len(more) == 0 {
					return nil
				}
				maps.Copy(x.has, more)
				_, _, err := w.AddCorpus(t.Context(), corpusOf(more), index.BuildOptions{})
				return err
			case 1:
				for range r.IntN(12) {
					id := fmt.Sprintf("d%d", r.IntN(12))
					x.has[id] = sentences(r, r.IntN(120))
					if err := w.Add(text.Document{ID: id, Text: []byte(x.has[id])}); err != nil {
						return err
					}
				}
			default:
				for range r.IntN(4) {
					id := fmt.Sprintf("d%d", r.IntN(12))
					n, err := w.Delete(id)
					if _, is := x.has[id]; err != nil || (n > 0) != is {
						return fmt.Errorf("%d passages of %s deleted: %v", n, id, err)
					}
					delete(x.has, id)
				}
			}
			return nil
		})
		x.check()
	}
	// Deleting by a query deletes whole documents.
	d := Delete{Query: "moon"}
	if _, _, err := d.Do(t.Context(), x.dir, nil, segments.Options{}, func(string) {}); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(x.has, func(_, text string) bool { return strings.Contains(text, "moon") })
	x.check()
}

// Documents are ranked by their passages as a plain search over all passages says.
func TestCollapseIsItsDefinition(t *testing.T) {
	x, r := newPassageIndex(t), rand.New(rand.NewPCG(3, 4))
	for range 3 { // segments
		x.change(func(w *segments.Writer) error {
			for range 30 {
				id := fmt.Sprintf("d%d", r.IntN(60))
				if err := w.Add(text.Document{ID: id, Text: []byte(sentences(r, r.IntN(300)))}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	s, err := search.Open(x.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	type hit struct {
		parent string
		doc    uint32
		score  float32
	}
	for _, q := range []string{"crater", "orbit crater", "moon sun", "nothing", "+orbit -sea"} {
		all := search.Request{Text: q, K: search.MaxK}
		if strings.Contains(q, "+") {
			if all.Query, err = query.Parse(q, query.Options{Fields: s.Fields()}); err != nil {
				t.Fatal(err)
			}
		}
		found, err := s.Search(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		for _, how := range []search.Collapse{search.BestPassage, search.SumOfPassages} {
			best := map[string]*hit{}
			for i := range found.Hits {
				h := found.Hits[i]
				id, err := s.ID(h.Doc)
				if err != nil {
					t.Fatal(err)
				}
				parent, _, _ := text.SplitPassageID(id)
				if best[parent] == nil {
					best[parent] = &hit{parent, h.Doc, h.Score}
				}
			}
			if how == search.SumOfPassages {
				sums := map[string]float64{}
				byDoc := slices.Clone(found.Hits)
				slices.SortFunc(byDoc, func(a, b search.Hit) int { return cmp.Compare(a.Doc, b.Doc) })
				for _, h := range byDoc {
					id, _ := s.ID(h.Doc)
					parent, _, _ := text.SplitPassageID(id)
					sums[parent] += float64(h.Score)
				}
				for p, h := range best {
					h.score = float32(sums[p])
				}
			}
			want := slices.SortedFunc(maps.Values(best), func(a, b *hit) int {
				return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc))
			})
			for _, k := range []int{1, 3, 100} {
				for from := range 3 {
					one := all
					one.K, one.From, one.Collapse, one.Count = k, from, how, k == 3
					got, err := s.Search(t.Context(), one)
					if err != nil {
						t.Fatal(err)
					}
					part := want[min(from, len(want)):min(from+k, len(want))]
					same := len(got.Hits) == len(part)
					for i := range got.Hits {
						same = same && got.Hits[i].Doc == part[i].doc && got.Hits[i].Score == part[i].score
					}
					if !same || one.Count && (got.Total != int64(len(want)) || len(got.Facets) > 0) {
						t.Errorf("%q %v, %d from %d: %v of %d, want %d of %d", q, how, k, from, got.Hits,
							got.Total, len(part), len(want))
					}
				}
			}
			none, err := s.Search(t.Context(), search.Request{Text: all.Text, Query: all.Query, K: search.NoHits, Collapse: how})
			if err != nil || none.Total != int64(len(want)) {
				t.Errorf("%q %v: %d documents, %v, want %d", q, how, none.Total, err, len(want))
			}
		}
	}
}

// A part of a text has whole letters, says where it is, and has the heading above.
func TestShowAround(t *testing.T) {
	x := newPassageIndex(t)
	body := "# Sky\n\n" + strings.Repeat("The moon is far. ", 20) + "\n## Ice\n\n" + strings.Repeat("é ", 100)
	x.change(func(w *segments.Writer) error { return w.Add(text.Document{ID: "a", Text: []byte(body)}) })
	r, err := segments.Open(x.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for at := 0; at <= len(body); at += 7 {
		d, err := (&Show{ID: "a", Around: at, Bytes: 30}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		p := d.Part
		want := "Sky"
		if at >= strings.Index(body, "## Ice") {
			want = "Sky > Ice"
		}
		if *d.Text != body[p.Start:p.End] || p.Start > at || p.End < at || strings.ToValidUTF8(*d.Text, "?") != *d.Text ||
			p.Heading != want || p.Size != len(body) || len(*d.Text) > 50 {
			t.Errorf("around %d: %q, %+v", at, *d.Text, p)
		}
	}
	d, err := (&Show{ID: "a#3", Around: 2, Bytes: 10}).Do(r) // the offset is in the document
	if err != nil || d.ID != "a" || d.Part.Start > 2 || *d.Text != body[d.Part.Start:d.Part.End] {
		t.Errorf("%+v, %v", d, err)
	}
	d, err = (&Show{ID: "a#3", Around: -1, Neighbours: 1}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	before, after := passageAt(t, r, "a#2"), passageAt(t, r, "a#4")
	if want := body[before.Start:after.End]; *d.Text != want || d.Part.Start != before.Start {
		t.Errorf("with its neighbours a#3 is %q, want %q", *d.Text, want)
	}
	for _, q := range []Show{{ID: "a", Around: len(body) + 1}, {ID: "a", Around: -1, Neighbours: 1}} {
		q.Bytes = 10
		if _, err := q.Do(r); err == nil {
			t.Errorf("%+v was answered", q)
		}
	}
}

func passageAt(t *testing.T, r *segments.Reader, id string) *Passage {
	t.Helper()
	d, err := (&Show{ID: id, Around: -1}).Do(r)
	if err != nil || d == nil {
		t.Fatal(id, err)
	}
	return d.Passage
}

// A snippet is where it says in the text of the whole document, and has the headings above that
// place: in passages and in whole documents, with fields and without.
func TestSnippetsHaveTheirPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 4))
	own, err := fields.ParseList([]string{"title:text", "text:text", "headings:stored"})
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []*Cutting{nil, {Passages: 15, Overlap: 30, Headings: "auto"}} {
		for _, schema := range []*fields.Schema{nil, own} {
			x := newPassageIndex(t)
			if x.plan = schema; cut != nil {
				if x.plan, err = cut.Cut(schema); err != nil {
					t.Fatal(err)
				}
			}
			headings := map[string][]text.Heading{}
			x.change(func(w *segments.Writer) error {
				for i := range 8 {
					id, body := fmt.Sprintf("%d.md", i), sentences(r, 40+r.IntN(80))
					x.has[id], headings[id] = body, text.MarkdownHeadings([]byte(body))
					d := text.Document{ID: id, Text: []byte(body)}
					if schema != nil {
						list, err := json.Marshal(headings[id])
						if err != nil {
							return err
						}
						values := map[string][]string{"title": {"A moon"}, "text": {body}, "headings": {string(list)}}
						if d.Fields, err = schema.Values(values); err != nil {
							return err
						}
						d.Text = nil
					}
					if err := w.Add(d); err != nil {
						return err
					}
				}
				return nil
			})
			s, err := search.Open(x.dir)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			snippets := 0
			for _, q := range []string{"moon", "crater dust", "ice orbit rock"} {
				found, err := s.Search(t.Context(), search.Request{Text: q, K: 50})
				if err != nil {
					t.Fatal(err)
				}
				a, err := Describe(t.Context(), s, search.Request{Text: q, K: 50}, found,
					Details{SnippetSize: 60, SnippetCount: 3, KeepLines: true})
				if err != nil {
					t.Fatal(err)
				}
				for _, h := range a.Hits {
					id := h.ID
					if h.Passage != nil {
						id = h.Passage.Document
					}
					for _, one := range append(h.MoreSnippets, h.Snippet) {
						if one.End == one.Start {
							continue // only the title has the words
						}
						snippets++
						got, path := x.has[id][one.Start:one.End], text.HeadingPath(headings[id], one.First)
						if word := x.has[id][one.First:]; q == "moon" && len(one.Marks) > 0 && !strings.HasPrefix(word, q) {
							t.Fatalf("%s says that moon is at %d, where %.9q is", h.ID, one.First, word)
						}
						if strings.TrimSpace(got) != one.Text {
							t.Fatalf("%s says %q at %d, where %q is", h.ID, one.Text, one.Start, got)
						}
						if cut != nil && schema == nil { // the passage has its own
							path = ""
						}
						if one.Heading != path {
							t.Fatalf("%s, %q at %d: under %q, want %q", h.ID, one.Text, one.Start, one.Heading, path)
						}
					}
				}
			}
			if snippets < 20 {
				t.Errorf("%d snippets", snippets)
			}
		}
	}
}

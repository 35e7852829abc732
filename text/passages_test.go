package text

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
)

func cutSchema(t testing.TB, p fields.Passages, s *fields.Schema) *fields.Schema {
	t.Helper()
	out, err := p.Cut(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A passage with several headings has those with which it begins.
func TestPassagesHaveTheirFirstHeadings(t *testing.T) {
	cut := NewCutter(cutSchema(t, fields.Passages{Words: 40}, nil))
	for _, c := range []struct{ doc, want string }{
		{"# A\none\n\n## B\ntwo\n\n# C\nthree\n", "A"},
		{"# A\n\n## B b\none two\n\n## C\nthree\n", "A > B b"},
		{"one\n# A\ntwo\n## B\n", "A"},
		{"one two\n", ""},
	} {
		list, err := cut.Cut(Document{ID: "a.md", Text: []byte(c.doc)})
		if err != nil || len(list) != 1 {
			t.Fatal(len(list), err)
		}
		got := ""
		if v := list[0].Fields[1]; len(v) > 0 {
			got = string(v[0])
		}
		if got != c.want {
			t.Errorf("%q is below %q, want %q", c.doc, got, c.want)
		}
	}
}

// Passages end at headings, or else at ends of sentences, and know the headings above them.
func TestPassagesEndAtHeadingsAndSentences(t *testing.T) {
	const doc = "# Moon\n\nThe moon is a satellite. It has no air.\n\n## Seas\n\n" +
		"Its seas are of dark rock (basalt.) They are flat!\n```\n# no heading\n```\n## Poles ##\n\nThere is ice.\n"
	cut := NewCutter(cutSchema(t, fields.Passages{Words: 8}, nil))
	list, err := cut.Cut(Document{ID: "moon.md", Text: []byte(doc)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range list {
		got = append(got, fmt.Sprintf("%s %s %q", p.ID, p.Fields[1], p.Fields[0][0]))
	}
	want := []string{
		`moon.md#1 [Moon] "# Moon\n\nThe moon is a satellite. "`,
		`moon.md#2 [Moon] "It has no air.\n\n"`,
		`moon.md#3 [Moon > Seas] "## Seas\n\nIts seas are of dark rock "`,
		"moon.md#4 [Moon > Seas] \"(basalt.) They are flat!\\n```\\n# no heading\\n\"",
		"moon.md#5 [Moon > Poles] \"```\\n## Poles ##\\n\\nThere is ice.\\n\"",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the passages are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Other fields are the same in all passages, and so are breaks between their values.
func TestPassagesKeepFields(t *testing.T) {
	whole := &fields.Schema{Fields: []fields.Field{{Name: "title"}, {Name: "text"},
		{Name: "year", Type: fields.Number}}}
	s := cutSchema(t, fields.Passages{Words: 3, Overlap: 1}, whole)
	values, err := whole.Values(map[string][]string{"title": {"Seas of the moon"}, "text": {"one two three four five"},
		"year": {"1969"}})
	if err != nil {
		t.Fatal(err)
	}
	// A break in the title and one in the text, as between the values of lists.
	list, err := NewCutter(s).Cut(Document{ID: "a#1", Fields: values, Breaks: []uint32{5, 17 + 8}})
	if err != nil || len(list) != 2 {
		t.Fatalf("%d passages, %v", len(list), err)
	}
	for i, want := range []struct {
		text   string
		breaks []uint32
	}{{"Seas of the moon\none two three \na#1", []uint32{5, 17, 25}}, {"Seas of the moon\nthree four five", []uint32{5, 17}}} {
		p := list[i]
		text, _, _ := strings.Cut(want.text, "\na#1")
		if string(p.Text) != text || !reflect.DeepEqual(p.Breaks, want.breaks) || string(p.Fields[2][0]) != "1969" {
			t.Errorf("passage %s: %q, breaks %v, want %q, %v", p.ID, p.Text, p.Breaks, text, want.breaks)
		}
		if parent, n, ok := SplitPassageID(p.ID); parent != "a#1" || n != i+1 || !ok {
			t.Errorf("%s is passage %d of %s", p.ID, n, parent)
		}
	}
}

// checkPassages checks what is promised of the passages of a text.
func checkPassages(t *testing.T, body []byte, s *fields.Schema, list []Document) {
	t.Helper()
	var all []byte
	for i, p := range list {
		var start, end int
		fmt.Sscan(string(p.Fields[3][0]), &start)
		fmt.Sscan(string(p.Fields[4][0]), &end)
		part := fields.Values{nil}
		if len(p.Fields[0]) > 0 {
			part = p.Fields[0]
		}
		if start > end || end > len(body) || !bytes.Equal(body[start:end], part[0]) {
			t.Fatalf("passage %s is %q, not bytes %d to %d", p.ID, part[0], start, end)
		}
		if start > len(all) || end <= len(all) && len(body) > 0 {
			t.Fatalf("passage %s begins at %d, or adds nothing: %d bytes are before it", p.ID, start, len(all))
		}
		all = append(all[:start], part[0]...)
		var w wordBorders
		if w.find(part[0], nil); len(w.at) > s.Passages.Words+1 {
			t.Fatalf("passage %s has %d words, want at most %d", p.ID, len(w.at), s.Passages.Words)
		}
		if got := string(p.Fields[5][0]); got != fmt.Sprint(len(list)) || p.ID != PassageID("x", i+1) {
			t.Fatalf("passage %d is %s of %s", i+1, p.ID, got)
		}
	}
	if !bytes.Equal(all, body) {
		t.Fatalf("together the passages are %q, want %q", all, body)
	}
}

// FuzzPassages checks that passages are the whole text, in any language.
func FuzzPassages(f *testing.F) {
	f.Add([]byte("# A\nOne two. Three four? Five\n\n## B\nsix"), uint16(3), uint16(1))
	f.Add([]byte("月は地球の衛星です。空気はありません。 \xff\xfe"), uint16(2), uint16(1))
	f.Add(bytes.Repeat([]byte("x"), 1000), uint16(1), uint16(0))
	f.Add([]byte(" \n"), uint16(5), uint16(2))
	f.Fuzz(func(t *testing.T, body []byte, words, overlap uint16) {
		p := fields.Passages{Words: 1 + int(words)%50, Headings: fields.MarkdownTexts}
		p.Overlap = int(overlap) % (p.Words/2 + 1)
		s := cutSchema(t, p, nil)
		list, err := NewCutter(s).Cut(Document{ID: "x", Text: body})
		if err != nil {
			t.Fatal(err)
		}
		checkPassages(t, body, s, list)
		for _, h := range MarkdownHeadings(body) {
			if line, _ := nextLine(body[h.At:]); !bytes.Contains(line, []byte(h.Text)) || h.Level < 1 || h.Level > 6 {
				t.Errorf("heading %+v is not in its line %q", h, line)
			}
		}
	})
}

// Headings that a document brings count before those of Markdown; what cannot be is left out.
func TestPassagesTakeHeadingsOfDocuments(t *testing.T) {
	whole := &fields.Schema{Fields: []fields.Field{{Name: "text"}, {Name: "headings", Type: fields.Stored}}}
	s := cutSchema(t, fields.Passages{Words: 4}, whole)
	for marks, want := range map[string]string{
		`[{"at":8,"level":1,"text":"Two"}]`:                                  "Two",
		`[{"at":8,"level":1,"text":"Two"},{"at":99,"level":1,"text":"Far"}]`: "",
		`no list`: "",
	} {
		values, err := whole.Values(map[string][]string{"text": {"one two\nthree four five"}, "headings": {marks}})
		if err != nil {
			t.Fatal(err)
		}
		list, err := NewCutter(s).Cut(Document{ID: "a", Fields: values})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if v := list[len(list)-1].Fields[2]; len(v) > 0 {
			got = string(v[0])
		}
		if got != want {
			t.Errorf("%s: the last passage is below %q, want %q", marks, got, want)
		}
	}
}

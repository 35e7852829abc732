package extract

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// outline writes a document the way a reader would note it down.
func outline(docs []Document) string {
	var b strings.Builder
	for _, d := range docs {
		fmt.Fprintf(&b, "%s %q %q", d.Kind, d.Title, d.Text)
		for _, h := range d.Headings {
			fmt.Fprintf(&b, " %d@%d:%s", h.Level, h.At, h.Text)
		}
	}
	return b.String()
}

func TestKindsByExample(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"a.txt", "plain\n", `text "" "plain\n"`},
		{"Makefile", "all:\n", `text "" "all:\n"`},
		{"a.GO", "package a\n", `code "" "package a\n"`},
		{"a.md", "# One *two*\ntext\n\n```\n# no heading\n```\nThree\n---\n",
			"markdown \"One two\" \"# One *two*\\ntext\\n\\n```\\n# no heading\\n```\\nThree\\n---\\n\" 1@0:One two 2@39:Three"},
		{"a.md", "---\ntitle: A plan\n---\nx\n", `markdown "A plan" "---\ntitle: A plan\n---\nx\n"`},
		{"a.md", "+++\ntitle = \"A \\\"plan\\\"\" # x\n[more]\ntitle = \"no\"\n+++\n# x", `markdown "A \"plan\"" ` +
			`"+++\ntitle = \"A \\\"plan\\\"\" # x\n[more]\ntitle = \"no\"\n+++\n# x" 1@53:x`},
		{"a.md", "# One\rtext\r## Two\rend", `markdown "One" "# One\rtext\r## Two\rend" 1@0:One 2@11:Two`}, // of old Macs
		{"a.md", "## [Link](http://a.b) ##\n- item\n---\n", `markdown "" "## [Link](http://a.b) ##\n- item\n---\n" 2@0:Link`},
		{"a.rst", "====\nTop\n====\n\nPart\n----\ntext\n", `rst "Top" "====\nTop\n====\n\nPart\n----\ntext\n" 1@5:Top 2@15:Part`},
		{"a.html", "<title>T</title><style>x{}</style><p>a&amp;b <b>c</b>d<h2>H<script>no()</script> i</h2>end<br>x",
			`html "T" "a&b cd\n\nH i\n\nend\nx" 2@8:H i`},
		{"page", "<!DOCTYPE html><pre> a\n  b</pre><td>1<td>2", `html "" " a\n  b\n\n1 2"`},
		{"a.ipynb", `{"cells":[{"cell_type":"markdown","source":["# T\n","x"]},{"cell_type":"code","source":"1+1","outputs":[{"data":{"text/plain":["2"]}}]},` +
			`{"cell_type":"markdown","source":"\n## U"}]}`, `notebook "T" "# T\nx\n\n1+1\n\n2\n\n## U" 1@0:T 2@15:U`},
		{"a.srt", "1\n00:00:01,000 --> 00:00:02,000\n<i>Hello</i>\nthere\n\n2\n00:00:03,000 --> 00:00:04,000\n2\n",
			`subtitles "" "Hello\nthere\n2\n"`},
		{"a.srt", "template c\n----\n", `text "" "template c\n----\n"`}, // of Emacs
		{"a.ipynb", `{"worksheets":[{"cells":[{"cell_type":"code","input":["a = 1","a.b"],"outputs":[{"ename":"E","evalue":"no b",` +
			`"traceback":["\u001b[0;31mE\u001b[0m","no b"]},{"ename":"F","evalue":"x"},{"text":["\u001b[32mok"]}]}]}]}`,
			`notebook "" "a = 1\na.b\n\nE\nno b\n\nF: x\n\nok"`},
		{"a.html", `<p>x<svg><title>no</title><text>one</text><text>two</text></svg><math><semantics><mi>E</mi><annotation>no</annotation></semantics></math>y`,
			`html "" "x one two E y"`},
		{"a.xhtml", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x"/></head><p>a<iframe/>b<![CDATA[<c>]]>`,
			`html "" "ab<c>"`},
		{"a.vtt", "WEBVTT\n\nNOTE no\n\nid\n00:01.000 --> 00:02.000 align:start\n<v Anna>Tom &amp; I\n", `subtitles "" "Tom & I\n"`},
	} {
		docs, err := Read(c.name, []byte(c.file), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := outline(docs); got != c.want {
			t.Errorf("%s %q:\n got %s\nwant %s", c.name, c.file, got, c.want)
		}
	}
}

func TestFields(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       map[string][]string
	}{
		{"a.md", "---\nauthor: Anna\ndate: 2024-02-29\ntags: [a, b]\n---\n[x](y.md) <https://z.org>\n",
			map[string][]string{"author": {"Anna"}, "date": {"2024-02-29"}, "tag": {"a", "b"}, "link": {"y.md", "https://z.org"}}},
		{"a.md", "+++\nauthor = 'Anna'\ndate = 2024-02-29T10:00:00Z\ntags = [\n  \"a\", 'b',\n]\ndraft = true\n+++\n",
			map[string][]string{"author": {"Anna"}, "date": {"2024-02-29T10:00:00Z"}, "tag": {"a", "b"}}},
		{"a.html", `<html lang=de><meta name=Author content="B"><meta name=date content=nonsense><a href=x><a href=#y><a href=x>t`,
			map[string][]string{"language": {"de"}, "author": {"B"}, "link": {"x"}}},
	} {
		docs, err := Read(c.name, []byte(c.file), Options{})
		if err != nil || !reflect.DeepEqual(docs[0].Fields, c.want) {
			t.Errorf("%s: %v, %v", c.name, docs[0].Fields, err)
		}
	}
}

func TestEncodings(t *testing.T) {
	for _, c := range []struct {
		name, file, said, encoding, want string
	}{
		{"a.txt", "\xef\xbb\xbfé", "", "utf-8", "é"},
		{"a.txt", "\xff\xfeg\x00\xe9\x00", "", "utf-16le", "gé"},
		{"a.txt", "\xfe\xff\x00g\x00\xe9", "", "utf-16be", "gé"},
		{"a.txt", "\xff\xfe\x00\x00g\x00\x00\x00\xe9\x00\x00\x00", "", "utf-32le", "gé"},
		{"a.txt", "\x00\x00\xfe\xff\x00\x00\x00g\x00\x00\x00\xe9", "", "utf-32be", "gé"},
		{"a.txt", "h\x00e\x00l\x00l\x00o\x00", "", "utf-16le", "hello"},
		{"a.txt", "caf\xe9", "", "windows-1252", "café"},
		{"a.txt", "\xcf\xf0\xe8\xe2\xe5\xf2", "windows-1251", "windows-1251", "Привет"},
		{"a.py", "# coding: koi8-r\n\xf0\xf2", "", "koi8-r", "# coding: koi8-r\nПР"},
		{"a.html", "<meta charset=shift_jis><p>\x82\xa0", "", "shift_jis", "あ"},
		{"a.html", "<meta charset=utf-8><p>a\xff", "", "utf-8", "a\ufffd"},
		{"a.html", "<meta charset=latin1><p>é", "", "utf-8", "é"}, // a wrong declaration
	} {
		docs, err := Read(c.name, []byte(c.file), Options{Encoding: c.said})
		if err != nil || docs[0].Encoding != c.encoding || string(docs[0].Text) != c.want {
			t.Errorf("%q: %s, %v", c.file, outline(docs), err)
		}
	}
}

func why(t *testing.T, err error) Why {
	t.Helper()
	e := &Error{}
	if !errors.As(err, &e) {
		t.Fatalf("%v is no Error", err)
	}
	return e.Why
}

func TestWhatIsNotRead(t *testing.T) {
	packed := func(s string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(s))
		z.Close()
		return b.String()
	}
	if docs, err := Read("a.md.gz", []byte(packed("# x")), Options{}); err != nil || outline(docs) != `markdown "x" "# x" 1@0:x` {
		t.Error(outline(docs), err)
	}
	for _, c := range []struct {
		name, file string
		want       Why
	}{
		{"a.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", Unknown},
		{"a.txt", "\x00\x01\x02\x03", Unknown},
		{"a.ipynb", "{", Broken},
		{"a.vtt", "WEBVTT\n\nNOTE no\n", NoText},
		{"a.html", "<body><script>x</script>", NoText},
		{"a.txt.gz", packed("x")[:12], Broken},
		{"a.txt.gz", packed(strings.Repeat("x", 2000)), TooLarge},
	} {
		_, err := Read(c.name, []byte(c.file), Options{MaxText: 1000})
		if got := why(t, err); got != c.want {
			t.Errorf("%s %q: %v, want %v", c.name, c.file, err, c.want)
		}
	}
}

// holds checks what Read promises of any document.
func holds(t *testing.T, docs []Document, err error) {
	t.Helper()
	if err != nil {
		why(t, err)
		return
	}
	for _, d := range docs {
		if !utf8.Valid(d.Text) || !utf8.ValidString(d.Title) || strings.Contains(d.Title, "\n") {
			t.Fatalf("%s: not valid", outline(docs))
		}
		last := -1
		for _, h := range d.Headings {
			if h.At <= last || h.At >= len(d.Text) || h.Level < 1 || h.Text == "" {
				t.Fatalf("heading %+v after %d of %d bytes: %q", h, last, len(d.Text), d.Text)
			}
			last = h.At
		}
		for field, values := range d.Fields {
			for _, v := range values {
				if v == "" || !utf8.ValidString(v) {
					t.Fatalf("%s: %q", field, v)
				}
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"a.md", "a.rst", "a.html", "a.ipynb", "a.srt", "a.txt"} {
		f.Add(name, []byte("---\ntitle: [x]\n---\n# A\nB\n===\n<h1>c</h1>\n"))
		f.Add(name, []byte(`{"cells":[{"cell_type":"markdown","source":["# T"]}]}`))
		f.Add(name, []byte("1\n00:00:01,000 --> 00:00:02,000\nx\xff\n"))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		docs, err := Read(name, data, Options{MaxText: 1 << 16})
		holds(t, docs, err)
	})
}

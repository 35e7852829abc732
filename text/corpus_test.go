package text

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	_ "github.com/collocate/collocate/text/bzip2"
)

// readAll returns the documents as "ID=text".
func readAll(c *Corpus) (list []string, err error) {
	for d, err := range c.All(context.Background()) {
		if err != nil {
			return list, err
		}
		list = append(list, d.ID+"="+string(d.Text))
	}
	return list, nil
}

// readBatches returns the documents of Batches in the same form, and checks that batches are
// numbered from 0, each once, by a valid worker.
func readBatches(c *Corpus) ([]string, error) {
	var mu sync.Mutex
	batches := map[int][]string{}
	err := c.Batches(context.Background(), func(worker int, b *Batch) error {
		var list []string
		for _, d := range b.Docs {
			list = append(list, d.ID+"="+string(d.Text))
		}
		mu.Lock()
		defer mu.Unlock()
		if _, twice := batches[b.Seq]; twice || len(list) == 0 || worker < 0 ||
			c.Options.Threads > 0 && worker >= c.Options.Threads {
			return fmt.Errorf("batch %d (twice: %v) of %d documents by worker %d of %d", b.Seq, twice, len(list),
				worker, c.Options.Threads)
		}
		batches[b.Seq] = list
		return nil
	})
	var all []string
	for i := range len(batches) {
		list, ok := batches[i]
		if !ok && err == nil {
			return nil, fmt.Errorf("batch %d of %d is missing", i, len(batches))
		}
		all = append(all, list...)
	}
	return all, err
}

func write(t testing.TB, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func zstded(data []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(data, nil)
}

// bzipped is "one\ntwo\n" compressed by bzip2 -9.
var bzipped = []byte("BZh91AY&SY\xa7\x14+w\x00\x00\x02\xc1\x80\x00\x10\x02\x01\x84\x80 \x00!\x80\x0c\x028\xf5\x1b\x8b\xb9\"\x9c(HS\x8a\x15\xbb\x80")

// fragments are pieces from which texts of each format are put together.
var fragments = map[Format][]string{
	Lines: {"a line", "\n", "\r\n", "\n\n", "\xff\x00", "x"},
	File:  {"a line", "\n"},
	Blank: {"a line\n", "\n", "\r\n", " \n", "x", "\t\n\n"},
	JSONL: {`{"id":"a","text":"x"}` + "\n", `{"text":"\u00e9\n"}` + "\r\n", "\n",
		`{"id":1,"title":"t","text":["p","q"]}` + "\n"},
	TREC:  {"<DOC><DOCNO>1</DOCNO>text</DOC>\n", "<DOC>\n<DOCNO> x </DOCNO>\n<P>a < b</P>\n</DOC>", "\n"},
	SMART: {".I 1\n", ".T\ntitle\n", ".W\r\ntext\r\n.5\n", ".A\nme\n", "\n"},
	TSV:   {"1\ttext\n", "\n", "2\tx\ty\r\n"},
	JSON: {`{"id":"a","text":"x"}`, "{\n  \"text\": \"}\\\"{\"\n}\n", "\n",
		"{\"id\":1,\"text\":[\"p\",\"q\"],\"x\":{\"y\":[{}]}}"},
	CSV: {"1,x\n", "2,\"a\n\"\"b\"\"\"\r\n", "\n", "\"3\",\"\"\n"},
}

// The documents of short texts in every format, with its special cases.
func TestFormatsByExample(t *testing.T) {
	for _, tt := range []struct {
		name   string
		format Format
		fields string
		text   string
		want   []string
	}{
		{"lines", Lines, "", "one\ntwo\n", []string{"f:1=one", "f:2=two"}},
		{"no final newline", Lines, "", "one\ntwo", []string{"f:1=one", "f:2=two"}},
		{"CRLF", Lines, "", "one\r\ntwo\r\n\r\n", []string{"f:1=one", "f:2=two", "f:3="}},
		{"empty lines are empty documents", Lines, "", "\n\none\n\n", []string{"f:1=", "f:2=", "f:3=one", "f:4="}},
		{"BOM", Lines, "", "\ufeffone\n\ufefftwo", []string{"f:1=one", "f:2=\ufefftwo"}},
		{"bytes as they are", Lines, "", "a\x00b\xff \r c\n", []string{"f:1=a\x00b\xff \r c"}},
		{"nothing", Lines, "", "", nil},
		{"file", File, "", "one\n\ntwo\r\n", []string{"f=one\n\ntwo\r\n"}},
		{"empty file", File, "", "", []string{"f="}},
		{"file with BOM", File, "", "\ufeffx", []string{"f=x"}},
		{"blank", Blank, "", "\n\none\n two\r\n \t\r\nthree\n\n\n\nfour",
			[]string{"f:1=one\n two", "f:2=three", "f:3=four"}},
		{"blank, nothing", Blank, "", "\n \n\n", nil},
		{"jsonl", JSONL, "", `{"id":"a","contents":"x"}` + "\r\n\n" +
			`{"contents":"y","title":"no"}`, []string{"a=x", "f:2=y"}},
		{"jsonl, BEIR", JSONL, "", `{"_id":"a","title":"T","text":"x","metadata":{"k":[1,{}]}}`, []string{"a=T\nx"}},
		{"jsonl, order of fields", JSONL, "",
			`{"text":"x","docid":7,"abstract":["p","q"],"title":""}`, []string{"7=p\nq\nx"}},
		{"jsonl, null", JSONL, "", `{"id":null,"contents":null,"title":"t"}`, []string{"f:1=t"}},
		{"jsonl, empty text", JSONL, "", `{"id":"e","text":""}`, []string{"e="}},
		{"jsonl, last one counts", JSONL, "", `{"id":"a","id":"b","text":"x","text":"y"}`, []string{"b=y"}},
		{"jsonl, escapes", JSONL, "",
			`{"\u0069d":"\u00e9\ud83c\udf89\ud800x","text":"a\"\\\/\b\f\n\r\t\u0000"}`,
			[]string{"é🎉\ufffdx=a\"\\/\b\f\n\r\t\x00"}},
		{"jsonl, own fields", JSONL, "b,a", `{"a":"x","b":"y","id":"i"}`, []string{"i=y\nx"}},
		{"jsonl, other names", JSONL, "", `{"DOCNO":"a","Title":"T","body":"b","url":"no"}` + "\n" +
			`{"body":"c","docno":"d"}`, []string{"a=T\nb", "d=c"}},
		{"jsonl, passages", JSONL, "", `{"docid":"d","pid":"p","passage":"x"}`, []string{"p=x"}},
		{"jsonl, own names in their case", JSONL, "Text", `{"id":1,"text":"x","Text":"y"}`, []string{"1=y"}},
		{"json, a list", JSON, "",
			" [\n{\"id\":\"a\",\n\"text\":\"x}]\\\"{\"} , {\"id\":2,\"text\":[\"y\",\"z\"],\"more\":{\"a\":{}}}\n]\n", []string{"a=x}]\"{", "2=y\nz"}},
		{"json, an empty list", JSON, "", "[ ]\n", nil},
		{"json, objects", JSON, "",
			"{\n  \"id\": \"a\",\n  \"text\": \"x\"\n}\n{\"text\":\"y\"}{\n\"text\":\"\"}",
			[]string{"a=x", "f:2=y", "f:3="}},
		{"tsv, header", TSV, "", "id\ttext\ttitle\r\n1\t\"a \"\"q\"\"\n\tb\"\tT\n2\tno \"quote\t\n",
			[]string{"1=T\na \"q\"\n\tb", "2=no \"quote"}},
		{"tsv, no header", TSV, "", "t\tx\n1\t\"y\"\n", []string{"t=x", "1=\"y\""}},
		{"tsv, own column", TSV, "b", "a\tb\n1\t2\n", []string{"f:1=2"}},
		{"csv, semicolons", CSV, "", "ID;Text\n1;a, b\n", []string{"1=a, b"}},
		{"csv, contents", CSV, "", "id,title,contents\n1,t,x\n", []string{"1=x"}},
		{"trec, entities", TREC, "",
			"<DOC><DOCNO>A&amp;B</DOCNO>AT&T &lt;p&gt; caf&eacute; &#233;&#xe9; half&hyph;way &nosuch; &ampx; &</DOC>",
			[]string{"A&amp;B=AT&T <p> café éé half-way &nosuch; &ampx; &"}},
		{"tsv", TSV, "", "1\tone\ttab\r\n\nq2\t\n3\tx", []string{"1=one\ttab", "q2=", "3=x"}},
		{"csv", CSV, "", "id,title,text\n1,T,\"a \"\"q\"\",\nb\"\r\n\n2,,x", []string{"1=T\na \"q\",\nb", "2=x"}},
		{"csv, no ID", CSV, "", "text\n\"x\"\ny\n", []string{"f:1=x", "f:2=y"}},
		{"csv, own column", CSV, "b", "a,b,id\n1,2,3\n", []string{"3=2"}},
		{"csv, empty lines first", CSV, "", "\r\n\ntext\nx\n\ny\n", []string{"f:1=x", "f:2=y"}},
		{"csv, header only", CSV, "", "id,text\n", nil},
		{"csv, nothing", CSV, "", "", nil},
		{"smart", SMART, "", ".I 1\r\n.T\r\ntitle\r\nmore\r\n.A\nauthor\n.W\n.5 of\n.I 2\n.X\n1 2\n.I 3\n.W\nx",
			[]string{"1=title\nmore\n.5 of", "2=", "3=x"}},
		{"smart, other sections", SMART, "A,X", ".I 1\n.T\ntitle\n.A\nauthor\n.X\ny\n", []string{"1=author\ny"}},
		{"trec", TREC, "", "<DOC>\n<DOCNO> A-1 </DOCNO>\n<HEAD>Head</HEAD><TEXT>\na < b &amp; <P>c<!-- no -->\n</TEXT>\n</DOC>\n<doc><docno>2</docno></doc>\n",
			[]string{"A-1=Head  \na < b &  c", "2="}},
		{"trec, no tag", TREC, "", "<DOC><DOCNO>1</DOCNO>a <b <P>c</DOC>", []string{"1=a <b  c"}},
		{"trec, web page", TREC, "",
			"<DOC><DOCNO>W</DOCNO><DOCHDR>http://x\n</DOCHDR><html>y</html></DOC>",
			[]string{"W=y"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{Format: tt.format}
			if tt.fields != "" {
				o.Fields = strings.Split(tt.fields, ",")
			}
			c := &Corpus{Paths: []string{write(t, filepath.Join(t.TempDir(), "f"), []byte(tt.text))}, Options: o}
			got, err := readAll(c)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("got %q, %v\nwant %q", got, err, tt.want)
			}
			if got, err := readBatches(c); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("in batches: got %q, %v\nwant %q", got, err, tt.want)
			}
		})
	}
}

// Errors name the file, the line and what was expected.
func TestMistakesByExample(t *testing.T) {
	for _, tt := range []struct {
		format     Format
		text, want string
	}{
		{JSONL, "{\"text\":\"x\"}\n\n{\"text\":x}\n", `f: line 3: column 9: JSON has 'x': want a string`},
		{JSONL, "{}\n", "f: line 1: no text field contents, title, text, body or the like"},
		{JSONL, "{\"id\":1,\"lyrics\":\"la\"}\n",
			"f: line 1: no text field contents, title, text, body or the like: it has id, lyrics; name those that hold text (text.Options.Fields)"},
		{JSONL, "{\"id\":1,\"contents\":\"\",\"vector\":{\"a\":1}}\n{\"id\":2,\"contents\":\"\",\"vector\":{}}\n",
			"f: the first 2 documents have no text in contents: their fields are id, contents, vector; name those that hold text (text.Options.Fields)"},
		{JSON, "[{\"text\":\"x\"},\n {\"text\":\"y\"}", "f: line 2: the list does not end: want ]"},
		{JSON, "[{\"text\":\"x\"}\n {\"text\":\"y\"}]", "f: line 2: JSON has '{': want a comma or ]"},
		{JSON, "[{\"text\":\"x\"}] x", "f: line 1: JSON has 'x': want nothing behind the list"},
		{JSON, "{\n\"data\": [{\"text\":\"x\"}]\n}",
			"f: line 1: no text field contents, title, text, body or the like: it has data; name those that hold text (text.Options.Fields)"},
		{JSON, "{\n\"text\":\n", "f: line 3: JSON ends early: want a string"},
		{TSV, "id\ttext\n1\t\"x\" y\n",
			"f: line 2: text behind a closing quote: want a tab or the line's end; in a file without the header that names the columns, quotes are plain text"},
		{TSV, "id\ttext\n1\tx\ty\n", "f: line 2: 3 fields: the header has 2"},
		{JSONL, "{\"text\":{}}\n", `f: line 1: column 9: field "text": want a string or a list of strings`},
		{JSONL, "[1]\n", "f: line 1: column 1: JSON has '[': want an object {...}"},
		{JSONL, "{\"text\":\"a\tb\"}",
			`f: line 1: column 11: JSON has '\t': want no control character in a string, but \u00..`},
		{JSONL, "{\"text\":\"ab", "f: line 1: column 12: unterminated string"},
		{JSONL, "{\"text\":\"a\" \"id\":1}", "f: line 1: column 13: JSON has '\"': want a comma or }"},
		{JSONL, "{\"text\":[\"a\",]}", "f: line 1: column 14: JSON has ']': want a string"},
		{JSONL, "{\"text\":\"\\u00x1\"}",
			`f: line 1: column 12: JSON has '0': want four hexadecimal digits after \u`},
		{JSONL, "{\"text\":\"a\"} x", "f: line 1: column 14: JSON has 'x': want the end of the line"},
		{JSONL, "{\"text\":\"a\\x\"}", `f: line 1: column 12: JSON has 'x': want one of "\/bfnrtu after a backslash`},
		{TSV, "1\ta\nb\n", "f: line 2: no tab: want id<TAB>text"},
		{CSV, "text,id\nx,1\n\"a\nb\",2\nx\n", "f: line 5: 1 fields: the header has 2"},
		{CSV, "text\n\"x\n", "f: line 2: a quote that is not closed"},
		{CSV, "text\n\"x\"y\n", "f: line 2: text behind a closing quote: want a comma or the line's end"},
		{CSV, "text\nx\"y\n", "f: line 2: a quote inside a field that does not begin with one"},
		{CSV, "\na,b\n1,2\n", "f: line 2: no text column contents, title, text, body or the like: the columns are a, b; name those that hold text (text.Options.Fields), or, if that is no header, give their numbers (text.Options.Fields=2)"},
		{CSV, "a,b\n1,2\n", "f: line 1: no text column contents, title, text, body or the like: the columns are a, b; name those that hold text (text.Options.Fields), or, if that is no header, give their numbers (text.Options.Fields=2)"},
		{CSV, "a,\"b\n1,2\n", "f: line 1: header with the names of the columns: a quote that is not closed"},
		{SMART, "\nhello\n.I 1\n", "f: line 2: text before the first document: want .I and its ID"},
		{SMART, ".I 1\n.W\nx\n.I \n", "f: line 4: no ID: want .I and the document's ID"},
		{TREC, "\nx<DOC></DOC>", "f: line 2: text outside of <DOC>...</DOC>"},
		{TREC, "<DOC><DOCNO>1</DOCNO></DOC>\n< <DOC></DOC>", "f: line 2: text outside of <DOC>...</DOC>"},
		{TREC, "<DOC><DOCNO>1</DOCNO></DOC>\n<DOC>\n", "f: line 2: <DOC> without </DOC>"},
		{TREC, "<DOC>\n</DOC>", "f: line 1: a document without <DOCNO>"},
		{TREC, "<DOC>\n<DOCNO>1</DOC>", "f: line 2: <DOCNO> without </DOCNO>"},
		{TREC, "<DOC>\n<DOCNO>1</DOCNO><DOCNO>2</DOCNO></DOC>", "f: line 2: a second <DOCNO>"},
		{Lines, "\xff\xfea\x00", "f: UTF-16 text: convert it to UTF-8, or read a corpus with text.Options.Encoding=utf-16"},
		{Auto, "%PDF-1.7\n", "f: a PDF document: convert it to text"},
		{File, "PK\x03\x04\x14\x00", "f: a ZIP archive, which office documents are, too: unpack or convert it"},
		{Lines, "PAR1\x15\x04", "f: a Parquet table, not lines: leave out text.Options.Format"},
		{Auto, "\xfd7zXZ\x00\x00", "f: text packed with xz: want it plain, or packed with gzip, zstd or bzip2"},
		{Auto, strings.Repeat("x", 257) + "ustar\x0000", "f: a tar archive: unpack it and name the folder"},
		{Auto, "\x89PNG" + strings.Repeat("word \x00", 100), "f: binary data, not text: it holds NUL bytes"},
		{Auto, "COLODIC\n\x01\x00\x00\x00\x00\x00\x00\x00...",
			"f: a file that Collocate made, not a corpus: name the text that it was made from"},
		{Format(99), "x", "f: unknown format Format(99)"},
	} {
		c := &Corpus{Paths: []string{write(t, filepath.Join(t.TempDir(), "f"), []byte(tt.text))},
			Options: Options{Format: tt.format}}
		for how, read := range map[string]func(*Corpus) ([]string, error){"All": readAll, "Batches": readBatches} {
			_, err := read(c)
			if err == nil || !strings.HasSuffix(err.Error(), string(filepath.Separator)+tt.want) {
				t.Errorf("%s of %v %q: error\n%v, want\n%s", how, tt.format, tt.text, err, tt.want)
			}
		}
		if strings.Contains(tt.want, ": line ") { // the same line, however the text is divided
			checkReading(t, t.TempDir(), c.Options, []byte(tt.text))
		}
	}
}

// The format of a text is detected by its name and content.
func TestDetection(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		inFolder   bool
		want       Format
	}{
		{"a", "one\ntwo\n", false, Lines},
		{"a", "", false, Lines},
		{"a", "one\ntwo\n\n\n", false, Lines},
		{"a", "one\ntwo\n\nthree\n", false, Blank},
		{"a", strings.Repeat("line\n", 100) + "\n" + strings.Repeat("line\n", 100), false, Lines},
		{"a.txt", "one\ntwo\n", true, File},
		{"a", "\n {\"id\":1}\n", true, JSONL},
		{"a", "{ not json }\n", false, Lines},
		{"a.jsonl.gz", "[1]", false, JSONL},
		{"a", "[]", false, JSON},
		{"a.json", "[\n {\"id\":1}]\n", true, JSON},
		{"a.json", "{\n \"id\":1}\n", true, JSON},
		{"a.json", "{\"id\":1,\n\"text\":\"x\"}\n", true, JSON},
		{"a.json", "{\"id\":1}", true, JSONL},
		{"a", "[see below]\n", false, Lines},
		{"a", "<DOC>\n<DOCNO>", false, TREC},
		{"a", "<doc id=1>\n", false, TREC},
		{"a", "<DOCUMENT>", false, Lines},
		{"a", ".I 1\r\n.T\r\n", true, SMART},
		{"a", "0\tThe presence of\n1\tx\n", false, TSV},
		{"a", "0\tThe presence of\n1\tx\ty\n", false, Lines},
		{"a", "0\tThe presence of\n1\tx", false, TSV},
		{"a", "0\tThe presence of", false, TSV},
		{"a", "0\tThe presence of\nand no number at the end", false, Lines},
		{"a.tsv", "D1\tx\n", false, TSV},
		{"a.CSV.zst", "id,text\n", false, CSV},
	} {
		if got := guess([]byte(tt.text), true, tt.name, tt.inFolder); got != tt.want {
			t.Errorf("format of %s with %q: %v, want %v", tt.name, tt.text, got, tt.want)
		}
	}
}

// Every format is read in pieces by the tests, described, and known by its name; the error for
// another name lists them.
func TestFormatNames(t *testing.T) {
	for i, name := range Formats() {
		var f Format
		if err := f.UnmarshalText([]byte(name)); err != nil || f != Format(i) || f.String() != name {
			t.Errorf("%s: %v, %v; want format %d", name, f, err, i)
		}
		if f == Auto {
			continue
		}
		if fragments[f] == nil {
			t.Errorf("%s has no fragments, so nothing reads it in pieces", name)
		}
		if f.Help() == "" {
			t.Errorf("%s has no help", name)
		}
	}
	if _, err := ParseFormat("xml"); err == nil || !strings.Contains(err.Error(), `"xml": want auto, lines`) {
		t.Errorf("ParseFormat(xml): error %v, want one that lists the formats", err)
	}
}

// Compression is detected by content, not by name; several members are one text; a truncated file
// is an error.
func TestCompression(t *testing.T) {
	dir := t.TempDir()
	plain := []byte("one\ntwo\n")
	skippable := append([]byte("\x51\x2a\x4d\x18\x03\x00\x00\x00abc"), zstded(plain)...)
	for name, data := range map[string][]byte{
		"plain.gz": plain, "gzip": gzipped(plain), "gzip2": append(gzipped(plain[:3]), gzipped(plain[3:])...),
		"zstd.txt": zstded(plain), "zstd2": append(zstded(plain[:5]), zstded(plain[5:])...),
		"skippable": skippable, "bzip2": bzipped,
	} {
		want := []string{name + ":1=one", name + ":2=two"}
		got, err := readAll(&Corpus{Paths: []string{write(t, filepath.Join(dir, name), data)}})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
		if name == "plain.gz" {
			continue
		}
		for cut := 10; cut < len(data); cut++ {
			if name == "gzip2" && cut == len(gzipped(plain[:3])) ||
				name == "zstd2" && cut == len(zstded(plain[:5])) ||
				name == "skippable" && cut == 11 {
				continue // the end of a member may be the end of the file
			}
			path := write(t, filepath.Join(dir, "cut"), data[:cut])
			_, err := readAll(&Corpus{Paths: []string{path}})
			if err == nil || !strings.Contains(err.Error(), path+":") {
				t.Errorf("%s truncated to %d bytes: error %v, want one that names the file", name, cut, err)
			}
		}
	}
}

// The files of a folder come in byte order of their paths, without hidden ones. Symbolic links are
// followed, but a loop of links is an error.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", "a/z", "a.txt", "a/b/c", "B", ".hidden", ".git/x", "é"} {
		write(t, filepath.Join(dir, "top", name), []byte("text of "+name))
	}
	if err := os.Symlink("../top/a/b", filepath.Join(dir, "top", "link")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "other", "x"), []byte("text of x"))
	c := &Corpus{Paths: []string{filepath.Join(dir, "top"), filepath.Join(dir, "other", "x"), "-"},
		Stdin: strings.NewReader("x\ny")}
	got, err := readAll(c)
	want := []string{"B=text of B", "a.txt=text of a.txt", "a/b/c=text of a/b/c", "a/z=text of a/z",
		"b=text of b", "link/c=text of a/b/c", "é=text of é",
		"x:1=text of x", "stdin:1=x", "stdin:2=y"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}

	// IDs of files with the same name have their paths.
	b := filepath.Join(dir, "top", "b")
	got, err = readAll(&Corpus{Paths: []string{b, write(t, filepath.Join(dir, "b"), []byte("x"))}})
	if want := []string{filepath.ToSlash(b) + ":1=text of b", filepath.ToSlash(dir) +
		"/b:1=x"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}

	loop := filepath.Join(dir, "top", "a", "b", "loop")
	if err := os.Symlink("../../../top", loop); err != nil {
		t.Fatal(err)
	}
	for _, read := range []func(*Corpus) ([]string, error){readAll, readBatches} {
		if got, err := read(&Corpus{Paths: []string{filepath.Join(dir, "top")}}); err == nil ||
			!strings.Contains(err.Error(), loop+": a symbolic link to a folder that contains it") || len(got) > 0 {
			t.Errorf("a loop of links: documents %q, error %v; want none and one that names it", got, err)
		}
	}
}

// The error for a missing file, a broken link or a failing input names it; standard input can be
// read only once.
func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "folder", "broken")
	write(t, filepath.Join(dir, "folder", "good"), nil)
	if err := os.Symlink("nowhere", broken); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{filepath.Join(dir, "none"): filepath.Join(dir, "none"),
		filepath.Join(dir, "folder"): broken, "-": "the wire is cut"} {
		c := &Corpus{Paths: []string{path}, Stdin: io.MultiReader(strings.NewReader("x\n"), brokenReader{})}
		_, err := readAll(c)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one that has %q", path, err, want)
		}
	}
	if _, err := readAll(&Corpus{Paths: []string{"-", "-"}}); err == nil {
		t.Error("standard input twice: no error")
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("the wire is cut") }

// Files in Except are left out of a folder, by whatever path they are named, but read if they are
// named in Paths.
func TestExcept(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.txt", "out.txt", "sub/out.txt", "index/part"} {
		write(t, filepath.Join(dir, name), []byte("x"))
	}
	except := []string{filepath.Join(dir, "sub", "..", "out.txt"), filepath.Join(dir, "index"),
		filepath.Join(dir, "not-there")}
	for path, want := range map[string][]string{dir: {"a.txt=x", "sub/out.txt=x"}, except[0]: {"out.txt:1=x"}} {
		if got, err := readAll(&Corpus{Paths: []string{path},
			Options: Options{Except: except}}); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
}

// A caller can stop early by leaving the loop, by returning an error or by cancelling the context.
func TestStoppingEarly(t *testing.T) {
	defer setSizes(64, 8)()
	path := write(t, filepath.Join(t.TempDir(), "f"), []byte(strings.Repeat("a line of text\n", 10000)))
	for _, data := range []string{path, "-"} {
		c := &Corpus{Paths: []string{data}, Options: Options{Threads: 3}}
		restart := func() { c.Stdin = strings.NewReader(strings.Repeat("a line of text\n", 10000)) }
		n := 0
		restart()
		for _, err := range c.All(context.Background()) {
			if n++; n == 100 || err != nil {
				break
			}
		}
		if n != 100 {
			t.Errorf("%d documents until the loop was left, want 100", n)
		}
		own := errors.New("enough")
		var calls atomic.Int32
		restart()
		err := c.Batches(context.Background(), func(int, *Batch) error {
			if calls.Add(1) == 10 {
				return own
			}
			return nil
		})
		if err != own {
			t.Errorf("error %v, want that of the caller, %v", err, own)
		}
		ctx, cancel := context.WithCancel(context.Background())
		restart()
		err = c.Batches(ctx, func(int, *Batch) error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error of Batches %v, want %v", err, context.Canceled)
		}
		restart()
		for _, err = range c.All(ctx) {
			if err != nil {
				break
			}
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error of All %v, want %v", err, context.Canceled)
		}
	}
}

// Progress is told the bytes of all files, and ends with their sum.
func TestProgress(t *testing.T) {
	defer setSizes(1000, 100)()
	dir := t.TempDir()
	data := []byte(strings.Repeat("a line of text\n", 10000))
	total := int64(len(data))
	paths := []string{write(t, filepath.Join(dir, "a"), data)}
	zipped := gzipped(data)
	paths = append(paths, write(t, filepath.Join(dir, "b"), zipped))
	total += int64(len(zipped))
	for _, read := range []func(*Corpus) ([]string, error){readAll, readBatches} {
		var (
			mu   sync.Mutex
			last int64
		)
		c := &Corpus{Paths: paths, Options: Options{Progress: func(done, of int64) {
			if of != total {
				t.Errorf("Progress(%d, %d), want of %d", done, of, total)
			}
			mu.Lock()
			last = max(last, done)
			mu.Unlock()
		}}}
		if _, err := read(c); err != nil || last != total {
			t.Errorf("the highest progress was %d of %d, %v", last, total, err)
		}
	}
}

// setSizes lowers the sizes of pieces and batches; the returned function restores them.
func setSizes(chunk, window int) func() {
	c, w, d := chunkSize, windowSize, maxBatchDocs
	chunkSize, windowSize, maxBatchDocs = chunk, window, max(1, chunk/16)
	return func() { chunkSize, windowSize, maxBatchDocs = c, w, d }
}

// endless blocks every Read, like a terminal without input.
type endless struct{ asked chan struct{} }

func (e endless) Read([]byte) (int, error) {
	close(e.asked)
	select {}
}

// Cancelling the context ends the wait for input.
func TestWaitingForInputCanBeStopped(t *testing.T) {
	for how, read := range map[string]func(context.Context, *Corpus) error{
		"All": func(ctx context.Context, c *Corpus) (err error) {
			for _, err = range c.All(ctx) {
			}
			return err
		},
		"Batches": func(ctx context.Context, c *Corpus) error {
			return c.Batches(ctx, func(int, *Batch) error { return nil })
		},
	} {
		in := endless{make(chan struct{})}
		ctx, stop := context.WithCancel(context.Background())
		go func() {
			<-in.asked
			stop()
		}()
		if err := read(ctx, &Corpus{Paths: []string{"-"}, Stdin: in}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want %v", how, err, context.Canceled)
		}
	}
}

// Cancelling the context ends the reading of a document without end.
func TestEndlessDocumentsCanBeStopped(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	letters := &letterReader{after: 3, stop: stop}
	var last error
	for _, err := range (&Corpus{Paths: []string{"-"}, Options: Options{Format: File}, Stdin: letters}).All(ctx) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("error %v, want %v", last, context.Canceled)
	}
}

// letterReader gives the letter x forever, and calls stop after some reads.
type letterReader struct {
	after int
	stop  func()
}

func (l *letterReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	if l.after--; l.after <= 0 {
		l.stop()
	}
	return len(p), nil
}

// Guesses and fields that are left out are noted once for all files.
func TestNotes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []string
		docs  int
	}{
		{"nothing to say", map[string]string{"a": `{"_id":"1","title":"t","text":"x"}`,
			"b": `{"id":"2","contents":"x"}`}, nil, 2},
		{"left out", map[string]string{"a": `{"id":"1","text":"x","url":"u"}`, "b": `{"id":"2","text":"x","url":"u"}`},
			[]string{"a: text is text; left out: url (text.Options.Fields chooses)"}, 2},
		{"contents", map[string]string{"a": `{"id":"1","text":"x","contents":"u"}`},
			[]string{"a: text is contents; left out: text (text.Options.Fields chooses)"}, 1},
		{"no ID", map[string]string{"a": `{"key":"1","text":"x"}`},
			[]string{"a: text is text; left out: key (text.Options.Fields chooses); no field id, docid, docno or the like: documents are named by file and number (text.Options.IDField chooses)"}, 1},
		{"two IDs", map[string]string{"a": `{"docid":"1","pid":"p1","text":"x"}`},
			[]string{"a: text is text; left out: docid (text.Options.Fields chooses); IDs are from pid (text.Options.IDField chooses)"}, 1},
		{"table", map[string]string{"a.csv": "id,date,text\n1,2,3\n"},
			[]string{"a.csv: text is text; left out: date (text.Options.Fields chooses)"}, 1},
		{"BEIR", map[string]string{"x/corpus.jsonl": `{"_id":"1","text":"x"}`,
			"x/queries.jsonl": `{"_id":"1","text":"x"}`, "x/qrels/test.tsv": "1\t1\t1\n",
			"y.txt": "y"},
			[]string{"x/corpus.jsonl: of a folder in BEIR's layout only this is read, not its queries and judgments"}, 2},
		{"CR", map[string]string{"a": "x\ry\r"},
			[]string{"a: its lines end with CR alone, which ends no line and parts no words of analyzer whitespace: convert them to LF (tr '\\r' '\\n')"}, 1},
		{"a corpus alone", map[string]string{"corpus.jsonl": `{"_id":"1","text":"x"}`,
			"more.jsonl": `{"_id":"2","text":"x"}`}, nil, 2},
	} {
		dir := t.TempDir()
		for name, text := range tt.files {
			write(t, filepath.Join(dir, name), []byte(text))
		}
		var notes []string
		c := &Corpus{Paths: []string{dir},
			Options: Options{Note: func(line string) { notes = append(notes, strings.TrimPrefix(line, dir+"/")) }}}
		docs, err := readAll(c)
		if err != nil || len(docs) != tt.docs || !slices.Equal(notes, tt.want) {
			t.Errorf("%s: %d documents, notes %q, %v; want %d, %q", tt.name, len(docs), notes, err, tt.docs,
				tt.want)
		}
	}
}

// Sections of a SMART file that are left out are noted, unless Fields chooses sections.
func TestNotesOfSMART(t *testing.T) {
	head := []byte(".I 1\n.T\ntitle\n.X\n1\n.A\nme\n.W\ntext\n.A\n")
	for fields, want := range map[string]string{"": "text is .T, .W; left out: .A, .X (text.Options.Fields chooses)", "A": ""} {
		o := &Options{}
		if fields != "" {
			o.Fields = []string{fields}
		}
		if got := smartNote(head, o); got != want {
			t.Errorf("fields %q: note %q, want %q", fields, got, want)
		}
	}
}

// cutJSON finds the end of the first object that ends at or after an offset; braces in strings do
// not count.
func TestCutJSON(t *testing.T) {
	const text = `{"a":"}\"}{"} ,` + "\n" + `{"b":{"c":1}}{}`
	for from, want := range map[int]int{0: 13, 5: 13, 12: 13, 13: 29, 20: 29, 28: 29, 29: 31, 30: 31, 31: -1} {
		if got := cutJSON([]byte(text), from); got != want {
			t.Errorf("cutJSON from %d: %d, want %d", from, got, want)
		}
	}
}

// Text in other encodings than UTF-8 is converted, refused or taken as bytes, as Encoding says.
func TestEncodings(t *testing.T) {
	long := strings.Repeat("plain text\n", 200_000) // more than one piece
	for _, tt := range []struct{ encoding, text, want string }{
		{"bytes", "caf\xe9", "caf\xe9"},
		{"latin1", "caf\xe9 \x80", "café €"},
		{"iso-8859-5", "\xbc\xd8\xe0", "Мир"},
		{"utf-16", "\xff\xfeM\x008\x04", "Mи"},
		{"utf-16", "\xfe\xff\x00M\x048", "Mи"},
		{"utf-16be", "\x00M\x048", "Mи"},
		{"shift_jis", "\x93\xfa", "日"},
		{"utf-8", "café", "café"},
		{"utf-8", "caf\xe9", "line 1: byte 0xE9 is not UTF-8"},
		{"utf-8", "one\ntwo \xfc\n", "line 2: byte 0xFC is not UTF-8"},
		{"utf-8", long + "caf\xe9\n", "line 200001: byte 0xE9 is not UTF-8"},
		{"", "x", `unknown encoding ""`},
		{"klingon", "x", `unknown encoding "klingon"`},
	} {
		e, err := ParseEncoding(tt.encoding)
		var got []string
		if err == nil {
			path := write(t, filepath.Join(t.TempDir(), "f"), []byte(tt.text))
			got, err = readAll(&Corpus{Paths: []string{path}, Options: Options{Encoding: e, Format: Lines}})
		}
		if err == nil && got[len(got)-1] != "f:"+fmt.Sprint(len(got))+"="+tt.want ||
			err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %.80q, %v, want %q", tt.encoding, got, err, tt.want)
		}
	}
}

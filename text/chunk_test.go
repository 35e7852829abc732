package text

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/collocate/collocate/internal/trials"
)

// outcome is the result of reading: the documents, or only the error if there is one.
type outcome struct {
	docs []string
	err  string
}

func outcomeOf(docs []string, err error) outcome {
	if err != nil {
		// How much a decompressor has written when it finds an error depends on timing.
		msg, _, _ := strings.Cut(err.Error(), "at about byte")
		return outcome{err: msg}
	}
	return outcome{docs: docs}
}

func (o outcome) equal(p outcome) bool { return o.err == p.err && slices.Equal(o.docs, p.docs) }

// checkReading reads a text as a whole and in pieces of several sizes, by one and several workers,
// from a file and from standard input. All must give the same documents with the same IDs, or the
// same error.
func checkReading(t testing.TB, dir string, o Options, text []byte) {
	t.Helper()
	path := filepath.Join(dir, "f")
	write(t, path, text)
	want := outcomeOf(readAll(&Corpus{Paths: []string{path}, Options: o}))
	check := func(how string, got outcome) {
		got.err = strings.Replace(got.err, "-: ", path+": ", 1) // standard input
		if !got.equal(want) {
			t.Fatalf("%v %q\n%s: %q\nwant, as read as a whole: %q", o.Format, text, how, got, want)
		}
	}
	for _, size := range []struct{ chunk, window int }{{1, 1}, {7, 3}, {64, 16}} {
		restore := setSizes(size.chunk, size.window)
		for threads := 1; threads <= 3; threads += 2 {
			o := o
			o.Threads = threads
			how := fmt.Sprintf("in pieces of %d by %d workers", size.chunk, threads)
			check(how, outcomeOf(readBatches(&Corpus{Paths: []string{path}, Options: o})))
		}
		check("from standard input",
			rename(outcomeOf(readAll(&Corpus{Paths: []string{"-"}, Options: o,
				Stdin: bytes.NewReader(text)}))))
		check("one by one", outcomeOf(readAll(&Corpus{Paths: []string{path}, Options: o})))
		restore()
	}
}

// rename replaces the name of standard input in IDs by that of the file f.
func rename(o outcome) outcome {
	for i, d := range o.docs {
		if rest, ok := strings.CutPrefix(d, "stdin"); ok {
			o.docs[i] = "f" + rest
		}
	}
	return o
}

// Reading random texts of each format, right and wrong, does not depend on how they are divided.
func TestReadingDoesNotDependOnCuts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	for format, parts := range fragments {
		for round := range trials.Cases(60) {
			var text []byte
			switch {
			case format == CSV:
				text = append(text, "id,text\n"...)
			case format == TSV && round%2 == 1:
				text = append(text, "id\ttext\n"...)
				parts = []string{"1\ttext\n", "\n", "2\tx \"y\r\n", "3\t\"a\n\"\"\tb\"\n", "\"4\"\t\n"}
			case format == JSON && round%2 == 1:
				text = append(text, "[{\"text\":\"\"}"...)
			}
			for range r.IntN(40) {
				if format == JSON && round%2 == 1 {
					text = append(text, " ,\n"...)
				}
				text = append(text, parts[r.IntN(len(parts))]...)
			}
			if format == JSON && round%2 == 1 {
				text = append(text, "]\n"...)
			}
			if round%4 == 3 && len(text) > 0 { // a wrong byte
				text[r.IntN(len(text))] = byte(r.IntN(256))
			}
			checkReading(t, dir, Options{Format: format}, text)
		}
	}
}

// Many files of all sizes, of which short ones share a batch, give the documents of each in order.
func TestManyFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	dir := t.TempDir()
	var want []string
	for i := range 200 {
		name := fmt.Sprintf("%03d", i)
		var text []byte
		for n := range r.IntN(30) {
			line := strings.Repeat("x", r.IntN(10))
			text = append(append(text, line...), '\n')
			want = append(want, fmt.Sprintf("%s:%d=%s", name, n+1, line))
		}
		if i%5 == 0 {
			text = gzipped(text)
		}
		write(t, filepath.Join(dir, name), text)
	}
	for _, chunk := range []int{1, 20, 500, 1 << 20} {
		restore := setSizes(chunk, 8)
		got, err := readBatches(&Corpus{Paths: []string{dir}, Options: Options{Format: Lines, Threads: 4}})
		restore()
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("pieces of %d: %d documents %.200q, %v; want %d %.200q", chunk, len(got), got, err,
				len(want), want)
		}
	}
}

// A text is divided into the same batches with any number of threads, plain or compressed.
func TestBatchBorders(t *testing.T) {
	dir := t.TempDir()
	text := []byte(strings.Repeat("some words in a line\nand more\n", 200000))
	borders := func(path string, threads int) []int {
		list := make([]int, 100)
		c := &Corpus{Paths: []string{path}, Options: Options{Threads: threads}}
		if err := c.Batches(context.Background(), func(_ int, b *Batch) error {
			list[b.Seq] = len(b.Docs)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return list
	}
	plain := write(t, filepath.Join(dir, "f"), text)
	want := borders(plain, 1)
	if want[15] == 0 || want[17] != 0 || slices.Max(want) > maxBatchDocs {
		t.Errorf("%d bytes came in batches of %v documents, want 16 or 17 batches of at most %d", len(text),
			want, maxBatchDocs)
	}
	for threads := 0; threads < 5; threads += trials.Every(2) {
		if got := borders(plain, threads); !slices.Equal(got, want) {
			t.Errorf("%d threads: %v, want %v", threads, got, want)
		}
	}
	if got := borders(write(t, filepath.Join(dir, "f.zst"), zstded(text)), 3); !slices.Equal(got, want) {
		t.Errorf("compressed: %v, want %v", got, want)
	}
}

// A line of 100 MB between short ones is one document.
func TestLongLine(t *testing.T) {
	size := 100 << 20
	if testing.Short() {
		size = 5 << 20
	}
	path := filepath.Join(t.TempDir(), "f")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, "short\n")
	for range size >> 20 {
		f.Write(bytes.Repeat([]byte("word "), 1<<20/5+1)[:1<<20])
	}
	io.WriteString(f, "\nend")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int{}
	c := &Corpus{Paths: []string{path}, Options: Options{Threads: 1, MaxDocument: 1 << 30, Memory: 1 << 35}}
	err = c.Batches(context.Background(), func(_ int, b *Batch) error {
		for _, d := range b.Docs {
			sizes[d.ID] = len(d.Text)
		}
		return nil
	})
	if err != nil || len(sizes) != 3 || sizes["f:1"] != 5 || sizes["f:2"] != size || sizes["f:3"] != 3 {
		t.Errorf("sizes of documents %v, %v; want f:1: 5, f:2: %d, f:3: 3", sizes, err, size)
	}
}

// FuzzReading calls checkReading with arbitrary texts.
func FuzzReading(f *testing.F) {
	for format, parts := range fragments {
		f.Add(uint8(format), []byte(strings.Join(parts, "")))
	}
	f.Add(uint8(Auto), gzipped([]byte("one\ntwo\n")))
	f.Add(uint8(Auto), zstded([]byte("one\ntwo\n")))
	f.Add(uint8(Auto), bzipped)
	// The decompressor gives six bytes of text or none before it finds the error.
	f.Add(uint8(SMART), []byte("(\xb5/\xfd001\x00\x00000000000000"))
	f.Add(uint8(JSON), []byte("[{\"text\":\"a\"},\n{\"text\":\"b\"}]"))
	f.Add(uint8(TSV), []byte("id\ttext\n1\t\"a\nb\"\n"))
	f.Add(uint8(CSV), []byte("text,id\n\"a\"\"\n\",1\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, format uint8, text []byte) {
		if len(text) > 1<<12 {
			return // pieces of one byte would be slow
		}
		dir, err := os.MkdirTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		checkReading(t, dir, Options{Format: Format(int(format) % len(Formats()))}, text)
	})
}

// FuzzJSONL compares the scanner with encoding/json.
func FuzzJSONL(f *testing.F) {
	for _, part := range fragments[JSONL] {
		f.Add([]byte(part))
	}
	f.Add([]byte(`{"text":"\ud83c\udf89\ud800\udc00\ud800","x":[1.5e-3,true,false,null,{"a":[]}],"id":-0}`))
	f.Add([]byte(`{"te\u0078t":"a","text":"b","id":"\""}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsAny(line, "\n") || isBlank(line) || !utf8.Valid(line) {
			return
		}
		var p parser
		p.arena = make([]byte, 0, len(line))
		err := p.splitJSONL(&source{options: &Options{Fields: []string{"text"}, IDField: "id"}}, line)
		var want map[string]any
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		wantErr := d.Decode(&want)
		if wantErr == nil && !json.Valid(line) {
			wantErr = errors.New("more than one value")
		}
		if wantErr == nil && want == nil {
			wantErr = errors.New("null")
		}
		text, ok := asText(want["text"])
		if wantErr == nil && (!ok || want["text"] == nil) {
			wantErr = errors.New("no text")
		}
		if wantErr == nil {
			if _, ok := asText(want["id"]); !ok {
				wantErr = errors.New("no ID")
			}
		}
		if strings.Contains(fmt.Sprint(err), "want a string or a list") {
			return // encoding/json takes the last field of a name, which may be right
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: error %v, encoding/json %v", line, err, wantErr)
		}
		if err != nil {
			return
		}
		if got := string(p.docs[0].Text); got != text {
			t.Fatalf("%q: text %q, encoding/json %q", line, got, text)
		}
		if _, list := want["id"].([]any); !list && !p.marks[0].number {
			if full, _ := asText(want["id"]); string(p.ids) != full {
				t.Fatalf("%q: ID %q, encoding/json %q", line, p.ids, full)
			}
		}
	})
}

// asText returns the text of the value of a text field.
func asText(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case []any:
		var parts []string
		for _, e := range v {
			if _, list := e.([]any); list {
				return "", false
			}
			s, ok := asText(e)
			if !ok {
				return "", false
			}
			if s != "" {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, "\n"), true
	default:
		return "", false
	}
}

// FuzzCSV compares with encoding/csv, on data without CR: encoding/csv reads CR LF inside quotes as
// LF.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,text\n\"x\"\"y\",\"p\nq\"\r\n1,2\n\n"))
	f.Add([]byte("text\n\"\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.IndexByte(data, '\r') >= 0 {
			return
		}
		records, wantErr := csv.NewReader(bytes.NewReader(data)).ReadAll()
		var got [][]string
		r := csvRecord{separator: ','}
		var err error
		for at := 0; at < len(data) && err == nil; {
			if data[at] == '\n' {
				at++
				continue
			}
			if at, err = r.read(data, at); err == nil {
				var fields []string
				for i := range r.fields {
					fields = append(fields, string(r.field(data, i, nil)))
				}
				got = append(got, fields)
				if len(fields) != len(got[0]) {
					err = errors.New("number of fields")
				}
			}
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: error %v, encoding/csv %v", data, err, wantErr)
		}
		if err == nil && !slices.EqualFunc(got, records, func(a, b []string) bool { return slices.Equal(a, b) }) {
			t.Fatalf("%q: records %q, encoding/csv %q", data, got, records)
		}
	})
}

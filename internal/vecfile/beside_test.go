package vecfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/npz"
	"github.com/collocate/collocate/text"
)

// matrix writes a file whose row i is (i+1, 1), as .npy or .fvecs.
func matrix(t *testing.T, name string, rows int) string {
	t.Helper()
	var b bytes.Buffer
	var numbers []float32
	for i := range rows {
		numbers = append(numbers, float32(i+1), 1)
		if strings.HasSuffix(name, ".fvecs") {
			binary.Write(&b, binary.LittleEndian, int32(2))
			binary.Write(&b, binary.LittleEndian, numbers[2*i:])
		}
	}
	if strings.HasSuffix(name, ".npy") {
		if err := npz.WriteFloats(&b, rows, 2, numbers); err != nil {
			t.Fatal(err)
		}
	}
	return written(t, name, b.String())
}

func written(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func corpusOf(t *testing.T, n int, more string) *text.Corpus {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"d%d","body":"%s"%s}`+"\n", i, strings.Repeat("word ", 200), more)
	}
	schema, err := fields.ParseList([]string{"body:text", "v:vector:2"})
	if err != nil {
		t.Fatal(err)
	}
	return &text.Corpus{Paths: []string{written(t, "docs.jsonl", b.String())}, Options: text.Options{Schema: schema, Threads: 4}}
}

// got returns the first number of each document's vector, read in batches by several workers, which
// must be as in corpus order.
func got(c *text.Corpus) (map[string]float32, error) {
	list := map[string]float32{}
	take := func(d text.Document) {
		if len(d.Fields[1]) > 0 {
			v, _ := fields.ParseVector(nil, d.Fields[1][0])
			list[d.ID] = v[0]
		}
	}
	for d, err := range c.All(context.Background()) {
		if err != nil {
			return nil, err
		}
		take(d)
	}
	inOrder := list
	list = map[string]float32{}
	var mu sync.Mutex
	err := c.Batches(context.Background(), func(_ int, b *text.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		for _, d := range b.Docs {
			take(d)
		}
		return nil
	})
	if err == nil && fmt.Sprint(list) != fmt.Sprint(inOrder) {
		err = fmt.Errorf("batches give %d other vectors than the order", len(list))
	}
	return list, err
}

// Rows go to documents in their order, over many batches and workers, and by IDs.
func TestRowsAreThoseOfTheirDocuments(t *testing.T) {
	const n = 6000 // more than six megabytes
	for _, name := range []string{"m.npy", "m.fvecs"} {
		path := matrix(t, name, n)
		b, err := OpenBeside(path, "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		c := corpusOf(t, n, "")
		c.Options.Beside = b
		list, err := got(c)
		if err != nil || len(list) != n {
			t.Fatalf("%s: %d documents, %v", name, len(list), err)
		}
		for i := range n {
			if x := list[fmt.Sprint("d", i)]; x != float32(i+1) {
				t.Fatalf("%s: document %d has the row %v", name, i, x)
			}
		}
		var ids []string
		for i := range n {
			ids = append(ids, fmt.Sprint("d", n-1-i))
		}
		if b, err = OpenBeside(path, "v", written(t, "ids", strings.Join(ids, "\r\n")+"\r\n")); err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		c.Options.Beside = b
		if list, err = got(c); err != nil || len(list) != n || list["d0"] != n || list["d5999"] != 1 {
			t.Fatalf("%s: by IDs: %d documents, %v, %v", name, len(list), list["d0"], err)
		}
	}
}

// What does not fit is an error that names the file, the row and the document.
func TestRowsThatDoNotFit(t *testing.T) {
	three := matrix(t, "three.npy", 3)
	nan := matrix(t, "nan.fvecs", 3)
	b, _ := os.ReadFile(nan)
	copy(b[12+4:], "\x00\x00\xc0\x7f")
	other := slices.Clone(b)
	os.WriteFile(nan, b, 0o600)
	other[12] = 1
	for _, c := range []struct {
		path, field, ids string
		docs             int
		more, want       string
	}{
		{three, "", "", 2, "", "three.npy: it has 3 rows, and the corpus 2 documents"},
		{three, "", "", 4, "", `three.npy: it has 3 rows, and the corpus more documents: "d3" is number 4`},
		{three, "w", "", 3, "", `three.npy: unknown vector field "w": want v`},
		{three, "", "", 3, `,"v":[1,2]`, `the document "d0" has a vector of its own in the field "v"`},
		{nan, "", "", 3, "", `nan.fvecs: row 2, of the document "d1": number 1 of the vector is NaN`},
		{written(t, "o.fvecs", string(other)), "", "", 3, "", `row 2, of the document "d1": vector 2 has 1 dimensions`},
		{written(t, "cut.fvecs", string(b[:20])), "", "", 3, "", "cut.fvecs: truncated: 20 bytes"},
		{written(t, "m.txt", "[1, 2]"), "", "", 3, "", "want an array of NumPy (.npy), or a file .fvecs"},
		{written(t, "none.fvecs", ""), "", "", 0, "", "it has no vectors"},
		{three, "", "d0\nd1\n", 3, "", "3 rows, and"},
		{three, "", "d0\nd1\nd1\n", 3, "", `the ID "d1" is on the lines 2 and 3`},
		{three, "", "d0\nd1\nx\n", 2, "", `no document has the ID "x" of row 3; 1 of 3 rows have no document`},
		{three, "", "d0\nd1\nx\n", 3, "", `it has no row for the document "d2": add one, or declare the field "v" optional`},
	} {
		ids := c.ids
		if ids != "" {
			ids = written(t, "ids.txt", ids)
		}
		beside, err := OpenBeside(c.path, c.field, ids)
		if err == nil {
			corpus := corpusOf(t, c.docs, c.more)
			corpus.Options.Beside = beside
			_, err = got(corpus)
			beside.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), filepath.Base(c.path)) {
			t.Errorf("%s: %v; want %s", filepath.Base(c.path), err, c.want)
		}
	}
	wide := corpusOf(t, 3, "")
	wide.Options.Schema.Fields[1].Dim = 5
	if wide.Options.Beside, _ = OpenBeside(three, "", ""); wide.Options.Beside != nil {
		if _, err := got(wide); err == nil || !strings.Contains(err.Error(), `its vectors have 2 dimensions, and the field "v" has 5`) {
			t.Errorf("other dimensions: %v", err)
		}
	}
}

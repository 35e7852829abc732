package csr_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/csr"
	"github.com/collocate/collocate/internal/npz"
	"github.com/collocate/collocate/internal/npz/npztest"
	"github.com/collocate/collocate/text"
)

// names returns the names of rows or columns.
func names(t *testing.T, z map[string]npztest.Array, of string) (list []string) {
	b, from := npztest.Vector[uint8](t, z, of+"s", npz.Uint8), int64(0)
	for _, end := range npztest.Vector[int64](t, z, of+"_ends", npz.Int64) {
		list = append(list, string(b[from:end]))
		from = end
	}
	return list
}

// Every cell of the matrix is what the document has, whatever part of it fits in memory, and names
// are those of rows and columns.
func TestMatrixHasTheWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(49, 4))
	for round := range 6 {
		schema, err := fields.ParseList([]string{"body:text", "v:sparse"})
		if err != nil {
			t.Fatal(err)
		}
		docs := map[string]map[string]int32{}
		words := map[string]map[string]int32{}
		var list []text.Document
		for i := range rng.IntN(40) {
			id := fmt.Sprint("d", i)
			docs[id], words[id] = map[string]int32{}, map[string]int32{}
			var body, parts []string
			for range rng.IntN(9) {
				w := fmt.Sprint("w", rng.IntN(12))
				words[id][w]++
				body = append(body, w)
			}
			for k := range rng.IntN(9) {
				w := 1 + rng.Int32N(65535)
				docs[id][fmt.Sprint("t ", k*rng.IntN(3))] = w
			}
			for token, w := range docs[id] {
				parts = append(parts, fmt.Sprintf("%q:%d", token, w))
			}
			d := text.Document{ID: id, Fields: []fields.Values{nil, {[]byte("{" + strings.Join(parts, ",") + "}")}}}
			if len(body) > 0 {
				d.Fields[0] = fields.Values{[]byte(strings.Join(body, " "))}
			}
			list = append(list, d)
		}
		corpus := &text.Corpus{Options: text.Options{Schema: schema}, Source: func(context.Context) iter.Seq2[[]text.Document, error] {
			return func(yield func([]text.Document, error) bool) { yield(list, nil) }
		}}
		dir := filepath.Join(t.TempDir(), "ix")
		if err := index.Build(t.Context(), dir, corpus, index.BuildOptions{}); err != nil {
			t.Fatal(err)
		}
		r, err := index.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for field, want := range map[string]map[string]map[string]int32{"v": docs, "body": words, "": words} {
			var out bytes.Buffer
			columns, cells, err := csr.Write(t.Context(), &out, r, csr.Options{Field: field, Memory: []int64{0, 1, 100}[round%3]})
			if err != nil {
				t.Fatal(err)
			}
			z := npztest.Read(t, out.Bytes())
			shape := npztest.Vector[int64](t, z, "shape", npz.Int64)
			if string(z["format"].Data) != "csr" || fmt.Sprint(shape) != fmt.Sprint([]int{len(docs), columns}) {
				t.Fatalf("%s of %v", z["format"].Data, shape)
			}
			tokens, ids := names(t, z, "term"), names(t, z, "id")
			starts := npztest.Vector[int64](t, z, "indptr", npz.Int64)
			indices, data := npztest.Vector[int32](t, z, "indices", npz.Int32), npztest.Vector[int32](t, z, "data", npz.Int32)
			if len(tokens) != columns || len(ids) != len(docs) || len(starts) != len(docs)+1 || int64(len(data)) != cells {
				t.Fatalf("%d tokens, %d IDs, %d starts, %d cells", len(tokens), len(ids), len(starts), len(data))
			}
			for i, id := range ids {
				row := map[string]int32{}
				for at := starts[i]; at < starts[i+1]; at++ {
					if at > starts[i] && indices[at] <= indices[at-1] {
						t.Fatalf("columns %v do not rise", indices[starts[i]:starts[i+1]])
					}
					row[tokens[indices[at]]] = data[at]
				}
				if fmt.Sprint(row) != fmt.Sprint(want[id]) {
					t.Fatalf("field %q, %s: %v, want %v", field, id, row, want[id])
				}
			}
		}
		if _, _, err := csr.Write(t.Context(), io.Discard, r, csr.Options{Field: "x"}); err == nil || !strings.Contains(err.Error(), "want body, v") {
			t.Errorf("an unknown field: %v", err)
		}
	}
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// A table whose rows are in a temporary file is written as one in memory is, in all formats.
func TestTableBeyondMemory(t *testing.T) {
	make := func(room int) *resultTable {
		table := &resultTable{names: []string{"word", "n", "count", "score"}, room: room, dir: t.TempDir()}
		for i := range 5000 {
			score := any(float64(i) / 3)
			if i%7 == 0 {
				score = nil
			}
			if err := table.add(strings.Repeat("é", i%9)+"<w>", i-2500, uint64(i)<<40, score); err != nil {
				t.Fatal(err)
			}
		}
		return table
	}
	few, many := make(1<<30), make(3000)
	if few.file != nil || many.file == nil {
		t.Fatal("the rows of the one are in memory, those of the other in a file")
	}
	for _, most := range []int{0, 10} {
		few.most, many.most = most, most
		want, got := outputs(t, few), outputs(t, many)
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("with %d rows the outputs differ", most)
		}
	}
	dir := many.dir
	many.close()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

func outputs(t *testing.T, table *resultTable) (all [][]byte) {
	for _, format := range []string{"out.csv", "out.tsv", "out.json", "out.parquet"} {
		path := t.TempDir() + "/" + format
		a := &app{}
		if err := table.writeFile(a, path); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil || len(b) < 200 {
			t.Fatalf("%s: %d bytes, %v", format, len(b), err)
		}
		all = append(all, b)
	}
	var printed, listed bytes.Buffer
	if err := table.print(&printed); err != nil {
		t.Fatal(err)
	}
	value := struct {
		List []any  `json:"list"`
		End  string `json:"end"`
	}{[]any{}, "<"}
	if err := table.printJSON(&app{stdout: &listed}, value, "list", nil); err != nil {
		t.Fatal(err)
	}
	objects, err := table.objects()
	if err != nil {
		t.Fatal(err)
	}
	var plain bytes.Buffer
	err = (&app{stdout: &plain}).printJSON(struct {
		List []map[string]any `json:"list"`
		End  string           `json:"end"`
	}{objects, "<"})
	if err != nil || plain.String() != listed.String() {
		t.Errorf("JSON of rows one at a time differs from JSON at once: %v", err)
	}
	return append(all, printed.Bytes(), listed.Bytes(), fmt.Append(nil, table.n))
}

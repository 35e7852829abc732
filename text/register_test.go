package text

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program that imports no format says what to import, instead of taking a table for prose or
// bytes for letters.
func TestFormatsThatWereNotImportedAreNamed(t *testing.T) {
	defer func(open OpenParquet, c Convert) { openParquet, convert = open, c }(openParquet, convert)
	openParquet, convert = nil, nil

	path := filepath.Join(t.TempDir(), "table.parquet")
	if err := os.WriteFile(path, []byte(parquetMagic+"and so on"), 0o644); err != nil {
		t.Fatal(err)
	}
	var err error
	for _, err = range (&Corpus{Paths: []string{path}}).All(t.Context()) {
		break
	}
	if err == nil || !strings.Contains(err.Error(), "text/parquet") {
		t.Errorf("a table: %v", err)
	}
	for _, name := range []string{"latin1", "utf-16"} {
		e, err := ParseEncoding(name)
		if err == nil {
			_, err = e.Reader(strings.NewReader("x"))
		}
		if err == nil || !strings.Contains(err.Error(), "text/encodings") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

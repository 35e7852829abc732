package collocate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What Go code in Markdown may use without declaring it.
const given = `package p
import (
	"context"
	"fmt"
	"time"
	"github.com/collocate/collocate"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)
func _(ctx context.Context, a text.Analyzer, w *segments.Writer, s *search.Searcher, hit search.Hit) {
`

var fence = regexp.MustCompile("(?m)^[ \t]*```(.*)$")

// Blocks of code in Markdown are closed, and those of Go compile, but for variables that are not
// used.
func TestMarkdownCompiles(t *testing.T) {
	imports, _ := compiled(t, ".")
	blocks := 0
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != "." && (e.Name()[0] == '.' || e.Name() == "node_modules"):
			return fs.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		md := string(b)
		list := fence.FindAllStringSubmatchIndex(md, -1)
		if len(list)%2 > 0 || strings.Count(md, "```") > len(list) {
			t.Errorf("%s: a block of code is not closed by ``` on a line of its own", path)
			return nil
		}
		for i := 0; i < len(list); i += 2 {
			if md[list[i][2]:list[i][3]] == "go" {
				blocks++
				line := 1 + strings.Count(md[:list[i][1]], "\n")
				for _, err := range errorsOf(md[list[i][1]:list[i+1][0]], imports) {
					t.Errorf("%s: the Go code after line %d: %v", path, line, err)
				}
			}
		}
		return nil
	})
	if err != nil || blocks < 5 {
		t.Errorf("%d blocks, want at least 5; %v", blocks, err)
	}
	for code, want := range map[string]int{
		"n := w.Docs()\nfmt.Println(n)": 0, "n := w.Docs()": 0, // as such lines go on elsewhere
		"n := w.Documents()": 1, "n := w.Docs() s.Close()": 1,
	} {
		if got := errorsOf(code, imports); len(got) != want {
			t.Errorf("%s: errors %v, want %d", code, got, want)
		}
	}
}

// errorsOf returns why statements do not compile.
func errorsOf(code string, imports types.Importer) (list []error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", given+code+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return []error{err}
	}
	check := types.Config{Importer: imports, Error: func(err error) {
		if e := err.(types.Error); !e.Soft {
			list = append(list, e)
		}
	}}
	check.Check("p", files, []*ast.File{f}, nil)
	return list
}

package option

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	const message = "raise cooccur.VocabularyOptions.MinCount, or use cooccur.Options.Engine=multicore; os.File.Name"
	if got, want := Flags(message, All),
		"raise --min-count, or use --engine multicore; os.File.Name"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Parameters(message, All),
		"raise min_count, or use engine=multicore; os.File.Name"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Abbreviations are words of their own.
func TestSnake(t *testing.T) {
	for name, want := range map[string]string{"MinCount": "min_count", "IDField": "id_field",
		"AllowDuplicateIDs": "allow_duplicate_ids", "Of": "of"} {
		if got := snake(name); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}

// Messages of these packages name options that exist and are in All, and no flags.
func TestMessagesNameOptions(t *testing.T) {
	flag := regexp.MustCompile(`(^|[ ('"])--[a-z]`)
	fields := map[string]bool{}
	var used []string
	for _, dir := range []string{"cooccur", "engine", "fields", "index", "index/columns",
		"index/segments", "search", "search/query", "search/internal/*", "text", "trec", "words"} {
		files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeSpec:
					if s, ok := n.Type.(*ast.StructType); ok {
						for _, field := range s.Fields.List {
							for _, name := range field.Names {
								fields[f.Name.Name+"."+n.Name.Name+"."+name.Name] = true
							}
						}
					}
				case *ast.BasicLit:
					text, err := strconv.Unquote(n.Value)
					if n.Kind != token.STRING || err != nil {
						return true
					}
					if flag.MatchString(text) && dir != "text" && filepath.Base(path) != "qrels.go" {
						t.Errorf("%s: %q names a flag: name the option", path, text)
					}
					for _, name := range pattern.FindAllString(text, -1) {
						used = append(used, strings.TrimSuffix(name, "="))
					}
				}
				return true
			})
		}
	}
	for name := range All {
		if !fields[name] {
			t.Errorf("%s is no field", name)
		}
	}
	for _, name := range used {
		if All[name] == "" && strings.Contains(name, "Options.") {
			t.Errorf("a message names %s, which has no flag", name)
		}
	}
	if len(used) < 30 {
		t.Errorf("only %d options are named", len(used))
	}
}

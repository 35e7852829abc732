package given

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// pkg is what 'go list' says of a package.
type pkg struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Standard                bool
}

// Every exported field of an options struct is read by the library, not only written. What is read
// by the command alone would be ignored in Go.
func TestEveryOptionIsRead(t *testing.T) {
	trials.Long(t, "type-checks the whole library")
	const module = "github.com/collocate/collocate/"
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Standard",
		"./...")
	list.Dir, list.Stderr = filepath.Join("..", ".."), os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	var library []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		path, ours := strings.CutPrefix(p.ImportPath, module)
		if ours && !strings.HasPrefix(path, "cmd/") && !strings.HasPrefix(path, "bench/") {
			library = append(library, p)
		}
	}
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	// A field is the same in sources and in export data if package, name and line are.
	key := func(o types.Object) string {
		return fmt.Sprint(o.Pkg().Path(), ".", o.Name(), ":", fset.Position(o.Pos()).Line)
	}
	options, read := map[string]string{}, map[string]bool{}
	for _, p := range library {
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
		checked, err := (&types.Config{Importer: from}).Check(p.ImportPath, fset, files, info)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range checked.Scope().Names() {
			o, ok := checked.Scope().Lookup(name).(*types.TypeName)
			if !ok || !o.Exported() || !isOptions(name) {
				continue
			}
			if s, ok := o.Type().Underlying().(*types.Struct); ok {
				for i := range s.NumFields() {
					if f := s.Field(i); f.Exported() {
						options[key(f)] = strings.TrimPrefix(p.ImportPath, module) + "." + name + "." + f.Name()
					}
				}
			}
		}
		for _, f := range files {
			written := map[ast.Node]bool{}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for _, to := range n.Lhs {
						written[to] = true
					}
				case *ast.SelectorExpr:
					if s := info.Selections[n]; s != nil && !written[n] && s.Obj().Pkg() != nil {
						read[key(s.Obj())] = true
					}
				}
				return true
			})
		}
	}
	var ignored []string
	for k, name := range options {
		if !read[k] {
			ignored = append(ignored, name)
		}
	}
	if len(options) < 200 {
		t.Errorf("only %d options found", len(options))
	}
	slices.Sort(ignored)
	for _, name := range ignored {
		t.Errorf("%s is never read", name)
	}
}

// isOptions reports whether a type has options, by its name.
func isOptions(name string) bool {
	switch name {
	case "Request", "Batch", "Parallel", "Blocks", "Expand", "Proximity", "Facet", "Sort", "Documents":
		return true
	}
	return strings.HasSuffix(name, "Options")
}

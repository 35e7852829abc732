package given

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

func TestContext(t *testing.T) {
	if err := Context(context.Background()); err != nil {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Context(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
	var none context.Context
	if Context(none) == nil {
		t.Error("nil: no error")
	}
}

// Every exported call of the library that takes a context looks at it first, or passes it on to one
// that does. A server is the exception: a context that ends is how it stops, and no error.
func TestEveryCallLooksAtItsContext(t *testing.T) {
	calls := 0
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case "internal", "cmd", "bench", "serve", "testdata", "node_modules", "python", "web":
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !exported(fn) || !takesContext(fn) {
				continue
			}
			if calls++; !looks(fn.Body) {
				t.Errorf("%s: %s does not begin with given.Context(ctx)", path, fn.Name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if calls < 80 {
		t.Errorf("only %d calls found", calls)
	}
}

func exported(fn *ast.FuncDecl) bool {
	if fn.Recv != nil {
		of := fn.Recv.List[0].Type
		if p, ok := of.(*ast.StarExpr); ok {
			of = p.X
		}
		if name, ok := of.(*ast.Ident); ok && !name.IsExported() {
			return false
		}
	}
	return fn.Name.IsExported()
}

func takesContext(fn *ast.FuncDecl) bool {
	if len(fn.Type.Params.List) == 0 {
		return false
	}
	s, ok := fn.Type.Params.List[0].Type.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Context"
}

// looks reports whether one of the first two statements looks at the context: a guard against
// faults may come before. The iterators of package search begin with begin.
func looks(body *ast.BlockStmt) bool {
	for _, statement := range body.List[:min(2, len(body.List))] {
		found := false
		ast.Inspect(statement, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			if arg, ok := call.Args[0].(*ast.Ident); !ok || arg.Name != "ctx" {
				return true
			}
			name := ""
			switch f := call.Fun.(type) {
			case *ast.SelectorExpr:
				name = f.Sel.Name
			case *ast.Ident:
				name = f.Name
			}
			switch name {
			case "enter", "runBatch", "mapAll", "checked": // of packages search and collocate
				found = true
			}
			found = found || ast.IsExported(name)
			return true
		})
		if found {
			return true
		}
	}
	return false
}

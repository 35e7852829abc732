package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What the library exports can be called from other modules: no parameter, result, field or method of an exported name has a type of an internal package.
func TestLibraryExportsNoInternalTypes(t *testing.T) {
	root := filepath.Join("..", "..")
	folders, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range folders {
		switch f.Name() {
		case "bench", "bin", "cmd", "internal":
			continue
		}
		files, err := filepath.Glob(filepath.Join(root, f.Name(), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			seen++
			for _, n := range internalTypes(file) {
				t.Errorf("%s: %s is exported", fset.Position(n.Pos()), n.X.(*ast.Ident).Name+"."+n.Sel.Name)
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d files of the library", seen)
	}
}

// internalTypes lists where a file's exported names mention internal packages.
func internalTypes(file *ast.File) (out []*ast.SelectorExpr) {
	internal := map[string]bool{}
	for _, i := range file.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		internal[name] = strings.Contains(p, "/internal/")
	}
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field: // of a struct, or without a name
				hidden := len(n.Names) > 0
				for _, name := range n.Names {
					hidden = hidden && !name.IsExported()
				}
				return !hidden
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && internal[x.Name] {
					out = append(out, n)
				}
			}
			return true
		})
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) {
				for _, list := range []*ast.FieldList{d.Type.Params, d.Type.Results} {
					if list == nil {
						continue
					}
					for _, field := range list.List {
						look(field.Type)
					}
				}
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						look(s.Type)
					}
				case *ast.ValueSpec:
					if s.Type != nil && s.Names[0].IsExported() {
						look(s.Type)
					}
				}
			}
		}
	}
	return out
}

// exportedReceiver says whether a function is no method, or one of a type that is exported.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}

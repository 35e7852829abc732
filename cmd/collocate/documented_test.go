package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every exported field of an exported type of the library has a comment, above or behind it. Types
// of one line, and the nodes of package query, may have all in the comment of the type.
func TestFieldsAreDocumented(t *testing.T) {
	root, types := "../..", 0
	inner := []string{"internal", "cmd", "bench", "testdata", "node_modules", "target", "web", "bin"}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if path != root && (e.Name()[0] == '.' || slices.Contains(inner, e.Name())) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.HasSuffix(path, filepath.Join("query", "tree.go")) {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for name, s := range exportedStructs(file) {
			types++
			if set.Position(s.Pos()).Line == set.Position(s.End()).Line {
				continue
			}
			for _, f := range s.Fields.List {
				shown := slices.ContainsFunc(f.Names, (*ast.Ident).IsExported)
				helped := f.Tag != nil && strings.Contains(f.Tag.Value, `help:"`) // of package api
				if shown && !helped && f.Doc == nil && f.Comment == nil {
					t.Errorf("%s: %s.%s has no comment", set.Position(f.Pos()), name, f.Names[0].Name)
				}
			}
		}
		return nil
	})
	if err != nil || types < 100 {
		t.Fatal(types, "types", err)
	}
}

// exportedStructs returns the exported struct types that a file declares.
func exportedStructs(file *ast.File) map[string]*ast.StructType {
	found := make(map[string]*ast.StructType)
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			if t, ok := spec.(*ast.TypeSpec); ok && t.Name.IsExported() {
				if s, ok := t.Type.(*ast.StructType); ok {
					found[t.Name.Name] = s
				}
			}
		}
	}
	return found
}

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

// Every enumeration of the library is a number with a useful zero value, and marshals and
// unmarshals its name as text: in JSON, in messages and in flags. Those with a Parse function are
// flags of commands.
func TestEnumsAreOfOneStyle(t *testing.T) {
	root := "../.."
	methods := []string{"String", "MarshalText", "UnmarshalText"}
	skipped := []string{"cmd", "bench", "testdata", "node_modules", "web", "python"}
	found := 0
	err := filepath.WalkDir(root, func(dir string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		if dir != root && (e.Name()[0] == '.' || slices.Contains(skipped, e.Name())) {
			return fs.SkipDir
		}
		// Of internal packages only those of search count: package search exports their types.
		if strings.Contains(dir, "internal") && !strings.Contains(dir, "search/internal") {
			return fs.SkipDir
		}
		for name, kind := range enumsOf(t, dir) {
			found++
			if kind.of == "string" {
				t.Errorf("%s: %s is a string: want a number with names of internal/choice", dir, name)
			}
			for _, m := range methods {
				if !slices.Contains(kind.methods, m) {
					t.Errorf("%s: %s has no method %s", dir, name, m)
				}
			}
			if slices.Contains(kind.methods, "Set") {
				t.Errorf("%s: %s is a flag: want UnmarshalText, which flags of commands use", dir, name)
			}
		}
		return nil
	})
	if err != nil || found < 20 {
		t.Fatalf("found only %d enumerations, %v", found, err)
	}
}

// enum is an exported type with constants.
type enum struct {
	of      string // the type behind it
	methods []string
}

// enumsOf returns the enumerations of a package: exported types of numbers or strings that have at
// least two exported constants.
func enumsOf(t *testing.T, dir string) map[string]enum {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	types, constants, methods := map[string]string{}, map[string]int{}, map[string][]string{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				ofType := "" // of the last constant with a type, which those after it repeat
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						if id, ok := s.Type.(*ast.Ident); ok && s.Name.IsExported() && !s.Assign.IsValid() {
							types[s.Name.Name] = id.Name
						}
					case *ast.ValueSpec:
						if id, ok := s.Type.(*ast.Ident); ok {
							ofType = id.Name
						} else if len(s.Values) > 0 {
							ofType = ""
						}
						if d.Tok == token.CONST && s.Names[0].IsExported() {
							constants[ofType]++
						}
					}
				}
			case *ast.FuncDecl:
				if d.Recv == nil {
					continue
				}
				receiver := d.Recv.List[0].Type
				if star, ok := receiver.(*ast.StarExpr); ok {
					receiver = star.X
				}
				if id, ok := receiver.(*ast.Ident); ok {
					methods[id.Name] = append(methods[id.Name], d.Name.Name)
				}
			}
		}
	}
	enums := map[string]enum{}
	plain := []string{"string", "int", "uint8", "int8", "uint32", "int32", "byte"}
	for name, of := range types {
		if constants[name] >= 2 && slices.Contains(plain, of) {
			enums[name] = enum{of, methods[name]}
		}
	}
	return enums
}

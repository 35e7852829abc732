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

const module = "github.com/collocate/collocate/"

// Other modules can use all that the library exports: no parameter, result, field or method of an
// exported name has a type of an internal package, unless the library has a public alias for it.
// Then the same holds for the fields and methods of that type.
func TestLibraryExportsNoInternalTypes(t *testing.T) {
	l := &library{t: t, root: filepath.Join("..", ".."), named: map[string]bool{}}
	folders, err := os.ReadDir(l.root)
	if err != nil {
		t.Fatal(err)
	}
	var files []*libraryFile
	for _, f := range folders {
		switch f.Name() {
		case "bench", "bin", "cmd", "internal":
			continue
		}
		files = append(files, l.parse(f.Name())...)
	}
	if len(files) < 50 {
		t.Errorf("found only %d files of the library", len(files))
	}
	for _, f := range files {
		l.addAliases(f)
	}
	for _, f := range files {
		f.checkTypes(l, func(*ast.Ident) bool { return true })
	}
	if len(l.named) < 10 {
		t.Errorf("found only %d types of internal packages with public names", len(l.named))
	}
	folderOf := map[string]bool{}
	for name := range l.named {
		folderOf[strings.TrimPrefix(path.Dir(name), module)] = true
	}
	for folder := range folderOf {
		for _, f := range l.parse(folder) {
			f.checkTypes(l, func(name *ast.Ident) bool { return l.named[module+folder+"/"+name.Name] })
		}
	}
}

// library is the packages that other modules can import.
type library struct {
	t     *testing.T
	root  string
	named map[string]bool // types of internal packages with a public alias, by import path and name
}

type libraryFile struct {
	fset    *token.FileSet
	file    *ast.File
	folder  string
	imports map[string]string // by name
	types   map[string]bool   // of the package, if it is internal: a bare name is one of its types
}

// parse reads the files of a folder, without tests.
func (l *library) parse(folder string) (out []*libraryFile) {
	names, err := filepath.Glob(filepath.Join(l.root, folder, "*.go"))
	if err != nil {
		l.t.Fatal(err)
	}
	types := map[string]bool{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f := &libraryFile{fset: token.NewFileSet(), folder: folder, imports: map[string]string{}, types: types}
		if f.file, err = parser.ParseFile(f.fset, name, nil, parser.SkipObjectResolution); err != nil {
			l.t.Fatal(err)
		}
		for _, i := range f.file.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			name := path.Base(p)
			if i.Name != nil {
				name = i.Name.Name
			}
			f.imports[name] = p
		}
		if strings.Contains(folder, "internal/") {
			for _, s := range f.specs() {
				types[s.Name.Name] = true
			}
		}
		out = append(out, f)
	}
	return out
}

// specs returns the type declarations of a file.
func (f *libraryFile) specs() (out []*ast.TypeSpec) {
	for _, d := range f.file.Decls {
		if d, ok := d.(*ast.GenDecl); ok {
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// addAliases collects the types of internal packages for which a file declares public aliases.
func (l *library) addAliases(f *libraryFile) {
	for _, s := range f.specs() {
		if x, ok := s.Type.(*ast.SelectorExpr); ok && s.Assign.IsValid() && s.Name.IsExported() {
			if p := f.imports[x.X.(*ast.Ident).Name]; strings.Contains(p, "/internal/") {
				l.named[p+"/"+x.Sel.Name] = true
			}
		}
	}
}

// checkTypes checks the wanted exported types and their methods and, in public packages, also
// functions and variables.
func (f *libraryFile) checkTypes(l *library, want func(*ast.Ident) bool) {
	all := len(f.types) == 0
	for _, d := range f.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			receiver := receiverOf(d)
			if !d.Name.IsExported() || receiver == nil && !all ||
				receiver != nil && (!receiver.IsExported() || !want(receiver)) {
				continue
			}
			for _, list := range []*ast.FieldList{d.Type.Params, d.Type.Results} {
				if list == nil {
					continue
				}
				for _, field := range list.List {
					f.look(l, field.Type)
				}
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && want(s.Name) {
						f.look(l, s.Type)
					}
				case *ast.ValueSpec:
					if all && s.Type != nil && s.Names[0].IsExported() {
						f.look(l, s.Type)
					}
				}
			}
		}
	}
}

// look reports types of internal packages that have no public name.
func (f *libraryFile) look(l *library, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field: // of a struct or interface, or without a name
			hidden := len(n.Names) > 0
			for _, name := range n.Names {
				hidden = hidden && !name.IsExported()
				if !hidden {
					f.look(l, n.Type)
				}
			}
			return len(n.Names) == 0
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				if p := f.imports[x.Name]; strings.Contains(p, "/internal/") && !l.named[p+"/"+n.Sel.Name] {
					l.t.Errorf("%s: %s.%s is exported", f.fset.Position(n.Pos()), x.Name, n.Sel.Name)
				}
			}
			return false
		case *ast.Ident:
			if f.types[n.Name] && !l.named[module+filepath.ToSlash(f.folder)+"/"+n.Name] {
				l.t.Errorf("%s: %s is exported, and no other module can name it", f.fset.Position(n.Pos()), n.Name)
			}
		}
		return true
	})
}

// receiverOf returns the receiver type of a method, or nil for a function.
func receiverOf(d *ast.FuncDecl) *ast.Ident {
	if d.Recv == nil {
		return nil
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.Ident:
			return x
		default:
			return &ast.Ident{Name: "unknown"}
		}
	}
}

package collocate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The packages whose exported names programs may rely on. Others may change with any version.
var stable = []string{".", "./fields", "./index/segments", "./search", "./search/query", "./text"}

// TestAPIListsHold fails if a program that was written for the packages in stable as
// testdata/api.txt lists them may no longer compile. That list is of the last release, and until
// there is one, of the commit that wrote it last. New names break nothing.
func TestAPIListsHold(t *testing.T) {
	have := exported(t)
	file := filepath.Join("testdata", "api.txt")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(strings.Join(have, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	list, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	broken := 0
	for want := range strings.Lines(string(list)) {
		if want = strings.TrimSpace(want); !slices.Contains(have, want) {
			broken++
			t.Errorf("gone or changed: %s", want)
		}
	}
	if broken > 0 {
		t.Errorf("%d of these break programs: undo them or, if they are meant, say so under Changed in "+
			"CHANGELOG.md and run UPDATE=1 go test -run APILists .", broken)
	}
	if len(have) < 500 {
		t.Errorf("only %d names are listed", len(have))
	}
}

// exported lists the exported names of the stable packages with their types.
func exported(t *testing.T) (list []string) {
	imports, roots := compiled(t, stable...)
	slices.Sort(roots)
	for _, path := range roots {
		p, err := imports.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Scope().Names() {
			if o := p.Scope().Lookup(name); o.Exported() {
				list = append(list, described(p, o)...)
			}
		}
	}
	return list
}

// compiled returns what imports packages of the module and theirs, and the paths of the former.
func compiled(t *testing.T, packages ...string) (imports types.Importer, roots []string) {
	out := goTool(t, append([]string{"list", "-export", "-deps", "-json=ImportPath,Export,DepOnly"}, packages...)...)
	files := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var p struct {
			ImportPath, Export string
			DepOnly            bool
		}
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
		if !p.DepOnly {
			roots = append(roots, p.ImportPath)
		}
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		b, err := os.ReadFile(files[path])
		return io.NopCloser(bytes.NewReader(b)), err
	}), roots
}

// described returns a line for a name and, if it is a type, for each exported field and method.
func described(p *types.Package, o types.Object) (list []string) {
	const module = "github.com/collocate/collocate"
	short := func(of *types.Package) string { return strings.TrimPrefix(strings.TrimPrefix(of.Path(), module), "/") }
	line := func(format string, args ...any) {
		list = append(list, strings.TrimSpace(short(p)+" "+fmt.Sprintf(format, args...)))
	}
	named, ok := o.(*types.TypeName)
	if f, ok := o.(*types.Func); ok {
		line("func %s%s", o.Name(), signature(f, short))
		return list
	}
	if !ok {
		line("%s", types.ObjectString(o, short))
		return list
	}
	typ := types.Unalias(named.Type())
	switch under := typ.Underlying().(type) {
	case *types.Struct:
		line("type %s struct", o.Name())
		for f := range under.Fields() {
			if f.Exported() {
				line("type %s struct, %s %s", o.Name(), f.Name(), types.TypeString(f.Type(), short))
			}
		}
	case *types.Interface:
		line("type %s interface", o.Name())
	default:
		line("type %s %s", o.Name(), types.TypeString(under, short))
	}
	if !types.IsInterface(typ) {
		typ = types.NewPointer(typ)
	}
	methods := types.NewMethodSet(typ)
	for i := range methods.Len() {
		if m := methods.At(i).Obj(); m.Exported() {
			line("method %s.%s%s", o.Name(), m.Name(), signature(m.(*types.Func), short))
		}
	}
	return list
}

// signature returns the parameters and results of a function without their names, and type
// parameters with theirs.
func signature(f *types.Func, short types.Qualifier) string {
	s := f.Signature()
	unnamed := func(list *types.Tuple) *types.Tuple {
		var out []*types.Var
		for v := range list.Variables() {
			out = append(out, types.NewVar(v.Pos(), v.Pkg(), "", v.Type()))
		}
		return types.NewTuple(out...)
	}
	plain := types.NewSignatureType(nil, nil, nil, unnamed(s.Params()), unnamed(s.Results()), s.Variadic())
	text := strings.TrimPrefix(types.TypeString(plain, short), "func")
	if s.TypeParams().Len() == 0 {
		return text
	}
	var names []string
	for p := range s.TypeParams().TypeParams() {
		names = append(names, p.String()+" "+types.TypeString(p.Constraint(), short))
	}
	return "[" + strings.Join(names, ", ") + "]" + text
}

// The documentation of each package that is not in stable says that it may change.
func TestOtherPackagesAreExperimental(t *testing.T) {
	list := goTool(t, "list", "-f", `{{if ne .Name "main"}}{{.ImportPath}} {{.Dir}}{{end}}`, "./...")
	others := 0
	for line := range strings.Lines(list) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		short := strings.Replace(path, "github.com/collocate/collocate", ".", 1)
		if path == "" || slices.Contains(stable, short) || strings.HasPrefix(short, "./bench") || strings.Contains(short, "/internal") {
			continue
		}
		others++
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(files, func(name string) bool {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Contains(f.Doc.Text(), "\nExperimental: ")
		}) {
			t.Errorf("%s: the comment of the package does not say Experimental: add it, or the package to stable", path)
		}
	}
	if others < 30 {
		t.Errorf("only %d other packages", others)
	}
}

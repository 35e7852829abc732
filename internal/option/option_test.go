package option

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	const message = "raise cooccur.VocabularyOptions.MinCount, use cooccur.Options.Engine=multicore, " +
		"points.Plane or points.ReadOptions.CRS=EPSG:n; see segments.Writer.Compact, " +
		"cluster.MergePairs.ofCorpus, os.File.Name, a.Txt=b"
	for _, c := range []struct {
		name string
		get  func(string) string
		want string
	}{
		{"flags", Flags, "raise --min-count, use --engine multicore, " +
			"--planar or --crs EPSG:n; see 'collocate index compact', " +
			"--foreign-vocab, os.File.Name, a.Txt=b"},
		{"parameters", Parameters, "raise min_count, use engine=multicore, " +
			"crs=planar or crs=EPSG:n; see 'collocate index compact', " +
			"foreign_vocab, os.File.Name, a.Txt=b"},
		{"keywords", Keywords, `raise min_count=, use engine="multicore", ` +
			`crs="planar" or crs="EPSG:n"; see 'collocate index compact', ` +
			"foreign_vocab=, os.File.Name, a.Txt=b"},
	} {
		if got := c.get(message); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Messages of the library name what exists and is in All, and no flags or verbs of the command.
func TestMessagesNameOptions(t *testing.T) {
	notLibrary := []string{"cmd", "bench", "internal/mutants", "internal/option"}
	scripts := []string{ // call the command or another one, or say how
		"cluster/slurm.go", "cluster/spark.go", "internal/gpu/kernelsrc/kernelsrc.go",
		"internal/textfile/textfile.go"}
	flag := regexp.MustCompile("(^|[ ('\"`])--[a-z%]|\\bcollocate [a-z]")
	exported := map[string]bool{}
	packages := map[string]bool{}
	var used []string
	top := filepath.Join("..", "..")
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(top, path)
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if slices.Contains(notLibrary, name) || d.Name() == "testdata" ||
				d.Name() == "node_modules" || name != "." && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		of := f.Name.Name
		packages[of] = true
		for _, d := range f.Decls {
			declared(d, of, exported)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if flag.MatchString(text) && !slices.Contains(scripts, name) {
				t.Errorf("%s: %q names a flag or a verb: name the option or the function", name, text)
			}
			for _, m := range pattern.FindAllStringSubmatch(text, -1) {
				used = append(used, m[1])
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range All {
		if !exported[name] {
			t.Errorf("%s does not exist", name)
		}
		if !slices.Contains(used, name) {
			t.Errorf("no message names %s", name)
		}
	}
	for _, name := range used {
		if of, _, _ := strings.Cut(name, "."); All[name] == "" && packages[of] {
			t.Errorf("a message names %s, which has no flag", name)
		}
	}
	if len(used) < 200 {
		t.Errorf("only %d options are named", len(used))
	}
}

// declared adds what a declaration of a package exports: names, fields of structs, and arguments of
// functions.
func declared(d ast.Decl, of string, exported map[string]bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := of + "."
		if d.Recv != nil {
			receiver := d.Recv.List[0].Type
			if pointer, ok := receiver.(*ast.StarExpr); ok {
				receiver = pointer.X
			}
			if of, ok := receiver.(*ast.Ident); ok {
				name += of.Name + "."
			}
		}
		name += d.Name.Name
		exported[name] = true
		for _, argument := range d.Type.Params.List {
			for _, a := range argument.Names {
				exported[name+"."+a.Name] = true
			}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					exported[of+"."+name.Name] = true
				}
			case *ast.TypeSpec:
				exported[of+"."+spec.Name.Name] = true
				if s, ok := spec.Type.(*ast.StructType); ok {
					for _, field := range s.Fields.List {
						for _, name := range field.Names {
							exported[of+"."+spec.Name.Name+"."+name.Name] = true
						}
					}
				}
			}
		}
	}
}

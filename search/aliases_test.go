package search

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The comments of request.go show the structs that are defined in internal packages: all exported
// fields, in order, with their types.
func TestAliasesShowTheirFields(t *testing.T) {
	structs := map[string]reflect.Type{}
	for name, v := range map[string]any{
		"Request": Request{}, "Word": Word{}, "Result": Result{}, "Hit": Hit{}, "Stats": Stats{},
		"Threshold": Threshold{}, "Parallel": Parallel{}, "Blocks": Blocks{}, "Batch": Batch{},
		"ParallelStats": ParallelStats{}, "BM25": BM25{}, "Dirichlet": Dirichlet{},
		"GPUOptions": GPUOptions{}, "GPUStats": GPUStats{}, "GPUStage": GPUStage{},
		"Within": Within{}, "Part": Part{}, "After": After{},
		"Facet": Facet{}, "FacetCounts": FacetCounts{}, "FacetValue": FacetValue{}, "Sort": Sort{},
		"Expand": Expand{}, "Proximity": Proximity{}, "Own": Own{}, "WordStats": WordStats{}, "BM25F": BM25F{},
	} {
		structs[name] = reflect.TypeOf(v)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "request.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE {
			continue
		}
		for _, spec := range group.Specs {
			alias := spec.(*ast.TypeSpec)
			want := structs[alias.Name.Name]
			delete(structs, alias.Name.Name)
			_, block, found := strings.Cut(alias.Doc.Text(), "\ttype ")
			if found != (want != nil) {
				t.Errorf("%s: its comment shows a struct: %v, want %v", alias.Name, found, want != nil)
			}
			if want == nil || !found {
				continue
			}
			shown, err := parser.ParseFile(token.NewFileSet(), "", "package p; type "+block, 0)
			if err != nil {
				t.Errorf("%s: %v", alias.Name, err)
				continue
			}
			sameFields(t, alias.Name.Name, shown, want)
		}
	}
	for name := range structs {
		t.Errorf("%s is not in request.go", name)
	}
}

// unnamed returns a type without names of parameters, which reflect has not.
func unnamed(e ast.Expr) string {
	f, ok := e.(*ast.FuncType)
	if !ok {
		return types.ExprString(e)
	}
	list := func(of *ast.FieldList) (all []string) {
		for i := 0; of != nil && i < len(of.List); i++ {
			for range max(1, len(of.List[i].Names)) {
				all = append(all, unnamed(of.List[i].Type))
			}
		}
		return all
	}
	return strings.TrimSpace("func(" + strings.Join(list(f.Params), ", ") + ") " + strings.Join(list(f.Results), ", "))
}

func sameFields(t *testing.T, name string, shown *ast.File, want reflect.Type) {
	t.Helper()
	var got, all []string
	for _, f := range shown.Decls[0].(*ast.GenDecl).Specs[0].(*ast.TypeSpec).Type.(*ast.StructType).Fields.List {
		kind := unnamed(f.Type)
		for _, n := range f.Names {
			got = append(got, n.Name+" "+kind)
		}
	}
	local := strings.NewReplacer("ask.", "", "model.", "", "tree.", "")
	for i := range want.NumField() {
		if f := want.Field(i); f.IsExported() {
			all = append(all, f.Name+" "+local.Replace(f.Type.String()))
		}
	}
	if g, w := strings.Join(got, "\n"), strings.Join(all, "\n"); g != w {
		t.Errorf("%s shows\n%s\nbut has\n%s", name, g, w)
	}
}

// The comment of Strategy lists every name, in order.
func TestStrategyListsItsNames(t *testing.T) {
	source, err := os.ReadFile("request.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(source), "// Strategy names how")
	comment, _, _ := strings.Cut(rest, "Strategy = ")
	var shown, want []string
	for line := range strings.Lines(comment) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "//\t"); ok {
			shown = append(shown, strings.Fields(name)[0])
		}
	}
	for s := Strategy(1); !strings.Contains(s.String(), "("); s <<= 1 { // "Strategy(1048576)" has no name
		want = append(want, s.String())
	}
	if !slices.Equal(shown, want) || len(want) == 0 {
		t.Errorf("the comment lists %q, want %q", shown, want)
	}
}

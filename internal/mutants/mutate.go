package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// mutant is a change of one file.
type mutant struct {
	path  string
	line  int
	what  string
	text  []byte // of the file
	edits []edit
}

// edit replaces the bytes from start up to end.
type edit struct {
	start, end int
	text       string
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s", filepath.Base(m.path), m.line, m.what)
}

// apply returns the changed file. Lines keep their numbers.
func (m mutant) apply() []byte {
	text := slices.Clone(m.text)
	edits := slices.SortedFunc(slices.Values(m.edits), func(a, b edit) int { return cmp.Compare(b.start, a.start) })
	for _, e := range edits { // the last one first
		text = slices.Replace(text, e.start, e.end, []byte(e.text)...)
	}
	return text
}

// margin matches the names of constants that are scaled.
var margin = regexp.MustCompile(`(?i)slack|margin|epsilon|toleran|spare|start|debt|least|most|max|min|limit|bound|share|every`)

// finder collects the mutants of a file.
type finder struct {
	path  string
	text  []byte
	files *token.FileSet
	found []mutant
}

func mutantsOf(path string) ([]mutant, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &finder{path: path, text: text, files: token.NewFileSet()}
	file, err := parser.ParseFile(f.files, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			f.margins(d)
		case *ast.FuncDecl:
			if d.Body != nil {
				f.function(d.Type, d.Body)
			}
		}
	}
	return f.found, nil
}

func (f *finder) offset(p token.Pos) int { return f.files.Position(p).Offset }

func (f *finder) source(n ast.Node) string {
	return string(f.text[f.offset(n.Pos()):f.offset(n.End())])
}

// add adds a mutant that replaces nodes by texts.
func (f *finder) add(at ast.Node, what string, edits ...edit) {
	f.found = append(f.found, mutant{f.path, f.files.Position(at.Pos()).Line, what, f.text, edits})
}

func (f *finder) replace(n ast.Node, text string) edit {
	return edit{f.offset(n.Pos()), f.offset(n.End()), text}
}

// margins scales constants.
func (f *finder) margins(d *ast.GenDecl) {
	if d.Tok != token.CONST {
		return
	}
	for _, s := range d.Specs {
		v := s.(*ast.ValueSpec)
		for i, name := range v.Names {
			if i >= len(v.Values) || !margin.MatchString(name.Name) || !numeric(v.Values[i]) {
				continue
			}
			value := f.source(v.Values[i])
			for _, scale := range []string{"* 4", "/ 4"} {
				f.add(name, fmt.Sprintf("%s = %s %s", name.Name, value, scale),
					f.replace(v.Values[i], "("+value+") "+scale))
			}
		}
	}
}

// numeric reports whether an expression is made of numbers, names and operators.
func numeric(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		lit, isLit := n.(*ast.BasicLit)
		if isLit && lit.Kind != token.INT && lit.Kind != token.FLOAT {
			ok = false
		}
		if _, call := n.(*ast.CallExpr); call {
			ok = false
		}
		return ok
	})
	return ok
}

// function finds the mutants of a function's body. Function literals are functions of their own.
func (f *finder) function(t *ast.FuncType, body *ast.BlockStmt) {
	fails := false
	if r := t.Results; r != nil && len(r.List) > 0 {
		name, ok := r.List[len(r.List)-1].Type.(*ast.Ident)
		fails = ok && name.Name == "error"
	}
	locks := map[string][]edit{}
	first := map[string]ast.Node{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			f.function(n.Type, n.Body)
			return false
		case *ast.IfStmt:
			f.guard(n, fails)
			f.comparisons(n.Cond)
		case *ast.ForStmt:
			f.loop(n)
		case *ast.ReturnStmt:
			for _, e := range n.Results {
				if b, ok := e.(*ast.BinaryExpr); ok {
					f.comparisons(b)
				}
			}
		case *ast.ExprStmt:
			if name, call := f.lock(n.X); name != "" {
				locks[name] = append(locks[name], f.replace(call, ""))
				if first[name] == nil {
					first[name] = n
				}
			}
			if c, ok := n.X.(*ast.CallExpr); ok && f.source(c.Fun) == "copy" {
				f.add(n, "no "+f.source(c), f.replace(c, "_ = len("+f.source(c.Args[1])+")"))
			}
		case *ast.DeferStmt:
			if name, _ := f.lock(n.Call); name != "" {
				locks[name] = append(locks[name], f.replace(n, ""))
			}
		case *ast.CallExpr:
			f.clone(n)
		}
		return true
	})
	names := make([]string, 0, len(locks))
	for name := range locks {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if at := first[name]; at != nil {
			f.add(at, "no lock of "+name, locks[name]...)
		}
	}
}

// lock returns the name of the lock that a call locks or unlocks.
func (f *finder) lock(e ast.Expr) (name string, call ast.Node) {
	c, ok := e.(*ast.CallExpr)
	if !ok || len(c.Args) > 0 {
		return "", nil
	}
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Lock", "Unlock", "RLock", "RUnlock"}, s.Sel.Name) {
		return "", nil
	}
	return f.source(s.X), c
}

// guard drops an if whose body returns an error, goes on with the next item, or just returns. Plain
// propagation of errors is no guard.
func (f *finder) guard(n *ast.IfStmt, fails bool) {
	if len(n.Body.List) == 0 || n.Else != nil {
		return
	}
	cond := f.source(n.Cond)
	if cond == "err != nil" {
		init, ok := n.Init.(*ast.AssignStmt)
		if !ok || len(init.Rhs) != 1 || !isContextErr(init.Rhs[0]) {
			return
		}
		cond = f.source(init) + "; " + cond
	}
	switch last := n.Body.List[len(n.Body.List)-1].(type) {
	case *ast.BranchStmt:
		if last.Tok != token.CONTINUE && last.Tok != token.BREAK {
			return
		}
	case *ast.ReturnStmt:
		if len(last.Results) > 0 {
			name, ok := last.Results[len(last.Results)-1].(*ast.Ident)
			if !fails || ok && name.Name == "nil" {
				return
			}
		}
	default:
		return
	}
	f.add(n, "no if "+cond, f.replace(n.Cond, "false && ("+f.source(n.Cond)+")"))
}

// isContextErr reports whether an expression is ctx.Err(), of any context.
func isContextErr(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	if !ok || len(c.Args) > 0 {
		return false
	}
	s, ok := c.Fun.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Err"
}

// loop lets a loop go on when a context is done.
func (f *finder) loop(n *ast.ForStmt) {
	if n.Cond == nil {
		return
	}
	ast.Inspect(n.Cond, func(e ast.Node) bool {
		b, ok := e.(*ast.BinaryExpr)
		if ok && b.Op == token.EQL && isContextErr(b.X) {
			f.add(n, "no "+f.source(b), f.replace(b, "("+f.source(b)+" || true)"))
		}
		return true
	})
}

// comparisons shifts the borders of the comparisons in a condition.
func (f *finder) comparisons(cond ast.Expr) {
	shifted := map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}
	ast.Inspect(cond, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if b, ok := n.(*ast.BinaryExpr); ok && shifted[b.Op] != "" {
			at := f.offset(b.OpPos)
			f.add(b, fmt.Sprintf("%s %s %s", f.source(b.X), shifted[b.Op], f.source(b.Y)),
				edit{at, at + len(b.Op.String()), shifted[b.Op]})
		}
		return true
	})
}

// clone shares what a call clones.
func (f *finder) clone(c *ast.CallExpr) {
	if len(c.Args) != 1 {
		return
	}
	arg := f.source(c.Args[0])
	instead := map[string]string{ // of the same package, which stays in use
		"slices.Clone": "slices.Clip(" + arg + ")", "bytes.Clone": "bytes.TrimPrefix(" + arg + ", nil)",
		"maps.Clone": "(" + arg + ")", "strings.Clone": "strings.TrimPrefix(" + arg + ", \"\")",
	}[f.source(c.Fun)]
	if instead != "" {
		f.add(c, "no "+f.source(c.Fun)+" of "+arg, f.replace(c, instead))
	}
}

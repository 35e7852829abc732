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
	"strconv"
	"strings"
)

// mutant is a change of one file. With a switch, it takes effect only if the mutant's number is
// chosen when the tests start; see weave.
type mutant struct {
	path     string
	line     int
	function string // such as Writer.Add; the name of a constant
	kind     kind
	what     string
	text     []byte // of the file
	edits    []edit
	switched []edit // the same change with a switch; none if that is not possible
}

// kind is what a mutant breaks.
type kind string

const (
	guards  kind = "guard"  // an if that ends a function or goes on with the next item
	margins kind = "margin" // a constant that is scaled, or a small number that is dropped
	locks   kind = "lock"
	copies  kind = "copy"
	borders kind = "border" // a comparison with or without equality
)

// edit replaces the bytes from start up to end, or puts text before and after them.
type edit struct {
	start, end    int
	text          string // unless it wraps
	before, after string
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", filepath.Base(m.path), m.line, m.function, m.what)
}

// title is what a list of judgments calls the mutant: a line of other code may come or go before
// it.
func (m mutant) title() string {
	return fmt.Sprintf("%s: %s: %s", filepath.Base(m.path), m.function, strings.Join(strings.Fields(m.what), " "))
}

// apply returns the changed file. Lines keep their numbers.
func (m mutant) apply() []byte { return applied(m.text, m.edits) }

// applied returns a text with edits. Those that wrap may lie inside others, the first outside.
func applied(text []byte, edits []edit) []byte {
	type part struct {
		at, end int
		text    string
		order   [2]int // among parts at one place
	}
	var parts []part
	for i, e := range edits {
		if e.before == "" && e.after == "" {
			parts = append(parts, part{e.start, e.end, e.text, [2]int{1, 0}})
			continue
		}
		// What ends here comes before what begins here; the inner ends first and begins last.
		parts = append(parts, part{e.start, e.start, e.before, [2]int{-e.end, i}},
			part{e.end, e.end, e.after, [2]int{-len(text) - 1 - e.start, -i}})
	}
	slices.SortStableFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.at, b.at), slices.Compare(a.order[:], b.order[:]))
	})
	var out []byte
	at := 0
	for _, p := range parts {
		out = append(append(out, text[at:p.at]...), p.text...)
		at = p.end
	}
	return append(out, text[at:]...)
}

// scaled matches the names of constants that are scaled.
var scaled = regexp.MustCompile(`(?i)slack|margin|epsilon|toleran|spare|start|debt|least|most|max|min|limit|bound|share|every`)

// finder collects the mutants of a file.
type finder struct {
	path  string
	text  []byte
	files *token.FileSet
	name  string // of the function
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
			f.constants(d)
		case *ast.FuncDecl:
			if f.name = d.Name.Name; d.Recv != nil {
				f.name = strings.TrimLeft(f.source(d.Recv.List[0].Type), "*") + "." + f.name
			}
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
func (f *finder) add(at ast.Node, k kind, what string, edits, switched []edit) {
	f.found = append(f.found,
		mutant{f.path, f.files.Position(at.Pos()).Line, f.name, k, what, f.text, edits, switched})
}

func (f *finder) replace(n ast.Node, text string) edit {
	return edit{start: f.offset(n.Pos()), end: f.offset(n.End()), text: text}
}

func (f *finder) wrap(n ast.Node, before, after string) edit {
	return edit{start: f.offset(n.Pos()), end: f.offset(n.End()), before: before, after: after}
}

// constants scales constants.
func (f *finder) constants(d *ast.GenDecl) {
	if d.Tok != token.CONST {
		return
	}
	for _, s := range d.Specs {
		v := s.(*ast.ValueSpec)
		for i, name := range v.Names {
			if i >= len(v.Values) || !scaled.MatchString(name.Name) || !numeric(v.Values[i]) {
				continue
			}
			value := f.source(v.Values[i])
			f.name = name.Name
			for _, scale := range []string{"* 4", "/ 4"} {
				f.add(name, margins, fmt.Sprintf("%s %s", value, scale),
					[]edit{f.replace(v.Values[i], "("+value+") "+scale)}, nil)
			}
		}
	}
}

// rounding drops a small number in a function, such as 0x1p-20: it stands for what sums may be off
// by.
func (f *finder) rounding(n *ast.BasicLit) {
	if n.Kind != token.FLOAT {
		return
	}
	if v, err := strconv.ParseFloat(n.Value, 64); err == nil && v != 0 && v < 1e-4 {
		f.add(n, margins, "0 instead of "+n.Value, []edit{f.replace(n, "0")},
			[]edit{f.wrap(n, "mutantNumber(#, ", ")")})
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

// unless begins a statement that a switch can leave out.
const unless = "if !mutantIs(#) { "

// function finds the mutants of a function's body. Function literals are functions of their own.
func (f *finder) function(t *ast.FuncType, body *ast.BlockStmt) {
	fails := false
	if r := t.Results; r != nil && len(r.List) > 0 {
		name, ok := r.List[len(r.List)-1].Type.(*ast.Ident)
		fails = ok && name.Name == "error"
	}
	held, switched := map[string][]edit{}, map[string][]edit{}
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
				held[name] = append(held[name], f.replace(call, ""))
				switched[name] = append(switched[name], f.wrap(n, unless, " }"))
				if first[name] == nil {
					first[name] = n
				}
			}
			if c, ok := n.X.(*ast.CallExpr); ok && f.source(c.Fun) == "copy" {
				f.add(n, copies, "no "+f.source(c),
					[]edit{f.replace(c, "_ = len("+f.source(c.Args[1])+")")},
					[]edit{f.wrap(n, unless, " }")})
			}
		case *ast.DeferStmt:
			if name, _ := f.lock(n.Call); name != "" {
				held[name] = append(held[name], f.replace(n, ""))
				switched[name] = append(switched[name], f.wrap(n, unless, " }"))
			}
		case *ast.CallExpr:
			f.clone(n)
		case *ast.BasicLit:
			f.rounding(n)
		}
		return true
	})
	names := make([]string, 0, len(held))
	for name := range held {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if at := first[name]; at != nil {
			f.add(at, locks, "no lock of "+name, held[name], switched[name])
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
	f.add(n, guards, "no if "+cond, []edit{f.wrap(n.Cond, "(", ") && false")},
		[]edit{f.wrap(n.Cond, "(", ") && !mutantIs(#)")})
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
			f.add(n, guards, "no "+f.source(b), []edit{f.wrap(b, "(", " || true)")},
				[]edit{f.wrap(b, "(", " || mutantIs(#))")})
		}
		return true
	})
}

// comparisons shifts the borders of the comparisons in a condition.
func (f *finder) comparisons(cond ast.Expr) {
	shifted := map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}
	switches := map[token.Token]string{token.LSS: "mutantLess", token.LEQ: "mutantAtMost",
		token.GTR: "mutantMore", token.GEQ: "mutantAtLeast"}
	ast.Inspect(cond, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if b, ok := n.(*ast.BinaryExpr); ok && shifted[b.Op] != "" {
			at := f.offset(b.OpPos)
			f.add(b, borders, fmt.Sprintf("%s %s %s", f.source(b.X), shifted[b.Op], f.source(b.Y)),
				[]edit{{start: at, end: at + len(b.Op.String()), text: shifted[b.Op]}},
				[]edit{f.wrap(b, switches[b.Op]+"(#, ", ")"),
					{start: at, end: at + len(b.Op.String()), text: ", "}})
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
		at := f.offset(c.Lparen)
		f.add(c, copies, "no "+f.source(c.Fun)+" of "+arg, []edit{f.replace(c, instead)},
			[]edit{f.wrap(c, "mutantClone(#, ", ""), {start: at, end: at + 1, text: ", "}})
	}
}

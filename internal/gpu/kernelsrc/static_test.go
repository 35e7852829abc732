package kernelsrc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/gpu/ptx"
)

// These tests check kernels without running them.

// compiled is a unit's PTX.
type compiled struct {
	*Unit
	*ptx.Module
}

// all parses the PTX of every unit, by folder.
func all(t *testing.T) (root string, folders map[string][]compiled) {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Skip(err)
	}
	units, err := Units(root)
	if err != nil {
		t.Fatal(err)
	}
	folders = map[string][]compiled{}
	for _, u := range units {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(u.PTXPath())))
		if err != nil {
			t.Fatal(err)
		}
		m, err := ptx.Parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", u.PTXPath(), err)
		}
		folder := filepath.Dir(filepath.Dir(u.Path))
		folders[folder] = append(folders[folder], compiled{u, m})
	}
	return root, folders
}

// TestLoadsOnEveryDevice: PTX 7.8 for compute capability 7.0 loads on every driver and device that
// we support; only kernels for matrix products need a later one. No block needs more shared memory
// than is available by default.
func TestLoadsOnEveryDevice(t *testing.T) {
	_, folders := all(t)
	for _, units := range folders {
		for _, u := range units {
			target := "sm_70"
			if u.Path == "search/internal/nearest/ongpu/kernels/matrix.cu" {
				target = "sm_80"
			}
			if u.Version != "7.8" || u.Target != target {
				t.Errorf("%s: version %s for %s, want 7.8 for %s", u.PTXPath(), u.Version, u.Target, target)
			}
			if len(u.Kernels) == 0 {
				t.Errorf("%s has no kernels", u.PTXPath())
			}
			for _, k := range u.Kernels {
				if n := k.StaticShared(); n > 48<<10 {
					t.Errorf("%s: kernel %s takes %d bytes of shared memory, want at most 48 KB",
						u.PTXPath(), k.Name, n)
				}
				if k.MaxThreads > 1024 {
					t.Errorf("%s: kernel %s has blocks of %d threads, want at most 1024",
						u.PTXPath(), k.Name, k.MaxThreads)
				}
			}
		}
	}
}

// TestParametersAsRead: instructions read parameters at the offsets that we pack, and parameters
// have sizes that a launch can pass.
func TestParametersAsRead(t *testing.T) {
	_, folders := all(t)
	for _, units := range folders {
		for _, u := range units {
			for _, k := range u.Kernels {
				checkParams(t, u.PTXPath(), k)
			}
		}
	}
}

func checkParams(t *testing.T, path string, k *ptx.Kernel) {
	t.Helper()
	sizes := map[string]int{}
	for _, p := range k.Params {
		sizes[p.Name] = p.Size
		if p.Size != 1 && p.Size != 4 && p.Size != 8 {
			t.Errorf("%s: kernel %s: parameter %s has %d bytes", path, k.Name, p.Name, p.Size)
		}
	}
	for _, in := range k.Body {
		if in.Op[0] != "ld" || len(in.Op) < 3 || in.Op[1] != "param" {
			continue
		}
		n := ptx.SizeOf(in.Op[len(in.Op)-1])
		if in.Args[0].Kind == ptx.Vec {
			n *= len(in.Args[0].Elems)
		}
		from := in.Args[1]
		if size, ok := sizes[from.Name]; !ok || int(from.Value)+n > size {
			t.Errorf("%s:%d reads %d bytes at %d of %s, which has %d", path, in.Line, n, from.Value, from.Name, size)
		}
	}
}

// TestNames: kernels that Go code names exist, and every kernel is named: in full, or by a prefix
// to which Go code adds types.
func TestNames(t *testing.T) {
	root, folders := all(t)
	for folder, units := range folders {
		asked, words := literals(t, filepath.Join(root, folder))
		where := map[string]string{}
		for _, u := range units {
			for _, k := range u.Kernels {
				if other, twice := where[k.Name]; twice {
					t.Errorf("kernel %s is in %s and in %s", k.Name, other, u.PTXPath())
				}
				where[k.Name] = u.PTXPath()
			}
		}
		for name := range asked {
			if where[name] == "" {
				t.Errorf("%s names kernel %s, which does not exist", folder, name)
			}
		}
		for name, path := range where {
			if !mentioned(name, words) {
				t.Errorf("%s: nothing in %s names kernel %s", path, folder, name)
			}
		}
	}
}

// mentioned reports whether the name, or a prefix of it that ends in "_", is among the words.
func mentioned(name string, words map[string]bool) bool {
	for end := len(name); end > 0; end = strings.LastIndexByte(name[:end-1], '_') + 1 {
		if words[name[:end]] {
			return true
		}
	}
	return false
}

// literals returns the strings in a folder's Go files, including tests: those that name a kernel in
// a call of Kernel(source, "name"), and all of them.
func literals(t *testing.T, dir string) (asked, words map[string]bool) {
	t.Helper()
	asked, words = map[string]bool{}, map[string]bool{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if word, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					words[word] = true
				}
			case *ast.CallExpr:
				fn, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || fn.Sel.Name != "Kernel" || len(n.Args) != 2 {
					break
				}
				if lit, ok := n.Args[1].(*ast.BasicLit); ok {
					if word, err := strconv.Unquote(lit.Value); err == nil {
						asked[word] = true
					}
				}
			}
			return true
		})
	}
	return asked, words
}

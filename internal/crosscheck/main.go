// Command crosscheck type-checks packages for other systems, processors and build tags, from
// source: `crosscheck linux/arm64 darwin/arm64 linux/amd64,nogpu,purego`. It finds the type errors
// that `go build` and `go vet` would report in our files, including tests. It does not compile the
// 300 packages of others for each target, so it takes seconds instead of minutes.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	failed := false
	for _, target := range os.Args[1:] {
		if err := check(target); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", target, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// listed is a package in the output of `go list`.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Standard        bool
	Module          *struct{ Main bool }
	Error           *struct{ Err string }
}

// check checks all packages for a target: GOOS/GOARCH and build tags, separated by commas.
func check(target string) error {
	platform, tags, _ := strings.Cut(target, ",")
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return errors.New("want GOOS/GOARCH, optionally followed by tags")
	}
	cmd := exec.Command("go", "list", "-e", "-deps", "-test", "-tags", tags,
		"-json=ImportPath,Dir,GoFiles,ImportMap,Standard,Module,Error", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c := &checker{fset: token.NewFileSet(), done: map[string]*types.Package{"unsafe": types.Unsafe},
		sizes: types.SizesFor("gc", processor)}
	var problems []error
	for decode := json.NewDecoder(out); ; { // packages follow those that they import
		var p listed
		if err := decode.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		problems = append(problems, c.check(&p)...)
	}
	return errors.Join(append(problems, cmd.Wait())...)
}

// checker has the packages that were checked.
type checker struct {
	fset  *token.FileSet
	done  map[string]*types.Package
	sizes types.Sizes
}

// check checks one package. Of packages of others it checks only declarations.
func (c *checker) check(p *listed) (problems []error) {
	// The main files of tests are generated.
	if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") {
		return nil
	}
	if p.Error != nil && len(p.GoFiles) > 0 {
		return []error{errors.New(p.Error.Err)}
	}
	ours := p.Module != nil && p.Module.Main
	mode := parser.SkipObjectResolution
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, mode)
		if err != nil {
			return []error{err}
		}
		files = append(files, f)
	}
	conf := types.Config{
		Importer: importer{c, p.ImportMap}, Sizes: c.sizes, IgnoreFuncBodies: !ours, FakeImportC: true,
		Error: func(err error) {
			if ours {
				problems = append(problems, err)
			}
		},
	}
	c.done[p.ImportPath], _ = conf.Check(p.ImportPath, c.fset, files, nil) // see conf.Error
	return problems
}

// importer finds imports among the packages that were checked.
type importer struct {
	*checker
	names map[string]string // vendored packages of the standard library
}

func (i importer) Import(path string) (*types.Package, error) {
	if name, ok := i.names[path]; ok {
		path = name
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s was not listed", path)
}

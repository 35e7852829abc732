// Package kernelsrc finds the sources of kernels and says which PTX was made from which sources.
// Kernels are CUDA C++ in any folder named "kernels" of this module, one translation unit per .cu.
// They may include .cuh files beside them and the shared ones in internal/gpu/include, and nothing
// else, so that no CUDA toolkit is needed to compile them. The PTX is beside each .cu. Its second
// line has a hash of the sources, compiler and options that it was made with:
//
//	// scan.cu compiled by NVRTC 11.8.89; rebuild with `make kernels`
//	// sources sha256:5f1c...
//
// A test compares that line with the sources, so PTX cannot be out of date. Comments do not count:
// editing one needs neither the compiler nor a new receipt of a device.
package kernelsrc

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// compiler is the pinned compiler. CUDA 11.8 is the newest whose PTX (7.8) loads on driver 520 and
// every later one.
const compiler = "NVRTC 11.8.89"

// architecture is the one that units are compiled for, unless they have a line
//
//	constexpr int kArchitecture = 80;
//
// because they use instructions that came later. Whoever launches their kernels looks whether the
// device has them.
const architecture = 70

var laterArchitecture = regexp.MustCompile(`(?m)^constexpr int kArchitecture = (\d+);`)

// Options returns the compiler's options for a unit. Multiply and add are never fused: the CPU
// engines do not fuse them either, and results must be equal to the bit.
func (u *Unit) Options() []string {
	of := strconv.Itoa(architecture)
	if m := laterArchitecture.FindStringSubmatch(u.Source); m != nil {
		of = m[1]
	}
	return []string{"--gpu-architecture=compute_" + of, "--std=c++17", "--fmad=false"}
}

// includeDir has the shared headers, relative to the module's root.
const includeDir = "internal/gpu/include"

// Unit is one .cu file and the headers it includes.
type Unit struct {
	Path    string // of the .cu, relative to the root, with slashes
	Source  string
	Headers []header // in order of name
}

// header is one included file.
type header struct{ Name, Source string }

// PTXPath returns the path of the unit's PTX, relative to the root.
func (u *Unit) PTXPath() string { return strings.TrimSuffix(u.Path, ".cu") + ".ptx" }

// Sum returns a hash over everything that determines the PTX. Comments do not.
func (u *Unit) Sum() string {
	h := sha256.New()
	part := func(s string) { fmt.Fprintf(h, "%d\n%s", len(s), s) }
	part(compiler)
	part(strings.Join(u.Options(), " "))
	part(code(u.Source))
	for _, x := range u.Headers {
		part(x.Name)
		part(code(x.Source))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// comments matches comments, and also strings and characters, which may look like comments inside.
var comments = regexp.MustCompile(`//[^\n]*|(?s:/\*.*?\*/)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`)

// code returns a source without comments, blanks before line ends and empty lines.
func code(source string) string {
	bare := comments.ReplaceAllStringFunc(source, func(s string) string {
		if s[0] == '/' {
			return " "
		}
		return s
	})
	var b strings.Builder
	for line := range strings.Lines(bare) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// Stamp returns the lines that precede the compiler's output.
func (u *Unit) Stamp() string {
	return fmt.Sprintf("// %s compiled by %s; rebuild with `make kernels`\n// sources sha256:%s\n",
		filepath.Base(u.Path), compiler, u.Sum())
}

// StampOf returns the source hash in a PTX text.
func StampOf(ptx string) (sum string, ok bool) {
	_, rest, ok1 := strings.Cut(ptx, "\n// sources sha256:")
	sum, _, ok2 := strings.Cut(rest, "\n")
	return sum, ok1 && ok2
}

// Units returns all kernels below root, the folder of go.mod.
func Units(root string) ([]*Unit, error) {
	var units []*Unit
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root &&
				(strings.HasPrefix(name, ".") || name == "node_modules") ||
				path == filepath.Join(root, "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".cu" || filepath.Base(filepath.Dir(path)) != "kernels" {
			return nil
		}
		u, err := load(root, path)
		units = append(units, u)
		return err
	})
	return units, err
}

// Root returns the folder of go.mod, at or above the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod above the working directory")
		}
		dir = up
	}
}

var include = regexp.MustCompile(`(?m)^\s*#\s*include\s+["<]([^">]+)[">]`)

// load reads a unit and, transitively, the headers it includes.
func load(root, path string) (*Unit, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	u := &Unit{Path: filepath.ToSlash(rel), Source: string(src)}
	queue := []string{u.Source}
	seen := map[string]bool{}
	for len(queue) > 0 {
		text := queue[0]
		queue = queue[1:]
		for _, m := range include.FindAllStringSubmatch(text, -1) {
			name := m[1]
			if seen[name] {
				continue
			}
			seen[name] = true
			h, err := os.ReadFile(filepath.Join(filepath.Dir(path), filepath.FromSlash(name)))
			if os.IsNotExist(err) {
				h, err = os.ReadFile(filepath.Join(root, filepath.FromSlash(includeDir), filepath.FromSlash(name)))
			}
			if err != nil {
				return nil, fmt.Errorf("%s includes %q: neither beside it nor in %s", u.Path, name, includeDir)
			}
			u.Headers = append(u.Headers, header{name, string(h)})
			queue = append(queue, string(h))
		}
	}
	slices.SortFunc(u.Headers, func(a, b header) int { return strings.Compare(a.Name, b.Name) })
	return u, nil
}

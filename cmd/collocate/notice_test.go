package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const noticePath = "../../NOTICE"

// NOTICE names every module that is linked into the program, and no other, with its licence. It
// also names packages here that others wrote, which have a licence beside them. UPDATE=1 writes the
// file again, so the diff of a change shows new dependencies.
func TestNoticeNamesEveryModule(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	modules := linkedModules(t)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(noticePath, []byte(notice(t, modules)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(noticePath)
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, m := range regexp.MustCompile(`(?m)^## (\S+)$`).FindAllStringSubmatch(string(data), -1) {
		named = append(named, m[1])
	}
	var linked []string
	for path := range modules {
		linked = append(linked, path)
	}
	slices.Sort(linked)
	if !slices.Equal(named, linked) {
		t.Errorf("NOTICE names\n  %s\nand the program has\n  %s\nUPDATE=1 go test -run Notice ./cmd/collocate",
			strings.Join(named, "\n  "), strings.Join(linked, "\n  "))
	}
}

// linkedModules returns the modules that the program links on Linux, with their folders.
func linkedModules(t *testing.T) map[string]string {
	t.Helper()
	const format = "{{if .Module}}{{if .Module.Main}}{{.ImportPath}} {{.Dir}}{{else}}{{.Module.Path}} {{.Module.Dir}}{{end}}{{end}}"
	cmd := exec.Command("go", "list", "-deps", "-f", format, ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	modules := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, dir, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		if strings.HasPrefix(path, "github.com/collocate/collocate/") {
			if _, err := os.Stat(filepath.Join(dir, "LICENSE")); err != nil {
				continue // our own
			}
		}
		modules[path] = dir
	}
	return modules
}

// notice returns the text of NOTICE.
func notice(t *testing.T, modules map[string]string) string {
	var paths []string
	for path := range modules {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	var b strings.Builder
	b.WriteString(`# Third-party licences

Collocate's own licence is in LICENSE. The program also contains the Go standard library and runtime
(BSD 3-Clause, https://go.dev/LICENSE) and what is listed below, each under its own licence: modules,
of which go.mod has the versions, and packages with code of others. This file is written by
UPDATE=1 go test -run Notice ./cmd/collocate.
`)
	for _, path := range paths {
		fmt.Fprintf(&b, "\n## %s\n", path)
		found := false
		for _, name := range []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING",
			"NOTICE", "NOTICE.txt", "PATENTS"} {
			data, err := os.ReadFile(filepath.Join(modules[path], name))
			if err != nil {
				continue
			}
			found = true
			b.WriteString("\n")
			for line := range strings.Lines(strings.TrimSpace(string(data)) + "\n") {
				b.WriteString(strings.TrimRight("    "+line, " \t\r\n") + "\n")
			}
		}
		if !found {
			t.Errorf("%s has no file with its licence", path)
		}
	}
	return b.String()
}

// None of our packages imports html/template or text/template. With them the linker must keep the
// methods of all types, which makes the program an eighth larger. (cobra imports text/template, but
// calls it only for programs that set templates.)
func TestNoTemplates(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	out, err := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}}: {{join .Imports " "}}`, ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		importer, imports, _ := strings.Cut(line, ": ")
		for _, name := range strings.Fields(imports) {
			if name == "html/template" || name == "text/template" && importer != "github.com/spf13/cobra" {
				t.Errorf("%s imports %s", importer, name)
			}
		}
	}
}

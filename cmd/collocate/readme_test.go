package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The README shows what the demo prints and draws. The demo keeps its files for further commands.
func TestReadmeShowsTheDemo(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	dir := t.TempDir()
	run := func(args ...string) {
		out.Reset()
		root := newRoot(newApp(strings.NewReader(""), &out, &errs), args...)
		if err := root.ExecuteContext(t.Context()); err != nil || errs.Len() > 0 {
			t.Fatal(args, err, errs.String())
		}
	}
	run("demo", "--quiet", "--dir", dir)
	if line := "\nThe files are in " + dir + ".\n"; !strings.Contains(out.String(), line) {
		t.Errorf("the demo does not say %q", line)
	}
	printed := strings.Split(out.String(), "\n")
	shown, session := 0, false
	for line := range strings.Lines(string(readme)) {
		line, indented := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "    ")
		session = indented && (session || strings.HasPrefix(line, "$ "))
		if !session {
			continue
		}
		shown++
		if !slices.Contains(printed, line) {
			t.Errorf("the demo does not print %q", line)
		}
	}
	if shown < 8 {
		t.Errorf("the README shows %d lines of the demo, want at least 8", shown)
	}
	for _, name := range []string{"elife.index", "elife.cooc"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	run("tokens", "--quiet", filepath.Join(dir, "elife.jsonl.zst"))
	drawn, err := os.ReadFile(filepath.Join(dir, "places.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile("../../internal/sample/data/places.svg"); err != nil || !bytes.Equal(drawn, kept) {
		t.Errorf("internal/sample/data/places.svg, the README's map, is not what the demo draws, %v", err)
	}
}

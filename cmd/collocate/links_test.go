package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	markdownLink = regexp.MustCompile(`\[[^\]]*\]\(([^)]+)\)`)
	fileInProse  = regexp.MustCompile("`([\\w/.*-]+\\.(?:go|s|cu|cuh|py|mjs|json|svelte|txtar))`")
)

// Links between our documents lead to files and headings that exist.
func TestLinksResolve(t *testing.T) {
	documents := markdownFiles(t)
	links := 0
	for _, path := range documents {
		for _, m := range markdownLink.FindAllStringSubmatch(readText(t, path), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			to := path
			target, anchor, _ := strings.Cut(m[1], "#")
			if target != "" {
				to = filepath.Join(filepath.Dir(path), target)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: the link %s leads to no file", path, m[1])
			} else if anchor != "" && !hasHeading(readText(t, to), anchor) {
				t.Errorf("%s: the link %s leads to no heading", path, m[1])
			}
		}
	}
	if links < 30 {
		t.Errorf("only %d links in %d documents", links, len(documents))
	}
}

// Every file that ARCHITECTURE.md names exists in some folder.
func TestArchitectureNamesFiles(t *testing.T) {
	known := map[string]bool{} // every path, and every path without its first folders
	err := filepath.WalkDir("../..", func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if err == nil && e.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return err
		}
		for rest, more := filepath.ToSlash(path), true; more; _, rest, more = strings.Cut(rest, "/") {
			known[rest] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, m := range fileInProse.FindAllStringSubmatch(readText(t, "../../ARCHITECTURE.md"), -1) {
		names++
		found := known[m[1]]
		if strings.Contains(m[1], "*") {
			for path := range known {
				if ok, err := filepath.Match(m[1], path); err != nil {
					t.Fatal(err)
				} else if ok {
					found = true
					break
				}
			}
		}
		if !found {
			t.Errorf("ARCHITECTURE.md names %s, which does not exist", m[1])
		}
	}
	if names < 200 {
		t.Errorf("ARCHITECTURE.md names only %d files", names)
	}
}

// markdownFiles lists the documents that people read, from the root of the repository.
func markdownFiles(t *testing.T) (files []string) {
	for _, pattern := range []string{"*.md", "docs/*.md", "python/*.md", "bench/*/*.md"} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	return files
}

// hasHeading reports whether a document has a heading with an anchor, as GitHub makes anchors:
// lower case, blanks as hyphens, punctuation dropped.
func hasHeading(text, anchor string) bool {
	punctuation := regexp.MustCompile(`[^\w -]`)
	for line := range strings.Lines(text) {
		if head, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && line[0] == '#' {
			made := punctuation.ReplaceAllString(strings.ToLower(strings.TrimSpace(head)), "")
			if strings.ReplaceAll(made, " ", "-") == anchor {
				return true
			}
		}
	}
	return false
}

func readText(t *testing.T, path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

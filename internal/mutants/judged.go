package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// judgedFile lists the mutants of a package that may survive, each with the reason: those that
// change nothing, or nothing that a test should pin. It lies in the folder of the package.
//
//	buffer.go: buffer.write: no if n == 0
//	reader.go: Reader.Check: no lock of r.mu
//	  Indented lines have the reason for the mutants above them.
//
// A line has the file, the function and the change, but no number of a line. It stands for all such
// mutants of the function.
const judgedFile = "testdata/mutants.txt"

// judgments returns the reason by the title of a mutant.
func judgments(dir string) (map[string]string, error) {
	path := filepath.Join(dir, filepath.FromSlash(judgedFile))
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]string{}
	var titles []string // for which the next reason is
	reason := ""
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		switch text := strings.TrimSpace(line); {
		case text == "" || text[0] == '#':
		case line[0] == ' ':
			if len(titles) == 0 {
				return nil, fmt.Errorf("%s:%d: a reason without a mutant", path, n)
			}
			reason = strings.TrimSpace(reason + " " + text)
			for _, t := range titles {
				out[t] = reason
			}
		default:
			if reason != "" {
				titles, reason = nil, ""
			}
			if _, ok := out[text]; ok {
				return nil, fmt.Errorf("%s:%d: twice: %s", path, n, text)
			}
			titles = append(titles, text)
			out[text] = ""
		}
	}
	if len(titles) > 0 && reason == "" {
		return nil, fmt.Errorf("%s: no reason at the end", path)
	}
	return out, lines.Err()
}

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

var words = regexp.MustCompile("[a-z]+")

// readQueries reads plain lines, `id:text` lines or JSON lines with a field query. It leaves out
// queries with quotes or +, words that are not in the index, and repeated words and queries, which
// the peers treat differently.
func readQueries(path string, known func(string) bool) ([][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list [][]string
	seen := map[string]bool{}
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		line := in.Text()
		if strings.HasPrefix(line, "{") {
			var q struct{ Query string }
			if err := json.Unmarshal([]byte(line), &q); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			line = q.Query
		} else if id, text, ok := strings.Cut(line, ":"); ok && strings.Trim(id, "0123456789") == "" {
			line = text
		}
		if strings.ContainsAny(line, `+"`) {
			continue
		}
		var q []string
		for _, w := range words.FindAllString(strings.ToLower(line), -1) {
			if known(w) && !slices.Contains(q, w) {
				q = append(q, w)
			}
		}
		if key := strings.Join(q, " "); len(q) > 0 && !seen[key] {
			seen[key] = true
			list = append(list, q)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no query has a word of the index", path)
	}
	return list, in.Err()
}

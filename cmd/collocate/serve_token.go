package main

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/collocate/collocate/serve"
)

// readToken reads the token from the file of a flag; without a file it returns "".
func readToken(flag, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", flag, err)
	}
	token := strings.TrimSpace(string(text))
	switch {
	case token == "":
		return "", fmt.Errorf("--%s %s: it is empty", flag, file)
	case strings.ContainsFunc(token, unicode.IsSpace):
		return "", fmt.Errorf("--%s %s: want one token, without blanks and further lines", flag, file)
	}
	return token, nil
}

// readTokens reads the file of --token-file: a token that may do everything or, on each line,
// "read" or "write" with a token and, if its owner has one, a name. Without a file there are none.
func readTokens(file string) ([]serve.Token, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--token-file: %w", err)
	}
	var list []serve.Token
	for number, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		case len(words) == 1 && strings.TrimSpace(string(text)) == words[0]:
			list = append(list, serve.Token{Secret: words[0], Write: true})
		case (len(words) == 2 || len(words) == 3) && (words[0] == "read" || words[0] == "write"):
			t := serve.Token{Secret: words[1], Write: words[0] == "write"}
			if len(words) == 3 {
				t.Name = words[2]
			}
			if slices.ContainsFunc(list, func(o serve.Token) bool { return o.Secret == t.Secret }) {
				return nil, fmt.Errorf("--token-file %s: line %d: the token is listed twice", file, number+1)
			}
			list = append(list, t)
		default: // the line is not shown: it may be secret
			return nil, fmt.Errorf("--token-file %s: line %d: want one token, without blanks and further lines, "+
				"or on each line: read TOKEN [NAME], or write TOKEN [NAME]", file, number+1)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("--token-file %s: it is empty", file)
	}
	return list, nil
}

// followed is the file of --token-file or --shard-token-file, which is read again when it changes.
type followed[T any] struct {
	file  string
	parse func() (T, error)
	was   os.FileInfo // of what was read
	said  string      // the last error
}

// read reads the file for the first time.
func (t *followed[T]) read(file string, parse func() (T, error)) (T, error) {
	t.file, t.parse = file, parse
	t.was, _ = os.Stat(file) // before it is read, so that no change is missed
	return parse()
}

// look passes on what the file has, if it has changed or the server was told to reload. If the file
// has no token, the old ones stay in use.
func (t *followed[T]) look(set func(T), log *slog.Logger, forced bool) {
	if t.file == "" {
		return
	}
	is, err := os.Stat(t.file)
	if err == nil && !forced && t.was != nil && os.SameFile(t.was, is) && t.said == "" &&
		is.ModTime().Equal(t.was.ModTime()) && is.Size() == t.was.Size() {
		return
	}
	var tokens T
	if err == nil {
		tokens, err = t.parse()
	}
	if err != nil {
		if forced || err.Error() != t.said { // log it once: the file may be being written
			log.Error("the new token cannot be read; the old one is still used", "error", err)
		}
		t.said = err.Error()
		return
	}
	set(tokens)
	t.was, t.said = is, ""
}

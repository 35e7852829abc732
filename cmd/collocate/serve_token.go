package main

import (
	"fmt"
	"log/slog"
	"os"
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

// followedToken is the file of --token-file, which is read again when it changes.
type followedToken struct {
	file string
	was  os.FileInfo // of what was read
	said string      // the last error
}

// read reads the token for the first time.
func (t *followedToken) read(file string) (string, error) {
	t.file = file
	t.was, _ = os.Stat(file) // before it is read, so that no change is missed
	return readToken("token-file", file)
}

// look gives the server a new token, if the file has changed or the server was told to reload. If
// the file has no token, the old one stays valid.
func (t *followedToken) look(server *serve.Server, log *slog.Logger, forced bool) {
	if t.file == "" {
		return
	}
	is, err := os.Stat(t.file)
	if err == nil && !forced && t.was != nil && os.SameFile(t.was, is) && t.said == "" &&
		is.ModTime().Equal(t.was.ModTime()) && is.Size() == t.was.Size() {
		return
	}
	var token string
	if err == nil {
		token, err = readToken("token-file", t.file)
	}
	if err != nil {
		if forced || err.Error() != t.said { // log it once: the file may be being written
			log.Error("the new token cannot be read; the old one is still valid", "error", err)
		}
		t.said = err.Error()
		return
	}
	server.SetToken(token)
	t.was, t.said = is, ""
}

package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// In the scripts `collocate` is this test binary, and so is `ask`, a client for servers.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"collocate": func() { os.Exit(run(os.Args[1:])) }, "ask": askServer})
}

// Scripts of testdata/script/*.txtar test the command line as users see it.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", UpdateScripts: os.Getenv("UPDATE") != ""})
}

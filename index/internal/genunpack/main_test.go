package main

import (
	"bytes"
	"os"
	"testing"
)

// The committed files are those that this program writes.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	want, err := source()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"unpack_generated.go": want, "unpack_generated.h": steps()} {
		got, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what genunpack writes: run go generate ./index", name)
		}
	}
}

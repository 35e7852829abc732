package main

import (
	"bytes"
	"os"
	"testing"
)

// What is committed is what this program writes.
func TestGeneratedFileIsUpToDate(t *testing.T) {
	want, err := source()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../unpack_generated.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("unpack_generated.go is not what genunpack writes: run go generate ./index")
	}
}

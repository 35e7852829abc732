//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/collocate/collocate/internal/bytesize"
)

// The peak of a small program is in bytes: at least one megabyte, and far less than a terabyte.
func TestPeakOfAProcessIsInBytes(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if peak := peakOf(cmd.ProcessState); peak < bytesize.MB || peak > 2*bytesize.GB {
		t.Errorf("the peak of a test binary without tests is %v, want 1MB to 2GB", peak)
	}
}

// The fastest jobs keep to the smallest bound, with many documents, with documents that are too
// long, with lists of hundreds of thousands of lines, and with points of more kinds than pairs of
// them fit.
func TestPeaks(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command and reads some hundred megabytes")
	}
	dir := t.TempDir()
	b := &bench{
		dir: dir, command: filepath.Join(dir, "collocate"), bounds: []bytesize.Size{64 * bytesize.MB},
		common: 300_000, only: regexp.MustCompile("short lines|huge|bomb|check|dict build$|" +
			"ngrams, all that|keywords, all|concordance, (all|sampled)|" +
			"places.* kinds|places.*(one pair|summary)"),
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", b.command,
		"github.com/collocate/collocate/cmd/collocate")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := b.generate(t.Context(), "20MB", "300K"); err != nil {
		t.Fatal(err)
	}
	over, err := b.table(t.Context())
	if err != nil || over > 0 {
		t.Errorf("%d peaks over the bound, %v", over, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "out-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

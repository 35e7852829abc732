package collocate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// The least program that opens an index and searches. What it must not grow beyond keeps the
// library light to embed: formats, GPUs and test helpers are brought by packages that only programs
// import.
const (
	mostPackages = 205
	mostBytes    = 9e6 // stripped, static
)

func TestLibraryIsLight(t *testing.T) {
	list := goTool(t, "list", "-deps", "./search")
	if n := len(strings.Fields(list)); n > mostPackages {
		t.Errorf("package search brings %d packages, more than %d: register what few programs need,"+
			" as package formats does", n, mostPackages)
	}
	whole := goTool(t, "list", "-deps", ".")
	if n := len(strings.Fields(whole)); n > len(strings.Fields(list))+1 {
		t.Errorf("package collocate brings %d packages, %d more than search: want itself", n, n-len(strings.Fields(list)))
	}
	list = whole
	for _, heavy := range []string{"testing", "net/http", "github.com/ebitengine/purego", "archive/zip", "compress/bzip2",
		"github.com/collocate/collocate/search/internal/device"} {
		if strings.Contains("\n"+list, "\n"+heavy+"\n") {
			t.Errorf("the library brings %s", heavy)
		}
	}
	trials.Long(t, "linking takes seconds")
	// A package whose types reach a device's buffers, by a field or by the signature of a method,
	// compiles all their methods anew: 0.4 s in each of ten packages.
	for _, p := range strings.Fields(goTool(t, "list", "-export", "-f", "{{.Export}}", "./index", "./index/segments", "./search", ".")) {
		if gpu := "internal/gpu.Buffer["; strings.Contains(goTool(t, "tool", "nm", p), gpu) {
			t.Errorf("%s compiles %s", p, gpu)
		}
	}
	program := filepath.Join(t.TempDir(), "small")
	goTool(t, "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./testdata/small")
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > mostBytes {
		t.Errorf("a program that searches has %d bytes, more than %.0f", info.Size(), mostBytes)
	}
	t.Logf("%d packages, %d bytes", len(strings.Fields(list)), info.Size())
}

// goTool runs the go command without cgo and returns its output.
func goTool(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.Command("go", args...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}

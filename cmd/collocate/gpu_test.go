package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/check"
)

// As JSON a test prints the receipt itself; without faults and measurements there are fewer results. The primitives are enough to see that, for
// the jobs take the interpreter some seconds.
func TestReceiptAsJSON(t *testing.T) {
	t.Setenv(gpu.EmulateEnv, "emulator")
	var out, trouble bytes.Buffer
	a := newApp(strings.NewReader(""), &out, &trouble)
	a.json = true
	path := filepath.Join(t.TempDir(), "receipt.json")
	if err := a.testGPU(t.Context(), &gpuTestFlags{receipt: path, items: 1 << 10, quick: true, noBench: true, noFaults: true}, check.Primitives); err != nil {
		t.Fatal(err)
	}
	receipt, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if text != string(receipt) || trouble.Len() > 0 {
		t.Errorf("printed %s%s, wrote %s", text, &trouble, receipt)
	}
	if !strings.Contains(text, `"name": "strings"`) || strings.Contains(text, "fault:") || strings.Contains(text, `"benches"`) {
		t.Error(text)
	}
}

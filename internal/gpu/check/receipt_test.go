package check

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/collocate/collocate/internal/gpu/kernelsrc"
)

// receiptsDir has the receipts of `collocate gpu test --receipt`, relative to the module's root.
const receiptsDir = "internal/gpu/receipts"

// TestPTXHasReceipt fails for a kernel that was never tested on a device: its PTX, byte for byte,
// must be in a receipt without faults.
func TestPTXHasReceipt(t *testing.T) {
	root, err := kernelsrc.Root()
	if err != nil {
		t.Skipf("the sources are not here: %v", err)
	}
	units, err := kernelsrc.Units(root)
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for path, r := range receipts(t, root) {
		if fault := unfit(r); fault != "" {
			t.Errorf("%s: %s", path, fault)
			continue
		}
		for _, sum := range r.PTX {
			tried[sum] = true
		}
	}
	for _, u := range units {
		ptx, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(u.PTXPath())))
		if err != nil {
			t.Errorf("%s was never compiled: run `make kernels`", u.Path)
			continue
		}
		sum := sha256.Sum256(ptx)
		if !tried[hex.EncodeToString(sum[:])] {
			t.Errorf("%s was tested on no device: run `collocate gpu test --receipt %s/NAME.json` on one", u.PTXPath(), receiptsDir)
		}
	}
}

// TestUnfitReceipts: receipts of the interpreter, without comparisons, with only some, or with a
// difference cover no PTX.
func TestUnfitReceipts(t *testing.T) {
	good := func() Receipt { return Receipt{Results: []Result{{Name: "scan", Cases: 7}}} }
	if fault := unfit(good()); fault != "" {
		t.Errorf("a good receipt is refused: %s", fault)
	}
	for name, spoil := range map[string]func(*Receipt){
		"emulated":   func(r *Receipt) { r.Device.Emulated = true },
		"in part":    func(r *Receipt) { r.Only = "scan" },
		"empty":      func(r *Receipt) { r.Results = nil },
		"no cases":   func(r *Receipt) { r.Results[0].Cases = 0 },
		"difference": func(r *Receipt) { r.Results[0].Error = "item 5 differs" },
	} {
		r := good()
		if spoil(&r); unfit(r) == "" {
			t.Errorf("%s: the receipt was accepted", name)
		}
	}
}

// receipts reads all committed receipts, by path.
func receipts(t *testing.T, root string) map[string]Receipt {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(receiptsDir), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]Receipt{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var r Receipt
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[path] = r
	}
	return all
}

// unfit says why a receipt covers no PTX, or returns "".
func unfit(r Receipt) string {
	switch failed := r.Failed(); {
	case r.Device.Emulated:
		return "written by the interpreter, not by a device"
	case r.Only != "":
		return "only " + r.Only + " was compared"
	case len(r.Results) == 0:
		return "nothing was compared"
	case len(failed) > 0:
		return failed[0]
	}
	for _, x := range r.Results {
		if x.Cases == 0 {
			return x.Name + ": nothing was compared"
		}
	}
	return ""
}

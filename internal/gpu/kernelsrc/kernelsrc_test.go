package kernelsrc

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPTXMatchesSources fails when a kernel or a header was edited and
// `make kernels` was not run.
func TestPTXMatchesSources(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Skip(err)
	}
	units, err := Units(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range units {
		ptx, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(u.PTXPath())))
		if err != nil {
			t.Errorf("%s was never compiled: run `make kernels`", u.Path)
			continue
		}
		if sum, ok := StampOf(string(ptx)); !ok || sum != u.Sum() {
			t.Errorf("%s was not compiled from the current %s: run `make kernels`", u.PTXPath(), u.Path)
		}
	}
}

// TestHashCoversHeaders: a unit's hash depends on headers that headers include.
func TestHashCoversHeaders(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sum := func() string {
		t.Helper()
		units, err := Units(root)
		if err != nil || len(units) != 1 {
			t.Fatalf("%d units, %v; want one", len(units), err)
		}
		return units[0].Sum()
	}
	write("job/kernels/x.cu", "#include \"near.cuh\"\n")
	write("job/kernels/near.cuh", "#include \"shared.cuh\"\n")
	write(includeDir+"/shared.cuh", "constexpr int kOne = 1;\n")
	first := sum()
	write(includeDir+"/shared.cuh", "constexpr int kOne = 2;\n")
	if sum() == first {
		t.Error("the hash does not depend on the inner header")
	}
	write("job/kernels/near.cuh", "#include \"missing.cuh\"\n")
	if _, err := Units(root); err == nil {
		t.Error("a missing header was not reported")
	}
}

// TestCommentsDoNotCount: sources that differ only in comments have the same hash; text that only
// looks like a comment is code.
func TestCommentsDoNotCount(t *testing.T) {
	sum := func(source string) string { return (&Unit{Path: "x.cu", Source: source}).Sum() }
	plain := "int a;\nconst char* s = \"//\";\nchar c = '\"';\nint b;\n"
	for _, same := range []string{
		"// first\n" + plain,
		"int a;  // said behind\n\n// and\n// before\nconst char* s = \"//\";\nchar c = '\"';\nint b; /* at\nthe end */\n",
	} {
		if sum(same) != sum(plain) {
			t.Errorf("the hash differs from that without comments:\n%s", same)
		}
	}
	for _, other := range []string{
		"int a;\nconst char* s = \"/ /\";\nchar c = '\"';\nint b;\n",
		"int a;\nconst char* s = \"// \";\nchar c = '\"';\nint b;\n",
		"int a;\nconst char* s = \"//\";\nchar c = '\"';\n// int b;\n",
		"int a; const char* s = \"//\";\nchar c = '\"';\nint b;\n",
		"inta;\nconst char* s = \"//\";\nchar c = '\"';\nint b;\n",
	} {
		if sum(other) == sum(plain) {
			t.Errorf("different code has the same hash:\n%s", other)
		}
	}
}

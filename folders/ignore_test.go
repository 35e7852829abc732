package folders

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

func TestRulesByExample(t *testing.T) {
	for _, c := range []struct {
		rules, yes, no string // paths; those of folders end in a slash
	}{
		{"*.log", "a.log x/b.log", "a.logs log"},
		{"/top", "top", "x/top"},
		{"a/b", "a/b", "x/a/b"},
		{"build/", "build/ x/build/", "build x/build"},
		{"**/deep/*.txt", "deep/a.txt x/y/deep/b.txt", "deep/x/a.txt"},
		{"a/**", "a/b a/b/c", "a"},
		{"a/**/b", "a/b a/x/b a/x/y/b", "b ab"},
		{"*\n!keep", "a", "keep x/keep"},
		{`\#x`, "#x", "x"},
		{"# x", "", "x #"},
		{"f[a-c!]?", "fax f!x", "fdx fa"},
		{"[!a]b", "bb", "ab"},
		{`a\*`, "a*", "ab"},
		{"end  ", "end", "ending"},
		{"[", "", "["},
		{"é?", "éa", "éab"},
	} {
		r := parseRules("", c.rules)
		for i, paths := range []string{c.yes, c.no} {
			for _, path := range strings.Split(paths, " ") {
				bare, isFolder := strings.CutSuffix(path, "/")
				if ignored, _ := r.match(bare, isFolder); bare != "" && ignored != (i == 0) {
					t.Errorf("%q: %q ignored: %v", c.rules, path, ignored)
				}
			}
		}
	}
}

// Random trees with random rules are left out as Git leaves them out.
func TestRulesAreGits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	rng := rand.New(rand.NewPCG(5, 4))
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	for n := range trials.Cases(60) {
		dir := t.TempDir()
		var paths []string
		for range 25 {
			path := pick("a", "b", "ab", "a.x")
			for range rng.IntN(3) {
				path = pick("a", "b", "c", "ab.y") + "/" + path
			}
			full := filepath.Join(dir, path)
			if os.MkdirAll(filepath.Dir(full), 0o777) == nil && os.WriteFile(full, nil, 0o666) == nil {
				paths = append(paths, path)
			}
		}
		var all strings.Builder
		for _, folder := range []string{"", "a/", "b/"} {
			var b strings.Builder
			for range rng.IntN(5) {
				b.WriteString(pick("", "", "!", "/"))
				for i := range 1 + rng.IntN(3) {
					if i > 0 {
						b.WriteString(pick("/", "/", "", "*"))
					}
					b.WriteString(pick("a", "b", "*", "**", "?", "*.x", "[ab]", "[!a]", "ab", "c", `\a`))
				}
				b.WriteString(pick("", "", "/", " ", "\n") + "\n")
			}
			if os.WriteFile(filepath.Join(dir, folder, ".gitignore"), []byte(b.String()), 0o666) == nil {
				fmt.Fprintf(&all, "%s: %q\n", folder, b.String())
			}
		}
		if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
			t.Skipf("git: %s", out)
		}
		git := exec.Command("git", "-C", dir, "-c", "core.excludesFile=/dev/null", "ls-files", "-z", "--others", "--exclude-standard")
		out, err := git.Output()
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for _, path := range bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
			if len(path) > 0 && !bytes.HasSuffix(path, []byte(".gitignore")) {
				want = append(want, string(path))
			}
		}
		s, err := scan(t.Context(), dir, &Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range s.files {
			got = append(got, f.path)
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%d: of %q\n%s got %q\nwant %q", n, paths, all.String(), got, want)
		}
	}
}

func FuzzRules(f *testing.F) {
	f.Add("*.log\n!a[b-c]\n/x/**/y/\n\\#\n[", "x/a.log")
	f.Fuzz(func(t *testing.T, lines, path string) {
		parseRules("", lines).match(path, false)
	})
}

package points

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Rows that are left out are counted by what they lack, with the first of each, over all files.
func TestLeftOutRowsSayWhy(t *testing.T) {
	const text = "x,y,type,when\n1,1,a,2021-03-13\n,1,a,2021-03-13\n1,1,,2021-03-13\n1,1,a,13-03-2021\n1,x,a,2021-03-13\n1,1,a\n2,2,a,\n"
	in, err := Read(strings.NewReader(text), ReadOptions{CRS: Plane, SkipBad: true, Time: "when"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `left out 6 bad rows: 2 without a valid position (the first: line 3: column "x": "" is not a number); ` +
		`1 without a feature (the first: line 4: the feature is missing); ` +
		`2 without a valid time (the first: line 5: time "13-03-2021": want a form such as 2024-05-31, 2024-05-31 18:30:00, ` +
		`RFC 3339, or seconds since 1970); ` +
		`1 without the columns of the header (the first: line 7: wrong number of fields: 3, but 4 in the header)`
	if got := in.LeftOut(); got != want || in.Skipped != 6 {
		t.Errorf("%s\nwant %s", got, want)
	}
	folder := t.TempDir()
	for _, name := range []string{"1.csv", "2.csv"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("x,y,type\n1,1,a\n,1,b\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if in, err = ReadFiles(t.Context(), []string{folder}, ReadOptions{CRS: Plane, SkipBad: true}); err != nil {
		t.Fatal(err)
	}
	if got := in.LeftOut(); !strings.HasPrefix(got, "left out 2 bad rows: 2 without a valid position (the first: "+filepath.Join(folder, "1.csv")+": line 3: ") {
		t.Error(got)
	}
}

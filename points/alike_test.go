package points

import (
	"strings"
	"testing"
)

// Features that differ in capitals or spaces only are named, and rows of neighbours are not
// repeated.
func TestSummaryFindsFeaturesThatAreAlike(t *testing.T) {
	for text, want := range map[string]bool{"1,1,bar\n2,3,bar\n5,5,Bar\n6,9,bus  stop\n7,7,bus stop\n": true,
		"1,1,bar\n2,3,bars\n5,5,busstop\n6,9,bus stop\n": false} {
		in, err := Read(strings.NewReader("x,y,type\n"+text), ReadOptions{CRS: Plane})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Summarise(t.Context(), in.Set, 1)
		if err != nil {
			t.Fatal(err)
		}
		const says = `2 features differ from others in capitals or spaces only, such as "bar" and "Bar": are they the same?`
		if strings.Contains(strings.Join(s.Warnings, "\n"), says) != want {
			t.Errorf("%q: %q", text, s.Warnings)
		}
		for i, n := range s.Near {
			if i > 0 && n.Distance == s.Near[i-1].Distance {
				t.Errorf("neighbours within %v are counted twice", n.Distance)
			}
		}
	}
}

package coloc

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/collocate/collocate/points"
)

// Rows are those of the input, whatever was left out before them; and the least number of points of
// a feature counts those in a cell.
func TestRowsAndRareFeaturesOfParts(t *testing.T) {
	const text = "x,y,type,when\n99,99,b,2024-05-01\n90,90,a,2024-05-01\n1,1,a,2024-05-02\n1,2,a,2024-05-02\n" +
		"2,1,b,2024-05-02\n3,3,c,2024-05-02\n3,4,c,2024-05-03\n50,1,z,2024-05-02\n"
	in, err := points.Read(strings.NewReader(text), points.ReadOptions{CRS: points.Plane, MinPoints: 2, Time: "when"})
	if err != nil {
		t.Fatal(err)
	}
	parts := Cells(in.Set, 2, 2)
	if len(parts) != 1 || strings.Join(parts[0].Points.Features, " ") != "a c" {
		t.Fatalf("parts %v, want one of features a and c", parts)
	}
	s, err := NewSurvey(parts[0].Points, Options{Distance: 3, MinPrevalence: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Mine(t.Context())
	if err != nil || len(res.Patterns) != 1 {
		t.Fatalf("patterns %v, %v", res, err)
	}
	var out bytes.Buffer
	if err := s.WriteGeoJSON(t.Context(), &out, res.Patterns, nil); err != nil {
		t.Fatal(err)
	}
	for _, row := range []int{3, 4, 6, 7} {
		if !strings.Contains(out.String(), fmt.Sprintf(`"row":%d,"time":"2024-05-0%dT00:00:00.000Z"`, row, 2+row/7)) {
			t.Errorf("no point of row %d with its time in %s", row, out.String())
		}
	}
	list, err := s.Instances(t.Context(), res.Patterns[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	report := NewReport(parts[0].Points, res)
	report.AddInstances(parts[0].Points, 0, list)
	for _, at := range report.Patterns[0].Instances[0] {
		if in := map[string][2]int{"a": {3, 4}, "c": {6, 7}}[at.Feature]; at.Row != in[0] && at.Row != in[1] {
			t.Errorf("an instance has a point of %s in row %d, want %v", at.Feature, at.Row, in)
		}
	}
}

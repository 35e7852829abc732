package fields

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Options of vector fields are read, and come back from JSON; others are refused by name.
func TestVectorFields(t *testing.T) {
	s, err := ParseList([]string{"t", "v:vector:3:dot:int8:optional:many:from=embedding", "w:vector:8192"})
	if err != nil {
		t.Fatal(err)
	}
	want := Field{Name: "v", Type: Vector, Dim: 3, Metric: Dot, Precision: Int8, Optional: true, Many: true, From: []string{"embedding"}}
	if got := s.Fields[1]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if again, err := ParseJSON(s.JSON()); err != nil || !again.Equal(s) {
		t.Errorf("from JSON: %v, %v", again, err)
	}
	for list, want := range map[string]string{
		"v:vector":                 "0 dimensions: want 1 to 8192",
		"v:vector:8193":            "8193 dimensions",
		"v:vector:3:manhattan":     `option "manhattan": want the number of dimensions, cosine, dot, euclidean`,
		"v:vector:3:unstored":      "unstored and missing have no effect",
		"v:keyword:3":              `option "3"`,
		"v:vector:3:4":             `option "4"`,
		"v:vector:3:split=|":       "split needs a keyword field",
		"v:vector:3:weight=2":      "a weight needs a text field",
		"v:vector:3:from=a:from=b": "",
	} {
		_, err := ParseList([]string{"t", list})
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) || want == "" && err != nil {
			t.Errorf("%s: %v; want %q", list, err, want)
		}
	}
	if _, err := ParseJSON([]byte(`{"fields": [{"name":"t","type":"text","dim":3}]}`)); err == nil {
		t.Error("a text field with dimensions is accepted")
	}
}

// FuzzParseVector compares with encoding/json.
func FuzzParseVector(f *testing.F) {
	for _, s := range []string{"[1, 2.5, -3e-2]", "[]", "[1", "[1,]", "[[1]]", "\x00f32abcd", "\x00f32abc", " [ 1 ] ", "[1e999]", "[0x1]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseVector(nil, []byte(s))
		if strings.HasPrefix(s, "\x00") {
			if err == nil && string(VectorValue(got)) != s {
				t.Fatalf("%q is read as %v, which is written as %q", s, got, VectorValue(got))
			}
			return
		}
		var want []float32
		if json.Unmarshal([]byte(s), &want) == nil && want != nil && len(want) <= MaxDim && !strings.Contains(s, "null") {
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%q: %v, %v; want %v", s, got, err, want)
			}
		}
	})
}

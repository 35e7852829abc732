package engine

import "testing"

func TestNamesGoBothWays(t *testing.T) {
	for _, k := range []Kind{Auto, Sequential, Multicore, GPU} {
		if got, err := Parse(k.String()); err != nil || got != k {
			t.Errorf("Parse(%q) = %v, %v", k, got, err)
		}
	}
	if _, err := Parse("steam"); err == nil {
		t.Error("an unknown engine is not refused")
	}
	var zero Kind
	if zero != Auto {
		t.Error("the zero value is not Auto")
	}
}

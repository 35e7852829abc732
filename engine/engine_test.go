package engine

import (
	"encoding/json"
	"testing"
)

func TestNamesGoBothWays(t *testing.T) {
	for _, k := range []Kind{Auto, Sequential, Multicore, GPU} {
		if got, err := Parse(k.String()); err != nil || got != k {
			t.Errorf("Parse(%q) = %v, %v, want %v", k, got, err, k)
		}
	}
	if _, err := Parse("steam"); err == nil {
		t.Error("an unknown engine: no error")
	}
	if b, err := json.Marshal(Multicore); err != nil || string(b) != `"multicore"` {
		t.Errorf("multicore as JSON: %s, %v", b, err)
	}
	var back Kind
	if err := json.Unmarshal([]byte(`"gpu"`), &back); err != nil || back != GPU {
		t.Errorf("gpu from JSON: %v, %v", back, err)
	}
	var zero Kind
	if zero != Auto {
		t.Errorf("the zero value is %v, want auto", zero)
	}
}

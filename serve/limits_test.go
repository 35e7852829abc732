package serve

import (
	"testing"
	"time"
)

// A limit that is zero means its default, and a negative Hold stays: it disables the delay.
func TestZeroOptions(t *testing.T) {
	want := Limits{Words: 256, Queries: 10_000, Time: 10 * time.Second, BatchTime: time.Minute,
		Wait: time.Second, Waiting: 512, Hold: time.Second, Connections: 16_384}
	if got := (Limits{}).withDefaults(); got != want {
		t.Errorf("the zero value means %+v, want %+v", got, want)
	}
	given := Limits{Words: 1, Queries: 2, Time: 3, BatchTime: 4, Wait: 5, Waiting: 6, Hold: -1, Connections: 7}
	if got := given.withDefaults(); got != given {
		t.Errorf("%+v became %+v", given, got)
	}
}

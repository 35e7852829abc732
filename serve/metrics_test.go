package serve

import (
	"testing"
	"time"
)

// Latencies are the percentiles of the searches of the last seconds, in any order.
func TestLatencies(t *testing.T) {
	m := &metrics{recent: []timing{{at: time.Now().Add(-time.Hour), took: time.Minute}}}
	if got := m.lately(60); got != (latencies{Seconds: 60}) {
		t.Errorf("without searches: %+v, want zeros", got)
	}
	for i := range 100 { // a permutation of 1 to 100 ms
		m.recent = append(m.recent, timing{at: time.Now(), took: time.Duration(1+i*37%100) * time.Millisecond})
	}
	want := latencies{Seconds: 60, Searches: 100, P50: 50_000, P90: 90_000, P99: 99_000}
	if got := m.lately(60); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

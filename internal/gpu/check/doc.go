// Package check tests a GPU: whether our kernels give the CPU's results, how fast they are compared
// with its memory, and how faults are reported. The outcome is a receipt, a JSON file that names
// the PTX, device and driver of the test. Receipts are committed. A test fails for PTX that no
// receipt covers.
package check

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/collocate/collocate/internal/gpu"
)

// Receipt is the outcome of a test of a device.
type Receipt struct {
	Device  gpu.Info           `json:"device"`
	Started time.Time          `json:"started"`
	PTX     map[string]string  `json:"ptx"`            // source to sha256, as loaded
	Loads   map[string]float64 `json:"load_seconds"`   // time to compile all kernels of the source
	Only    string             `json:"only,omitempty"` // regular expression of suites
	Results []Result           `json:"results"`
	Benches []Bench            `json:"benches,omitempty"`
	Notes   map[string]string  `json:"notes,omitempty"`
}

// Result is one comparison with the CPU.
type Result struct {
	Name   string `json:"name"`
	Cases  int    `json:"cases"`
	Digest string `json:"digest"` // of all results; the same on every device
	Error  string `json:"error,omitempty"`
}

// Bench is one measurement. Times are the best of several.
type Bench struct {
	Name     string  `json:"name"`
	Items    int     `json:"items,omitempty"`
	Seconds  float64 `json:"seconds"`
	Median   float64 `json:"median_seconds,omitempty"`
	Bytes    int64   `json:"bytes,omitempty"`    // that cross the memory's or the host's bus
	GBs      float64 `json:"gb_per_s,omitempty"` // Bytes over Seconds
	GItems   float64 `json:"g_items_per_s,omitempty"`
	Fraction float64 `json:"fraction_of_copy,omitempty"` // GBs over a copy's
	Recall   float64 `json:"recall,omitempty"`           // of a result that is not exact; 0 means that it is
	Joules   float64 `json:"joules,omitempty"`           // of the work of Seconds; 0 means not measured
	Note     string  `json:"note,omitempty"`             // how it was measured
	Wanted   string  `json:"wanted,omitempty"`
	Met      *bool   `json:"met,omitempty"`
}

// Failed lists the comparisons that found a difference or failed.
func (r *Receipt) Failed() (names []string) {
	for _, x := range r.Results {
		if x.Error != "" {
			names = append(names, x.Name+": "+x.Error)
		}
	}
	return names
}

// JSON returns the receipt as it is committed.
func (r *Receipt) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(r, "", "  ")
	return append(b, '\n'), err
}

// Rate formats the speed of a benchmark.
func (b Bench) Rate() string {
	switch {
	case b.GItems > 0 && b.GBs > 0:
		return fmt.Sprintf("%8.1f GB/s  %8.2f G/s", b.GBs, b.GItems)
	case b.GBs > 0:
		return fmt.Sprintf("%8.1f GB/s", b.GBs)
	default:
		return fmt.Sprintf("%8.2f us", b.Seconds*1e6)
	}
}

func round(x float64, places int) float64 {
	p := math.Pow10(places)
	return math.Round(x*p) / p
}

// Package check tries a GPU: whether our kernels give the CPU's results on it,
// how fast they are next to what its memory can do, and what faults look like.
// The outcome is a receipt, a JSON file that says for which PTX, device and
// driver all of this was seen. Receipts are committed; a test fails when the
// tree holds PTX that no receipt is about.
package check

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/collocate/collocate/internal/gpu"
)

// Receipt is what was seen on a device.
type Receipt struct {
	Device  gpu.Info           `json:"device"`
	Started time.Time          `json:"started"`
	PTX     map[string]string  `json:"ptx"`            // source to sha256, as loaded
	Loads   map[string]float64 `json:"load_seconds"`   // until all kernels of the source were ready
	Only    string             `json:"only,omitempty"` // regular expression of what was compared
	Results []Result           `json:"results"`
	Benches []Bench            `json:"benches,omitempty"`
	Notes   map[string]string  `json:"notes,omitempty"`
}

// Result is one comparison with the CPU.
type Result struct {
	Name   string `json:"name"`
	Cases  int    `json:"cases"`
	Digest string `json:"digest"` // of all the results; the same on every device
	Error  string `json:"error,omitempty"`
}

// Bench is one measurement. Times are the best of several.
type Bench struct {
	Name     string  `json:"name"`
	Items    int     `json:"items,omitempty"`
	Seconds  float64 `json:"seconds"`
	Median   float64 `json:"median_seconds,omitempty"`
	Bytes    int64   `json:"bytes,omitempty"`    // that must cross the memory's or the link's pins
	GBs      float64 `json:"gb_per_s,omitempty"` // Bytes over Seconds
	GItems   float64 `json:"g_items_per_s,omitempty"`
	Fraction float64 `json:"fraction_of_copy,omitempty"` // GBs over that of a copy on the device
	Wanted   string  `json:"wanted,omitempty"`
	Met      *bool   `json:"met,omitempty"`
}

// Failed lists what is wrong: results that differ.
func (r *Receipt) Failed() (names []string) {
	for _, x := range r.Results {
		if x.Error != "" {
			names = append(names, x.Name+": "+x.Error)
		}
	}
	return names
}

// JSON is the receipt as it is committed.
func (r *Receipt) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(r, "", "  ")
	return append(b, '\n'), err
}

// Rate is a bench's speed in words.
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

// Package bytesize reads and writes amounts of memory: "2GB", "512MiB", "64k".
package bytesize

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes; *Size is a command-line flag.
type Size int64

const (
	KB Size = 1000
	MB      = 1000 * KB
	GB      = 1000 * MB
	TB      = 1000 * GB

	KiB Size = 1 << 10
	MiB Size = 1 << 20
	GiB Size = 1 << 30
	TiB Size = 1 << 40
)

var units = map[string]Size{
	"": 1, "b": 1,
	"k": KB, "kb": KB, "kib": KiB,
	"m": MB, "mb": MB, "mib": MiB,
	"g": GB, "gb": GB, "gib": GiB,
	"t": TB, "tb": TB, "tib": TiB,
}

// Parse reads a number with an optional unit: decimal (k, KB, MB, GB, TB) or
// binary (KiB, MiB, GiB, TiB), in any case.
func Parse(s string) (Size, error) {
	t := strings.TrimSpace(s)
	cut := strings.IndexFunc(t, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if cut < 0 {
		cut = len(t)
	}
	unit, ok := units[strings.ToLower(strings.TrimSpace(t[cut:]))]
	n, err := strconv.ParseFloat(t[:cut], 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("%q is not a size: want a number with a unit, such as 512MB or 2GiB", s)
	}
	if n *= float64(unit); n > math.MaxInt64/2 {
		return 0, fmt.Errorf("size %q is too large: want at most 4 EiB", s)
	}
	if whole, err := strconv.ParseInt(t[:cut], 10, 64); err == nil {
		return Size(whole) * unit, nil // exact, where a float64 may not be
	}
	if n != math.Trunc(n) {
		return 0, fmt.Errorf("%q is not a whole number of bytes", s)
	}
	return Size(n), nil
}

// String writes the size with three digits in decimal units: 1.5GB.
func (s Size) String() string {
	for _, u := range []struct {
		size Size
		name string
	}{{TB, "TB"}, {GB, "GB"}, {MB, "MB"}, {KB, "kB"}} {
		if s >= u.size {
			return strconv.FormatFloat(float64(s)/float64(u.size), 'g', 3, 64) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// Set and Type make *Size a command-line flag.
func (s *Size) Set(text string) (err error) {
	*s, err = Parse(text)
	return err
}

// Type names the flag's value in help texts.
func (s *Size) Type() string { return "size" }

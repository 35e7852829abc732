// Package epsg has the parameters of coordinate reference systems by their EPSG numbers.
// generate.py describes and writes the table.
package epsg

import (
	_ "embed"
	"sort"
	"strconv"
	"strings"
)

//go:embed epsg.txt
var table string

// Entry is a line of the table.
type Entry struct {
	Code      int
	Positions int // of a system with heights: that of its positions, and nothing else is set
	Name      string
	Base      int    // system of longitudes and latitudes of a projected system; else 0
	PROJ      string // parameters of the projection as in a PROJ string, without "+"

	Ellipsoid string // semi-major axis and inverse flattening, of longitudes and latitudes
	Prime     string // prime meridian, degrees east of Greenwich
	Shift     string // seven parameters of the transformation to WGS 84, "", or "-" if it is unknown
	Accuracy  string // of the transformation, in metres; "" if it is not known

	Area [4]float64 // where the system is used, in degrees: west, south, east, north
}

// Lookup returns the entry of a number. Lines are in ascending order, so a few of them are read.
func Lookup(code int) (e Entry, ok bool) {
	start := func(at int) int { return strings.LastIndexByte(table[:at], '\n') + 1 }
	at := sort.Search(len(table), func(i int) bool {
		line, _, _ := strings.Cut(table[start(i):], "\t")
		n, _ := strconv.Atoi(line)
		return n >= code
	})
	if at == len(table) {
		return e, false
	}
	line, _, _ := strings.Cut(table[start(at):], "\n")
	f := strings.Split(line, "\t")
	if f[0] != strconv.Itoa(code) {
		return e, false
	}
	if of, ok := strings.CutPrefix(f[1], "="); ok {
		e.Code = code
		e.Positions, _ = strconv.Atoi(of) // the table is ours, and tested
		return e, true
	}
	if base, err := strconv.Atoi(f[1]); err == nil {
		e = Entry{Code: code, Base: base, Name: f[2], PROJ: f[3]}
		if rest, ok := strings.CutPrefix(e.Name, "~"); ok {
			own, _ := Lookup(base)
			e.Name = strings.TrimSuffix(own.Name, Grads) + rest
		}
		e.Area = area(f[4])
		return e, true
	}
	return Entry{Code: code, Name: f[1], Ellipsoid: f[2], Prime: f[3], Shift: f[4], Accuracy: f[5],
		Area: area(f[6])}, true
}

func area(text string) (to [4]float64) {
	for i, v := range strings.Fields(text) {
		to[i], _ = strconv.ParseFloat(v, 64)
	}
	return to
}

// Grads ends the name of longitudes and latitudes that are not in degrees. They are in the table
// for the systems that are projections of them.
const Grads = " (grads)"

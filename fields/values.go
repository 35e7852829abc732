package fields

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Values holds the values of one field of a document, as bytes. No value is empty.
type Values [][]byte

// Values returns the values of named fields in the order of the schema, for a document that is made
// in a program. A text field has one value.
func (s *Schema) Values(named map[string][]string) ([]Values, error) {
	list := make([]Values, len(s.Fields))
	for name, values := range named {
		at := s.Find(name)
		if at < 0 {
			names := s.Names(func(*Field) bool { return true })
			return nil, fmt.Errorf("unknown field %q: want one of %s", name,
				strings.Join(names, ", "))
		}
		for _, v := range values {
			if v != "" {
				list[at] = append(list[at], []byte(v))
			}
		}
	}
	return list, nil
}

// Text returns the text fields of a document, joined by newlines.
func (s *Schema) Text(values []Values) []byte {
	var texts [][]byte
	for _, i := range s.Of(Text) {
		if i < len(values) && len(values[i]) > 0 {
			texts = append(texts, values[i][0])
		}
	}
	return bytes.Join(texts, []byte("\n"))
}

// TextAt returns the offset in Text at which a field begins.
func (s *Schema) TextAt(values []Values, field int) (at int) {
	for _, i := range s.Of(Text) {
		if i == field {
			break
		}
		if i < len(values) && len(values[i]) > 0 {
			at += len(values[i][0]) + 1
		}
	}
	return at
}

// ParseNumber parses a decimal number, such as -1.5e3, with or without blanks around it.
func ParseNumber(b []byte) (float64, error) {
	s := strings.TrimSpace(string(b))
	v, err := strconv.ParseFloat(s, 64) // 0, without an error, if it is too close to 0
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || strings.ContainsAny(s, "xX_pP") {
		return 0, fmt.Errorf("%s is not a number", quoted(b))
	}
	if math.Abs(v) >= 1<<53 && !exactInteger(s, v) {
		return 0, fmt.Errorf("%s is an integer that a 64-bit float cannot represent exactly: make the field a keyword", quoted(b))
	}
	if v == 0 {
		v = 0 // not -0
	}
	return v, nil
}

// exactInteger reports whether an integer is equal to v. It is also true for numbers with a point
// or an exponent, which may be rounded.
func exactInteger(s string, v float64) bool {
	return strings.ContainsAny(s, ".eE") || strconv.FormatFloat(v, 'f', 0, 64) == strings.TrimPrefix(s, "+")
}

// dateForms are the layouts of dates, the usual ones first.
var dateForms = []string{
	"2006-01-02", time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00",
	"2006", "2006-01", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00",
	"2006-01-02 15:04:05 Z0700", "2006-01-02 15:04:05Z0700", "2006-01-02T15:04:05Z0700",
}

// ParseDate parses a date and returns it in milliseconds since 1970 in UTC.
func ParseDate(b []byte) (int64, error) {
	v, _, err := ParseDateSpan(b)
	return v, err
}

// ParseDateSpan returns the first and the last millisecond that a date stands for: 2024 is a whole
// year.
func ParseDateSpan(b []byte) (first, last int64, err error) {
	s := strings.TrimSpace(string(b))
	for _, form := range dateForms {
		t, err := time.Parse(form, s)
		if err != nil {
			continue
		}
		t = t.UTC()
		next := t.Add(time.Millisecond)
		switch {
		case form == "2006":
			next = t.AddDate(1, 0, 0)
		case form == "2006-01":
			next = t.AddDate(0, 1, 0)
		case form == "2006-01-02":
			next = t.AddDate(0, 0, 1)
		case !strings.Contains(form, ":05"):
			next = t.Add(time.Minute)
		case !strings.Contains(s, "."):
			next = t.Add(time.Second)
		}
		return t.UnixMilli(), next.UnixMilli() - 1, nil
	}
	return 0, 0, fmt.Errorf("%s is not a date: want one such as 2024-02-29 or 2024-02-29T14:30:05Z",
		quoted(b))
}

// Point is a position in units of 1e-7 degrees.
type Point struct {
	// Lat is the latitude, from -90e7 to 90e7, positive in the north; Lon is the longitude, from
	// -180e7 to 180e7, positive in the east.
	Lat, Lon int32
}

const pointUnit = 1e7

// PointOf returns the point with the given latitude and longitude in degrees.
func PointOf(lat, lon float64) (Point, error) {
	if !(lat >= -90 && lat <= 90) {
		return Point{}, fmt.Errorf("latitude %v: want -90 to 90", lat)
	}
	if !(lon >= -180 && lon <= 180) {
		return Point{}, fmt.Errorf("longitude %v: want -180 to 180", lon)
	}
	return Point{int32(math.Round(lat * pointUnit)), int32(math.Round(lon * pointUnit))}, nil
}

// Degrees returns latitude and longitude in degrees.
func (p Point) Degrees() (lat, lon float64) {
	return float64(p.Lat) / pointUnit, float64(p.Lon) / pointUnit
}

// ParsePoint parses a point.
func ParsePoint(b []byte) (Point, error) {
	if s := bytes.TrimSpace(b); len(s) > 0 && s[0] == '{' {
		return parsePointJSON(s)
	}
	first, second, ok := bytes.Cut(b, []byte(","))
	lat, err1 := ParseNumber(first)
	lon, err2 := ParseNumber(second)
	if !ok || err1 != nil || err2 != nil {
		return Point{}, fmt.Errorf(`%s is not a point: want "latitude,longitude"`, quoted(b))
	}
	return PointOf(lat, lon)
}

func parsePointJSON(b []byte) (Point, error) {
	var o struct {
		Type                      string
		Coordinates               []float64
		Lat, Latitude             *float64
		Lon, Lng, Long, Longitude *float64
	}
	bad := fmt.Errorf(`%s is not a point: want {"lat": 48.2, "lon": 16.4} or GeoJSON's Point`,
		quoted(b))
	if json.Unmarshal(b, &o) != nil {
		return Point{}, bad
	}
	if o.Type == "Point" && len(o.Coordinates) >= 2 {
		return PointOf(o.Coordinates[1], o.Coordinates[0])
	}
	var lat, lon *float64
	for _, v := range []*float64{o.Lat, o.Latitude} {
		if v != nil {
			lat = v
		}
	}
	for _, v := range []*float64{o.Lon, o.Lng, o.Long, o.Longitude} {
		if v != nil {
			lon = v
		}
	}
	if lat == nil || lon == nil {
		return Point{}, bad
	}
	return PointOf(*lat, *lon)
}

// quoted returns a value in quotes for an error, truncated if it is long.
func quoted(b []byte) string {
	if len(b) > 40 {
		return strconv.Quote(string(b[:40])) + "..."
	}
	return strconv.Quote(string(b))
}

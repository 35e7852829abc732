package points

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// recordSeparator starts each text of a GeoJSON text sequence (RFC 8142).
const recordSeparator = 0x1e

// isSequence reports whether the members of the first object are those of a Feature, so that other
// Features may follow, and not those of a FeatureCollection.
func isSequence(head []byte) bool {
	if head[0] == recordSeparator {
		return true
	}
	dec := json.NewDecoder(bytes.NewReader(head))
	if _, err := dec.Token(); err != nil {
		return false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil || key == "features" {
			return false
		}
		if key == "geometry" || key == "properties" {
			return true
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return false
		}
		if key == "type" {
			return string(value) == `"Feature"`
		}
	}
	return false
}

// readGeoJSONSeq reads Features one after the other, with or without record
// separators: RFC 8142, newline-delimited GeoJSON, or a single Feature.
func readGeoJSONSeq(r io.Reader, rows *rowSink) error {
	rows.in.Format = "geojsonseq"
	rows.assume(WGS84, "GeoJSON is in WGS 84")
	dec := json.NewDecoder(withoutSeparators{r})
	for n := 1; ; n++ {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("GeoJSON: feature %d: %w", n, err)
		}
		if err := addGeoJSON(raw, n, rows); err != nil {
			return err
		}
	}
}

// withoutSeparators replaces record separators by blanks. JSON itself cannot contain them.
type withoutSeparators struct{ io.Reader }

func (w withoutSeparators) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	for i := range p[:n] {
		if p[i] == recordSeparator {
			p[i] = ' '
		}
	}
	return n, err
}

// readGeoJSON reads a FeatureCollection of Points and MultiPoints, one Feature at a time. The kind
// of place is the property that --feature names, or one with a common name. The reference system is
// WGS 84 (RFC 7946) or the one that a "crs" member names.
func readGeoJSON(r io.Reader, rows *rowSink) error {
	rows.in.Format = "geojson"
	dec := json.NewDecoder(r)
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("GeoJSON: %w", err)
	}
	seen := false
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return fmt.Errorf("GeoJSON: %w", err)
		}
		if key != "features" {
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil {
				return fmt.Errorf("GeoJSON: %w", err)
			}
			if key == "crs" {
				if err := declareMember(value, seen, rows); err != nil {
					return fmt.Errorf("GeoJSON: %w", err)
				}
			}
			continue
		}
		if open, err := dec.Token(); err != nil || open != json.Delim('[') {
			return errors.New(`GeoJSON: "features" is not a list`)
		}
		seen = true
		rows.assume(WGS84, "GeoJSON is in WGS 84")
		for n := 1; dec.More(); n++ {
			var raw json.RawMessage
			if err := dec.Decode(&raw); err != nil {
				return fmt.Errorf("GeoJSON: feature %d: %w", n, err)
			}
			if err := addGeoJSON(raw, n, rows); err != nil {
				return err
			}
		}
		if _, err := dec.Token(); err != nil {
			return fmt.Errorf("GeoJSON: %w", err)
		}
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("GeoJSON: %w", noEOF(err))
	}
	if !seen {
		return errors.New(`GeoJSON: no "features": want a FeatureCollection of points`)
	}
	return nil
}

// declareMember takes the reference system from a "crs" member, which GeoJSON had before RFC 7946.
// late means that the member comes after the features.
func declareMember(value []byte, late bool, rows *rowSink) error {
	var crs *struct {
		Properties struct {
			Name string `json:"name"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(value, &crs); err != nil {
		return fmt.Errorf(`"crs": %w`, err)
	}
	if rows.opt.CRS != nil {
		return nil
	}
	if crs == nil { // null: none can be assumed
		if late {
			return errors.New(`"crs" null comes after the features: name the system with points.ReadOptions.CRS`)
		}
		rows.unknown = true
		return nil
	}
	before := rows.crs
	if err := rows.declare(crs.Properties.Name); err != nil {
		return err
	}
	if !rows.crs.Same(WGS84) && rows.crs != Plane {
		rows.crs.Member = crs.Properties.Name
	}
	if late && !before.Same(rows.crs) {
		return fmt.Errorf(`"crs" %s comes after the features: name it with points.ReadOptions.CRS`, crs.Properties.Name)
	}
	return nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func addGeoJSON(raw []byte, n int, rows *rowSink) error {
	where := func() string { return fmt.Sprintf("GeoJSON: feature %d", n) }
	var f struct {
		Properties map[string]any `json:"properties"`
		Geometry   *struct {
			Type        string          `json:"type"`
			Coordinates json.RawMessage `json:"coordinates"`
		} `json:"geometry"`
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return fmt.Errorf("%s: %w", where(), err)
	}
	if rows.in.Columns[2] == "" {
		names := make([]string, 0, len(f.Properties))
		for name := range f.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		l, err := rows.columns(names, false)
		if err != nil {
			return fmt.Errorf("%s: properties: %w", where(), err)
		}
		if rows.in.Columns[2] = "@file"; l.feature >= 0 {
			rows.in.Columns[2] = names[l.feature]
		}
	}
	property := rows.in.Columns[2]
	kind, err := propertyText(f.Properties[property])
	if err == nil && rows.opt.Time != "" {
		var when string
		property = rows.opt.Time
		when, err = propertyText(f.Properties[property])
		rows.when = []byte(when)
	}
	if err != nil {
		return rows.bad(noFeature, fmt.Errorf("property %q: %w", property, err), where)
	}
	if f.Geometry == nil {
		return rows.bad(noPosition, errors.New("no geometry"), where)
	}
	var positions [][]float64
	switch f.Geometry.Type {
	case "Point":
		positions = make([][]float64, 1)
		err = json.Unmarshal(f.Geometry.Coordinates, &positions[0])
	case "MultiPoint":
		err = json.Unmarshal(f.Geometry.Coordinates, &positions)
	default:
		err = fmt.Errorf("geometry %s: want Point or MultiPoint", f.Geometry.Type)
	}
	if err != nil {
		return rows.bad(noPosition, err, where)
	}
	for _, p := range positions {
		if len(p) < 2 {
			err = rows.bad(noPosition, fmt.Errorf("a position has %d numbers: want at least 2", len(p)), where)
		} else {
			err = rows.add(p[0], p[1], []byte(kind), where)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// propertyText returns the value of a property as text.
func propertyText(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case bool:
		return strconv.FormatBool(v), nil
	case nil:
		return "", nil
	}
	return "", errors.New("is neither text nor a number")
}

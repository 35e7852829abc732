package coloc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// readGeoJSON reads a FeatureCollection of Points and MultiPoints, one feature
// at a time. The kind of place is a property: --feature or a common name.
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
			var skip json.RawMessage
			if err := dec.Decode(&skip); err != nil {
				return fmt.Errorf("GeoJSON: %w", err)
			}
			continue
		}
		if open, err := dec.Token(); err != nil || open != json.Delim('[') {
			return errors.New(`GeoJSON: "features" is not a list`)
		}
		seen = true
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
	column := &rows.in.Columns[2]
	if *column == "" {
		names := make([]string, 0, len(f.Properties))
		for name := range f.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		_, _, i, err := rows.opt.columns(names, false)
		if err != nil {
			return fmt.Errorf("%s: properties: %w", where(), err)
		}
		*column = names[i]
	}
	var kind string
	switch v := f.Properties[*column].(type) {
	case string:
		kind = v
	case float64:
		kind = strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		kind = strconv.FormatBool(v)
	case nil:
	default:
		return rows.bad(fmt.Errorf("property %q is neither text nor a number", *column), where)
	}
	if f.Geometry == nil {
		return rows.bad(errors.New("no geometry"), where)
	}
	var positions [][]float64
	var err error
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
		return rows.bad(err, where)
	}
	for _, p := range positions {
		if len(p) < 2 {
			err = rows.bad(fmt.Errorf("a position has %d numbers: want at least 2", len(p)), where)
		} else {
			err = rows.add(p[0], p[1], []byte(kind), where)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

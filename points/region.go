package points

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Region is a named part of the map.
type Region struct {
	Name     string           // a property, the id or a number; see ParseRegions
	polygons [][][][2]float64 // an outer ring and holes each
	box      [4]float64       // least x and y, largest x and y
}

// Contains reports whether a position lies in the region, that is, whether a ray to the right
// crosses its rings an odd number of times.
func (r *Region) Contains(x, y float64) bool {
	if x < r.box[0] || y < r.box[1] || x > r.box[2] || y > r.box[3] {
		return false
	}
	in := false
	for _, polygon := range r.polygons {
		for _, ring := range polygon {
			if ringHolds(ring, [2]float64{x, y}) {
				in = !in
			}
		}
	}
	return in
}

// geoPolygons is the part of a GeoJSON file that is read.
type geoPolygons struct {
	Type     string          `json:"type"`
	CRS      json.RawMessage `json:"crs"`
	Features []geoPolygon    `json:"features"`
	geoPolygon
	Coordinates json.RawMessage `json:"coordinates"` // of a geometry that is no part of a feature
}

type geoPolygon struct {
	ID         any            `json:"id"`
	Properties map[string]any `json:"properties"`
	Geometry   *geoGeometry   `json:"geometry"`
}

type geoGeometry struct {
	Type        string          `json:"type"`
	Coordinates json.RawMessage `json:"coordinates"`
}

// ParseRegions reads the polygons of a GeoJSON file and converts them to a reference system. A
// region's name is the property "name", "Name" or "NAME", the id, or the number of its feature.
func ParseRegions(data []byte, to *CRS) ([]Region, error) {
	list, err := parsePolygons(data, to)
	if err != nil {
		return nil, err
	}
	return regionsOf(list), nil
}

func regionsOf(list []namedPolygons) (out []Region) {
	for _, l := range list {
		r := Region{Name: l.name, polygons: l.polygons,
			box: [4]float64{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}}
		for _, ring := range slices.Concat(l.polygons...) {
			for _, p := range ring {
				r.box[0], r.box[1] = min(r.box[0], p[0]), min(r.box[1], p[1])
				r.box[2], r.box[3] = max(r.box[2], p[0]), max(r.box[3], p[1])
			}
		}
		out = append(out, r)
	}
	return out
}

// Window returns the region as the study area of its points.
func (r *Region) Window() (*Window, error) {
	w, err := newWindow(r.polygons)
	if err != nil {
		return nil, fmt.Errorf("region %q: %w", r.Name, err)
	}
	return w, nil
}

// namedPolygons are the polygons of a GeoJSON feature: an outer ring and holes each.
type namedPolygons struct {
	name     string
	polygons [][][][2]float64
}

// parsePolygons reads the polygons of a GeoJSON file, of which there must be one.
func parsePolygons(data []byte, to *CRS) ([]namedPolygons, error) {
	var f geoPolygons
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("want GeoJSON with polygons: %w", err)
	}
	features := f.Features
	switch f.Type {
	case "Feature":
		features = []geoPolygon{f.geoPolygon}
	case "Polygon", "MultiPolygon":
		features = []geoPolygon{{Geometry: &geoGeometry{f.Type, f.Coordinates}}}
	}
	convert, err := fromGeoJSON(f.CRS, to)
	if err != nil {
		return nil, err
	}
	var out []namedPolygons
	for i, g := range features {
		if g.Geometry == nil {
			continue
		}
		n := namedPolygons{name: g.name(i + 1)}
		switch g.Geometry.Type {
		case "Polygon":
			n.polygons = make([][][][2]float64, 1)
			err = json.Unmarshal(g.Geometry.Coordinates, &n.polygons[0])
		case "MultiPolygon":
			err = json.Unmarshal(g.Geometry.Coordinates, &n.polygons)
		default:
			err = fmt.Errorf("is a %s: want a Polygon or MultiPolygon", g.Geometry.Type)
		}
		if err != nil {
			return nil, fmt.Errorf("region %q: %w", n.name, err)
		}
		if len(slices.Concat(n.polygons...)) > 0 {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no polygon: want a GeoJSON FeatureCollection of Polygons or MultiPolygons")
	}
	return out, convertRings(out, convert)
}

// convertRings checks that rings have three positions, and converts them.
func convertRings(list []namedPolygons, convert func(x, y float64) (float64, float64)) error {
	for _, n := range list {
		for _, ring := range slices.Concat(n.polygons...) {
			if len(ring) < 3 {
				return fmt.Errorf("region %q: a ring has %d positions: want at least 3", n.name, len(ring))
			}
			for i, p := range ring {
				x, y := convert(p[0], p[1])
				ring[i] = [2]float64{x, y}
			}
		}
	}
	return nil
}

// name returns the name of the region; see ParseRegions.
func (g *geoPolygon) name(number int) string {
	for _, key := range []string{"name", "Name", "NAME"} {
		if s, ok := g.Properties[key].(string); ok && s != "" {
			return s
		}
	}
	if g.ID != nil {
		return fmt.Sprint(g.ID)
	}
	return fmt.Sprintf("region %d", number)
}

// fromGeoJSON returns a function that converts positions of a GeoJSON file to a system. For Plane,
// it leaves them as they are.
func fromGeoJSON(member json.RawMessage, to *CRS) (func(x, y float64) (float64, float64), error) {
	from := WGS84
	if len(member) > 0 {
		rows := &rowSink{}
		if err := declareMember(member, false, rows); err != nil {
			return nil, err
		}
		from = rows.crs
	}
	return conversion(from, to)
}

// conversion returns a function that converts positions of regions to a system.
func conversion(from, to *CRS) (func(x, y float64) (float64, float64), error) {
	switch {
	case to == Plane || from.Same(to):
		return func(x, y float64) (float64, float64) { return x, y }, nil
	case !from.Convertible() || !to.Convertible():
		system := func(c *CRS) string {
			if c == nil {
				return "a system that is not known"
			}
			return c.String()
		}
		return nil, fmt.Errorf("the polygons are in %s and the points in %s, and one cannot be converted to the other: name the system of the points with points.ReadOptions.CRS=EPSG:n, or use points.Plane if both are in the same plane", system(from), system(to))
	}
	return func(x, y float64) (float64, float64) { return to.FromWGS84(from.ToWGS84(x, y)) }, nil
}

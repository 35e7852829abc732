package points

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	epsgtable "github.com/collocate/collocate/internal/epsg"
)

// wktNode is NAME["text", 1.5, NAME[...], ...]: well-known text as a tree.
type wktNode struct {
	name     string
	text     []string
	numbers  []float64
	children []*wktNode
}

func (n *wktNode) child(names ...string) *wktNode {
	for _, c := range n.children {
		for _, name := range names {
			if c.name == name {
				return c
			}
		}
	}
	return nil
}

func (n *wktNode) label() string {
	if n == nil || len(n.text) == 0 {
		return ""
	}
	return n.text[0]
}

func (n *wktNode) number(i int) float64 {
	if n == nil || i >= len(n.numbers) {
		return 0
	}
	return n.numbers[i]
}

var errWKT = errors.New("malformed well-known text of a reference system")

type wktParser struct {
	s     string
	depth int
}

func (p *wktParser) space() { p.s = strings.TrimLeft(p.s, " \t\r\n") }

func (p *wktParser) node() (*wktNode, error) {
	if p.depth++; p.depth > 64 {
		return nil, errWKT
	}
	defer func() { p.depth-- }()
	p.space()
	i := strings.IndexAny(p.s, "[(")
	if i <= 0 {
		return nil, errWKT
	}
	n := &wktNode{name: strings.ToUpper(strings.TrimSpace(p.s[:i]))}
	p.s = p.s[i+1:]
	for {
		p.space()
		if p.s == "" {
			return nil, errWKT
		}
		switch c := p.s[0]; {
		case c == '"':
			end := strings.IndexByte(p.s[1:], '"')
			if end < 0 {
				return nil, errWKT
			}
			n.text = append(n.text, p.s[1:1+end])
			p.s = p.s[end+2:]
		case c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.':
			end := strings.IndexAny(p.s, ",]) \t\r\n")
			if end < 0 {
				return nil, errWKT
			}
			v, err := strconv.ParseFloat(p.s[:end], 64)
			if err != nil {
				return nil, errWKT
			}
			n.numbers = append(n.numbers, v)
			p.s = p.s[end:]
		default:
			end := strings.IndexAny(p.s, "[(,])")
			if end < 0 {
				return nil, errWKT
			}
			if p.s[end] == '[' || p.s[end] == '(' {
				c, err := p.node()
				if err != nil {
					return nil, err
				}
				n.children = append(n.children, c)
			} else { // a bare word, such as EAST
				n.text = append(n.text, strings.TrimSpace(p.s[:end]))
				p.s = p.s[end:]
			}
		}
		p.space()
		if p.s == "" {
			return nil, errWKT
		}
		c := p.s[0]
		p.s = p.s[1:]
		if c == ']' || c == ')' {
			return n, nil
		}
		if c != ',' {
			return nil, errWKT
		}
	}
}

// parseWKTSystem parses well-known text (version 1, as in .prj files and GeoPackages). A system
// whose projection or datum is not supported has a unit, but cannot be converted.
func parseWKTSystem(text string) (*CRS, error) {
	p := wktParser{s: text}
	root, err := p.node()
	if err != nil {
		return nil, err
	}
	if id := root.child("AUTHORITY", "ID"); id != nil && strings.EqualFold(id.label(), "EPSG") {
		code := int(id.number(0))
		if len(id.text) > 1 {
			code, _ = strconv.Atoi(id.text[1])
		}
		if c, err := epsg(code); err == nil {
			return c, nil
		}
	}
	if e := root.child("EXTENSION"); e != nil && len(e.text) == 2 && e.text[0] == "PROJ4" {
		return parsePROJ(e.text[1])
	}
	switch root.name {
	case "COMPD_CS", "COMPOUNDCRS":
		if h := root.child("PROJCS", "GEOGCS"); h != nil {
			return systemOf(h, text)
		}
	case "PROJCS", "GEOGCS":
		return systemOf(root, text)
	case "LOCAL_CS", "ENGCRS", "ENGINEERINGCRS":
		return &CRS{Name: root.label()}, nil
	}
	return nil, fmt.Errorf("well-known text of a reference system: %s is not supported: want PROJCS or GEOGCS, or use points.ReadOptions.CRS=EPSG:n", root.name)
}

func systemOf(root *wktNode, text string) (*CRS, error) {
	c := &CRS{Name: strings.ReplaceAll(root.label(), "_", " "), Definition: text}
	geo := root
	if root.name == "PROJCS" {
		geo = root.child("GEOGCS")
	}
	if geo == nil {
		return nil, fmt.Errorf("well-known text of %q: no GEOGCS", c.Name)
	}
	c.datum = datumOf(geo)
	if prime := geo.child("PRIMEM").number(0); prime != 0 {
		c.prime = prime * degree
		if v := geo.child("UNIT").number(0); v != 0 && (v < 0.0174 || v > 0.0175) {
			c.datum = nil // its unit may be another than the degree
		}
	}
	unit := root.child("UNIT")
	if root.name == "GEOGCS" {
		if v := unit.number(0); v != 0 && (v < 0.0174 || v > 0.0175) {
			return nil, fmt.Errorf("reference system %q: its unit %q is not the degree", c.Name, unit.label())
		}
		c.Unit, c.geographic = "degree", true
		return c, nil
	}
	c.metres = unit.number(0)
	c.Unit = unitName(unit.label(), c.metres)
	if c.metres > 0 {
		c.projection = projectionOf(root, c)
	}
	return c, nil
}

func unitName(name string, metres float64) string {
	switch {
	case metres == 1:
		return "m"
	case metres == foot:
		return "ft"
	case metres > footUS-1e-9 && metres < footUS+1e-9:
		return "US survey ft"
	case metres == 1000:
		return "km"
	}
	return name
}

// datumOf returns the datum of a GEOGCS with its shift to WGS 84: the one in TOWGS84 or, for some
// names, a known one. It returns nil if the shift is not known.
func datumOf(geo *wktNode) *datum {
	n := geo.child("DATUM")
	if n == nil {
		return nil
	}
	s := n.child("SPHEROID", "ELLIPSOID")
	if s.number(0) <= 0 || s.number(1) <= 1 {
		return nil
	}
	d := &datum{el: ellipsoid{s.number(0), 1 / s.number(1)}}
	if t := n.child("TOWGS84"); t != nil && len(t.numbers) == 7 {
		copy(d.shift[:], t.numbers)
		return d
	}
	name := strings.ToUpper(strings.ReplaceAll(n.label(), " ", "_"))
	for _, known := range knownDatums {
		if strings.Contains(name, known.part) {
			if e, ok := epsgtable.Lookup(known.code); ok && known.code != WGS84.EPSG {
				var same CRS
				same.setBase(e)
				d.shift = same.datum.shift
			}
			return d
		}
	}
	return nil
}

// knownDatums are parts of the names of datums, with longitudes and latitudes of that datum. Those
// that agree with WGS 84 to a metre or two have its number.
var knownDatums = []struct {
	part string
	code int
}{
	{"WGS_1984", 4326}, {"WGS84", 4326}, {"NORTH_AMERICAN_1983", 4326}, {"NORTH_AMERICAN_DATUM_1983", 4326},
	{"NAD83", 4326}, {"ETRS", 4326}, {"EUROPEAN_TERRESTRIAL", 4326}, {"GDA", 4326},
	{"GEOCENTRIC_DATUM_OF_AUSTRALIA", 4326}, {"RGF93", 4326}, {"RESEAU_GEODESIQUE_FRANCAIS", 4326},
	{"SIRGAS", 4326}, {"NZGD2000", 4326}, {"NEW_ZEALAND_GEODETIC_DATUM_2000", 4326}, {"SWEREF99", 4326},
	{"CH1903+", 4150}, {"CH1903", 4149}, {"OSGB_1936", 4277}, {"DEUTSCHES_HAUPTDREIECKSNETZ", 4314},
	{"DHDN", 4314}, {"MGI", 4312}, {"MILITAR", 4312}, {"NORTH_AMERICAN_1927", 4267},
	{"NORTH_AMERICAN_DATUM_1927", 4267}, {"AMERSFOORT", 4289}, {"BELGE_1972", 4313}, {"EUROPEAN_1950", 4230},
	{"EUROPEAN_DATUM_1950", 4230}, {"S_JTSK", 4156}, {"JEDNOTNE_TRIGONOMETRICKE", 4156}, {"MONTE_MARIO", 4265},
	{"HUNGARIAN_1972", 4237}, {"PULKOVO_1942", 4284}, {"TOKYO", 4301}, {"NEW_ZEALAND_1949", 4272},
}

// wktMethods are the projections of well-known text, with their names in PROJ strings.
var wktMethods = map[string]string{
	"transverse_mercator": "tmerc", "gauss_kruger": "tmerc", "transverse_mercator_south_orientated": "tmerc +axis=wsu",
	"lambert_conformal_conic": "lcc", "lambert_conformal_conic_2sp": "lcc", "lambert_conformal_conic_1sp": "lcc",
	"lambert_conformal_conic_2sp_belgium": "lcc", "albers": "aea", "albers_conic_equal_area": "aea",
	"lambert_azimuthal_equal_area": "laea", "mercator": "merc", "mercator_1sp": "merc", "mercator_2sp": "merc",
	"mercator_auxiliary_sphere": "webmerc", "popular_visualisation_pseudo_mercator": "webmerc",
	"polar_stereographic": "stere", "stereographic_north_pole": "stere", "stereographic_south_pole": "stere",
	"oblique_stereographic": "sterea", "double_stereographic": "sterea", "cassini_soldner": "cass", "cassini": "cass",
	"hotine_oblique_mercator": "omerc +no_uoff", "hotine_oblique_mercator_azimuth_natural_origin": "omerc +no_uoff",
	"rectified_skew_orthomorphic_natural_origin": "omerc +no_uoff", "hotine_oblique_mercator_azimuth_center": "omerc",
	"rectified_skew_orthomorphic_center": "omerc", "polyconic": "poly", "american_polyconic": "poly",
	"cylindrical_equal_area": "cea", "equirectangular": "eqc", "equidistant_cylindrical": "eqc", "plate_carree": "eqc",
	"equal_earth": "eqearth", "new_zealand_map_grid": "nzmg",
}

// wktParameters are the parameters of well-known text, with their names in PROJ strings. Values
// that are lengths are in the unit of the system.
var wktParameters = []struct {
	name, proj string
	length     bool
}{
	{"central_meridian", "lon_0", false}, {"longitude_of_center", "lon_0", false}, {"longitude_of_origin", "lon_0", false},
	{"latitude_of_origin", "lat_0", false}, {"latitude_of_center", "lat_0", false},
	{"standard_parallel_1", "lat_1", false}, {"standard_parallel_2", "lat_2", false},
	{"scale_factor", "k_0", false}, {"azimuth", "alpha", false}, {"rectified_grid_angle", "gamma", false},
	{"xy_plane_rotation", "gamma", false}, {"false_easting", "x_0", true}, {"false_northing", "y_0", true},
}

// projectionOf returns the projection that a PROJCS describes, or nil if it is not supported.
func projectionOf(root *wktNode, c *CRS) projection {
	method, ok := wktMethods[strings.ToLower(strings.ReplaceAll(root.child("PROJECTION").label(), " ", "_"))]
	if c.datum == nil || !ok {
		return nil
	}
	w := parsePROJWords(method)
	for _, n := range root.children {
		if n.name != "PARAMETER" {
			continue
		}
		label := strings.ToLower(strings.ReplaceAll(n.label(), " ", "_"))
		for _, p := range wktParameters {
			if p.name == label {
				v := n.number(0)
				if p.length {
					v *= c.metres
				}
				w[p.proj] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
	}
	switch w["proj"] {
	case "merc", "cea", "eqc": // of true scale at the standard parallel
		if lat, ok := w["lat_1"]; ok {
			w["lat_ts"] = lat
		}
	case "stere": // ESRI's from the pole of its name; others from the pole of true scale
		lat, given := w["lat_1"]
		if !given {
			lat = w["lat_0"]
		}
		if v, err := strconv.ParseFloat(lat, 64); err == nil {
			if w["lat_ts"] = lat; v > 89.999 || v < -89.999 {
				delete(w, "lat_ts")
			}
			w["lat_0"] = strconv.FormatFloat(math.Copysign(90, v), 'g', -1, 64)
		}
	}
	own := CRS{}
	w["to_meter"] = strconv.FormatFloat(c.metres, 'g', -1, 64)
	if err := own.project(w, c.datum.el); err != nil {
		return nil
	}
	c.axes = own.axes
	return own.projection
}

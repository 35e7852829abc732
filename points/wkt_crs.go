package points

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
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
		if c := epsg(code); c != nil {
			return c, nil
		}
	}
	switch root.name {
	case "COMPD_CS", "COMPOUNDCRS":
		if h := root.child("PROJCS", "GEOGCS"); h != nil {
			return systemOf(h)
		}
	case "PROJCS", "GEOGCS":
		return systemOf(root)
	case "LOCAL_CS", "ENGCRS", "ENGINEERINGCRS":
		return &CRS{Name: root.label()}, nil
	}
	return nil, fmt.Errorf("well-known text of a reference system: %s is not supported: want PROJCS or GEOGCS, or use points.ReadOptions.CRS=EPSG:n", root.name)
}

func systemOf(root *wktNode) (*CRS, error) {
	c := &CRS{Name: strings.ReplaceAll(root.label(), "_", " ")}
	geo := root
	if root.name == "PROJCS" {
		geo = root.child("GEOGCS")
	}
	if geo == nil {
		return nil, fmt.Errorf("well-known text of %q: no GEOGCS", c.Name)
	}
	c.datum = datumOf(geo)
	if prime := geo.child("PRIMEM"); prime.number(0) != 0 {
		c.datum = nil // not Greenwich
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
// names, a known one. Most of those agree with WGS 84 to a metre or two and have no shift. It
// returns nil if the shift is not known.
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
	for _, known := range []struct {
		part  string
		shift [7]float64
	}{
		{"WGS_1984", [7]float64{}}, {"WGS84", [7]float64{}}, {"NORTH_AMERICAN_1983", [7]float64{}},
		{"NORTH_AMERICAN_DATUM_1983", [7]float64{}},
		{"NAD83", [7]float64{}}, {"ETRS", [7]float64{}}, {"EUROPEAN_TERRESTRIAL", [7]float64{}},
		{"GDA", [7]float64{}}, {"GEOCENTRIC_DATUM_OF_AUSTRALIA", [7]float64{}},
		{"RGF93", [7]float64{}}, {"RESEAU_GEODESIQUE_FRANCAIS", [7]float64{}},
		{"SIRGAS", [7]float64{}}, {"NZGD2000", [7]float64{}},
		{"NEW_ZEALAND_GEODETIC_DATUM_2000", [7]float64{}},
		{"SWEREF99", [7]float64{}}, {"OSGB_1936", datumOSGB36.shift},
		{"DEUTSCHES_HAUPTDREIECKSNETZ", datumDHDN.shift}, {"DHDN", datumDHDN.shift},
		{"MGI", datumMGI.shift},
		{"MILITAR", datumMGI.shift},
	} {
		if strings.Contains(name, known.part) {
			d.shift = known.shift
			return d
		}
	}
	return nil
}

// projectionOf returns the projection that a PROJCS describes, or nil if it is not supported.
func projectionOf(root *wktNode, c *CRS) projection {
	if c.datum == nil {
		return nil
	}
	value := make(map[string]float64)
	for _, n := range root.children {
		if n.name == "PARAMETER" {
			value[strings.ToLower(strings.ReplaceAll(n.label(), " ", "_"))] = n.number(0)
		}
	}
	first := func(otherwise float64, names ...string) float64 {
		for _, n := range names {
			if v, ok := value[n]; ok {
				return v
			}
		}
		return otherwise
	}
	lon0 := first(0, "central_meridian", "longitude_of_center", "longitude_of_origin")
	lat0 := first(0, "latitude_of_origin", "latitude_of_center")
	lat1, lat2 := first(lat0, "standard_parallel_1"), first(first(lat0, "standard_parallel_1"), "standard_parallel_2")
	k0 := first(1, "scale_factor")
	x0, y0 := first(0, "false_easting")*c.metres, first(0, "false_northing")*c.metres
	el := c.datum.el
	switch strings.ToLower(root.child("PROJECTION").label()) {
	case "transverse_mercator", "gauss_kruger":
		return newTransverseMercator(el, lon0, lat0, k0, x0, y0)
	case "lambert_conformal_conic", "lambert_conformal_conic_2sp", "lambert_conformal_conic_1sp":
		return newLambertConic(el, lon0, lat0, lat1, lat2, k0, x0, y0)
	case "albers", "albers_conic_equal_area":
		return newAlbers(el, lon0, lat0, lat1, lat2, x0, y0)
	case "lambert_azimuthal_equal_area":
		if lat0 > -89 && lat0 < 89 {
			return newAzimuthal(el, lon0, lat0, x0, y0)
		}
	case "mercator_auxiliary_sphere", "popular_visualisation_pseudo_mercator":
		return &mercator{0, el.a, lon0 * degree, 1, x0, y0}
	}
	return nil
}

package points

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	epsgtable "github.com/collocate/collocate/internal/epsg"
)

// CRS is a coordinate reference system: what the numbers of a position mean. A nil *CRS means
// unknown.
type CRS struct {
	Name string // as in EPSG or the file
	EPSG int    // 0 if the system has no EPSG number, or it is unknown
	// Unit is the unit of the coordinates: "degree", "m", "ft", "US survey ft", or "" if there is
	// none.
	Unit string
	// Definition is the well-known text or PROJ string of a system without an EPSG number, as it
	// came. It is empty if there is none.
	Definition string
	// Accuracy of the conversion to WGS 84, in metres; 0 if it is not known.
	Accuracy float64
	// Member is the name in the "crs" member of the GeoJSON from which the points came, which had
	// one before RFC 7946; else "".
	Member string

	metres float64 // metres in one unit of a projected system
	prime  float64 // prime meridian, in radians east of Greenwich
	axes   string  // directions of the numbers, such as "wsu": west and south; "" means east and north

	named int // EPSG number by which it was named: that of a system that has heights, too; else 0

	used [4]float64 // where it is used, in degrees: west, south, east, north; zeros if it is not known

	geographic bool
	projection projection // nil in a geographic system, or if the projection is not supported
	datum      *datum     // nil means unknown: positions cannot be converted
}

// WGS84 is longitude and latitude in degrees, as GPS reports them.
var WGS84 = &CRS{Name: "WGS 84", EPSG: 4326, Unit: "degree", geographic: true, datum: &datumWGS84}

// Plane is a plane without a unit or a location on earth.
var Plane = &CRS{Name: "plane"}

// Geographic reports whether positions are longitude and latitude in degrees.
func (c *CRS) Geographic() bool { return c != nil && c.geographic }

// DistanceUnit returns the unit of distances between points: metres for longitudes and latitudes,
// otherwise the unit of the coordinates, or "" if it is unknown.
func (c *CRS) DistanceUnit() string {
	switch {
	case c == nil:
		return ""
	case c.geographic:
		return "m"
	}
	return c.Unit
}

// UnitName names the unit of distances in words, for axes and legends.
func (c *CRS) UnitName() string {
	switch u := c.DistanceUnit(); u {
	case "":
		return "units of the file"
	case "m":
		return "metres"
	default:
		return u
	}
}

// Convertible reports whether positions can be converted to WGS 84.
func (c *CRS) Convertible() bool {
	return c != nil && c.datum != nil && (c.geographic || c.projection != nil)
}

// String returns the name of the system with its number.
func (c *CRS) String() string {
	switch {
	case c == nil:
		return "unknown"
	case c.EPSG > 0:
		return fmt.Sprintf("EPSG:%d (%s)", c.EPSG, c.Name)
	}
	return c.Name
}

// ToWGS84 returns the longitude and latitude, in degrees, of a position in a convertible system.
func (c *CRS) ToWGS84(x, y float64) (lon, lat float64) {
	if c.geographic {
		if c.datum.same() && c.prime == 0 {
			return x, y
		}
		lon, lat = x*degree, y*degree
	} else {
		x, y = c.turned(x, y)
		lon, lat = c.projection.inverse(x*c.metres, y*c.metres)
	}
	lon, lat = c.datum.toWGS84(lon+c.prime, lat)
	return turn(lon) / degree, lat / degree
}

// FromWGS84 is the inverse of ToWGS84.
func (c *CRS) FromWGS84(lon, lat float64) (x, y float64) {
	if c.geographic && c.datum.same() && c.prime == 0 {
		return lon, lat
	}
	u, v := c.datum.fromWGS84(lon*degree, lat*degree)
	u = turn(u - c.prime)
	if c.geographic {
		return u / degree, v / degree
	}
	x, y = c.projection.forward(u, v)
	return c.turned(x/c.metres, y/c.metres)
}

// turned changes between the directions of the system's numbers and east and north.
func (c *CRS) turned(x, y float64) (float64, float64) {
	switch c.axes {
	case "wsu":
		return -x, -y
	case "wnu":
		return -x, y
	case "swu":
		return -y, -x
	}
	return x, y
}

// Same reports whether two systems are the same, so that their positions may be mixed.
func (c *CRS) Same(o *CRS) bool {
	if c == nil || o == nil {
		return c == o
	}
	return c.EPSG == o.EPSG && (c.EPSG > 0 || c.Name == o.Name && c.Definition == o.Definition)
}

var datumWGS84 = datum{el: wgs84Ellipsoid}

// epsg returns the system with an EPSG number, or an error that says why it is not supported.
func epsg(code int) (*CRS, error) {
	switch code {
	case WGS84.EPSG:
		return WGS84, nil
	case 900913: // the older, unofficial number of Web Mercator
		code = 3857
	}
	e, ok := epsgtable.Lookup(code)
	switch {
	case !ok:
		return nil, fmt.Errorf("EPSG:%d is not supported: it does not exist, is not a system of positions on the "+
			"earth's surface, or has a projection that few systems have: give its PROJ string instead of the "+
			"code, or points.Plane to use the numbers as they are", code)
	case e.Positions != 0:
		flat, err := epsg(e.Positions)
		if err != nil {
			return nil, err
		}
		c := *flat
		c.named = code
		return &c, nil
	case strings.HasSuffix(e.Name, epsgtable.Grads):
		return nil, fmt.Errorf("EPSG:%d has longitudes and latitudes that are not in degrees: want another system", code)
	}
	c := &CRS{Name: e.Name, EPSG: code, used: e.Area}
	base := e
	if e.Base != 0 {
		base, _ = epsgtable.Lookup(e.Base)
	}
	el := c.setBase(base)
	if e.Base == 0 {
		c.Unit, c.geographic = "degree", true
		return c, nil
	}
	return c, c.project(parsePROJWords(e.PROJ), el)
}

// setBase sets the datum of longitudes and latitudes, and returns its ellipsoid.
func (c *CRS) setBase(e epsgtable.Entry) ellipsoid {
	number := func(text string) float64 {
		v, _ := strconv.ParseFloat(text, 64) // the table is ours, and tested
		return v
	}
	a, rf, _ := strings.Cut(e.Ellipsoid, " ")
	el := ellipsoid{a: number(a)}
	if v := number(rf); v != 0 {
		el.f = 1 / v
	}
	c.prime, c.Accuracy = number(e.Prime)*degree, number(e.Accuracy)
	if e.Shift != "-" {
		c.datum = &datum{el: el}
		for i, v := range strings.Fields(e.Shift) {
			c.datum.shift[i] = number(v)
		}
	}
	return el
}

// ParseCRS parses the usual notations of a system: EPSG:27700, a bare number, a URN, CRS84,
// "planar", a PROJ string such as +proj=utm +zone=33 +datum=WGS84, well-known text (the contents of
// a .prj file), or PROJJSON with an EPSG number.
func ParseCRS(text string) (*CRS, error) {
	text = strings.TrimSpace(text)
	upper := strings.ToUpper(text)
	switch {
	case upper == "PLANAR" || upper == "PLANE" || upper == "NONE":
		return Plane, nil
	case strings.HasSuffix(upper, "CRS84") || upper == "WGS84" || upper == "WGS 84":
		return WGS84, nil
	case strings.HasPrefix(text, "{"):
		return parsePROJJSON(text)
	case strings.HasPrefix(text, "+"):
		return parsePROJ(text)
	case strings.ContainsAny(text, "[("):
		return parseWKTSystem(text)
	}
	digits := text
	if i := strings.LastIndexAny(text, ":/"); i >= 0 {
		if !strings.Contains(upper, "EPSG") {
			return nil, fmt.Errorf("reference system %q: want EPSG and its number, such as EPSG:4326, or a PROJ string", text)
		}
		digits = text[i+1:]
	}
	code, err := strconv.Atoi(digits)
	if err != nil {
		return nil, fmt.Errorf("reference system %q: want EPSG and its number, such as EPSG:4326, or a PROJ string", text)
	}
	return epsg(code)
}

// parsePROJJSON returns the system whose EPSG number PROJJSON gives, as in GeoParquet's metadata.
func parsePROJJSON(text string) (*CRS, error) {
	var p struct {
		Type string `json:"type"`
		Name string `json:"name"`
		ID   struct {
			Authority string          `json:"authority"`
			Code      json.RawMessage `json:"code"`
		} `json:"id"`
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return nil, fmt.Errorf("reference system in PROJJSON: %w", err)
	}
	code := strings.Trim(string(p.ID.Code), `"`)
	switch strings.ToUpper(p.ID.Authority) {
	case "OGC":
		if code == "CRS84" {
			return WGS84, nil
		}
	case "EPSG":
		return ParseCRS("EPSG:" + code)
	}
	return nil, fmt.Errorf("reference system %q has no EPSG code: name one with points.ReadOptions.CRS", p.Name)
}

// Units of length.
const (
	foot   = 0.3048
	footUS = 1200.0 / 3937
)

package points

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// CRS is a coordinate reference system: what the numbers of a position mean. A nil *CRS means
// unknown.
type CRS struct {
	Name string // as in EPSG or the file
	EPSG int    // 0 if the system has no EPSG number, or it is unknown
	// Unit is the unit of the coordinates: "degree", "m", "ft", "US survey ft", or "" if there is
	// none.
	Unit   string
	metres float64 // metres in one unit of a projected system

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
		if c.datum.shift == [7]float64{} {
			return x, y
		}
		lon, lat = c.datum.toWGS84(x*degree, y*degree)
	} else {
		lon, lat = c.projection.inverse(x*c.metres, y*c.metres)
		lon, lat = c.datum.toWGS84(lon, lat)
	}
	return turn(lon) / degree, lat / degree
}

// FromWGS84 is the inverse of ToWGS84.
func (c *CRS) FromWGS84(lon, lat float64) (x, y float64) {
	if c.geographic && c.datum.shift == [7]float64{} {
		return lon, lat
	}
	u, v := c.datum.fromWGS84(lon*degree, lat*degree)
	if c.geographic {
		return turn(u) / degree, v / degree
	}
	x, y = c.projection.forward(u, v)
	return x / c.metres, y / c.metres
}

// Same reports whether two systems are the same, so that their positions may be mixed.
func (c *CRS) Same(o *CRS) bool {
	if c == nil || o == nil {
		return c == o
	}
	return c.EPSG == o.EPSG && (c.EPSG > 0 || c.Name == o.Name)
}

var (
	datumWGS84  = datum{el: wgs84Ellipsoid}
	datumGRS80  = datum{el: grs80Ellipsoid} // NAD83, ETRS89, GDA, RGF93: a metre or two off WGS 84
	datumOSGB36 = datum{airyEllipsoid, [7]float64{446.448, -125.157, 542.06, 0.15, 0.247, 0.842, -20.489}}
	datumDHDN   = datum{besselEllipsoid, [7]float64{598.1, 73.7, 418.2, 0.202, 0.045, -2.455, 6.7}}
	datumMGI    = datum{besselEllipsoid, [7]float64{577.326, 90.129, 463.919, 5.137, 1.474, 5.297, 2.4232}}
)

// Units of length.
const (
	foot   = 0.3048
	footUS = 1200.0 / 3937
)

// epsg returns the system with an EPSG number, or nil if it is not supported.
func epsg(code int) *CRS {
	switch code {
	case 4326:
		return WGS84
	case 900913: // the older, unofficial number of Web Mercator
		code = 3857
	}
	c := epsgZone(code)
	if c == nil {
		c = epsgProjected(code)
	}
	if g, ok := epsgGeographic[code]; ok {
		c = &CRS{Name: g.name, Unit: "degree", geographic: true, datum: g.datum}
	}
	if c != nil {
		c.EPSG = code
	}
	return c
}

// epsgGeographic are the systems of longitudes and latitudes.
var epsgGeographic = map[int]struct {
	name  string
	datum *datum
}{
	4258: {"ETRS89", &datumGRS80},
	4269: {"NAD83", &datumGRS80},
	4171: {"RGF93", &datumGRS80},
	4283: {"GDA94", &datumGRS80},
	7844: {"GDA2020", &datumGRS80},
	4277: {"OSGB36", &datumOSGB36},
	4314: {"DHDN", &datumDHDN},
	4312: {"MGI", &datumMGI},
}

// projected returns a projected system in metres.
func projected(name string, d *datum, p projection) *CRS {
	return &CRS{Name: name, Unit: "m", metres: 1, projection: p, datum: d}
}

// epsgZone returns a system of a numbered family, such as the UTM zones, or nil.
func epsgZone(code int) *CRS {
	utm := func(name string, d *datum, zone int, south bool) *CRS {
		north, half := 0.0, "N"
		if south {
			north, half = 10_000_000, "S"
		}
		return projected(fmt.Sprintf("%s / UTM zone %d%s", name, zone, half), d,
			newTransverseMercator(d.el, float64(6*zone-183), 0, 0.9996, 500_000, north))
	}
	switch {
	case code > 32600 && code <= 32660:
		return utm("WGS 84", &datumWGS84, code-32600, false)
	case code > 32700 && code <= 32760:
		return utm("WGS 84", &datumWGS84, code-32700, true)
	case code >= 25828 && code <= 25838:
		return utm("ETRS89", &datumGRS80, code-25800, false)
	case code >= 26901 && code <= 26923:
		return utm("NAD83", &datumGRS80, code-26900, false)
	case code >= 28348 && code <= 28358:
		c := utm("GDA94", &datumGRS80, code-28300, true)
		c.Name = fmt.Sprintf("GDA94 / MGA zone %d", code-28300)
		return c
	case code >= 7846 && code <= 7859:
		c := utm("GDA2020", &datumGRS80, code-7800, true)
		c.Name = fmt.Sprintf("GDA2020 / MGA zone %d", code-7800)
		return c
	case code >= 31466 && code <= 31469:
		zone := float64(code - 31464)
		return projected(fmt.Sprintf("DHDN / Gauss-Krüger zone %v", zone), &datumDHDN,
			newTransverseMercator(besselEllipsoid, 3*zone, 0, 1, zone*1e6+500_000, 0))
	case code >= 3942 && code <= 3950:
		lat := float64(code - 3900)
		return projected(fmt.Sprintf("RGF93 / CC%v", lat), &datumGRS80,
			newLambertConic(grs80Ellipsoid, 3, lat, lat-0.75, lat+0.75, 1, 1_700_000, (lat-41)*1e6+200_000))
	}
	return nil
}

// epsgProjected returns a projected system that belongs to no family, or nil.
func epsgProjected(code int) *CRS {
	feet := func(name string, p projection) *CRS {
		return &CRS{Name: name, Unit: "US survey ft", metres: footUS, projection: p, datum: &datumGRS80}
	}
	grs := grs80Ellipsoid
	switch code {
	case 3857:
		return projected("WGS 84 / Web Mercator", &datumWGS84, &mercator{0, wgs84Ellipsoid.a, 0, 1, 0, 0})
	case 3395:
		return projected("WGS 84 / World Mercator", &datumWGS84,
			&mercator{math.Sqrt(wgs84Ellipsoid.e2()), wgs84Ellipsoid.a, 0, 1, 0, 0})
	case 27700:
		return projected("OSGB36 / British National Grid", &datumOSGB36,
			newTransverseMercator(airyEllipsoid, -2, 49, 0.9996012717, 400_000, -100_000))
	case 2154:
		return projected("RGF93 / Lambert-93", &datumGRS80,
			newLambertConic(grs, 3, 46.5, 49, 44, 1, 700_000, 6_600_000))
	case 3035:
		return projected("ETRS89 / LAEA Europe", &datumGRS80, newAzimuthal(grs, 10, 52, 4_321_000, 3_210_000))
	case 3034:
		return projected("ETRS89 / LCC Europe", &datumGRS80,
			newLambertConic(grs, 10, 52, 35, 65, 1, 4_000_000, 2_800_000))
	case 2180:
		return projected("ETRF2000-PL / CS92", &datumGRS80,
			newTransverseMercator(grs, 19, 0, 0.9993, 500_000, -5_300_000))
	case 3067:
		return projected("ETRS89 / TM35FIN(E,N)", &datumGRS80, newTransverseMercator(grs, 27, 0, 0.9996, 500_000, 0))
	case 3006:
		return projected("SWEREF99 TM", &datumGRS80, newTransverseMercator(grs, 15, 0, 0.9996, 500_000, 0))
	case 2193:
		return projected("NZGD2000 / New Zealand Transverse Mercator", &datumGRS80,
			newTransverseMercator(grs, 173, 0, 0.9996, 1_600_000, 10_000_000))
	case 3416:
		return projected("ETRS89 / Austria Lambert", &datumGRS80,
			newLambertConic(grs, 13.0+1.0/3, 47.5, 49, 46, 1, 400_000, 400_000))
	case 31287:
		return projected("MGI / Austria Lambert", &datumMGI,
			newLambertConic(besselEllipsoid, 13.0+1.0/3, 47.5, 49, 46, 1, 400_000, 400_000))
	case 5070:
		return projected("NAD83 / Conus Albers", &datumGRS80, newAlbers(grs, -96, 23, 29.5, 45.5, 0, 0))
	case 3577:
		return projected("GDA94 / Australian Albers", &datumGRS80, newAlbers(grs, 132, 0, -18, -36, 0, 0))
	case 3005:
		return projected("NAD83 / BC Albers", &datumGRS80, newAlbers(grs, -126, 45, 50, 58.5, 1_000_000, 0))
	case 3310:
		return projected("NAD83 / California Albers", &datumGRS80, newAlbers(grs, -120, 0, 34, 40.5, 0, -4_000_000))
	case 3347:
		return projected("NAD83 / Statistics Canada Lambert", &datumGRS80,
			newLambertConic(grs, -(91+52.0/60), 63.390675, 49, 77, 1, 6_200_000, 3_000_000))
	case 2229:
		return feet("NAD83 / California zone 5 (ftUS)",
			newLambertConic(grs, -118, 33.5, 35+28.0/60, 34+2.0/60, 1, 2_000_000.0001016,
				500_000.0001016001))
	case 2263:
		return feet("NAD83 / New York Long Island (ftUS)",
			newLambertConic(grs, -74, 40+10.0/60, 41+2.0/60, 40+40.0/60, 1, 300_000, 0))
	case 3435:
		return feet("NAD83 / Illinois East (ftUS)",
			newTransverseMercator(grs, -(88+20.0/60), 36+40.0/60, 0.999975, 300_000.0000000001, 0))
	}
	return nil
}

// ParseCRS parses the usual notations of a system: EPSG:27700, a bare number, a URN, CRS84,
// "planar", well-known text (the contents of a .prj file), or PROJJSON.
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
	case strings.ContainsAny(text, "[("):
		return parseWKTSystem(text)
	}
	digits := text
	if i := strings.LastIndexAny(text, ":/"); i >= 0 {
		if !strings.Contains(upper, "EPSG") {
			return nil, fmt.Errorf("reference system %q: want EPSG and its number, such as EPSG:4326", text)
		}
		digits = text[i+1:]
	}
	code, err := strconv.Atoi(digits)
	if err != nil {
		return nil, fmt.Errorf("reference system %q: want EPSG and its number, such as EPSG:4326", text)
	}
	if c := epsg(code); c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("EPSG:%d is not supported (WGS 84, NAD83 and ETRS89, their UTM zones, Web Mercator, national grids: see docs/places.md): give a file with its well-known text instead of the code, or points.Plane to use the numbers as they are", code)
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

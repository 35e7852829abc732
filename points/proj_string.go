package points

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	epsgtable "github.com/collocate/collocate/internal/epsg"
)

// frame is what projections share: the origin in radians, the scale there, and in metres the
// position of the origin.
type frame struct{ lon0, lat0, k0, x0, y0 float64 }

// projWords are the parameters of a PROJ string. The method is "proj".
type projWords map[string]string

// parsePROJWords parses +proj=utm +zone=33, also without + and with the method as the first word.
func parsePROJWords(text string) projWords {
	words := projWords{}
	for i, w := range strings.Fields(text) {
		name, value, ok := strings.Cut(strings.TrimPrefix(w, "+"), "=")
		if i == 0 && !ok {
			name, value = "proj", name
		}
		words[name] = value
	}
	return words
}

func (w projWords) has(name string) bool { _, ok := w[name]; return ok }

// number returns the number of the first name that is there.
func (w projWords) number(otherwise float64, names ...string) (float64, error) {
	for _, n := range names {
		if text, ok := w[n]; ok {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
				return 0, fmt.Errorf("+%s=%s: want a number", n, text)
			}
			return v, nil
		}
	}
	return otherwise, nil
}

// projDatums are the datums that PROJ strings may name, with their EPSG longitudes and latitudes.
var projDatums = map[string]int{"WGS84": 4326, "NAD83": 4269, "NAD27": 4267, "OSGB36": 4277,
	"potsdam": 4314, "GGRS87": 4121, "carthage": 4223, "hermannskogel": 4312, "ire65": 4299, "nzgd49": 4272}

// projEllipsoids are the ellipsoids that PROJ strings may name.
var projEllipsoids = map[string]ellipsoid{
	"WGS84": wgs84Ellipsoid, "GRS80": {6378137, 1 / 298.257222101}, "WGS72": {6378135, 1 / 298.26},
	"intl": {6378388, 1 / 297.0}, "bessel": {6377397.155, 1 / 299.1528128},
	"clrk66": {6378206.4, 1 - 6356583.8/6378206.4}, "clrk80": {6378249.145, 1 / 293.4663},
	"clrk80ign": {6378249.2, 1 / 293.4660212936269}, "krass": {6378245, 1 / 298.3},
	"airy": {6377563.396, 1 / 299.3249646}, "mod_airy": {6377340.189, 1 - 6356034.446/6377340.189},
	"aust_SA": {6378160, 1 / 298.25}, "GRS67": {6378160, 1 / 298.2471674270},
	"evrst30": {6377276.345, 1 / 300.8017}, "helmert": {6378200, 1 / 298.3},
	"bess_nam": {6377483.865, 1 / 299.1528128}, "sphere": {6370997, 0},
}

// projMeridians are the prime meridians that PROJ strings may name, in degrees.
var projMeridians = map[string]float64{"greenwich": 0, "paris": 2.337229166667, "ferro": -17.666666666667,
	"bern": 7.439583333333, "rome": 12.452333333333, "madrid": -3.687938888889, "oslo": 10.722916666667,
	"lisbon": -9.131906111111, "bogota": -74.080916666667, "jakarta": 106.807719444444,
	"athens": 23.7163375, "stockholm": 18.058277777778, "brussels": 4.367975}

// parsePROJ returns the system of a PROJ string.
func parsePROJ(text string) (*CRS, error) {
	w := parsePROJWords(text)
	fail := func(err error) (*CRS, error) {
		return nil, fmt.Errorf("reference system %q: %w", text, err)
	}
	if code, ok := strings.CutPrefix(strings.ToLower(w["init"]), "epsg:"); ok {
		return ParseCRS("EPSG:" + code)
	}
	if w.has("step") || w.has("geoidgrids") || w.has("nadgrids") && w["nadgrids"] != "@null" {
		return fail(errors.New("pipelines and grids are not supported"))
	}
	c := &CRS{Name: text, Definition: text}
	el, err := c.datumOfWords(w)
	if err != nil {
		return fail(err)
	}
	switch w["proj"] {
	case "longlat", "latlong", "lonlat", "latlon":
		c.Unit, c.geographic = "degree", true
		return c, nil
	case "merc": // Web Mercator, as it was written before it had a name
		if b, err := w.number(0, "b"); err == nil && w.has("a") && w["a"] == w["b"] && b == wgs84Ellipsoid.a &&
			w["nadgrids"] == "@null" {
			w["proj"], c.datum, el = "webmerc", &datumWGS84, wgs84Ellipsoid
		}
	}
	if err := c.project(w, el); err != nil {
		return fail(err)
	}
	return c, nil
}

// datumOfWords sets the datum and the prime meridian, and returns the ellipsoid.
func (c *CRS) datumOfWords(w projWords) (el ellipsoid, err error) {
	known := false
	if name, ok := w["datum"]; ok {
		code, ok := projDatums[name]
		if !ok {
			return el, fmt.Errorf("+datum=%s is not known: give +ellps and +towgs84", name)
		}
		e, _ := epsgtable.Lookup(code)
		el, known = c.setBase(e), true
	} else if el, err = w.ellipsoid(); err != nil {
		return el, err
	}
	// Without a shift, the datum of other ellipsoids is unknown.
	figure := datum{el: el}
	if !known && (figure.same() || w["towgs84"] != "") {
		c.datum = &figure
	}
	if shift := w["towgs84"]; shift != "" && !known {
		values := strings.Split(shift, ",")
		if len(values) != 3 && len(values) != 7 {
			return el, fmt.Errorf("+towgs84=%s: want 3 or 7 numbers", shift)
		}
		for i, v := range values {
			if figure.shift[i], err = (projWords{"towgs84": v}).number(0, "towgs84"); err != nil {
				return el, err
			}
		}
	}
	if pm, ok := w["pm"]; ok {
		at, ok := projMeridians[strings.ToLower(pm)]
		if !ok {
			if at, err = w.number(0, "pm"); err != nil {
				return el, err
			}
		}
		c.prime = at * degree
	}
	return el, nil
}

func (w projWords) ellipsoid() (el ellipsoid, err error) {
	if name, ok := w["ellps"]; ok {
		if el, ok = projEllipsoids[name]; !ok {
			return el, fmt.Errorf("+ellps=%s is not known: give +a and +rf", name)
		}
	} else if !w.has("a") && !w.has("R") {
		el = projEllipsoids["GRS80"] // as PROJ
	}
	a, err1 := w.number(el.a, "R", "a")
	rf, err2 := w.number(0, "rf")
	f, err3 := w.number(el.f, "f")
	b, err4 := w.number(a, "b")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return el, err
	}
	switch {
	case w.has("R"):
		f = 0
	case rf != 0:
		f = 1 / rf
	case w.has("b"):
		f = (a - b) / a
	}
	if !(a > 0 && a < 1e9 && f >= 0 && f < 0.1) {
		return el, fmt.Errorf("an ellipsoid of radius %v and flattening %v: want one like the earth's", a, f)
	}
	return ellipsoid{a, f}, nil
}

// projUnits are the units that PROJ strings may name, in metres.
var projUnits = map[string]float64{"m": 1, "km": 1000, "ft": foot, "us-ft": footUS, "link": 0.201168,
	"yd": 0.9144, "ch": 20.1168, "cm": 0.01, "mm": 0.001, "ind-ft": 0.30479841, "fath": 1.8288}

// project sets the projection and the unit.
func (c *CRS) project(w projWords, el ellipsoid) error {
	c.metres = 1
	if name, ok := w["units"]; ok {
		if c.metres, ok = projUnits[name]; !ok {
			return fmt.Errorf("+units=%s is not known: give +to_meter", name)
		}
	}
	var p frame
	var err [14]error
	angle := func(i int, otherwise float64, names ...string) float64 {
		var v float64
		v, err[i] = w.number(otherwise, names...)
		return v * degree
	}
	c.metres, err[0] = w.number(c.metres, "to_meter")
	p.lon0, p.lat0 = angle(1, 0, "lon_0", "lonc"), angle(2, 0, "lat_0")
	p.k0, err[3] = w.number(1, "k_0", "k")
	p.x0, err[4] = w.number(0, "x_0")
	p.y0, err[5] = w.number(0, "y_0")
	lat1 := angle(6, p.lat0/degree, "lat_1")
	lat2, latTrue := angle(7, lat1/degree, "lat_2"), angle(8, 0, "lat_ts")
	azimuth := angle(9, 90, "alpha")
	rectified := angle(10, azimuth/degree, "gamma")
	height, zone := 0.0, 0.0
	height, err[11] = w.number(0, "h_0")
	zone, err[12] = w.number(0, "zone")
	if R, bad := w.number(0, "R"); bad != nil || R < 0 {
		err[13] = errors.Join(bad, errors.New("+R: want a radius"))
	} else if R > 0 {
		el = ellipsoid{R, 0}
	}
	if w.has("R_A") {
		el = ellipsoid{el.a * math.Sqrt(el.authalic(math.Pi/2)/2), 0}
	}
	if err := errors.Join(err[:]...); err != nil {
		return err
	}
	if c.metres <= 0 || math.Abs(p.lat0) > math.Pi/2+1e-9 || math.Abs(lat1) > math.Pi/2 || math.Abs(lat2) > math.Pi/2 {
		return errors.New("a parameter is out of range")
	}
	switch c.axes = w["axis"]; c.axes {
	case "enu":
		c.axes = ""
	case "", "wsu", "wnu", "swu":
	default:
		return fmt.Errorf("+axis=%s: want enu, wsu, wnu or swu", c.axes)
	}
	c.Unit = unitName("unit of "+strconv.FormatFloat(c.metres, 'g', 8, 64)+" m", c.metres)
	switch method := w["proj"]; method {
	case "utm":
		if zone < 1 || zone > 60 || zone != math.Trunc(zone) {
			return fmt.Errorf("+zone=%s: want 1 to 60", w["zone"])
		}
		if w.has("south") {
			p.y0 = 10_000_000
		}
		c.projection = newTransverseMercator(el, 6*zone-183, 0, 0.9996, 500_000, p.y0)
	case "tmerc":
		c.projection = newTransverseMercator(el, p.lon0/degree, p.lat0/degree, p.k0, p.x0, p.y0)
	case "lcc":
		if math.Abs(lat1+lat2) < 1e-9 {
			return errors.New("lcc: the standard parallels are opposite or the equator")
		}
		c.projection = newLambertConic(el, p.lon0/degree, p.lat0/degree, lat1/degree, lat2/degree, p.k0, p.x0, p.y0)
	case "aea":
		if math.Abs(lat1+lat2) < 1e-9 {
			return errors.New("aea: the standard parallels are opposite or the equator")
		}
		c.projection = newAlbers(el, p.lon0/degree, p.lat0/degree, lat1/degree, lat2/degree, p.x0, p.y0)
	case "laea":
		switch {
		case math.Pi/2-math.Abs(p.lat0) > 1e-9:
			c.projection = newAzimuthal(el, p.lon0/degree, p.lat0/degree, p.x0, p.y0)
		default:
			c.projection = &polarAzimuthal{el, p, el.authalic(math.Pi / 2), math.Copysign(1, p.lat0)}
		}
	case "merc":
		if w.has("lat_ts") {
			p.k0 = el.parallelRadius(latTrue)
		}
		c.projection = &mercator{math.Sqrt(el.e2()), el.a, p.lon0, p.k0, p.x0, p.y0}
	case "webmerc":
		c.projection = &mercator{0, el.a, p.lon0, 1, p.x0, p.y0}
	case "stere":
		if math.Pi/2-math.Abs(p.lat0) > 1e-9 {
			return errors.New("stere: want it from a pole, or sterea")
		}
		if !w.has("lat_ts") {
			latTrue = math.Pi / 2
		}
		c.projection = newPolarStereographic(el, p, p.lat0 < 0, latTrue)
	case "cea":
		c.projection = newEqualAreaCylinder(el, p, latTrue)
	case "eqc":
		c.projection = &equidistant{p, el.a, math.Cos(latTrue)}
	case "eqearth":
		c.projection = newEqualEarth(el, p)
	case "poly":
		c.projection = newPolyconic(el, p)
	case "cass":
		c.projection = newCassini(el, p, w.has("hyperbolic"))
	case "nzmg":
		c.projection = newZealand(el, p)
	case "col_urban":
		c.projection = newColombia(el, p, height)
	case "krovak":
		if !w.has("lat_0") {
			p.lat0, p.lon0, p.k0 = 49.5*degree, (24+50.0/60)*degree, 0.9999
		}
		if !w.has("alpha") {
			azimuth = 30.28813972222222 * degree
		}
		if c.axes == "swu" { // the projection's own directions
			p.x0, p.y0 = -p.y0, -p.x0
		}
		c.projection = newKrovak(el, p, azimuth)
	case "sterea", "somerc", "omerc":
		if math.Pi/2-math.Abs(p.lat0) < 1e-9 {
			return fmt.Errorf("%s: want it not from a pole", method)
		}
		switch method {
		case "sterea":
			c.projection = newObliqueStereographic(el, p)
		case "somerc":
			c.projection = newSwiss(el, p)
		default:
			c.projection = newHotine(el, p, azimuth, rectified, !w.has("no_uoff") && !w.has("no_off"))
		}
	default:
		return fmt.Errorf("+proj=%s is not supported: want longlat, or one of aea, cass, cea, col_urban, eqc, "+
			"eqearth, krovak, laea, lcc, merc, nzmg, omerc, poly, somerc, stere, sterea, tmerc, utm, webmerc", method)
	}
	return nil
}

// WellKnownText returns the definition of a system as well-known text, or "" if it has none. A PROJ
// string is in an extension of it, as GDAL writes it.
func (c *CRS) WellKnownText() string {
	switch {
	case c == nil:
		return ""
	case c.EPSG != 0:
		return wellKnownEPSG(c.EPSG)
	case !strings.HasPrefix(c.Definition, "+"):
		return c.Definition
	}
	w := parsePROJWords(c.Definition)
	el, shift := wgs84Ellipsoid, ""
	if c.datum != nil {
		el = c.datum.el
		s := c.datum.shift
		shift = fmt.Sprintf(",TOWGS84[%v,%v,%v,%v,%v,%v,%v]", s[0], s[1], s[2], s[3], s[4], s[5], s[6])
	} else if own, err := w.ellipsoid(); err == nil {
		el = own
	}
	inverse := 0.0
	if el.f != 0 {
		inverse = 1 / el.f
	}
	geographic := fmt.Sprintf(`GEOGCS["unknown",DATUM["unknown",SPHEROID["unknown",%v,%v]%s],`+
		`PRIMEM["unknown",%v],UNIT["degree",0.0174532925199433]`, el.a, inverse, shift, c.prime/degree)
	extension := `EXTENSION["PROJ4","` + strings.ReplaceAll(c.Definition, `"`, "") + `"]`
	if c.geographic {
		return geographic + "," + extension + "]"
	}
	return fmt.Sprintf(`PROJCS["unknown",%s],PROJECTION["custom_proj4"],UNIT["%s",%v],%s]`,
		geographic, c.Unit, c.metres, extension)
}

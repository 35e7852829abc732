package points

import (
	"fmt"
	"strconv"
	"strings"

	epsgtable "github.com/collocate/collocate/internal/epsg"
)

// wktNames are the projections of PROJ strings in well-known text, version 1 as GDAL writes it,
// with their parameters: the name, that of the PROJ string, and the value if it has none.
var wktNames = map[string]string{
	"tmerc":  "Transverse_Mercator latitude_of_origin=lat_0:0 central_meridian=lon_0:0 scale_factor=k:1",
	"lcc1":   "Lambert_Conformal_Conic_1SP latitude_of_origin=lat_0:0 central_meridian=lon_0:0 scale_factor=k:1",
	"lcc2":   "Lambert_Conformal_Conic_2SP latitude_of_origin=lat_0:0 central_meridian=lon_0:0 standard_parallel_1=lat_1:0 standard_parallel_2=lat_2:0",
	"aea":    "Albers_Conic_Equal_Area latitude_of_center=lat_0:0 longitude_of_center=lon_0:0 standard_parallel_1=lat_1:0 standard_parallel_2=lat_2:0",
	"laea":   "Lambert_Azimuthal_Equal_Area latitude_of_center=lat_0:0 longitude_of_center=lon_0:0",
	"merc1":  "Mercator_1SP central_meridian=lon_0:0 scale_factor=k:1",
	"merc2":  "Mercator_2SP standard_parallel_1=lat_ts:0 central_meridian=lon_0:0",
	"stere1": "Polar_Stereographic latitude_of_origin=lat_0:90 central_meridian=lon_0:0 scale_factor=k:1",
	"stere2": "Polar_Stereographic latitude_of_origin=lat_ts:90 central_meridian=lon_0:0 scale_factor=k:1",
	"sterea": "Oblique_Stereographic latitude_of_origin=lat_0:0 central_meridian=lon_0:0 scale_factor=k:1",
	"cass":   "Cassini_Soldner latitude_of_origin=lat_0:0 central_meridian=lon_0:0",
	"poly":   "Polyconic latitude_of_origin=lat_0:0 central_meridian=lon_0:0",
	"cea":    "Cylindrical_Equal_Area standard_parallel_1=lat_ts:0 central_meridian=lon_0:0",
	"eqc":    "Equirectangular standard_parallel_1=lat_ts:0 latitude_of_origin=lat_0:0 central_meridian=lon_0:0",
	"omerc1": "Hotine_Oblique_Mercator latitude_of_center=lat_0:0 longitude_of_center=lonc:0 azimuth=alpha:90 rectified_grid_angle=gamma:90 scale_factor=k:1",
	"omerc2": "Hotine_Oblique_Mercator_Azimuth_Center latitude_of_center=lat_0:0 longitude_of_center=lonc:0 azimuth=alpha:90 rectified_grid_angle=gamma:90 scale_factor=k:1",
}

// wktName returns the entry of wktNames for the parameters of a projection, or "".
func wktName(w projWords) string {
	if w.has("R") || w.has("R_A") || w.has("a") || w.has("axis") || w.has("hyperbolic") {
		return ""
	}
	either := func(name string, two bool) string {
		return wktNames[name+map[bool]string{false: "1", true: "2"}[two]]
	}
	switch method := w["proj"]; method {
	case "lcc":
		if w.has("lat_2") && w.has("k") || !w.has("lat_2") && w["lat_1"] != w["lat_0"] {
			return ""
		}
		return either(method, w.has("lat_2"))
	case "merc", "stere":
		if w.has("lat_ts") && w.has("k") {
			return ""
		}
		return either(method, w.has("lat_ts"))
	case "omerc":
		return either(method, !w.has("no_uoff"))
	default:
		return wktNames[method]
	}
}

// wellKnownEPSG returns the well-known text of a system with an EPSG number that the table has, or
// "".
func wellKnownEPSG(code int) string {
	e, ok := epsgtable.Lookup(code)
	if !ok || e.Positions != 0 {
		return ""
	}
	authority := func(code int) string { return fmt.Sprintf(`AUTHORITY["EPSG","%d"]`, code) }
	base := e
	if e.Base != 0 {
		base, _ = epsgtable.Lookup(e.Base)
	}
	name, shift := strings.TrimSuffix(base.Name, epsgtable.Grads), ""
	if base.Shift != "-" {
		seven := strings.Fields(base.Shift)
		if len(seven) == 0 {
			seven = strings.Fields("0 0 0 0 0 0 0")
		}
		shift = ",TOWGS84[" + strings.Join(seven, ",") + "]"
	}
	prime := "Greenwich"
	if base.Prime != "0" {
		prime = "unknown"
	}
	geographic := fmt.Sprintf(`GEOGCS["%s",DATUM["%s",SPHEROID["unknown",%s]%s],PRIMEM["%s",%s],UNIT["degree",0.0174532925199433],%s]`,
		name, strings.ReplaceAll(name, " ", "_"), strings.Replace(base.Ellipsoid, " ", ",", 1), shift, prime, base.Prime, authority(base.Code))
	if e.Base == 0 {
		return geographic
	}
	c, err := epsg(code)
	if err != nil {
		return ""
	}
	w := parsePROJWords(e.PROJ)
	if k, ok := w["k_0"]; ok {
		w["k"] = k
	}
	if w["proj"] == "utm" {
		zone, _ := strconv.Atoi(w["zone"])
		w["proj"], w["lon_0"], w["k"], w["x_0"] = "tmerc", strconv.Itoa(6*zone-183), "0.9996", "500000"
		if w.has("south") {
			w["y_0"] = "10000000"
		}
	}
	if w["proj"] == "omerc" && !w.has("gamma") {
		w["gamma"] = w["alpha"]
	}
	unit := strings.ReplaceAll(c.Unit, `"`, "")
	if c.Unit == "m" {
		unit = "metre"
	}
	var projection strings.Builder
	method, parameters, _ := strings.Cut(wktName(w), " ")
	extension := ""
	if method == "" { // as GDAL writes what well-known text has no name for
		method = "custom_proj4"
		extension = fmt.Sprintf(`,EXTENSION["PROJ4","%s"]`, c.projString(e, base))
	}
	fmt.Fprintf(&projection, `PROJECTION["%s"]`, method)
	for _, p := range strings.Fields(parameters) {
		label, rest, _ := strings.Cut(p, "=")
		word, value, _ := strings.Cut(rest, ":")
		if w.has(word) {
			value = w[word]
		}
		fmt.Fprintf(&projection, `,PARAMETER["%s",%s]`, label, value)
	}
	if extension == "" {
		for _, p := range [][2]string{{"false_easting", "x_0"}, {"false_northing", "y_0"}} {
			v, _ := w.number(0, p[1]) // the table is ours, and tested
			fmt.Fprintf(&projection, `,PARAMETER["%s",%s]`, p[0], strconv.FormatFloat(v/c.metres, 'g', -1, 64))
		}
	}
	return fmt.Sprintf(`PROJCS["%s",%s,%s,UNIT["%s",%s]%s,%s]`, e.Name, geographic, projection.String(), unit,
		strconv.FormatFloat(c.metres, 'g', -1, 64), extension, authority(code))
}

// projString returns the PROJ string of a projected system of the table.
func (c *CRS) projString(e, base epsgtable.Entry) string {
	s := "+proj=" + strings.ReplaceAll(e.PROJ, " ", " +")
	if !parsePROJWords(e.PROJ).has("R") {
		a, rf, _ := strings.Cut(base.Ellipsoid, " ")
		if s += " +a=" + a; rf == "0" {
			s += " +b=" + a
		} else {
			s += " +rf=" + rf
		}
	}
	if base.Shift != "-" && base.Shift != "" {
		s += " +towgs84=" + strings.Join(strings.Fields(base.Shift), ",")
	}
	if base.Prime != "0" {
		s += " +pm=" + base.Prime
	}
	return s
}

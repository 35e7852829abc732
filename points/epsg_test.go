package points

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	epsgtable "github.com/collocate/collocate/internal/epsg"
)

// Positions are those of PROJ, by projection and by datum. testdata/epsg.csv has a position for
// each kind of parameters and each datum; EPSG_CHECK names a file with five of every system. Both
// are written by internal/epsg/generate.py.
func TestEPSG(t *testing.T) {
	path := "testdata/epsg.csv"
	if all := os.Getenv("EPSG_CHECK"); all != "" {
		path = all
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const perDegree = 111_000
	systems := map[int]bool{}
	worst := [2]float64{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		text := strings.Split(lines.Text(), ",")
		if text[0] == "code" {
			continue
		}
		var v [7]float64
		for i, s := range text {
			if s == "" {
				continue
			}
			if v[i], err = strconv.ParseFloat(s, 64); err != nil {
				t.Fatal(err)
			}
		}
		c, err := epsg(int(v[0]))
		if err != nil {
			t.Errorf("%s: %v", text[0], err)
			continue
		}
		systems[c.EPSG] = true
		own := *c // without the datum's shift
		own.datum = &datumWGS84
		near := func(what string, off, limit float64, which int) {
			if worst[which] = max(worst[which], off); !(off <= limit) {
				t.Errorf("%v: %s (%s) is %.4g m off, want at most %g", c, what, lines.Text(), off, limit)
			}
		}
		apart := func(lon, lat, wantLon, wantLat float64) float64 {
			return perDegree * math.Hypot(turn((lon-wantLon)*degree)/degree*math.Cos(wantLat*degree), lat-wantLat)
		}
		unit := c.metres
		if c.geographic {
			unit = perDegree
		}
		const limit = 0.001 // metres
		x, y := own.FromWGS84(v[3], v[4])
		near("the projection", unit*math.Hypot(x-v[1], y-v[2]), limit, 0)
		lon, lat := own.ToWGS84(v[1], v[2])
		near("its inverse", apart(lon, lat, v[3], v[4]), limit, 0)
		if c.Convertible() != (text[5] != "") {
			t.Errorf("%v can be converted: %v", c, c.Convertible())
		}
		if c.Convertible() {
			lon, lat = c.ToWGS84(v[1], v[2])
			near("in WGS 84", apart(lon, lat, v[5], v[6]), limit, 1)
			x, y = c.FromWGS84(v[5], v[6])
			near("from WGS 84", unit*math.Hypot(x-v[1], y-v[2]), limit, 1)
		}
	}
	if len(systems) < 400 {
		t.Errorf("%s has %d systems, want at least 400", path, len(systems))
	}
	t.Logf("%d systems; the worst is %.2g m off by its projection, %.2g m with its datum", len(systems), worst[0], worst[1])
}

// Every line of the table can be parsed, and is found by its number.
func TestEveryEPSGSystemParses(t *testing.T) {
	data, err := os.ReadFile("../internal/epsg/epsg.txt")
	if err != nil {
		t.Fatal(err)
	}
	n, last := 0, 0
	for line := range strings.Lines(string(data)) {
		number, _, _ := strings.Cut(line, "\t")
		code, err := strconv.Atoi(number)
		if err != nil || code <= last {
			t.Fatalf("line %q: want ascending numbers", line)
		}
		if e, ok := epsgtable.Lookup(code); !ok || e.Code != code {
			t.Errorf("%d is not found", code)
		}
		if _, ok := epsgtable.Lookup(last + 1); ok != (code == last+1) {
			t.Errorf("%d is found: %v", last+1, ok)
		}
		last = code
		if strings.Contains(line, epsgtable.Grads) {
			continue
		}
		c, err := epsg(code)
		if err != nil {
			t.Errorf("%d: %v", code, err)
		} else if c.Unit == "" || c.Name == "" || strings.Contains(c.Name, "~") {
			t.Errorf("%+v: want a name and a unit", c)
		}
		n++
	}
	if n < 6000 {
		t.Errorf("%d systems, want at least 6000", n)
	}
}

// system returns the system with an EPSG number.
func system(t *testing.T, code int) *CRS {
	t.Helper()
	c, err := epsg(code)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// PROJ strings give what EPSG numbers give, and well-known text of either gives it again.
func TestPROJStrings(t *testing.T) {
	for text, code := range map[string]int{
		"+proj=utm +zone=33 +datum=WGS84 +units=m +no_defs": 32633,
		"+proj=utm +zone=33 +south +ellps=WGS84 +type=crs":  32733,
		"+init=epsg:27700":                    27700,
		"+proj=longlat +datum=WGS84 +no_defs": 4326,
		"+proj=tmerc +lat_0=49 +lon_0=-2 +k=0.9996012717 +x_0=400000 +y_0=-100000 +datum=OSGB36":                                                                                                                           27700,
		"+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +units=m +nadgrids=@null +wktext":                                                                                                          3857,
		"+proj=lcc +lat_0=40.1666666666667 +lon_0=-74 +lat_1=41.0333333333333 +lat_2=40.6666666666667 +x_0=300000 +datum=NAD83 +units=us-ft":                                                                               2263,
		"+proj=sterea +lat_0=52.1561605555556 +lon_0=5.38763888888889 +k=0.9999079 +x_0=155000 +y_0=463000 +ellps=bessel +towgs84=565.4171,50.3319,465.5524,-0.398957388243134,0.343987817378283,-1.87740163998045,4.0725": 28992,
		"+proj=lcc +lat_1=46.8 +lat_0=46.8 +lon_0=0 +k_0=0.99987742 +x_0=600000 +y_0=2200000 +a=6378249.2 +b=6356515 +towgs84=-168,-60,320 +pm=paris":                                                                      27572,
		"+proj=tmerc +axis=wsu +lon_0=19 +datum=WGS84": 2048,
		"+proj=laea +lat_0=45 +lon_0=-100 +R=6370997":  2163,
	} {
		c, err := ParseCRS(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want := system(t, code)
		again := c
		if c.EPSG == 0 {
			if again, err = ParseCRS(c.WellKnownText()); err != nil {
				t.Errorf("%s: %v", c.WellKnownText(), err)
				continue
			}
		}
		for _, c := range []*CRS{c, again} {
			if c.Unit != want.Unit || c.Geographic() != want.Geographic() {
				t.Errorf("%s has unit %q, want %q", text, c.Unit, want.Unit)
			}
			if !want.Convertible() || !c.Convertible() {
				continue
			}
			for _, at := range [][2]float64{{0.5, 0.5}, {3, 51}, {-73, 41}} {
				x, y := c.FromWGS84(at[0], at[1])
				wantX, wantY := want.FromWGS84(at[0], at[1])
				if off := math.Hypot(x-wantX, y-wantY); !(off < 0.001) {
					t.Errorf("%s: %v becomes (%v, %v), want (%v, %v)", text, at, x, y, wantX, wantY)
				}
			}
		}
	}
	for text, want := range map[string]string{
		"+proj=utm +zone=61":                           "+zone=61: want 1 to 60",
		"+proj=robin":                                  "+proj=robin is not supported",
		"+proj=utm +zone=33 +ellps=moon":               "+ellps=moon is not known",
		"+proj=longlat +datum=Mars":                    "+datum=Mars is not known",
		"+proj=tmerc +lon_0=x":                         "+lon_0=x: want a number",
		"+proj=tmerc +units=ell":                       "+units=ell is not known",
		"+proj=lcc +lat_1=30 +lat_2=-30":               "are opposite",
		"+proj=pipeline +step +proj=utm":               "pipelines and grids are not supported",
		"+proj=longlat +nadgrids=conus":                "pipelines and grids are not supported",
		"+proj=longlat +ellps=bessel +towgs84=1,2":     "want 3 or 7 numbers",
		"+proj=tmerc +axis=neu":                        "+axis=neu: want",
		"+proj=stere +lat_0=45":                        "want it from a pole",
		"+proj=longlat +a=1e300":                       "want one like the earth's",
		"EPSG:4807":                                    "not in degrees",
		"EPSG:8044":                                    "EPSG:8044 is not supported",
		"+proj=longlat +ellps=bessel +towgs84=1,2,NaN": "want a number",
	} {
		if c, err := ParseCRS(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", text, c, err, want)
		}
	}
	if c, err := ParseCRS("+proj=utm +zone=33 +ellps=bessel"); err != nil || c.Convertible() {
		t.Errorf("a datum that is not known: %v, %v; want a system that cannot be converted", c, err)
	}
}

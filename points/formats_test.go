package points

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Every system agrees with pyproj to 2 mm in both directions. EPSG lists several transformations of
// MGI, which differ by half a metre.
func TestReferenceSystemsAgreeWithPROJ(t *testing.T) {
	f, err := os.Open("testdata/crs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	systems := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Split(lines.Text(), "\t")
		var v [4]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(fields[i+1], 64); err != nil {
				t.Fatal(err)
			}
		}
		c, err := ParseCRS("EPSG:" + fields[0])
		if err != nil {
			t.Fatal(err)
		}
		systems[fields[0]] = true
		near, perDegree := 0.002, 111_000.0
		if c.EPSG == 31287 {
			near = 0.5
		}
		unit := c.metres
		if c.Geographic() {
			unit = perDegree
		}
		x, y := c.FromWGS84(v[0], v[1])
		if off := unit * math.Hypot(x-v[2], y-v[3]); !(off <= near) {
			t.Errorf("%v: (%v, %v) is %v m off, want at most %v", c, v[0], v[1], off, near)
		}
		lon, lat := c.ToWGS84(v[2], v[3])
		if off := perDegree * math.Hypot((lon-v[0])*math.Cos(v[1]*degree), lat-v[1]); !(off <= near) {
			t.Errorf("%v: back from (%v, %v) is %v m off, want at most %v", c, v[2], v[3], off, near)
		}
		lon, lat = c.ToWGS84(x, y)
		if off := perDegree * math.Hypot((lon-v[0])*math.Cos(v[1]*degree), lat-v[1]); !(off <= 1e-6) {
			t.Errorf("%v: the round trip of (%v, %v) is %v m off, want at most 1e-6", c, v[0], v[1], off)
		}
	}
	if len(systems) < 30 {
		t.Errorf("testdata/crs.tsv has %d systems, want at least 30", len(systems))
	}
}

// The files were written by GDAL.
func TestShapefileAndGeoPackage(t *testing.T) {
	for path, format := range map[string]string{"testdata/three.shp": "shapefile",
		"testdata/three.gpkg.zst": "geopackage"} {
		in, err := ReadFile(path, ReadOptions{Time: "opened"})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := listing(in.Set),
			"500001 5.500002e+06 cafe\n500003.5 5.499996e+06 bar\n500001 5.500002e+06 bar\n"; got != want {
			t.Errorf("%s: got\n%swant\n%s", path, got, want)
		}
		if in.CRS.EPSG != 25832 && !strings.Contains(in.CRS.Name, "UTM") || in.CRS.Unit != "m" ||
			!in.CRS.Convertible() || in.Format != format {
			t.Errorf("%s: %v in %s, %s, want UTM in m, %s", path, in.CRS, in.CRS.Unit, in.Format, format)
		}
		if want := "[1717113600 1717200000 1717286400]"; fmt.Sprint(in.Time) != want {
			t.Errorf("%s: times %v, want %s", path, in.Time, want)
		}
		if _, err := ReadFile(path, ReadOptions{Feature: "colour"}); err == nil ||
			!strings.Contains(err.Error(), `no column "colour"`) {
			t.Errorf("%s: unknown feature column: got error %v", path, err)
		}
	}
	in, err := ReadFile("testdata/three.shp", ReadOptions{Feature: "name"})
	if err != nil {
		t.Fatal(err)
	}
	if in.Features[2] != "Café" {
		t.Errorf("features %q, want Café last", in.Features)
	}
	if _, err := ReadFile("testdata/three.gpkg.zst", ReadOptions{Layer: "none"}); err == nil ||
		!strings.Contains(err.Error(), `no layer "none": want one of "shops"`) {
		t.Errorf("unknown layer: got error %v", err)
	}
	// Both files together; the second is converted to the reference system of the first.
	all, err := ReadFiles(t.Context(), []string{"testdata/three.gpkg.zst", "testdata/three.shp"}, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if all.Len() != 6 {
		t.Errorf("two files have %d points, want 6", all.Len())
	}
	if _, err := ReadFiles(t.Context(), nil, ReadOptions{}); err == nil {
		t.Error("no error for an empty list of files")
	}
}

func TestSystemsInWellKnownText(t *testing.T) {
	for text, want := range map[string]string{
		`PROJCS["NAD83 / New York Long Island (ftUS)",GEOGCS["NAD83",DATUM["North_American_Datum_1983",SPHEROID["GRS 1980",6378137,298.257222101]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["Lambert_Conformal_Conic_2SP"],PARAMETER["latitude_of_origin",40.1666666666667],PARAMETER["central_meridian",-74],PARAMETER["standard_parallel_1",41.0333333333333],PARAMETER["standard_parallel_2",40.6666666666667],PARAMETER["false_easting",984250],PARAMETER["false_northing",0],UNIT["US survey foot",0.304800609601219]]`: "US survey ft 981900.0 198900.0",
		`GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]`:              "degree -74.0 40.7",
		`PROJCS["odd",GEOGCS["odd",DATUM["Odd",SPHEROID["x",6377000,300]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["Bonne"],UNIT["metre",1]]`: "m -",
	} {
		c, err := ParseCRS(text)
		if err != nil {
			t.Fatal(err)
		}
		got := c.Unit + " -"
		if c.Convertible() {
			x, y := c.FromWGS84(-74.008476770, 40.712610950)
			got = fmt.Sprintf("%s %.1f %.1f", c.Unit, x, y)
		}
		if got != want {
			t.Errorf("%.40s: %s, want %s", text, got, want)
		}
	}
	for _, bad := range []string{"EPSG:x", "nonsense", "PROJCS[", `PROJCS["a"]`, "IGNF:x", `{"name":"x"}`, "ENGCRS[1"} {
		if c, err := ParseCRS(bad); err == nil {
			t.Errorf("%s: got %v, want an error", bad, c)
		}
	}
}

// 900913 and 3857 are numbers of one system, whose positions may be mixed.
func TestBothNumbersOfWebMercator(t *testing.T) {
	old, err := ParseCRS("EPSG:900913")
	if err != nil {
		t.Fatal(err)
	}
	web, err := ParseCRS("EPSG:3857")
	if err != nil {
		t.Fatal(err)
	}
	if !old.Same(web) || !web.Same(old) {
		t.Errorf("%v and %v are not the same", old, web)
	}
	if world := system(t, 3395); web.Same(world) {
		t.Errorf("%v and %v are the same", web, world)
	}
}

func FuzzParseCRS(f *testing.F) {
	f.Add(`GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]`)
	f.Add("EPSG:2263")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := ParseCRS(text); err == nil && c.Convertible() {
			c.FromWGS84(10, 50)
			c.ToWGS84(10, 50)
		}
	})
}

// Damaged files give an error or points, but never a panic or an endless loop.
func FuzzGeoPackage(f *testing.F) {
	in, err := ReadFile("testdata/three.gpkg.zst", ReadOptions{})
	if err != nil || in.Len() != 3 {
		f.Fatal(err)
	}
	f.Add(uint32(100), byte(5), uint32(4096), byte(1))
	raw := unpacked(f, "testdata/three.gpkg.zst")
	f.Fuzz(func(t *testing.T, at uint32, b byte, at2 uint32, b2 byte) {
		data := bytes.Clone(raw)
		data[int(at)%len(data)] = b
		data[int(at2)%len(data)] = b2
		_, _ = Read(bytes.NewReader(data), ReadOptions{SkipBad: true})
	})
}

func FuzzShapefile(f *testing.F) {
	shp, err := os.ReadFile("testdata/three.shp")
	if err != nil {
		f.Fatal(err)
	}
	table, err := os.ReadFile("testdata/three.dbf")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(shp, table)
	f.Fuzz(func(t *testing.T, shp, table []byte) {
		for r := bytes.NewReader(shp); ; {
			if _, err := readShape(r); err != nil {
				break
			}
		}
		d, err := openDBF(bytes.NewReader(table), "")
		for err == nil {
			_, _, err = d.next()
		}
	})
}

func unpacked(t testing.TB, path string) []byte {
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	raw, err := d.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

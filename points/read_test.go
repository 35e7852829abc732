package points

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	_ "github.com/collocate/collocate/text/bzip2"
)

// listing writes points in input order.
func listing(p *Set) string {
	var b strings.Builder
	for i := range p.X {
		fmt.Fprintf(&b, "%v %v %s\n", p.X[i], p.Y[i], p.Features[p.Feature[i]])
	}
	return b.String()
}

const threePoints = "1 2 cafe\n3.5 -4 bar\n1 2 bar\n"

const threeTable = "name,X,Y,Type\none,1,2,cafe\n\"t,w\"\"o\",3.5,-4,bar\nthree,1e0, 2 , bar\n"

const threeGeoJSON = `{"type":"FeatureCollection","name":"x","features":[
 {"type":"Feature","properties":{"kind":"cafe"},"geometry":{"type":"Point","coordinates":[1,2]}},
 {"type":"Feature","properties":{"kind":"bar"},"geometry":{"type":"MultiPoint","coordinates":[[3.5,-4],[1,2]]}}]}`

const seqRest = "\x1e{\"type\":\"Feature\",\"properties\":{\"kind\":\"bar\"},\"geometry\":{\"type\":\"MultiPoint\",\"coordinates\":[[3.5,-4],[1,2]]}}\n"

func mustRead(t *testing.T, data []byte, opt ReadOptions) *Input {
	t.Helper()
	in, err := Read(bytes.NewReader(data), opt)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func parquetOf[T any](t testing.TB, rows []T, opts ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, opts...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type plainRow struct {
	Species string  `parquet:"species,dict"`
	X       float64 `parquet:"x"`
	Y       float32 `parquet:"y"`
	Note    *string `parquet:"note,optional"`
}

type geoRow struct {
	Class    *string `parquet:"class,optional"`
	Geometry []byte  `parquet:"geometry"`
}

func wkbPoint(order binary.AppendByteOrder, x, y float64) []byte {
	mark := byte(0)
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		mark = 1
	}
	b := order.AppendUint32([]byte{mark}, 1)
	b = order.AppendUint64(b, math.Float64bits(x))
	return order.AppendUint64(b, math.Float64bits(y))
}

const geoMeta = `{"version":"1.0.0","primary_column":"geometry","columns":{"geometry":{"encoding":"WKB","geometry_types":["Point"],"crs":null}}}`

func threeParquet(t testing.TB) []byte {
	return parquetOf(t, []plainRow{{"cafe", 1, 2, nil}, {"bar", 3.5, -4, nil}, {"bar", 1, 2, nil}})
}

func threeGeoParquet(t testing.TB) []byte {
	cafe, bar := "cafe", "bar"
	return parquetOf(t, []geoRow{
		{&cafe, wkbPoint(binary.LittleEndian, 1, 2)}, {&bar, wkbPoint(binary.BigEndian, 3.5, -4)},
		{&bar, wkbPoint(binary.LittleEndian, 1, 2)},
	}, parquet.KeyValueMetadata("geo", geoMeta))
}

func TestTheSamePointsComeOutOfEveryFormat(t *testing.T) {
	for name, data := range map[string][]byte{
		"csv":           []byte(threeTable),
		"csv with BOM":  []byte("\ufeff" + threeTable),
		"CRLF":          []byte(strings.ReplaceAll(threeTable, "\n", "\r\n")),
		"tsv":           []byte("LocX\tLocY\tfeature\n1\t2\tcafe\n3.5\t-4\tbar\n1\t2\tbar\n"),
		"semicolons":    []byte("Longitude;Latitude;fclass;more\n1;2;cafe;\n3.5;-4;bar;x\n1;2;bar;y\n"),
		"three columns": []byte("what,lat,lon\ncafe,2,1\nbar,-4,3.5\nbar,2,1\n"),
		"geojson":       []byte(threeGeoJSON),
		"sequence":      []byte("\x1e{\"type\":\"Feature\",\"properties\":{\"kind\":\"cafe \"},\"geometry\":{\"type\":\"Point\",\"coordinates\":[1,2]}}\n" + seqRest),
		"lines":         []byte("{\"properties\":{\"kind\":\"cafe\"},\"geometry\":{\"type\":\"Point\",\"coordinates\":[1,2]}}\n" + seqRest[1:]),
		"WKT":           []byte("type,wkt\ncafe,POINT (1 2)\nbar,\"POINT Z(3.5 -4 7)\"\nbar,SRID=4326;POINT(1 2)\n"),
		"commas":        []byte("x;y;type\n1;2;cafe\n3,5;-4,0;bar\n1;2;bar\n"),
		"gpx":           []byte(`<?xml version="1.0"?><gpx><wpt lat="2" lon="1"><name>n</name><type>cafe</type></wpt><wpt lat="-4" lon="3.5"><type>bar</type></wpt><trk><trkseg><trkpt lat="1" lon="1"/></trkseg></trk><wpt lat="2" lon="1"><type>bar</type></wpt></gpx>`),
		"parquet":       threeParquet(t),
		"geoparquet":    threeGeoParquet(t),
	} {
		if got := listing(mustRead(t, data, ReadOptions{}).Set); got != threePoints {
			t.Errorf("%s: got\n%swant\n%s", name, got, threePoints)
		}
		var gz bytes.Buffer
		w := gzip.NewWriter(&gz)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		z, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		for how, packed := range map[string][]byte{"gzip": gz.Bytes(), "zstd": z.EncodeAll(data, nil)} {
			if got := listing(mustRead(t, packed, ReadOptions{}).Set); got != threePoints {
				t.Errorf("%s in %s: got\n%swant\n%s", name, how, got, threePoints)
			}
		}
		path := filepath.Join(t.TempDir(), "points")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		in, err := ReadFile(path, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := listing(in.Set); got != threePoints {
			t.Errorf("%s from a file: got\n%swant\n%s", name, got, threePoints)
		}
	}
	// printf 'x,y,type\n1,2,cafe\n' | bzip2
	packed, err := base64.StdEncoding.DecodeString(bzipped)
	if err != nil {
		t.Fatal(err)
	}
	if got := listing(mustRead(t, packed, ReadOptions{}).Set); got != "1 2 cafe\n" {
		t.Errorf("bzip2: got %q, want one cafe at 1 2", got)
	}
}

func TestTablesWithoutAHeader(t *testing.T) {
	in := mustRead(t, []byte("cafe\t1\t2\t2024-05-31\nbar\t3.5\t-4\t1717113600\n"),
		ReadOptions{Columns: []string{"type", "x", "y", "when"}, Time: "when"})
	if got := listing(in.Set); got != "1 2 cafe\n3.5 -4 bar\n" || in.Time[0] != 1717113600 || in.Time[1] != in.Time[0] {
		t.Errorf("got %q at times %v, want a cafe and a bar, both at 1717113600", got, in.Time)
	}
}

func TestColumnsMayBeNamedOrNumbered(t *testing.T) {
	data := []byte("x,y,a,b,kind,other\n0,0,1,2,K,cafe\n0,0,3,4,K,bar\n")
	for _, o := range []ReadOptions{{X: "a", Y: "b", Feature: "other"},
		{X: "3", Y: "4", Feature: "6"}, {X: "A", Y: "B", Feature: "OTHER"}} {
		if got, want := listing(mustRead(t, data, o).Set), "1 2 cafe\n3 4 bar\n"; got != want {
			t.Errorf("%+v: got %q, want %q", o, got, want)
		}
	}
}

func TestBadInputIsNamedWithItsLine(t *testing.T) {
	null := (*string)(nil)
	cafe := "cafe"
	for _, c := range []struct{ data, want string }{
		{"", "the file is empty"},
		{"1,2,A\n3,4,B\n", "line 1: \"1\", \"2\", \"A\" are not column names"},
		{"a,b,c,d\n1,2,3,4\n", "no columns with positions found"},
		{"x,y,b,c\n1,2,3,4\n", "name it with points.ReadOptions.Feature"},
		{"x,y,type\n1,2,A\n1,zwei,A\n", "line 3: column \"y\": \"zwei\" is not a number"},
		{"x,y,type\n1,2,A\n\n\nNaN,2,A\n", "line 5: position (NaN, 2) is not finite"},
		{"x,y,type\n1,-Inf,A\n", "line 2: position"},
		{"x,y,type\n1,2,A\n1,2, \n", "line 3: the feature is missing"},
		{"x,y,type\n1,2\n", "line 2: wrong number of fields: 2, but 3 in the header (points.ReadOptions.SkipBad"},
		{"x,y,type\n1,2,\"A\n", "line 2: extraneous or missing"},
		{`{"type":"FeatureCollection"}`, `no "features"`},
		{`{"features":7}`, `"features" is not a list`},
		{`{"features":[{"type":"Feature","properties":{"type":"A"},"geometry":{"type":"Point","coordinates":[1]}}]}`, "feature 1: a position has 1 numbers: want at least 2"},
		{`{"features":[{"type":"Feature","properties":{"type":"A"},"geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]}}]}`, "feature 1: geometry LineString: want Point"},
		{`{"features":[{"type":"Feature","properties":{"type":"A"},"geometry":null}]}`, "feature 1: no geometry"},
		{`{"features":[{"type":"Feature","properties":{"q":"A"},"geometry":{"type":"Point","coordinates":[1,2]}}]}`, "feature 1: properties: no column with features"},
		{`{"features":[{"type":"Feature","properties":{"type":"A"},"geometry":{"type":"Point","coordinates":[1,2]}}`, "GeoJSON"},
		{"PAR1 no more", "parquet"},
		{string(parquetOf(t, []plainRow{{"a", 1, 2, nil}, {"a", math.NaN(), 2, nil}})),
			"parquet: row 2: position (NaN, 2) is not finite"},
		{string(parquetOf(t, []geoRow{{&cafe, wkbPoint(binary.LittleEndian, 1, 2)},
			{null, wkbPoint(binary.LittleEndian, 1, 2)}},
			parquet.KeyValueMetadata("geo", geoMeta))), "parquet: row 2: the feature is missing"},
		{string(parquetOf(t, []geoRow{{&cafe, []byte("no point")}},
			parquet.KeyValueMetadata("geo", geoMeta))), "parquet: row 1: geometry is not a WKB point"},
		{string(parquetOf(t, []geoRow{{&cafe, nil}}, parquet.KeyValueMetadata("geo", "{"))), "geo metadata"},
		{string(parquetOf(t, []geoRow{{&cafe, nil}})), "well-known text in Parquet is not supported"},
		{"\x1f\x8b\x08x", "gzip"},
		{"\x28\xb5\x2f\xfdxx", ""},
	} {
		_, err := Read(strings.NewReader(c.data), ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: got %v, want an error with %q", c.data, err, c.want)
		}
	}
	if _, err := Read(strings.NewReader("lon,lat,type\n1,99,A\n"),
		ReadOptions{CRS: WGS84}); err == nil ||
		!strings.Contains(err.Error(), "line 2: latitude 99") {
		t.Errorf("latitude 99: got error %v", err)
	}
	if _, err := Read(strings.NewReader(threeTable), ReadOptions{X: "nix", Y: "Y"}); err == nil ||
		!strings.Contains(err.Error(), `no column "nix" for points.ReadOptions.X`) {
		t.Errorf("unknown column: got error %v", err)
	}
	const listed = `{"features":[{"properties":{"type":"A","at":[1]},"geometry":{"type":"Point","coordinates":[1,2]}}]}`
	if _, err := Read(strings.NewReader(listed), ReadOptions{Time: "at"}); err == nil ||
		!strings.Contains(err.Error(), `feature 1: property "at": is neither`) {
		t.Errorf("list as a time: got error %v", err)
	}
	if _, err := ReadFile("testdata/absent.csv", ReadOptions{}); err == nil {
		t.Error("no error for a file that is not there")
	}
}

func TestBadRowsMayBeLeftOut(t *testing.T) {
	in := mustRead(t, []byte("x,y,type\n1,2,A\nx,2,A\n1,2,\nNaN,1,B\n7\n1,2,A,B\n\"7\"\n3,4,B\n"),
		ReadOptions{SkipBad: true})
	if got := listing(in.Set); got != "1 2 A\n3 4 B\n" || in.Skipped != 6 {
		t.Errorf("got %q, %d skipped, want A and B, 6 skipped", got, in.Skipped)
	}
}

func TestRareFeaturesMayBeLeftOut(t *testing.T) {
	const data = "x,y,type\n1,2,B\n1,3,A\n2,2,C\n3,4,C\n5,5,B\n6,6,C\n"
	for least, want := range map[int]struct {
		points, features string
		rare             int64
	}{
		0: {"1 2 B\n1 3 A\n2 2 C\n3 4 C\n5 5 B\n6 6 C\n", "[A B C]", 0},
		1: {"1 2 B\n1 3 A\n2 2 C\n3 4 C\n5 5 B\n6 6 C\n", "[A B C]", 0},
		2: {"1 2 B\n2 2 C\n3 4 C\n5 5 B\n6 6 C\n", "[B C]", 1},
		3: {"2 2 C\n3 4 C\n6 6 C\n", "[C]", 3},
		4: {"", "[]", 6},
	} {
		in := mustRead(t, []byte(data), ReadOptions{MinPoints: least})
		if got := listing(in.Set); got != want.points || fmt.Sprint(in.Features) != want.features ||
			in.Rare != want.rare {
			t.Errorf("at least %d: got %q of %v, %d left out, want %+v", least, got, in.Features, in.Rare, want)
		}
	}
}

func TestReferenceSystemsFollowFromTheFile(t *testing.T) {
	const old = `{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::27700"}},"features":[
 {"type":"Feature","properties":{"kind":"cafe"},"geometry":{"type":"Point","coordinates":[530000,180000]}}]}`
	for data, want := range map[string]*CRS{
		threeTable: nil, threeGeoJSON: WGS84, "lat,lon,type\n1,2,A\n": WGS84, old: system(t, 27700),
		"wkt,type\nSRID=25832;POINT (500000 5500000),A\n": system(t, 25832), string(threeGeoParquet(t)): nil,
	} {
		if got := mustRead(t, []byte(data), ReadOptions{}).CRS; !got.Same(want) {
			t.Errorf("%.60q: %v, want %v", data, got, want)
		}
		if got := mustRead(t, []byte(data), ReadOptions{CRS: Plane}).CRS; got != Plane {
			t.Errorf("%.60q read as a plane has reference system %v", data, got)
		}
	}
	for data, want := range map[string]string{
		`{"features":[{"properties":{"kind":"a"},"geometry":{"type":"Point","coordinates":[530000,180000]}}]}`: "GeoJSON is in WGS 84: name the reference system with points.ReadOptions.CRS=EPSG:n, or use points.Plane",
		"lon,lat,type\n530000,180000,A\n":                            "the columns' names say longitude and latitude",
		`{"features":[],"crs":{"properties":{"name":"EPSG:27700"}}}`: "comes after the features",
		`{"crs":{"properties":{"name":"EPSG:99999"}},"features":[]}`: "EPSG:99999 is not supported",
	} {
		if _, err := Read(strings.NewReader(data), ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", data, err, want)
		}
	}
}

func TestAColumnHasOneRole(t *testing.T) {
	for want, o := range map[string]ReadOptions{
		`"y" for both points.ReadOptions.Y and points.ReadOptions.Feature`:        {Feature: "y"},
		`"x" for both points.ReadOptions.X and points.ReadOptions.Y`:              {X: "x", Y: "x"},
		`"at" for both points.ReadOptions.X and points.ReadOptions.Time`:          {X: "at", Y: "y", Time: "at"},
		`"y" for both points.ReadOptions.Geometry and points.ReadOptions.Feature`: {Geometry: "y", Feature: "y"},
	} {
		_, err := Read(strings.NewReader("x,y,at,type\n1,2,3,A\n"), o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want column %s", err, want)
		}
	}
}

func TestWhatCouldChangeTheResultIsNotGuessed(t *testing.T) {
	var names strings.Builder
	names.WriteString("x,y,name\n")
	for i := range 150 {
		fmt.Fprintf(&names, "%d,%d,place %d\n", i, i, i)
	}
	for data, want := range map[string]string{
		"x,y,type,category\n1,2,A,B\n":  `the feature could be in any of the columns "type", "category": choose with points.ReadOptions.Feature`,
		"x,y,lon,lat,type\n1,2,3,4,A\n": "positions could be in columns x and y, or lon and lat: choose with points.ReadOptions.X and points.ReadOptions.Y",
		names.String():                  `column "name" was guessed as the feature, but has 150 distinct values for 150 points`,
		`[{"type":"Feature"}]`:          "a JSON array is not GeoJSON",
		"x,y,type\nfoo,1,A\nbar,1,A\n":  `line 2: column "x": "foo" is not a number`,
	} {
		if _, err := Read(strings.NewReader(data), ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", data, err, want)
		}
	}
	var kinds strings.Builder
	kinds.WriteString("x,y,type\n")
	for i := range 4500 {
		fmt.Fprintf(&kinds, "%d,%d,kind %d\n", i, i, i%1500)
	}
	if in := mustRead(t, []byte(kinds.String()), ReadOptions{}); len(in.Guesses) != 1 ||
		!strings.Contains(in.Guesses[0],
			"has 1500 different values: choose another with points.ReadOptions.Feature") {
		t.Errorf("guesses %q, want one about 1500 values", in.Guesses)
	}
	in := mustRead(t, []byte(names.String()), ReadOptions{Feature: "name"})
	if len(in.Guesses) != 1 || !strings.Contains(in.Guesses[0], "are these kinds of places?") {
		t.Errorf("guesses %q, want one about kinds of places", in.Guesses)
	}
	if _, err := Read(strings.NewReader(threeGeoJSON), ReadOptions{X: "x", Y: "y"}); err == nil ||
		!strings.Contains(err.Error(), "need a table") {
		t.Errorf("points.ReadOptions.X with GeoJSON: got error %v", err)
	}
	if _, err := Read(strings.NewReader("x,y,type\na,b,c\n"),
		ReadOptions{SkipBad: true}); err == nil ||
		!strings.Contains(err.Error(), "none of 1 rows is valid; line 2") {
		t.Errorf("only bad rows: got error %v", err)
	}
}

// Any bytes give valid points or an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(threeTable))
	f.Add([]byte("x\ty\ttype\n1\t2\tA\n"))
	f.Add([]byte(threeGeoJSON))
	f.Add(threeParquet(f))
	f.Add([]byte(seqRest))
	f.Add([]byte("type;wkt\ncafe;SRID=4326;POINT (1,5 2)\n"))
	f.Add([]byte(`<gpx><wpt lat="2" lon="1"><type>cafe</type></wpt></gpx>`))
	f.Add([]byte(`{"crs":{"properties":{"name":"EPSG:27700"}},"features":[{"properties":{"kind":"a"},"geometry":{"type":"Point","coordinates":[1,2]}}]}`))
	f.Add(threeGeoParquet(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opt := range []ReadOptions{{}, {SkipBad: true, CRS: WGS84}} {
			start := time.Now()
			in, err := Read(bytes.NewReader(data), opt)
			if took := time.Since(start); took > 5*time.Second {
				t.Fatalf("reading took %v", took)
			}
			if err != nil {
				continue
			}
			for i := range in.X {
				if err := CheckPosition(in.X[i], in.Y[i], in.CRS.Geographic()); err != nil ||
					int(in.Feature[i]) >= len(in.Features) {
					t.Fatalf("point %d: %v, feature %d of %d", i, err, in.Feature[i], len(in.Features))
				}
			}
		}
	})
}

func FuzzWKB(f *testing.F) {
	f.Add(wkbPoint(binary.LittleEndian, 1, 2))
	f.Add(wkbPoint(binary.BigEndian, 1, 2))
	f.Add([]byte("\x01\x01\x00\x00\x20\xe6\x10\x00\x00________________"))
	f.Fuzz(func(t *testing.T, data []byte) { _, _, _ = parseWKBPoint(data) })
}

const bzipped = "QlpoOTFBWSZTWQZpG9EAAAfZgAAQAAQwACsARGAgADEDQNAgm1PU08hiw305SS8DT0XckU4UJAGaRvRA"

func TestLatin1Refused(t *testing.T) {
	_, err := Read(strings.NewReader("x,y,type\n0,0,bar\n0,1,caf\xe9\n"), ReadOptions{})
	if err == nil || !strings.Contains(err.Error(), "line 3: feature") {
		t.Errorf("Latin-1: got error %v, want one for line 3", err)
	}
}

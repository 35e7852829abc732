package points

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// zipped returns a ZIP archive of files.
func zipped(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const shopsKML = `<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>all</name><Style id="s"/>
<Folder><name>cafe</name><Placemark><name>Oak</name><Point><coordinates> 13.4,52.5,30 </coordinates></Point></Placemark></Folder>
<Folder><name>bar</name><Folder><name>late</name>
<Placemark><name>Elm</name><ExtendedData><Data name="kind"><value>pub</value></Data></ExtendedData><Point><coordinates>13.41,52.51</coordinates></Point></Placemark>
</Folder><Placemark><MultiGeometry><Point><coordinates>13.42,52.52</coordinates></Point></MultiGeometry></Placemark></Folder>
</Document></kml>`

const districtsKML = `<kml><Document><Placemark><name>West</name><Polygon><outerBoundaryIs><LinearRing><coordinates>
0,0 1,0 1,1 0,1 0,0</coordinates></LinearRing></outerBoundaryIs></Polygon></Placemark>
<Placemark><Polygon><outerBoundaryIs><LinearRing><coordinates>1,0 2,0 2,1 1,1 1,0</coordinates></LinearRing></outerBoundaryIs>
<innerBoundaryIs><LinearRing><coordinates>1.4,0.4 1.6,0.4 1.6,0.6 1.4,0.4</coordinates></LinearRing></innerBoundaryIs></Polygon></Placemark></Document></kml>`

// polygonShapefile returns a .shp file with a square from 0 to 4 and a hole from 1 to 2, and its
// .dbf file with the name Core.
func polygonShapefile() (shp, dbf string) {
	rings := [][][2]float64{{{0, 0}, {0, 4}, {4, 4}, {4, 0}, {0, 0}}, {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {1, 1}}}
	var r, b bytes.Buffer
	write := func(v any) { _ = binary.Write(&r, binary.LittleEndian, v) } // a buffer takes all
	write(uint32(5))
	write([4]float64{0, 0, 4, 4})
	write([]uint32{2, 10, 0, 5})
	write(rings[0])
	write(rings[1])
	b.Write(shapefileMagic)
	b.Write(make([]byte, 100-len(shapefileMagic)))
	_ = binary.Write(&b, binary.BigEndian, []uint32{1, uint32(r.Len() / 2)})
	b.Write(r.Bytes())
	head := make([]byte, 32)
	binary.LittleEndian.PutUint32(head[4:], 1)
	binary.LittleEndian.PutUint16(head[8:], 65)
	binary.LittleEndian.PutUint16(head[10:], 5)
	field := make([]byte, 32)
	copy(field, "NAME")
	field[11], field[16] = 'C', 4
	return b.String(), string(head) + string(field) + "\r" + " Core"
}

func TestZippedShapefileKMLAndKMZ(t *testing.T) {
	shop := map[string]string{"readme.txt": "about the shops"}
	for _, ending := range []string{".shp", ".dbf", ".prj", ".cpg"} {
		data, err := os.ReadFile("testdata/three" + ending)
		if err != nil {
			t.Fatal(err)
		}
		shop["folder/three"+ending] = string(data)
	}
	for _, v := range []struct {
		data            []byte
		opt             ReadOptions
		format, listing string
	}{
		{zipped(t, shop), ReadOptions{}, "shapefile", "500001 5.500002e+06 cafe\n500003.5 5.499996e+06 bar\n500001 5.500002e+06 bar\n"},
		{[]byte(shopsKML), ReadOptions{}, "kml", "13.4 52.5 cafe\n13.41 52.51 late\n13.42 52.52 bar\n"},
		{[]byte(shopsKML), ReadOptions{Feature: "name", SkipBad: true}, "kml", "13.4 52.5 Oak\n13.41 52.51 Elm\n"},
		{zipped(t, map[string]string{"doc.kml": shopsKML, "files/icon.png": "x"}), ReadOptions{}, "kml", "13.4 52.5 cafe\n13.41 52.51 late\n13.42 52.52 bar\n"},
		{zipped(t, map[string]string{"a.csv": "x,y,type\n1,2,a\n", "b.csv": "x,y,type\n3,4,b\n"}), ReadOptions{Layer: "b"}, "table", "3 4 b\n"},
	} {
		in := mustRead(t, v.data, v.opt)
		if got := listing(in.Set); got != v.listing || in.Format != v.format {
			t.Errorf("%s: %s\n%swant %s\n%s", v.data[:9], in.Format, got, v.format, v.listing)
		}
	}
	for want, v := range map[string][]byte{
		"several files in the ZIP archive":             zipped(t, map[string]string{"a.csv": "x,y,type\n1,2,a\n", "b.csv": "x,y,type\n"}),
		"no file with points in the ZIP archive":       zipped(t, map[string]string{"a.png": "x"}),
		"lone.shp: a Shapefile has its features in a ": zipped(t, map[string]string{"lone.shp": shop["folder/three.shp"]}),
		"ZIP archive: zip":                             []byte("PK\x03\x04 and nothing"),
		"placemark 1: no Point":                        []byte("<kml>" + `<Folder><name>a</name><Placemark><LineString><coordinates>0,0 1,1</coordinates></LineString></Placemark></Folder></kml>`),
		`position "x": want longitude`:                 []byte("<kml>" + `<Folder><name>a</name><Placemark><Point><coordinates>x</coordinates></Point></Placemark></Folder></kml>`),
		"XML document <html>: want <gpx> or <kml>":     []byte("<html></html>"),
		"KML: no placemarks":                           []byte("<kml></kml>"),
	} {
		if _, err := Read(bytes.NewReader(v), ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// Regions and windows are read from Shapefiles and KML, also in archives.
func TestPolygonsOfOtherFormats(t *testing.T) {
	shp, dbf := polygonShapefile()
	dir := t.TempDir()
	for name, data := range map[string]string{"core.shp": shp, "core.dbf": dbf, "d.kml": districtsKML,
		"core.zip": string(zipped(t, map[string]string{"core.shp": shp, "core.dbf": dbf})),
		"d.kmz":    string(zipped(t, map[string]string{"doc.kml": districtsKML})),
		"e.kml":    `<kml><Placemark><name>line</name></Placemark></kml>`, "w.wkt": "POLYGON ((0 0, 4 0, 4 4, 0 4))"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"core.shp": "[Core] true false", "core.zip": "[Core] true false",
		"d.kml": "[West region 2] true true", "d.kmz": "[West region 2] true true",
	} {
		regions, err := ReadRegions(t.Context(), filepath.Join(dir, name), WGS84)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range regions {
			names = append(names, r.Name)
		}
		w, err := ReadWindow(t.Context(), filepath.Join(dir, name), WGS84)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(names, " ", w.Contains(0.5, 0.5), " ", w.Contains(1.2, 1.2) || w.Contains(1.2, 0.8) && name[0] == 'd'); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if _, err := ReadRegions(t.Context(), filepath.Join(dir, "e.kml"), WGS84); err == nil || !strings.Contains(err.Error(), "placemark 1: no polygon") {
		t.Errorf("a placemark without a polygon: %v", err)
	}
	table := filepath.Join(dir, "table.zip")
	if err := os.WriteFile(table, zipped(t, map[string]string{"a.csv": "x,y,type\n1,2,a\n"}), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRegions(t.Context(), table, WGS84); err == nil || !strings.Contains(err.Error(), "want polygons as") {
		t.Errorf("regions in a table: %v", err)
	}
	if w, err := ReadWindow(t.Context(), filepath.Join(dir, "w.wkt"), Plane); err != nil || !w.Contains(1, 1) {
		t.Errorf("well-known text: %v", err)
	}
}

// Damaged archives, KML and polygons give an error, points or polygons, but never a panic.
func FuzzArchive(f *testing.F) {
	shp, dbf := polygonShapefile()
	whole := zipped(f, map[string]string{"core.shp": shp, "core.dbf": dbf})
	f.Add(whole, uint16(40), byte(7))
	f.Add([]byte(shopsKML), uint16(100), byte('<'))
	f.Add([]byte(districtsKML), uint16(60), byte('/'))
	f.Add(zipped(f, map[string]string{"doc.kml": shopsKML}), uint16(60), byte(0))
	f.Fuzz(func(t *testing.T, data []byte, at uint16, b byte) {
		if len(data) == 0 {
			return
		}
		data = bytes.Clone(data)
		data[int(at)%len(data)] = b
		if in, err := Read(bytes.NewReader(data), ReadOptions{Memory: 1 << 20}); err == nil && in.Len() < 0 {
			t.Fatal("no points")
		}
		rows := &rowSink{in: &Input{}, shapes: &shapes{}, opt: ReadOptions{Memory: 1 << 20}}
		if err := rows.read(t.Context(), bytes.NewReader(data), "", false); err != nil {
			return
		}
		for _, l := range rows.shapes.list {
			if l.name == "" {
				t.Fatal("a region without a name")
			}
		}
		if polygons, err := shapePolygons(data); err == nil && len(polygons) > len(data) {
			t.Fatal("more polygons than bytes")
		}
	})
}

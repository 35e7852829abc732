package points

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func TestFlatGeobuf(t *testing.T) {
	in, err := ReadFile("testdata/points.fgb", ReadOptions{Time: "when"})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s EPSG:%d %v", in.Format, in.CRS.EPSG, in.Columns)
	if want := "flatgeobuf EPSG:32633 [  type]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	at := map[string]int{}
	for i := range in.X {
		at[fmt.Sprintf("%v %v %s", in.X[i], in.Y[i], in.Features[in.Feature[i]])]++
	}
	if len(at) != 3 || at["1.5 2 cafe"] != 1 || at["3 4 bar"] != 1 || at["5 6 cafe"] != 1 || len(in.Time) != 3 {
		t.Errorf("points %v at times %v", at, in.Time)
	}
	whole, err := os.ReadFile("testdata/points.fgb")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		data []byte
		want string
	}{
		{whole[:len(whole)-20], "feature 3: unexpected EOF"},
		{whole[:40], "header of the FlatGeobuf: unexpected EOF"},
		{append([]byte("fgb\x02fgb\x00"), whole[8:]...), "FlatGeobuf of version 2: want 3"},
		{append([]byte("fgb\x03fgb\x00\xff\xff\xff\xff"), whole[12:]...), "a FlatBuffer of 4294967295 bytes: want 8 to"},
	} {
		if _, err := Read(bytes.NewReader(c.data), ReadOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if _, err := ReadFile("testdata/zones.fgb", ReadOptions{Feature: "name"}); err == nil ||
		!strings.Contains(err.Error(), "feature 1: the geometry is not a point") {
		t.Errorf("polygons as points: %v", err)
	}
	if _, err := ReadRegions(t.Context(), "testdata/points.fgb", Plane); err == nil ||
		!strings.Contains(err.Error(), "feature 1: want a polygon") {
		t.Errorf("points as polygons: %v", err)
	}
}

// wkbPolygon is the triangle 0 0, 8 0, 8 8 with a hole, with heights.
func wkbPolygon() []byte {
	b := binary.LittleEndian.AppendUint32([]byte{1}, 1003)
	b = binary.LittleEndian.AppendUint32(b, 2)
	for _, ring := range [][]float64{{0, 0, 9, 8, 0, 9, 8, 8, 9, 0, 0, 9}, {4, 2, 9, 4, 3, 9, 5, 3, 9, 4, 2, 9}} {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(ring)/3))
		for _, v := range ring {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return b
}

func TestPolygonsOfLayersAndTables(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pack := file("zones.gpkg", unpacked(t, "testdata/zones.gpkg.zst"))
	type row struct {
		Name     string `parquet:"name"`
		Geometry []byte `parquet:"geometry"`
	}
	var table bytes.Buffer
	if err := parquet.Write(&table, []row{{"west", wkbPolygon()}}, parquet.KeyValueMetadata("geo", geoMeta)); err != nil {
		t.Fatal(err)
	}
	system, err := epsg(32633)
	if err != nil {
		t.Fatal(err)
	}
	for path, names := range map[string]string{pack: "west east", pack + "|layername=zones": "west east",
		"testdata/zones.fgb": "west east", file("zones.parquet", table.Bytes()): "west"} {
		regions, err := ReadRegions(t.Context(), path, system)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range regions {
			got = append(got, r.Name)
		}
		west := regions[0]
		if strings.Join(got, " ") != names || !west.Contains(3, 1) || west.Contains(8.5, 1) {
			t.Errorf("%s: regions %v", path, got)
		}
		w, err := ReadWindow(t.Context(), path, system)
		if err != nil || !w.Contains(3, 1) || names != "west" && (w.Contains(1.5, 5.7) || !w.Contains(20.9, 20.5)) {
			t.Errorf("%s: as a window: %v", path, err)
		}
	}
	if _, err := ReadWindow(t.Context(), pack+"|layername=none", system); err == nil || !strings.Contains(err.Error(), `no layer "none": want one of "zones"`) {
		t.Errorf("a layer that is not there: %v", err)
	}
}

// Damaged FlatGeobuf gives points, polygons or an error, but never a panic.
func FuzzFlatGeobuf(f *testing.F) {
	for _, name := range []string{"testdata/points.fgb", "testdata/zones.fgb"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint16(700), byte(9), uint16(2400), byte(255))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint16, b byte, at2 uint16, b2 byte) {
		if len(data) == 0 {
			return
		}
		data = bytes.Clone(data)
		data[int(at)%len(data)], data[int(at2)%len(data)] = b, b2
		_, _ = Read(bytes.NewReader(data), ReadOptions{SkipBad: true, Memory: 1 << 20})
		rows := &rowSink{in: &Input{}, shapes: &shapes{}}
		_ = rows.read(t.Context(), bytes.NewReader(data), "", false)
	})
}

func FuzzWKBPolygons(f *testing.F) {
	f.Add(wkbPolygon())
	f.Add(append([]byte{0, 0, 0, 0, 6, 0, 0, 0, 1}, wkbPolygon()...))
	f.Fuzz(func(t *testing.T, data []byte) { _, _ = parseWKBPolygons(data) })
}

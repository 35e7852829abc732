package points

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// osmPlace is a node or a way of a file that is written here.
type osmPlace struct {
	id       int64
	lat, lon int64 // in 1e-7 degrees
	tags     [][2]string
	refs     []int64 // of a way
}

type osmFile struct{ b bytes.Buffer }

func pbVarint(b []byte, field int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3), v)
}

func pbBytes(b []byte, field int, v []byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3|2), uint64(len(v)))
	return append(b, v...)
}

func pbZigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

func (f *osmFile) blob(kind string, block []byte, packed bool) {
	blob := pbBytes(nil, 1, block)
	if packed {
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		w.Write(block)
		w.Close()
		blob = pbBytes(pbVarint(nil, 2, uint64(len(block))), 3, z.Bytes())
	}
	header := pbVarint(pbBytes(nil, 1, []byte(kind)), 3, uint64(len(blob)))
	f.b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(header))))
	f.b.Write(header)
	f.b.Write(blob)
}

func osmHeader(needs ...string) []byte {
	var block []byte
	for _, n := range append([]string{"OsmSchema-V0.6", "DenseNodes"}, needs...) {
		block = pbBytes(block, 4, []byte(n))
	}
	return block
}

// osmData writes places as a block: nodes dense or one by one, then ways.
func osmData(places []osmPlace, dense bool) []byte {
	number := map[string]uint64{"": 0}
	table := pbBytes(nil, 1, nil)
	text := func(s string) uint64 {
		if _, ok := number[s]; !ok {
			number[s] = uint64(len(number))
			table = pbBytes(table, 1, []byte(s))
		}
		return number[s]
	}
	var ids, lats, lons, pairs, group []byte
	var id, lat, lon int64
	for _, p := range places {
		var keys, values []byte
		for _, t := range p.tags {
			keys, values = binary.AppendUvarint(keys, text(t[0])), binary.AppendUvarint(values, text(t[1]))
		}
		tagged := func(b []byte) []byte { return pbBytes(pbBytes(b, 2, keys), 3, values) }
		switch {
		case p.refs != nil:
			var refs []byte
			last := int64(0)
			for _, r := range p.refs {
				refs, last = binary.AppendUvarint(refs, pbZigzag(r-last)), r
			}
			group = pbBytes(group, 3, pbBytes(tagged(pbVarint(nil, 1, uint64(p.id))), 8, refs))
		case dense:
			ids, lats = binary.AppendUvarint(ids, pbZigzag(p.id-id)), binary.AppendUvarint(lats, pbZigzag(p.lat-lat))
			lons = binary.AppendUvarint(lons, pbZigzag(p.lon-lon))
			id, lat, lon = p.id, p.lat, p.lon
			for _, t := range p.tags {
				pairs = binary.AppendUvarint(binary.AppendUvarint(pairs, text(t[0])), text(t[1]))
			}
			pairs = binary.AppendUvarint(pairs, 0)
		default:
			node := tagged(pbVarint(nil, 1, pbZigzag(p.id)))
			group = pbBytes(group, 1, pbVarint(pbVarint(node, 8, pbZigzag(p.lat)), 9, pbZigzag(p.lon)))
		}
	}
	if ids != nil {
		group = append(pbBytes(nil, 2, pbBytes(pbBytes(pbBytes(pbBytes(nil, 1, ids), 8, lats), 9, lons), 10, pairs)), group...)
	}
	group = pbBytes(group, 4, pbBytes(pbBytes(nil, 2, binary.AppendUvarint(nil, text("amenity"))), 3, binary.AppendUvarint(nil, text("park"))))
	return pbBytes(pbBytes(nil, 1, table), 2, group)
}

// Places are the nodes and ways with a tag, whatever the way in which they are written.
func TestOSMIsRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 6))
	for trial := range trials.Cases(40) {
		var places []osmPlace
		at := make(map[int64]osmPlace)
		kinds := []string{"cafe", "bar", "Bäckerei"}
		for i := range 30 {
			p := osmPlace{id: int64(i*7 + rng.IntN(5)), lat: rng.Int64N(1_800_000_000) - 900_000_000, lon: rng.Int64N(3_600_000_000) - 1_800_000_000}
			for _, key := range []string{"name", "amenity", "shop"} {
				if rng.IntN(2) == 0 {
					p.tags = append(p.tags, [2]string{key, kinds[rng.IntN(3)]})
				}
			}
			places, at[p.id] = append(places, p), p
		}
		for i := range 10 {
			w := osmPlace{id: int64(i), refs: []int64{places[rng.IntN(30)].id, places[rng.IntN(30)].id, 1_000_000 + int64(i)}}
			if rng.IntN(3) > 0 {
				w.tags = [][2]string{{"amenity", kinds[rng.IntN(3)]}}
			}
			places = append(places, w)
		}
		keys := []string{"amenity"}
		if trial%2 == 1 {
			keys = []string{"shop", "amenity"}
		}
		var f osmFile
		f.blob("OSMHeader", osmHeader(), trial%3 == 0)
		cut := rng.IntN(len(places))
		for _, part := range [][]osmPlace{places[:cut], places[cut:]} {
			f.blob("OSMData", osmData(part, trial%4 < 2), trial%3 > 0)
		}
		var want []string
		for _, p := range places {
			kind := ""
			for _, key := range keys {
				for _, tag := range p.tags {
					if tag[0] == key && kind == "" {
						if kind = tag[1]; len(keys) > 1 {
							kind = key + "=" + kind
						}
					}
				}
			}
			if kind == "" {
				continue
			}
			lat, lon := float64(100*p.lat)*1e-9, float64(100*p.lon)*1e-9
			if p.refs != nil {
				a, b := at[p.refs[0]], at[p.refs[1]]
				low, high := float64(100*min(a.lat, b.lat))*1e-9, float64(100*max(a.lat, b.lat))*1e-9
				left, right := float64(100*min(a.lon, b.lon))*1e-9, float64(100*max(a.lon, b.lon))*1e-9
				lat, lon = low+(high-low)/2, left+(right-left)/2
			}
			want = append(want, fmt.Sprint(lon, lat, kind))
		}
		in, err := Read(bytes.NewReader(f.b.Bytes()), ReadOptions{Feature: strings.Join(keys, ", ")})
		if err != nil {
			t.Fatalf("trial %d: %v", trial, err)
		}
		var got []string
		for i, x := range in.X {
			got = append(got, fmt.Sprint(x, in.Y[i], in.Features[in.Feature[i]]))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || in.CRS != WGS84 || in.Format != "osm" {
			t.Fatalf("trial %d: read\n%v, want\n%v", trial, got, want)
		}
		if all := strings.Join(in.Guesses, "\n"); !strings.Contains(all, "2 relations") {
			t.Errorf("trial %d: notes %q do not say that relations are left out", trial, all)
		}
	}
}

func TestOSMErrors(t *testing.T) {
	good := func() *osmFile {
		f := &osmFile{}
		f.blob("OSMHeader", osmHeader(), true)
		return f
	}
	cafe := osmData([]osmPlace{{id: 1, tags: [][2]string{{"amenity", "cafe"}}}}, true)
	for _, c := range []struct {
		name, want string
		make       func() *osmFile
		opt        ReadOptions
	}{
		{"history", "HistoricalInformation", func() *osmFile {
			f := &osmFile{}
			f.blob("OSMHeader", osmHeader("HistoricalInformation"), true)
			return f
		}, ReadOptions{}},
		{"cut", "blob 2", func() *osmFile {
			f := good()
			f.blob("OSMData", cafe, true)
			f.b.Truncate(f.b.Len() - 3)
			return f
		}, ReadOptions{}},
		{"damaged", "blob 2: the file is damaged", func() *osmFile {
			f := good()
			f.blob("OSMData", cafe[:len(cafe)-2], false)
			return f
		}, ReadOptions{}},
		{"no place there", "node 1: latitude 200", func() *osmFile {
			f := good()
			f.blob("OSMData", osmData([]osmPlace{{id: 1, lat: 2_000_000_000, tags: [][2]string{{"amenity", "cafe"}}}}, true), true)
			return f
		}, ReadOptions{}},
		{"times", "no times of places", good, ReadOptions{Time: "when"}},
		{"a feature by file", "@file", good, ReadOptions{Feature: "@file"}},
	} {
		if _, err := Read(&c.make().b, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

func FuzzOSM(f *testing.F) {
	for _, dense := range []bool{true, false} {
		var file osmFile
		file.blob("OSMHeader", osmHeader(), false)
		file.blob("OSMData", osmData([]osmPlace{{id: 1, lat: 5, lon: 6, tags: [][2]string{{"amenity", "cafe"}}},
			{id: 2, refs: []int64{1}, tags: [][2]string{{"amenity", "bar"}}}}, dense), false)
		f.Add(file.b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := Read(bytes.NewReader(data), ReadOptions{Memory: 1 << 20})
		if err == nil && in.Format == "osm" && len(in.X) != len(in.Feature) {
			t.Fatal("positions without features")
		}
	})
}

// A file of osmium's, which ogr2ogr reads with the same positions.
func TestOSMOfOsmium(t *testing.T) {
	in, err := ReadFile("testdata/places.osm.pbf", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	totals := fmt.Sprint(in.Features, in.Totals())
	if in.Len() != 16 || in.X[0] != 13.4047225 || in.Y[0] != 52.5076096 || in.Features[in.Feature[0]] != "bar" {
		t.Errorf("read %d points, %s, the first at %v, %v", in.Len(), totals, in.X[0], in.Y[0])
	}
}

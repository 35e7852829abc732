package points

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// An OSM PBF file is a sequence of blobs. Before each are the length of its header in 32 bits, most
// significant byte first, and the header, with the type and length of the blob. A blob is a block,
// mostly compressed by zlib. All are Protocol Buffers, of which these fields are read:
//
//	header of a blob:  1 type, OSMHeader or OSMData; 3 length
//	blob:              1 block as it is, 2 its length, 3 by zlib, 7 by zstd
//	block of OSMHeader: 4 what a reader must know
//	block of OSMData:  1 strings; 2 groups; 17 granularity, 19 and 20 offset of latitude and
//	                   longitude, in 1e-9 degrees
//	group:             1 nodes; 2 dense nodes; 3 ways; 4 relations
//	node:              1 number; 2 keys and 3 values, numbers of strings; 8 latitude, 9 longitude
//	dense nodes:       1, 8 and 9 as of nodes, as differences; 10 keys and values in turn, with a 0
//	                   after each node
//	way:               2 and 3 as of nodes; 8 numbers of nodes, as differences
//	relation:          2 and 3 as of nodes

const (
	largestOSMHeader = 1 << 16
	largestOSMBlob   = 1 << 25
)

func isOSM(start []byte) bool {
	return len(start) >= 15 && start[4] == 10 && start[5] == 9 && string(start[6:15]) == "OSMHeader"
}

// osmReader reads the nodes that have a tag, and the ways, at the centre of the box around them.
type osmReader struct {
	ctx       context.Context
	rows      *rowSink
	keys      []string // of the tags, which are the features
	ways      []osmWay
	refs      []int64 // numbers of the nodes of ways, of which each has a part
	relations int     // with a tag, which are left out
}

type osmWay struct {
	feature  string
	from, to int // in refs
}

// readOSM reads the file twice: positions of ways are those of nodes, which come before them.
func readOSM(ctx context.Context, at io.ReaderAt, size int64, rows *rowSink) error {
	rows.in.Format = "osm"
	if rows.shapes != nil {
		return errors.New("polygons are not read from OSM PBF: convert them with ogr2ogr or osmium export")
	}
	o := rows.opt
	if o.X != "" || o.Y != "" || o.Geometry != "" || o.Time != "" || o.Columns != nil {
		return errors.New("OSM PBF has its own positions and no times of places: leave out points.ReadOptions.X, " +
			"points.ReadOptions.Y, points.ReadOptions.Geometry, points.ReadOptions.Columns and points.ReadOptions.Time")
	}
	r := &osmReader{ctx: ctx, rows: rows, keys: []string{"amenity"}}
	switch {
	case rows.fixed != nil:
		return errors.New("points.ReadOptions.Feature=@file: an OSM PBF file has places of all kinds; name the key of a tag, such as amenity")
	case o.Feature != "":
		r.keys = strings.Split(o.Feature, ",")
		for i, k := range r.keys {
			r.keys[i] = strings.TrimSpace(k)
		}
	default:
		rows.guess("places are nodes and ways with the tag amenity (others, such as amenity,shop: points.ReadOptions.Feature)")
	}
	rows.in.Columns[2] = strings.Join(r.keys, ",")
	rows.assume(WGS84, "OpenStreetMap is in WGS 84")
	if err := r.blocks(io.NewSectionReader(at, 0, size), r.tagged); err != nil {
		return err
	}
	if len(r.ways) > 0 {
		if err := r.addWays(io.NewSectionReader(at, 0, size)); err != nil {
			return err
		}
	}
	if r.relations > 0 {
		rows.guess("left out %d relations with that tag: only nodes and ways are places", r.relations)
	}
	return nil
}

// tagged adds the nodes of a block that have a tag, and keeps such ways.
func (r *osmReader) tagged(b *osmBlock) error {
	if !slices.ContainsFunc(b.strings, func(s []byte) bool { return slices.Contains(r.keys, string(s)) }) {
		return nil
	}
	return b.each(func(what osmKind, id int64, lat, lon float64, tags osmTags, refs []int64) error {
		feature, ok := b.feature(r.keys, tags)
		if !ok {
			return nil
		}
		switch what {
		case osmNode:
			return r.rows.add(lon, lat, []byte(feature), func() string { return fmt.Sprintf("node %d", id) })
		case osmRelation:
			r.relations++
			return nil
		}
		from := len(r.refs)
		r.refs = append(r.refs, refs...)
		r.ways = append(r.ways, osmWay{feature, from, len(r.refs)})
		// Each number is held twice, and a position with it.
		if most := r.rows.opt.Memory; most > 0 && 40*int64(len(r.refs)) > most {
			return errors.New("the nodes of the ways do not fit the memory bound: raise points.ReadOptions.Memory")
		}
		return nil
	})
}

// addWays reads the positions of the ways' nodes and adds the ways.
func (r *osmReader) addWays(file io.Reader) error {
	needed := slices.Clone(r.refs)
	slices.Sort(needed)
	needed = slices.Compact(needed)
	at := make([][2]float64, len(needed))
	for i := range at {
		at[i][0] = math.NaN()
	}
	err := r.blocks(file, func(b *osmBlock) error {
		return b.each(func(what osmKind, id int64, lat, lon float64, _ osmTags, _ []int64) error {
			if what == osmNode {
				if i, ok := slices.BinarySearch(needed, id); ok {
					at[i] = [2]float64{lon, lat}
				}
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	without := 0
	for n, w := range r.ways {
		if n&1023 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
		for _, id := range r.refs[w.from:w.to] {
			i, _ := slices.BinarySearch(needed, id)
			if math.IsNaN(at[i][0]) {
				continue
			}
			for k, v := range at[i] {
				low[k], high[k] = min(low[k], v), max(high[k], v)
			}
		}
		if low[0] > high[0] {
			without++
			continue
		}
		err := r.rows.add(low[0]+(high[0]-low[0])/2, low[1]+(high[1]-low[1])/2, []byte(w.feature),
			func() string { return fmt.Sprintf("way %d of those with the tag", n+1) })
		if err != nil {
			return err
		}
	}
	if without > 0 {
		r.rows.guess("left out %d ways none of whose nodes is in the file", without)
	}
	return nil
}

// blocks calls do with each block of data.
func (r *osmReader) blocks(file io.Reader, do func(*osmBlock) error) error {
	in := bufio.NewReaderSize(file, 1<<18)
	for n := 1; ; n++ {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		kind, data, err := nextOSMBlob(in)
		if errors.Is(err, io.EOF) {
			if n == 1 {
				return errors.New("OSM PBF: the file is empty")
			}
			return nil
		}
		if err == nil {
			switch kind {
			case "OSMHeader":
				err = checkOSMHeader(data)
			case "OSMData":
				var b *osmBlock
				if b, err = newOSMBlock(data); err == nil {
					if err := do(b); err != nil && !errors.Is(err, errOSM) {
						return err // of a place, which it names
					} else if err != nil {
						return fmt.Errorf("OSM PBF: blob %d: %w", n, err)
					}
				}
			}
		}
		if err != nil {
			return fmt.Errorf("OSM PBF: blob %d: %w", n, err)
		}
	}
}

// nextOSMBlob reads a blob and unpacks it. It returns io.EOF only between blobs.
func nextOSMBlob(in io.Reader) (kind string, block []byte, err error) {
	var size [4]byte
	if _, err := io.ReadFull(in, size[:]); err != nil {
		return "", nil, err // io.EOF, or io.ErrUnexpectedEOF within
	}
	header, err := readOSMBytes(in, int64(binary.BigEndian.Uint32(size[:])), largestOSMHeader)
	if err != nil {
		return "", nil, err
	}
	length := int64(0)
	p := protobuf{data: header}
	for p.next() {
		switch p.field {
		case 1:
			kind = string(p.bytes)
		case 3:
			length = int64(p.value)
		}
	}
	if p.bad || length < 0 {
		return "", nil, errOSM
	}
	blob, err := readOSMBytes(in, length, largestOSMBlob)
	if err != nil {
		return "", nil, err
	}
	block, err = unpackOSM(blob)
	return kind, block, err
}

// readOSMBytes reads so many bytes, in memory that grows with what is read.
func readOSMBytes(in io.Reader, n, most int64) ([]byte, error) {
	if n > most {
		return nil, fmt.Errorf("%d bytes: want at most %d", n, most)
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, in, n); err != nil {
		return nil, noEOF(err)
	}
	return b.Bytes(), nil
}

func unpackOSM(blob []byte) ([]byte, error) {
	size, packed, how := int64(0), []byte(nil), uint64(0)
	p := protobuf{data: blob}
	for p.next() {
		switch p.field {
		case 1:
			return p.bytes, nil
		case 2:
			size = int64(p.value)
		case 3, 4, 5, 6, 7:
			packed, how = p.bytes, p.field
		}
	}
	if p.bad || size < 0 || size > largestOSMBlob {
		return nil, errOSM
	}
	var from io.Reader
	switch how {
	case 3:
		z, err := zlib.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		from = z
	case 7:
		z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(largestOSMBlob))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		from = z
	case 0:
		return nil, errors.New("a blob without data")
	default:
		return nil, errors.New("compressed by lzma, bzip2 or LZ4: want zlib or zstd, as osmium cat -f pbf,pbf_compression=zlib writes")
	}
	block, err := readOSMBytes(from, size, largestOSMBlob)
	if err != nil {
		return nil, err
	}
	if n, _ := from.Read(make([]byte, 1)); n > 0 {
		return nil, errOSM
	}
	return block, nil
}

// errOSM says that a file is damaged.
var errOSM = errors.New("the file is damaged")

// checkOSMHeader refuses files that need what is not known here.
func checkOSMHeader(data []byte) error {
	p := protobuf{data: data}
	for p.next() {
		if need := string(p.bytes); p.field == 4 && need != "OsmSchema-V0.6" && need != "DenseNodes" && need != "Sort.Type_then_ID" {
			return fmt.Errorf("the file needs %q, which is not read here", need)
		}
	}
	if p.bad {
		return errOSM
	}
	return nil
}

// osmBlock is a block of data.
type osmBlock struct {
	strings   [][]byte
	groups    [][]byte
	scale     int64
	from      [2]int64 // latitude and longitude
	refs      []int64  // of the way that is read
	key, text []uint64 // the tags of what is read: numbers of strings
}

func newOSMBlock(data []byte) (*osmBlock, error) {
	b := &osmBlock{scale: 100}
	p := protobuf{data: data}
	for p.next() {
		switch p.field {
		case 1:
			table := protobuf{data: p.bytes}
			for table.next() {
				if table.field == 1 {
					b.strings = append(b.strings, table.bytes)
				}
			}
			p.bad = p.bad || table.bad
		case 2:
			b.groups = append(b.groups, p.bytes)
		case 17:
			b.scale = int64(p.value)
		case 19:
			b.from[0] = int64(p.value)
		case 20:
			b.from[1] = int64(p.value)
		}
	}
	if p.bad {
		return nil, errOSM
	}
	return b, nil
}

type osmKind int

const (
	osmNode osmKind = iota
	osmWayKind
	osmRelation
)

// osmTags are the numbers of the strings of keys, and of values.
type osmTags struct{ keys, values []uint64 }

// feature returns the value of the first of some keys that there is. Of several keys, the key comes
// with it, as in amenity=cafe.
func (b *osmBlock) feature(keys []string, tags osmTags) (string, bool) {
	for _, key := range keys {
		for i, k := range tags.keys {
			if k >= uint64(len(b.strings)) || tags.values[i] >= uint64(len(b.strings)) || string(b.strings[k]) != key {
				continue
			}
			value := string(b.strings[tags.values[i]])
			if len(keys) > 1 {
				value = key + "=" + value
			}
			return value, true
		}
	}
	return "", false
}

func (b *osmBlock) degrees(axis int, v int64) float64 {
	return float64(b.from[axis]+b.scale*v) * 1e-9
}

// each calls do with all nodes, ways and relations. Tags and refs are valid during the call.
func (b *osmBlock) each(do func(what osmKind, id int64, lat, lon float64, tags osmTags, refs []int64) error) error {
	for _, group := range b.groups {
		p := protobuf{data: group}
		for p.next() {
			var err error
			switch p.field {
			case 1, 3, 4:
				err = b.one(p.field, p.bytes, do)
			case 2:
				err = b.dense(p.bytes, do)
			}
			if err != nil {
				return err
			}
		}
		if p.bad {
			return errOSM
		}
	}
	return nil
}

// one reads a node, way or relation, by the number of its field in a group.
func (b *osmBlock) one(field uint64, data []byte,
	do func(osmKind, int64, float64, float64, osmTags, []int64) error) error {
	var id, lat, lon int64
	b.key, b.text, b.refs = b.key[:0], b.text[:0], b.refs[:0]
	p := protobuf{data: data}
	for p.next() {
		switch {
		case p.field == 1 && field == 1:
			id = zigzag(p.value)
		case p.field == 2:
			b.key = p.packed(b.key)
		case p.field == 3:
			b.text = p.packed(b.text)
		case p.field == 8 && field == 1:
			lat = zigzag(p.value)
		case p.field == 9 && field == 1:
			lon = zigzag(p.value)
		case p.field == 8 && field == 3:
			sum := int64(0)
			q := protobuf{data: p.bytes}
			for len(q.data) > 0 && !q.bad {
				sum += zigzag(q.varint())
				b.refs = append(b.refs, sum)
			}
			p.bad = p.bad || q.bad
		}
	}
	if p.bad || len(b.key) != len(b.text) {
		return errOSM
	}
	tags := osmTags{b.key, b.text}
	switch field {
	case 1:
		return do(osmNode, id, b.degrees(0, lat), b.degrees(1, lon), tags, nil)
	case 3:
		return do(osmWayKind, 0, 0, 0, tags, b.refs)
	}
	return do(osmRelation, 0, 0, 0, tags, nil)
}

// dense reads dense nodes.
func (b *osmBlock) dense(data []byte, do func(osmKind, int64, float64, float64, osmTags, []int64) error) error {
	var ids, lats, lons, pairs protobuf
	p := protobuf{data: data}
	for p.next() {
		switch p.field {
		case 1:
			ids.data = p.bytes
		case 8:
			lats.data = p.bytes
		case 9:
			lons.data = p.bytes
		case 10:
			pairs.data = p.bytes
		}
	}
	var id, lat, lon int64
	for len(ids.data) > 0 {
		id, lat, lon = id+zigzag(ids.varint()), lat+zigzag(lats.varint()), lon+zigzag(lons.varint())
		b.key, b.text = b.key[:0], b.text[:0]
		for len(pairs.data) > 0 {
			key := pairs.varint()
			if key == 0 {
				break
			}
			b.key, b.text = append(b.key, key), append(b.text, pairs.varint())
		}
		if ids.bad || lats.bad || lons.bad || pairs.bad {
			return errOSM
		}
		if err := do(osmNode, id, b.degrees(0, lat), b.degrees(1, lon), osmTags{b.key, b.text}, nil); err != nil {
			return err
		}
	}
	if p.bad {
		return errOSM
	}
	return nil
}

// protobuf reads the fields of a message, one after the other.
type protobuf struct {
	data  []byte
	bad   bool
	field uint64
	value uint64 // of a field that is a number
	bytes []byte // of others
}

// next reads a field. It returns false at the end, or with bad set.
func (p *protobuf) next() bool {
	if len(p.data) == 0 || p.bad {
		return false
	}
	key := p.varint()
	p.field, p.value, p.bytes = key>>3, 0, nil
	switch key & 7 {
	case 0:
		p.value = p.varint()
	case 1:
		p.take(8)
	case 2:
		p.take(p.varint())
	case 5:
		p.take(4)
	default:
		p.bad = true
	}
	return !p.bad
}

func (p *protobuf) take(n uint64) {
	if p.bad || n > uint64(len(p.data)) {
		p.bad = true
		return
	}
	p.bytes, p.data = p.data[:n], p.data[n:]
}

func (p *protobuf) varint() uint64 {
	v, n := binary.Uvarint(p.data)
	if n <= 0 {
		p.bad, p.data = true, nil
		return 0
	}
	p.data = p.data[n:]
	return v
}

// packed appends the numbers of a field, which may also be one by itself.
func (p *protobuf) packed(to []uint64) []uint64 {
	if p.bytes == nil {
		return append(to, p.value)
	}
	q := protobuf{data: p.bytes}
	for len(q.data) > 0 && !q.bad {
		to = append(to, q.varint())
	}
	p.bad = p.bad || q.bad
	return to
}

// zigzag turns a number whose lowest bit is the sign into a signed one.
func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

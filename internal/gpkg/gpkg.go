package gpkg

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
)

// System is a coordinate reference system.
type System struct {
	EPSG int // EPSG code, such as 4326; -1: a plane without a location on earth
	Name string
	// Definition is the well-known text of the system. One without an EPSG code, whose EPSG is
	// Custom, needs it.
	Definition string
}

// Custom is the number of a system that is defined by its well-known text.
const Custom = 100_000

// LongestDefinition bounds Definition: systems share a page.
const LongestDefinition = 2000

// Plane is the system of positions without a location on earth.
var Plane = System{EPSG: -1, Name: "Undefined Cartesian"}

// Layer is a table of geometries, or of attributes only.
type Layer struct {
	Name     string
	Geometry string   // POINT, MULTILINESTRING; "": none
	Columns  []Column // besides the row number and the geometry
	Rows     iter.Seq[Row]
}

// Column is a name and a type: INTEGER, REAL, TEXT, or DATETIME with times as text.
type Column struct{ Name, Type string }

// Row is a row of a layer: its lines, or its point as a line of one position, and the values of the
// columns (nil, int64, float64 or string).
type Row struct {
	Lines  [][][2]float64
	Values []any
}

// WriterAt is the file that a GeoPackage is written to.
type WriterAt interface {
	io.Writer
	io.WriterAt
}

// changed is the time of the last change of the layers: a constant, so that the same input gives
// the same bytes.
const changed = "1970-01-01T00:00:00.000Z"

// The identification of a GeoPackage, of version 1.3.
const (
	applicationID = 0x47504b47 // GPKG
	userVersion   = 10300
)

const wgs84 = `GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,` +
	`AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],` +
	`UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4326"]]`

// Write writes layers, with positions in one reference system, to an empty file.
func Write(f WriterAt, system System, layers []Layer) error {
	w := bufio.NewWriterSize(f, 1<<20)
	if _, err := w.Write(make([]byte, pageSize)); err != nil {
		return err
	}
	d := &database{w: w, pages: 1}
	var contents, geometries [][]any
	for _, l := range layers {
		box := [4]float64{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
		d.table(l.Name, l.sql(), l.values(system, &box))
		row := []any{l.Name, "attributes", l.Name, "", changed, nil, nil, nil, nil, nil}
		if l.Geometry != "" {
			row[1], row[9] = "features", int64(system.EPSG)
			if box[0] <= box[2] {
				row[5], row[6], row[7], row[8] = box[0], box[1], box[2], box[3]
			}
			geometries = append(geometries, []any{l.Name, "geom", l.Geometry, int64(system.EPSG), int64(0), int64(0)})
		}
		contents = append(contents, row)
	}
	d.systems(system)
	d.table("gpkg_contents", `CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, `+
		`data_type TEXT NOT NULL, identifier TEXT UNIQUE, description TEXT DEFAULT '', last_change DATETIME `+
		`NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')), min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, `+
		`max_y DOUBLE, srs_id INTEGER)`, slices.Values(contents))
	d.index("sqlite_autoindex_gpkg_contents_1", "gpkg_contents", keys(contents, 0)...)
	d.index("sqlite_autoindex_gpkg_contents_2", "gpkg_contents", keys(contents, 2)...)
	d.table("gpkg_geometry_columns", `CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, `+
		`column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL, z TINYINT NOT `+
		`NULL, m TINYINT NOT NULL, CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name), CONSTRAINT `+
		`uk_gc_table_name UNIQUE (table_name))`, slices.Values(geometries))
	d.index("sqlite_autoindex_gpkg_geometry_columns_1", "gpkg_geometry_columns", keys(geometries, 0, 1)...)
	d.index("sqlite_autoindex_gpkg_geometry_columns_2", "gpkg_geometry_columns", keys(geometries, 0)...)
	if d.err != nil {
		return d.err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	first, err := d.firstPage(applicationID, userVersion)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(first, 0)
	return err
}

// keys returns the entries of an index: some columns and the row number, in order.
func keys(rows [][]any, columns ...int) (out [][]any) {
	for i, r := range rows {
		var e []any
		for _, c := range columns {
			e = append(e, r[c])
		}
		out = append(out, append(e, int64(i)+1))
	}
	slices.SortFunc(out, func(a, b []any) int { return strings.Compare(a[0].(string), b[0].(string)) })
	return out
}

// systems writes the table of reference systems: the required three, and ours.
func (d *database) systems(own System) {
	rows := map[int][]any{
		-1: {"Undefined Cartesian SRS", nil, "NONE", int64(-1), "undefined", "undefined Cartesian coordinate reference system"},
		0:  {"Undefined geographic SRS", nil, "NONE", int64(0), "undefined", "undefined geographic coordinate reference system"},
		4326: {"WGS 84 geodetic", nil, "EPSG", int64(4326), wgs84,
			"longitude/latitude coordinates in decimal degrees on the WGS 84 spheroid"},
	}
	if _, ok := rows[own.EPSG]; !ok {
		definition := cmp.Or(own.Definition, "undefined")
		if len(definition)+2*len(own.Name) > LongestDefinition {
			definition = "undefined" // its number is known
		}
		rows[own.EPSG] = []any{own.Name, nil, "EPSG", int64(own.EPSG), definition, own.Name}
		if own.EPSG == Custom {
			rows[own.EPSG] = []any{own.Name, nil, "NONE", int64(Custom), own.Definition, own.Name}
		}
	}
	var ids []int
	for id := range rows {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	// Row numbers are those of the systems, so the page is written here: table numbers rows from 1.
	leaf := newPage(tableLeaf, 0)
	for _, id := range ids {
		if !leaf.add(d.cell(int64(id), record(rows[id]))) {
			d.err = fmt.Errorf("GeoPackage: the name of EPSG:%d is too long", own.EPSG)
		}
	}
	d.master = append(d.master, []any{"table", "gpkg_spatial_ref_sys", "gpkg_spatial_ref_sys",
		int64(d.emit(leaf.bytes())), `CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER ` +
			`NOT NULL PRIMARY KEY, organization TEXT NOT NULL, organization_coordsys_id INTEGER NOT NULL, ` +
			`definition TEXT NOT NULL, description TEXT)`})
}

// sql returns the declaration of the layer's table.
func (l *Layer) sql() string {
	columns := []string{"fid INTEGER PRIMARY KEY NOT NULL"}
	if l.Geometry != "" {
		columns = append(columns, "geom "+l.Geometry)
	}
	for _, c := range l.Columns {
		columns = append(columns, quoted(c.Name)+" "+c.Type)
	}
	return "CREATE TABLE " + quoted(l.Name) + " (" + strings.Join(columns, ", ") + ")"
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// values returns the rows of the layer's table, and extends box by their positions.
func (l *Layer) values(system System, box *[4]float64) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for r := range l.Rows {
			row := []any{nil}
			if l.Geometry != "" {
				row = append(row, l.blob(system, r.Lines, box))
			}
			if !yield(append(row, r.Values...)) {
				return
			}
		}
	}
}

// blob returns a geometry: GeoPackage's header, with the bounding box of lines, and well-known
// binary.
func (l *Layer) blob(system System, lines [][][2]float64, box *[4]float64) []byte {
	own := [4]float64{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, line := range lines {
		for _, p := range line {
			own[0], own[1] = min(own[0], p[0]), min(own[1], p[1])
			own[2], own[3] = max(own[2], p[0]), max(own[3], p[1])
		}
	}
	box[0], box[1] = min(box[0], own[0]), min(box[1], own[1])
	box[2], box[3] = max(box[2], own[2]), max(box[3], own[3])
	little := binary.LittleEndian
	float := func(b []byte, v float64) []byte { return little.AppendUint64(b, math.Float64bits(v)) }
	point := l.Geometry == "POINT"
	b := []byte{'G', 'P', 0, 1}
	if !point {
		b[3] |= 1 << 1 // with a bounding box: min and max x, then y
	}
	b = little.AppendUint32(b, uint32(int32(system.EPSG)))
	if point {
		b = little.AppendUint32(append(b, 1), 1)
		return float(float(b, lines[0][0][0]), lines[0][0][1])
	}
	b = float(float(float(float(b, own[0]), own[2]), own[1]), own[3])
	b = little.AppendUint32(little.AppendUint32(append(b, 1), 5), uint32(len(lines)))
	for _, line := range lines {
		b = little.AppendUint32(little.AppendUint32(append(b, 1), 2), uint32(len(line)))
		for _, p := range line {
			b = float(float(b, p[0]), p[1])
		}
	}
	return b
}

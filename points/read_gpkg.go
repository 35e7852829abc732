package points

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// readGeoPackage reads the points of one layer, a table that gpkg_geometry_columns lists.
func readGeoPackage(r io.ReaderAt, size int64, path string, rows *rowSink) error {
	rows.in.Format = "geopackage"
	if info, err := os.Stat(path + "-wal"); path != "" && err == nil && info.Size() > 0 {
		return fmt.Errorf("recent changes are still in %s-wal: close the program that writes the file, or run sqlite3 on it with 'PRAGMA wal_checkpoint(TRUNCATE)'", path)
	}
	d, err := openSQLite(r, size)
	if err != nil {
		return err
	}
	type layer struct {
		table, column string
		srs           int64
	}
	var layers []layer
	err = d.rows("gpkg_geometry_columns", func(get func(string) any) error {
		table, _ := get("table_name").(string)
		column, _ := get("column_name").(string)
		srs, _ := get("srs_id").(int64)
		layers = append(layers, layer{table, strings.ToLower(column), srs})
		return nil
	})
	if err != nil {
		return fmt.Errorf("not a GeoPackage with layers: %w", err)
	}
	var names []string
	for _, l := range layers {
		names = append(names, l.table)
	}
	chosen := 0
	switch {
	case rows.opt.Layer != "":
		if chosen = slices.Index(names, rows.opt.Layer); chosen < 0 {
			return fmt.Errorf("no layer %q: want one of %s", rows.opt.Layer, quoteAll(names))
		}
	case len(layers) == 0:
		return errors.New("the GeoPackage has no layers")
	case len(layers) > 1:
		how := "points.ReadOptions.Layer"
		if rows.shapes != nil {
			how = "|layername=NAME after the file's name"
		}
		return fmt.Errorf("the GeoPackage has several layers, %s: choose one with %s", quoteAll(names), how)
	}
	l := layers[chosen]
	if err := declareSRS(d, l.srs, rows); err != nil {
		return err
	}
	table := d.tables[strings.ToLower(l.table)]
	columns := slices.DeleteFunc(slices.Clone(table.columns), func(c string) bool { return c == l.column })
	at, err := rows.columns(columns, false)
	if err != nil {
		return err
	}
	feature, when := "", ""
	if at.feature >= 0 {
		feature = columns[at.feature]
		rows.in.Columns[2] = feature
	}
	if at.time >= 0 {
		when = columns[at.time]
	}
	n := 0
	return d.rows(l.table, func(get func(string) any) error {
		n++
		where := func() string { return fmt.Sprintf("layer %s, row %d", l.table, n) }
		blob, _ := get(l.column).([]byte)
		if rows.shapes != nil {
			wkb, err := geoPackageWKB(blob)
			return rows.polygons(sqliteText(get(feature)), wkb, err, where)
		}
		x, y, err := parseGeoPackagePoint(blob)
		if err != nil {
			return rows.bad(noPosition, err, where)
		}
		rows.when = []byte(sqliteText(get(when)))
		return rows.add(x, y, []byte(sqliteText(get(feature))), where)
	})
}

func sqliteText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []byte:
		return string(v)
	}
	return ""
}

// declareSRS looks up the layer's reference system.
func declareSRS(d *sqlite, id int64, rows *rowSink) error {
	if id <= 0 || rows.opt.CRS != nil { // -1: a plane, 0: any longitude and latitude
		if rows.opt.CRS == nil && id < 0 {
			rows.crs = Plane
		} else if id == 0 {
			rows.assume(WGS84, "the layer is in longitude and latitude")
		}
		return nil
	}
	found := false
	err := d.rows("gpkg_spatial_ref_sys", func(get func(string) any) error {
		if got, _ := get("srs_id").(int64); got != id || found {
			return nil
		}
		found = true
		organization, _ := get("organization").(string)
		code, _ := get("organization_coordsys_id").(int64)
		if strings.EqualFold(organization, "EPSG") {
			if c, err := epsg(int(code)); err == nil {
				rows.crs = c
				return nil
			}
		}
		definition, _ := get("definition").(string)
		return rows.declare(definition)
	})
	if err == nil && !found {
		err = fmt.Errorf("reference system %d is not in gpkg_spatial_ref_sys: name one with points.ReadOptions.CRS", id)
	}
	return err
}

// parseGeoPackagePoint parses a point: "GP", a byte of version and one of flags, the number of
// the reference system, an envelope and the point as WKB. Bits 1 to 3 of the flags are the kind of
// envelope; bit 4 means that the geometry is empty.
func parseGeoPackagePoint(b []byte) (x, y float64, err error) {
	wkb, err := geoPackageWKB(b)
	if err != nil {
		return 0, 0, err
	}
	return parseWKBPoint(wkb)
}

// geoPackageWKB returns what follows the header of a geometry.
func geoPackageWKB(b []byte) ([]byte, error) {
	if len(b) < 8 || b[0] != 'G' || b[1] != 'P' {
		return nil, errors.New("no geometry")
	}
	envelope := []int{0, 32, 48, 48, 64, -1, -1, -1}[b[3]>>1&7]
	if b[3]>>4&1 != 0 {
		return nil, errors.New("the geometry is empty")
	}
	if envelope < 0 || len(b) < 8+envelope {
		return nil, errors.New("geometry is not one of a GeoPackage")
	}
	return b[8+envelope:], nil
}

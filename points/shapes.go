package points

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/textfile"
)

// shapes collects the polygons of a file, which are read instead of points.
type shapes struct{ list []namedPolygons }

// add adds a region; one without a name gets its number.
func (s *shapes) add(name string, polygons [][][][2]float64) {
	if name = strings.TrimSpace(name); name == "" {
		name = fmt.Sprintf("region %d", len(s.list)+1)
	}
	s.list = append(s.list, namedPolygons{name, polygons})
}

// layerOf splits the path of a layer as GIS programs write it: FILE|layername=NAME.
func layerOf(path string) (file, layer string) {
	file, layer, _ = strings.Cut(path, "|layername=")
	return file, layer
}

// polygons adds the polygons of a geometry in well-known binary.
func (s *rowSink) polygons(name string, wkb []byte, err error, where func() string) error {
	var list [][][][2]float64
	if err == nil {
		list, err = parseWKBPolygons(wkb)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", where(), err)
	}
	s.shapes.add(name, list)
	return nil
}

// readPolygons reads the polygons of any format but GeoJSON and well-known text, in a reference
// system. ok is false if the file is another, such as GeoJSON or well-known text.
func readPolygons(ctx context.Context, path string, to *CRS) (list []namedPolygons, ok bool, err error) {
	path, layer := layerOf(path)
	rows := &rowSink{in: &Input{}, opt: ReadOptions{Layer: layer}, shapes: &shapes{}}
	if IsDatabase(path) {
		if err := readPostGIS(ctx, path, rows); err != nil {
			return nil, true, err
		}
		list, err := rows.shapes.in(rows.crs, to)
		return list, true, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	var head [512]byte
	n, _ := f.Read(head[:]) // an empty file is another
	start := head[:n]
	archive, kml := bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(bytes.TrimLeft(start, "\ufeff \t\r\n"), []byte("<"))
	binary := bytes.HasPrefix(start, shapefileMagic) || bytes.HasPrefix(start, []byte(sqliteMagic)) ||
		bytes.HasPrefix(start, []byte("PAR1")) || isFlatGeobuf(start)
	if !archive && !kml && !binary {
		return nil, false, nil
	}
	if _, err := f.Seek(0, 0); err != nil {
		return nil, true, err
	}
	if err := rows.read(ctx, f, path, false); err != nil {
		return nil, true, err
	}
	list, err = rows.shapes.in(rows.crs, to)
	return list, true, err
}

// in returns the polygons in a reference system.
func (s *shapes) in(from, to *CRS) ([]namedPolygons, error) {
	if len(s.list) == 0 {
		return nil, errors.New("no polygon in the file")
	}
	if from == nil {
		from = to // no .prj file: the points' own
	}
	convert, err := conversion(from, to)
	if err != nil {
		return nil, err
	}
	return s.list, convertRings(s.list, convert)
}

// ReadRegions is ParseRegions of a file, which may also be a Shapefile, GeoPackage, GeoParquet,
// FlatGeobuf, KML, or one of them in a ZIP archive, or a table or query in PostGIS.
func ReadRegions(ctx context.Context, path string, to *CRS) ([]Region, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	list, ok, err := readPolygons(ctx, path, to)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", withoutPassword(path), err)
	}
	if ok {
		return regionsOf(list), nil
	}
	data, err := textfile.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out, err := ParseRegions(data, to)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// ReadWindow is ParseWindow of a file, which may also be a Shapefile, GeoPackage, GeoParquet,
// FlatGeobuf, KML, or one of them in a ZIP archive, or a table or query in PostGIS.
func ReadWindow(ctx context.Context, path string, to *CRS) (*Window, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	list, ok, err := readPolygons(ctx, path, to)
	if err != nil {
		return nil, err
	}
	if ok {
		return joined(list)
	}
	data, err := textfile.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseWindow(data, to)
}

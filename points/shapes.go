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

// readPolygons reads the polygons of a Shapefile (also zipped) or of KML or KMZ, in a reference
// system. ok is false if the file is another, such as GeoJSON or well-known text.
func readPolygons(ctx context.Context, path string, to *CRS) (list []namedPolygons, ok bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	var head [512]byte
	n, _ := f.Read(head[:]) // an empty file is another
	start := head[:n]
	archive, kml := bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(bytes.TrimLeft(start, "\ufeff \t\r\n"), []byte("<"))
	if !archive && !kml && !bytes.HasPrefix(start, shapefileMagic) {
		return nil, false, nil
	}
	if _, err := f.Seek(0, 0); err != nil {
		return nil, true, err
	}
	rows := &rowSink{in: &Input{}, shapes: &shapes{}}
	if err := rows.read(ctx, f, path, false); err != nil {
		return nil, true, err
	}
	list = rows.shapes.list
	if len(list) == 0 {
		return nil, true, errors.New("no polygon in the file")
	}
	from := rows.crs
	if from == nil {
		from = to // no .prj file: the points' own
	}
	convert, err := conversion(from, to)
	if err != nil {
		return nil, true, err
	}
	return list, true, convertRings(list, convert)
}

// ReadRegions is ParseRegions of a file, which may also be a Shapefile, KML, or one of them in a
// ZIP archive.
func ReadRegions(ctx context.Context, path string, to *CRS) ([]Region, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	list, ok, err := readPolygons(ctx, path, to)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
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

// ReadWindow is ParseWindow of a file, which may also be a Shapefile, KML, or one of them in a ZIP
// archive.
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

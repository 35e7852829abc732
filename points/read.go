package points

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/textfile"
)

// ReadOptions are the options for reading points. The zero value guesses the columns.
type ReadOptions struct {
	// X, Y and Feature name the columns or, in a table, give their number from 1. If they are
	// empty, they are guessed from common names. Feature "@file" makes each file's name, without
	// its extension, the feature of its points. In OSM PBF it is the key of a tag, or several with
	// commas between them.
	X, Y, Feature string
	// Geometry names a column of a table that holds points as well-known text, or one of several
	// geometries in PostGIS.
	Geometry string
	// Time names a column of times; "" means none.
	Time string
	// Columns names the columns of a table without a header.
	Columns []string
	// Layer names the layer to read of a GeoPackage with several, or the file of a ZIP archive,
	// without its extension. In PostGIS it is a table, or a query that begins with SELECT or WITH.
	Layer string
	// CRS overrides the reference system of the file. WGS84 checks that positions are longitudes
	// and latitudes; Plane accepts any numbers. nil means the system of the file, or else a guess:
	// WGS84 if the name of the x column begins with lon, lng or decimallon. Input.Guesses says so.
	CRS *CRS
	// SkipBad leaves out and counts rows without a position or a feature, instead of stopping at
	// the first.
	SkipBad bool
	// MinPoints leaves out features with fewer points: a feature with one or two points is
	// prevalent together with whatever happens to be near. 0 and 1 keep all.
	MinPoints int
	// Memory bounds the bytes of the points; 0 means no bound. More points are an error.
	Memory int64
	// Progress, unless it is nil, is called with the bytes that were read of a file and its size,
	// which is 0 if it is not known.
	Progress func(done, total int64)
}

// Input is a Set that was read from files, with how it was read.
type Input struct {
	*Set
	Format string // table, geojson, geojsonseq, parquet, geoparquet, shapefile, geopackage,
	// flatgeobuf, gpx, kml, osm or postgis
	Columns [3]string // columns of x, y and feature; "" if they come from a geometry
	Skipped int64     // number of bad rows left out
	Bad     []BadRows // the same by what they lack
	Rare    int64     // number of points left out because their feature has fewer than MinPoints
	Guesses []string  // assumptions that were made, a line each
}

// BadRows are rows that were left out for the same reason.
type BadRows struct {
	Lack  string // what they do not have
	Rows  int64  // number of them
	First string // where the first of them is, and what is wrong with it
}

// What rows may lack.
const (
	noPosition = "a valid position"
	noFeature  = "a feature"
	noTime     = "a valid time"
	noFields   = "the columns of the header"
)

// LeftOut says how many rows were left out and why, or "".
func (in *Input) LeftOut() string {
	if in.Skipped == 0 {
		return ""
	}
	var why []string
	for _, b := range in.Bad {
		why = append(why, fmt.Sprintf("%d without %s (the first: %s)", b.Rows, b.Lack, b.First))
	}
	rows := "rows"
	if in.Skipped == 1 {
		rows = "row"
	}
	return fmt.Sprintf("left out %d bad %s: %s", in.Skipped, rows, strings.Join(why, "; "))
}

// skip counts bad rows that are left out.
func (in *Input) skip(b BadRows) {
	in.Skipped += b.Rows
	for i := range in.Bad {
		if in.Bad[i].Lack == b.Lack {
			in.Bad[i].Rows += b.Rows
			return
		}
	}
	in.Bad = append(in.Bad, b)
}

// ReadFiles reads points from several files, or from all files of a folder. Files in other
// reference systems are converted to that of the first.
func ReadFiles(ctx context.Context, paths []string, opt ReadOptions) (*Input, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	var files []string
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			inside, err := filesIn(path)
			if err != nil {
				return nil, err
			}
			files = append(files, inside...)
			continue
		}
		files = append(files, path)
	}
	switch len(files) {
	case 0:
		return nil, errors.New("no files with points: want at least one")
	case 1:
		return readFile(ctx, files[0], opt)
	}
	least := opt.MinPoints
	opt.MinPoints = 0
	var all *Input
	var b Builder
	for i, path := range files {
		in, err := readFile(ctx, path, opt)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			all = &Input{Set: &Set{CRS: in.CRS}, Format: in.Format, Columns: in.Columns}
		}
		if err := all.bring(in, path); err != nil {
			return nil, err
		}
		if err := fits(len(b.x)+in.Len(), opt); err != nil {
			return nil, err
		}
		b.addSet(in.Set)
		for _, bad := range in.Bad {
			bad.First = withoutPassword(path) + ": " + bad.First
			all.skip(bad)
		}
		for _, g := range in.Guesses {
			if !slices.Contains(all.Guesses, g) {
				all.Guesses = append(all.Guesses, g)
			}
		}
	}
	crs := all.CRS
	all.Set = b.Set()
	all.CRS = crs
	all.dropRare(least)
	return all, nil
}

// bring converts the points of in to the reference system of the files before it.
func (all *Input) bring(in *Input, path string) error {
	if all.CRS.Same(in.CRS) {
		return nil
	}
	if !all.CRS.Convertible() || !in.CRS.Convertible() {
		return fmt.Errorf("%s: its reference system, %v, cannot be converted to that of the files before, %v: name one for all with points.ReadOptions.CRS", withoutPassword(path), in.CRS, all.CRS)
	}
	all.Guesses = append(all.Guesses, fmt.Sprintf("%s: converted from %v to %v", withoutPassword(path), in.CRS, all.CRS))
	for i := range in.X {
		in.X[i], in.Y[i] = all.CRS.FromWGS84(in.CRS.ToWGS84(in.X[i], in.Y[i]))
	}
	return nil
}

// endings are the extensions of the files that are read from a folder.
var endings = []string{".csv", ".tsv", ".txt", ".geojson", ".json", ".geojsonl", ".geojsons",
	".parquet", ".geoparquet", ".shp", ".gpkg", ".fgb", ".gpx", ".kml", ".kmz", ".pbf", ".zip"}

// filesIn lists the files in a folder whose extension is in endings, sorted by name. They may be
// compressed.
func filesIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		for _, packed := range []string{".gz", ".zst", ".bz2"} {
			name = strings.TrimSuffix(name, packed)
		}
		if !e.IsDir() && slices.Contains(endings, filepath.Ext(name)) {
			out = append(out, filepath.Join(folder, e.Name()))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no files with points in this folder: want any of %s", folder,
			strings.Join(endings, " "))
	}
	return out, nil
}

// ReadFile reads points from a CSV or TSV table with a header, GeoJSON or GeoJSONSeq, Parquet or
// GeoParquet, a Shapefile (with its .dbf and .prj beside it), a GeoPackage, FlatGeobuf, KML, GPX
// waypoints or OSM PBF. A path may also be a connection string of a PostgreSQL database with
// PostGIS, such as postgres://user@host/database, or host=localhost dbname=city after PG:. Files
// other than Shapefiles may be compressed with gzip, zstd or bzip2; all may be in a ZIP archive, as
// KMZ is. The format is recognised from the first bytes.
func ReadFile(path string, opt ReadOptions) (*Input, error) {
	return readFile(context.Background(), path, opt)
}

func readFile(ctx context.Context, path string, opt ReadOptions) (*Input, error) {
	if IsDatabase(path) {
		in := &Input{}
		rows := &rowSink{opt: opt, in: in, crs: opt.CRS}
		if err := rows.finish(readPostGIS(ctx, path, rows)); err != nil {
			return nil, fmt.Errorf("%s: %w", withoutPassword(path), err)
		}
		return in, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: want a file, not a folder", path)
	}
	in, err := read(ctx, f, path, opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return in, nil
}

// Read is like ReadFile, from a stream. Parquet, GeoPackage and OSM PBF need random access: a
// stream that is not a file is read into memory.
func Read(r io.Reader, opt ReadOptions) (*Input, error) {
	return read(context.Background(), r, "", opt)
}

func read(ctx context.Context, r io.Reader, path string, opt ReadOptions) (*Input, error) {
	in := &Input{}
	rows := &rowSink{opt: opt, in: in, crs: opt.CRS, progress: opt.progressOf(r)}
	if opt.Feature == "@file" {
		if path == "" {
			return nil, errors.New("points.ReadOptions.Feature=@file: standard input has no name")
		}
		rows.fixed = []byte(baseName(path))
	}
	return in, rows.finish(rows.read(ctx, r, path, false))
}

// read reads a file of any format. Packed files are not looked for within archives.
func (s *rowSink) read(ctx context.Context, r io.Reader, path string, inside bool) error {
	from := r
	if !inside {
		from = s.progress.reader(r)
	}
	br, codec, free, err := textfile.Decompress(bufio.NewReaderSize(interruptible{ctx, from}, 1<<16), false)
	if err != nil {
		return err
	}
	defer free()
	start, err := br.Peek(16)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	parquet, sqlite := bytes.HasPrefix(start, []byte("PAR1")), string(start) == sqliteMagic
	archive := bytes.HasPrefix(start, []byte("PK\x03\x04")) || bytes.HasPrefix(start, []byte("PK\x05\x06"))
	osm := isOSM(start)
	if parquet || sqlite || archive || osm {
		if archive && inside {
			return errors.New("an archive in an archive: unpack it first")
		}
		var at io.ReaderAt
		var size int64
		f, isFile := r.(*os.File)
		if info, err := statOf(f, isFile && codec == ""); err == nil && info.Mode().IsRegular() {
			at, size = s.progress.readerAt(f), info.Size()
		} else if at, size, err = inMemory(br, s.opt.Memory); err != nil {
			return err
		}
		switch {
		case archive:
			return readZip(ctx, at, size, s)
		case parquet:
			return readParquet(at, size, s)
		case osm:
			return readOSM(ctx, at, size, s)
		}
		return readGeoPackage(at, size, path, s)
	}
	if bytes.HasPrefix(start, shapefileMagic) {
		if path == "" {
			return errors.New("a Shapefile has its features in a .dbf file beside it: name the file instead of using standard input")
		}
		return readShapefile(br, path, besideFile(path), s)
	}
	if isFlatGeobuf(start) {
		return readFlatGeobuf(br, s)
	}
	if bom, _ := br.Peek(3); string(bom) == "\ufeff" {
		if _, err := br.Discard(3); err != nil {
			return err
		}
	}
	head, err := br.Peek(textfile.HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	text := bytes.TrimLeft(head, " \t\r\n")
	if !bytes.HasPrefix(text, []byte{recordSeparator}) {
		if what := textfile.WhyNotText(head); what != "" {
			return errors.New(what + "; want CSV, TSV, GeoJSON, KML, GPX, Parquet, " +
				"a Shapefile, a GeoPackage, FlatGeobuf, OSM PBF, or one of them in a ZIP archive")
		}
	}
	if len(text) == 0 {
		text = []byte{0}
	}
	if s.shapes != nil && text[0] != '<' {
		return errNoShapes
	}
	switch text[0] {
	case '{', recordSeparator:
		if isSequence(text) {
			return readGeoJSONSeq(br, s)
		}
		return readGeoJSON(br, s)
	case '<':
		return readXML(br, s)
	case '[':
		return errors.New("a JSON array is not GeoJSON: want a FeatureCollection, or one Feature per line")
	}
	return readTable(br, s)
}

var errNoShapes = errors.New("want polygons as a Shapefile, GeoPackage, GeoParquet, FlatGeobuf or KML, plain or in a ZIP archive, or as GeoJSON by itself")

// interruptible is a reader that returns the error of ctx once ctx is done.
type interruptible struct {
	ctx context.Context
	io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

func statOf(f *os.File, ok bool) (os.FileInfo, error) {
	if !ok {
		return nil, errors.New("no file")
	}
	return f.Stat()
}

// baseName returns a file's name without its folder and extensions.
func baseName(path string) string {
	name := filepath.Base(path)
	for _, packed := range []string{".gz", ".zst", ".bz2"} {
		name = strings.TrimSuffix(name, packed)
	}
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// rowSink collects the rows of a file of any format.
type rowSink struct {
	opt     ReadOptions
	in      *Input
	crs     *CRS   // of the positions; nil until it is known
	unknown bool   // the file says that no reference system can be assumed
	milli   bool   // a time was in milliseconds
	reason  string // why crs was assumed, for errors
	fixed   []byte // the feature of all rows
	when    []byte // the time of the next row
	builder Builder
	shapes  *shapes // if polygons are read instead of points

	progress *readProgress
}

// declare sets the reference system that a file names, unless the options name one.
func (s *rowSink) declare(text string) error {
	if s.opt.CRS != nil {
		return nil
	}
	c, err := ParseCRS(text)
	s.crs = c
	return err
}

// assume sets a reference system that the format or the columns imply. If a position does not fit
// it, the error gives the reason.
func (s *rowSink) assume(c *CRS, reason string) {
	if s.crs == nil && !s.unknown {
		s.crs, s.reason = c, reason
	}
}

// add appends a row. If the row is bad, where says which one it is.
func (s *rowSink) add(x, y float64, feature []byte, where func() string) error {
	if s.fixed != nil {
		feature = s.fixed
	}
	feature = bytes.TrimSpace(feature)
	lack, err := noPosition, CheckPosition(x, y, s.crs.Geographic())
	if err != nil && s.reason != "" && CheckPosition(x, y, false) == nil {
		err = fmt.Errorf("%w (%s: name the reference system with points.ReadOptions.CRS=EPSG:n, or use points.Plane)", err, s.reason)
	}
	if err == nil && len(feature) == 0 {
		lack, err = noFeature, errors.New("the feature is missing")
	}
	var at int64
	if err == nil && s.opt.Time != "" {
		lack = noTime
		var milli bool
		if at, milli, err = parseTime(bytes.TrimSpace(s.when)); milli && !s.milli {
			s.milli = true
			s.guess("times such as %s are taken as milliseconds since 1970", bytes.TrimSpace(s.when))
		}
	}
	if err != nil {
		return s.bad(lack, err, where)
	}
	s.builder.add(x, y, feature)
	if s.opt.Time != "" {
		s.builder.time = append(s.builder.time, at)
	}
	return fits(len(s.builder.x), s.opt)
}

// fits returns an error if so many points take more than opt.Memory.
func fits(n int, opt ReadOptions) error {
	each := int64(20)
	if opt.Time != "" {
		each += 8
	}
	if opt.Memory > 0 && each*int64(n) > opt.Memory {
		return fmt.Errorf("more than %d points do not fit the memory bound: raise points.ReadOptions.Memory", opt.Memory/each)
	}
	return nil
}

// bad counts a bad row as skipped, or returns an error that stops the reading.
func (s *rowSink) bad(lack string, err error, where func() string) error {
	if s.shapes != nil {
		return fmt.Errorf("%s: %w", where(), err)
	}
	if s.opt.SkipBad {
		first := ""
		if !slices.ContainsFunc(s.in.Bad, func(b BadRows) bool { return b.Lack == lack }) {
			first = fmt.Sprintf("%s: %v", where(), err)
		}
		s.in.skip(BadRows{lack, 1, first})
		return nil
	}
	return fmt.Errorf("%s: %w (points.ReadOptions.SkipBad leaves out such rows)", where(), err)
}

func (s *rowSink) guess(format string, args ...any) {
	s.in.Guesses = append(s.in.Guesses, fmt.Sprintf(format, args...))
}

func (s *rowSink) finish(err error) error {
	if err != nil {
		return err
	}
	s.in.Set = s.builder.Set()
	s.in.CRS = s.crs
	if s.crs != nil && s.crs.named > 0 {
		s.guess("EPSG:%d has heights, which are not used: positions are in %v", s.crs.named, s.crs)
	}
	if s.in.Len() == 0 && s.in.Skipped > 0 {
		return fmt.Errorf("none of %d rows is valid; %s", s.in.Skipped, s.in.Bad[0].First)
	}
	if err := s.in.checkFeatures(s.opt.Feature != ""); err != nil {
		return err
	}
	s.in.dropRare(s.opt.MinPoints)
	return nil
}

// manyFeatures is the least number of features that are taken to be names of places, not kinds, if
// they have fewer than two points each on average.
const manyFeatures = 100

// checkFeatures returns an error if a guessed column seems to hold names or identifiers of places
// instead of kinds. For a column that the caller chose, it adds a note to Guesses.
func (in *Input) checkFeatures(chosen bool) error {
	n := len(in.Features)
	if n < manyFeatures || 2*n <= in.Len() {
		if n >= 10*manyFeatures && !chosen {
			in.Guesses = append(in.Guesses,
				fmt.Sprintf("column %q was taken for the feature and has %d different values: choose another with points.ReadOptions.Feature, or leave rare ones out with points.ReadOptions.MinPoints", in.Columns[2], n))
		}
		return nil
	}
	if !chosen {
		return fmt.Errorf("column %q was guessed as the feature, but has %d distinct values for %d points, like names: choose the column of kinds with points.ReadOptions.Feature", in.Columns[2], n, in.Len())
	}
	in.Guesses = append(in.Guesses,
		fmt.Sprintf("column %q has %d different values for %d points: are these kinds of places?",
			in.Columns[2], n, in.Len()))
	return nil
}

func (in *Input) dropRare(least int) {
	before := in.Len()
	in.Set = in.Set.WithoutRare(least)
	in.Rare = int64(before - in.Len())
}

// Names of columns that are recognised. Earlier names of features and geometries are preferred.
var (
	positionNames = [][2]string{
		{"x", "y"}, {"locx", "locy"}, {"loc_x", "loc_y"}, {"gx", "gy"}, {"px", "py"},
		{"lon", "lat"}, {"lng", "lat"}, {"long", "lat"}, {"longitude", "latitude"},
		{"decimallongitude", "decimallatitude"},
		{"easting", "northing"}, {"x_coord", "y_coord"}, {"xcoord", "ycoord"}, {"x_coordinate", "y_coordinate"},
		{"coord_x", "coord_y"}, {"point_x", "point_y"}, {"pos_x", "pos_y"},
	}
	featureNames = []string{
		"feature", "fclass", "feature_class", "featureclass", "type", "class", "kind", "category",
		"species", "sp", "label", "primary type", "primary_type", "offense", "crime type", "amenity",
	}
	geometryNames = []string{"wkt", "geometry", "geom", "the_geom", "wkt_geom"}
)

// clearNames is the number of names at the start of featureNames that can mean nothing else. Any
// other name is a guess, and two columns with such names are ambiguous.
const clearNames = 4

// layout has the column of each value of a row, from 0; -1 means none.
type layout struct{ x, y, geometry, feature, time int }

// columns finds the columns by name, by number in a table, or by guessing. A
// format whose positions are in a geometry passes table false.
func (s *rowSink) columns(names []string, table bool) (layout, error) {
	if s.shapes != nil {
		return layout{-1, -1, -1, slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, "name") }), -1}, nil
	}
	o := s.opt
	lower := make([]string, len(names))
	for i, n := range names {
		lower[i] = strings.ToLower(strings.TrimSpace(n))
	}
	l := layout{-1, -1, -1, -1, -1}
	find := func(option, name string, to *int) error {
		if name == "" {
			return nil
		}
		if i := slices.Index(names, name); i >= 0 {
			if slices.Contains(names[i+1:], name) {
				return fmt.Errorf("there are several columns %q: choose one by its number with %s", name, option)
			}
			*to = i
		} else if i := slices.Index(lower, strings.ToLower(name)); i >= 0 {
			if slices.Contains(lower[i+1:], lower[i]) {
				return fmt.Errorf("there are several columns %q: choose one by its number with %s", name, option)
			}
			*to = i
		} else if n, err := strconv.Atoi(name); err == nil && table && n >= 1 && n <= len(names) {
			*to = n - 1
		} else {
			return fmt.Errorf("no column %q for %s: want one of %s", name, option, quoteAll(names))
		}
		return nil
	}
	if !table && (o.X != "" || o.Y != "" || o.Geometry != "") {
		return l, errors.New("points.ReadOptions.X, points.ReadOptions.Y and points.ReadOptions.Geometry need a table: this file has its own geometry; leave them out")
	}
	feature := o.Feature
	if s.fixed != nil {
		feature = ""
	}
	if err := errors.Join(find("points.ReadOptions.X", o.X, &l.x), find("points.ReadOptions.Y", o.Y, &l.y),
		find("points.ReadOptions.Geometry", o.Geometry, &l.geometry), find("points.ReadOptions.Feature", feature, &l.feature),
		find("points.ReadOptions.Time", o.Time, &l.time)); err != nil {
		return l, err
	}
	given := l
	if l.time >= 0 && !table {
		s.opt.Time = names[l.time]
	}
	if table {
		if err := s.findPosition(&l, names, lower); err != nil {
			return l, err
		}
	}
	if l.feature < 0 && s.fixed == nil {
		if err := s.guessFeature(&l, names, lower, table); err != nil {
			return l, err
		}
	}
	if err := l.oneRole(names, s.fixed == nil); err != nil {
		return l, err
	}
	for _, c := range []struct{ at, given int }{
		{l.x, given.x}, {l.y, given.y}, {l.geometry, given.geometry}, {l.feature, given.feature},
	} {
		if c.at >= 0 && c.given < 0 && slices.Index(lower, lower[c.at]) != lastIndex(lower, lower[c.at]) {
			return l, fmt.Errorf("there are several columns %q: choose one by its number "+
				"with points.ReadOptions.X and points.ReadOptions.Y, points.ReadOptions.Geometry or points.ReadOptions.Feature", names[c.at])
		}
	}
	return l, nil
}

// oneRole returns an error if a column has two roles. A feature may also be the time.
func (l *layout) oneRole(names []string, feature bool) error {
	roles := []struct {
		at   int
		name string
	}{{l.x, "points.ReadOptions.X"}, {l.y, "points.ReadOptions.Y"}, {l.geometry, "points.ReadOptions.Geometry"},
		{l.feature, "points.ReadOptions.Feature"}, {l.time, "points.ReadOptions.Time"}}
	const kind = 3 // of the feature
	for i, a := range roles {
		for j, b := range roles[:i] {
			if a.at < 0 || a.at != b.at || j == kind || i == kind && !feature {
				continue
			}
			return fmt.Errorf("column %q for both %s and %s: want a column for each", names[a.at], b.name, a.name)
		}
	}
	return nil
}

func lastIndex(names []string, name string) int {
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] == name {
			return i
		}
	}
	return -1
}

// findPosition guesses the columns of the position unless they were given.
func (s *rowSink) findPosition(l *layout, names, lower []string) error {
	switch {
	case (l.x < 0) != (l.y < 0):
		return errors.New("points.ReadOptions.X and points.ReadOptions.Y go together: give both or none")
	case l.x >= 0 && l.geometry >= 0:
		return errors.New("points.ReadOptions.Geometry and points.ReadOptions.X or points.ReadOptions.Y: give only one of them")
	}
	if l.x < 0 && l.geometry < 0 {
		var found []string
		for _, p := range positionNames {
			if i, j := slices.Index(lower, p[0]), slices.Index(lower, p[1]); i >= 0 && j >= 0 {
				if l.x < 0 {
					l.x, l.y = i, j
				}
				found = append(found, names[i]+" and "+names[j])
			}
		}
		if len(found) > 1 {
			return fmt.Errorf("positions could be in columns %s: choose with points.ReadOptions.X and points.ReadOptions.Y", strings.Join(found, ", or "))
		}
	}
	if l.x < 0 && l.geometry < 0 {
		for _, g := range geometryNames {
			if i := slices.Index(lower, g); i >= 0 && l.geometry < 0 {
				l.geometry = i
			}
		}
	}
	if l.x < 0 && l.geometry < 0 {
		return fmt.Errorf("no columns with positions found, such as x and y or lon and lat, among %s: name them with points.ReadOptions.X and points.ReadOptions.Y, or one of well-known text with points.ReadOptions.Geometry", quoteAll(names))
	}
	isLongitude := func(prefix string) bool { return l.x >= 0 && strings.HasPrefix(lower[l.x], prefix) }
	if slices.ContainsFunc([]string{"lon", "lng", "decimallon"}, isLongitude) {
		if s.crs == nil {
			s.guess("columns %q and %q are taken as longitude and latitude in degrees, distances in metres (points.Plane: plain numbers)", names[l.x], names[l.y])
		}
		s.assume(WGS84, "the columns' names say longitude and latitude")
	}
	return nil
}

// guessFeature chooses the column of the feature by its name.
func (s *rowSink) guessFeature(l *layout, names, lower []string, table bool) error {
	var found []int
	for k, n := range featureNames {
		i := slices.Index(lower, n)
		if i < 0 || i == l.x || i == l.y || i == l.geometry || i == l.time {
			continue
		}
		if found = append(found, i); k < clearNames {
			break
		}
	}
	if table && len(found) == 0 && len(names) == 3 && l.x >= 0 {
		found = append(found, 3-l.x-l.y)
	}
	switch len(found) {
	case 0:
		return fmt.Errorf("no column with features found, such as feature or type, among %s: name it with points.ReadOptions.Feature", quoteAll(names))
	case 1:
		l.feature = found[0]
		return nil
	}
	if slices.Index(featureNames, lower[found[0]]) < clearNames {
		l.feature = found[0]
		return nil
	}
	var candidates []string
	for _, i := range found {
		candidates = append(candidates, names[i])
	}
	return fmt.Errorf("the feature could be in any of the columns %s: choose with points.ReadOptions.Feature", quoteAll(candidates))
}

func quoteAll(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i == 20 {
			fmt.Fprintf(&b, " and %d more", len(names)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(n))
	}
	return b.String()
}

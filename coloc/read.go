package coloc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/collocate/collocate/internal/textfile"
)

// ReadOptions says where the columns are and what to do with bad rows.
type ReadOptions struct {
	// X, Y and Feature name the columns (or, in a table, give their number
	// from 1). Left empty they are guessed from common names.
	X, Y, Feature string
	// Geographic checks that positions are longitudes and latitudes.
	Geographic bool
	// SkipBad leaves out rows without a position or a feature, and counts
	// them, instead of stopping at the first.
	SkipBad bool
	// MinPoints leaves out features with fewer points. A feature with one or
	// two is prevalent with whatever happens to be near. 0 and 1 keep all.
	MinPoints int
}

// Input is what a file held.
type Input struct {
	*Points
	Format  string    // table, geojson, parquet or geoparquet
	Columns [3]string // those used for x, y and feature; "" for a geometry's
	Skipped int64     // bad rows left out
	Rare    int64     // points left out with features of fewer than MinPoints
}

// LooksGeographic tells that the positions seem to be longitude and latitude.
func (in *Input) LooksGeographic() bool {
	if in.Format == "geojson" || in.Format == "geoparquet" {
		for i := range in.X {
			if checkCoordinates(in.X[i], in.Y[i], true) != nil {
				return false
			}
		}
		return in.Len() > 0
	}
	return strings.HasPrefix(strings.ToLower(in.Columns[1]), "lat")
}

// ReadFile reads points from a CSV or TSV table with a header, GeoJSON, Parquet
// or GeoParquet, plain or compressed with gzip, zstd or bzip2. What it is, is
// seen from its first bytes.
func ReadFile(path string, opt ReadOptions) (*Input, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: is a folder, not a file", path)
	}
	in, err := Read(f, opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return in, nil
}

// Read is ReadFile from a stream. Parquet needs its end first: a stream that
// is not a file is read into memory.
func Read(r io.Reader, opt ReadOptions) (*Input, error) {
	br, codec, free, err := textfile.Decompress(bufio.NewReaderSize(r, 1<<16), false)
	if err != nil {
		return nil, err
	}
	defer free()
	in := &Input{}
	rows := &rowSink{opt: opt, in: in}
	start, err := br.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(start) == "PAR1" {
		if f, ok := r.(*os.File); ok && codec == "" {
			if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
				return in, rows.finish(readParquet(f, info.Size(), rows))
			}
		}
		data, err := io.ReadAll(br)
		if err != nil {
			return nil, err
		}
		return in, rows.finish(readParquet(bytes.NewReader(data), int64(len(data)), rows))
	}
	if bom, _ := br.Peek(3); string(bom) == "\ufeff" {
		if _, err := br.Discard(3); err != nil {
			return nil, err
		}
	}
	head, err := br.Peek(textfile.HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if what := textfile.WhyNotText(head); what != "" {
		return nil, errors.New(what + "; want CSV, TSV, GeoJSON or Parquet")
	}
	if text := bytes.TrimLeft(head, " \t\r\n"); len(text) > 0 && text[0] == '{' {
		return in, rows.finish(readGeoJSON(br, rows))
	}
	return in, rows.finish(readTable(br, rows))
}

// rowSink takes the rows of any format.
type rowSink struct {
	opt     ReadOptions
	in      *Input
	builder Builder
}

// add takes a row in; where says which row it is when it is bad.
func (s *rowSink) add(x, y float64, feature []byte, where func() string) error {
	err := checkCoordinates(x, y, s.opt.Geographic)
	if err == nil && len(feature) == 0 {
		err = errors.New("the feature is missing")
	}
	if err != nil {
		return s.bad(err, where)
	}
	s.builder.add(x, y, feature)
	return nil
}

// bad skips a row or stops at it.
func (s *rowSink) bad(err error, where func() string) error {
	if s.opt.SkipBad {
		s.in.Skipped++
		return nil
	}
	return fmt.Errorf("%s: %w (--skip-bad leaves such rows out)", where(), err)
}

func (s *rowSink) finish(err error) error {
	if err != nil {
		return err
	}
	s.in.Points = s.builder.Points()
	before := s.in.Len()
	s.in.Points = s.in.Points.withoutRare(s.opt.MinPoints)
	s.in.Rare = int64(before - s.in.Len())
	return nil
}

// The names by which columns are guessed, most telling first; x and y go
// together.
var (
	positionNames = [][2]string{
		{"x", "y"}, {"locx", "locy"}, {"loc_x", "loc_y"}, {"gx", "gy"}, {"px", "py"},
		{"lon", "lat"}, {"lng", "lat"}, {"long", "lat"}, {"longitude", "latitude"},
		{"easting", "northing"}, {"x_coord", "y_coord"}, {"xcoord", "ycoord"}, {"x_coordinate", "y_coordinate"},
		{"coord_x", "coord_y"}, {"point_x", "point_y"}, {"pos_x", "pos_y"},
	}
	featureNames = []string{
		"feature", "fclass", "feature_class", "featureclass", "type", "class", "kind", "category",
		"species", "sp", "label", "primary type", "primary_type", "offense", "crime type", "amenity",
	}
)

// columns finds the three columns by name, by number, or by guessing. A
// format whose positions are in a geometry passes needXY false.
func (o ReadOptions) columns(names []string, needXY bool) (x, y, feature int, err error) {
	lower := make([]string, len(names))
	for i, n := range names {
		lower[i] = strings.ToLower(strings.TrimSpace(n))
	}
	x, y, feature = -1, -1, -1
	find := func(flag, name string, to *int) error {
		if name == "" {
			return nil
		}
		if i := slices.Index(names, name); i >= 0 {
			*to = i
		} else if i := slices.Index(lower, strings.ToLower(name)); i >= 0 {
			*to = i
		} else if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(names) {
			*to = n - 1
		} else {
			return fmt.Errorf("no column %q for --%s: there are %s", name, flag, quoteAll(names))
		}
		return nil
	}
	if err := errors.Join(find("x", o.X, &x), find("y", o.Y, &y), find("feature", o.Feature, &feature)); err != nil {
		return 0, 0, 0, err
	}
	if needXY && (x < 0) != (y < 0) {
		return 0, 0, 0, fmt.Errorf("--x and --y go together: give both or none")
	}
	if needXY && x < 0 {
		for _, p := range positionNames {
			if i, j := slices.Index(lower, p[0]), slices.Index(lower, p[1]); i >= 0 && j >= 0 {
				x, y = i, j
				break
			}
		}
		if x < 0 {
			return 0, 0, 0, fmt.Errorf("no columns with positions found, such as x and y or lon and lat, among %s: name them with --x and --y", quoteAll(names))
		}
	}
	if feature < 0 {
		for _, n := range featureNames {
			if i := slices.Index(lower, n); i >= 0 && i != x && i != y {
				feature = i
				break
			}
		}
	}
	if feature < 0 && needXY && len(names) == 3 {
		feature = 3 - x - y
	}
	if feature < 0 {
		return 0, 0, 0, fmt.Errorf("no column with features found, such as feature or type, among %s: name it with --feature", quoteAll(names))
	}
	return x, y, feature, nil
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

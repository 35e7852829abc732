// Package points reads points with a feature (their kind) from files, keeps their coordinate
// reference system, and describes how they are distributed. Package coloc mines them.
//
// ReadFile, ReadFiles and Read return an Input, a Set of points with what was learned about the
// file; a Builder makes a Set in memory. Summarise, Curves, CoOccurrences and Enrich describe a
// Set:
//
//	in, err := points.ReadFile("cafes.geojson", points.ReadOptions{})
//	summary, err := points.Summarise(ctx, in.Set, 4)
//	curves, err := points.Curves(ctx, in.Set, points.CurveOptions{Most: 500, Rounds: 99})
//
// # Files
//
// These formats are read: CSV and TSV with a header (or with names in the options), with columns x
// and y or points as well-known text; GeoJSON and GeoJSONSeq; Parquet and GeoParquet; Shapefiles;
// GeoPackages; KML; GPX waypoints; and these in ZIP archives. The format is recognised from a
// file's first bytes. The columns of the feature and the position are guessed from common names; if
// there are several candidates, reading returns an error that says how to choose.
//
// GeoPackages are SQLite databases. Reading them only needs a walk over B-trees of pages, about 300
// lines in sqlite.go; a driver would add 6.4 MB to a program.
//
// # Reference systems
//
// A CRS comes from the file or from the options. If neither names one, a table whose x column has a
// name that begins with lon, lng or decimallon is taken as WGS 84, and Input.Guesses says so. The
// CRS determines the unit of distances: metres for longitudes and latitudes, otherwise the unit of
// the coordinates. Package internal/epsg has a table of 6,200 EPSG systems; others are read from
// PROJ strings and well-known text. Positions agree with PROJ to 1 mm, by the one transformation of
// seven parameters that the table has for a datum; CRS.Accuracy says how good that is.
//
// # Describing points
//
// Summarise describes a set before it is mined: its extent and unit, doubtful data, and distances
// worth trying. Curves shows at which distances two features attract or avoid each other.
// CoOccurrences and Enrich compute two statistics of spatial omics. What chance would give is drawn
// from a Null model. Curves, CoOccurrences and Enrich give the same bits on one core, on many and
// on a GPU.
//
// Experimental: it may change with any version; package collocate says what may not.
package points

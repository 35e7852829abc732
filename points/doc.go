// Package points answers where points are and how they lie: it reads them from
// files with their reference systems, and describes them before they are mined
// (see package coloc).
//
// # Files
//
// CSV and TSV with a header (or names given), columns x and y or points as
// well-known text; GeoJSON and GeoJSONSeq; Parquet and GeoParquet; Shapefiles;
// GeoPackages; GPX waypoints. The format is recognised by a file's first bytes. The
// column of the feature and those of the position are guessed from common names;
// where two would do, reading is an error that says how to choose.
//
// GeoPackages are SQLite databases. They are read by some 300 lines here
// (sqlite.go) instead of a driver: a program of nothing but modernc.org/sqlite is
// 6.4 MB and took seven minutes to build on two busy cores, and what is needed is a
// walk over trees of pages.
//
// # Reference systems
//
// A CRS is read from the file or given, kept, and says the unit of distances:
// metres for longitudes and latitudes, else that of the coordinates. The systems
// of EPSG that are known by number are in crs.go; others are read from well-known
// text. The projections agree with PROJ to a millimetre.
//
// # How points lie
//
// [Summarise] describes a set before it is mined: its extent and unit, what is
// doubtful about it, and which distances are worth a try. [Curves] say at which
// distances two features attract or avoid each other, [CoOccurrences] and [Enrich]
// what spatial omics asks of cells; what chance would give is drawn under a [Null]
// model. These three are the same, to the bit, on one core, on many and on a GPU.
package points

package points

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// gdalDatabase is how GDAL and QGIS begin a connection string of PostgreSQL.
const gdalDatabase = "PG:"

// IsDatabase reports whether a path is a connection string of PostgreSQL: a URL such as
// postgres://user@host/database, or keywords after PG:, such as PG:host=localhost dbname=city.
func IsDatabase(path string) bool {
	return strings.HasPrefix(path, "postgres://") || strings.HasPrefix(path, "postgresql://") ||
		strings.HasPrefix(path, gdalDatabase)
}

var passwordKeyword = regexp.MustCompile(`password\s*=\s*('(\\.|[^'])*'|\S+)`)

// withoutPassword returns a path as messages show it.
func withoutPassword(path string) string {
	if !IsDatabase(path) {
		return path
	}
	if u, err := url.Parse(path); err == nil && u.User != nil {
		query := u.Query()
		if query.Has("password") {
			query.Set("password", "xxxxx")
			u.RawQuery = query.Encode()
		}
		return u.Redacted()
	}
	return passwordKeyword.ReplaceAllString(path, "password=xxxxx")
}

// SourceName is the short name of points that were read from a path: that of the file, or of the
// database.
func SourceName(path string) string {
	if !IsDatabase(path) {
		return filepath.Base(path)
	}
	cfg, err := pgconn.ParseConfig(strings.TrimPrefix(path, gdalDatabase))
	if err != nil {
		return "PostGIS"
	}
	return cfg.Database
}

// postGIS is a connection to a database with PostGIS.
type postGIS struct {
	ctx  context.Context
	conn *pgconn.PgConn
}

// readPostGIS reads the points, or polygons, of a table or query. The connection is read-only.
// Passwords and other parameters may also be in PGPASSWORD and the like, or in .pgpass.
func readPostGIS(ctx context.Context, path string, rows *rowSink) (err error) {
	rows.in.Format = "postgis"
	cfg, err := pgconn.ParseConfig(strings.TrimPrefix(path, gdalDatabase))
	if err != nil {
		return fmt.Errorf("connection string: %w", err)
	}
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	p := &postGIS{ctx, conn}
	if _, err := p.all("BEGIN READ ONLY; SET LOCAL TIME ZONE 'UTC'"); err != nil {
		return err
	}
	from, geometry, err := p.layer(rows)
	if err != nil {
		return err
	}
	return p.read(from, geometry, rows)
}

// all returns the rows of a few statements as text; NULL is "".
func (p *postGIS) all(sql string) (out [][]string, err error) {
	results, err := p.conn.Exec(p.ctx, sql).ReadAll()
	for _, r := range results {
		for _, row := range r.Rows {
			line := make([]string, len(row))
			for i, v := range row {
				line[i] = string(v)
			}
			out = append(out, line)
		}
	}
	return out, p.explain(err)
}

// explain says what an error of the server means here.
func (p *postGIS) explain(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == "42883" || pg.Code == "42P01" && strings.Contains(pg.Message, "geometry_columns")) {
		return fmt.Errorf("the database has no PostGIS: %w", err)
	}
	return err
}

// sqlName quotes a name.
func sqlName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// isQuery reports whether a layer is a query and not a table's name.
func isQuery(layer string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(strings.ToLower(layer)), " ")
	return word == "select" || word == "with" || word == "values"
}

// layer returns what to select from, and the column of the geometry: of the table or query that the
// options name, or of the only table with geometries.
func (p *postGIS) layer(rows *rowSink) (from, geometry string, err error) {
	geometry = rows.opt.Geometry
	rows.opt.Geometry = ""
	if isQuery(rows.opt.Layer) {
		return "(" + strings.TrimRight(strings.TrimSpace(rows.opt.Layer), ";") + ")", geometry, nil
	}
	list, err := p.all(`SELECT f_table_schema, f_table_name, f_geometry_column FROM geometry_columns
		UNION ALL SELECT f_table_schema, f_table_name, f_geography_column FROM geography_columns ORDER BY 1, 2, 3`)
	if err != nil {
		return "", "", err
	}
	var names []string
	tables := make(map[string][]string) // columns of geometries by table
	var found []string
	for _, l := range list {
		name := l[0] + "." + l[1]
		if tables[name] == nil {
			names = append(names, name)
			if rows.opt.Layer == name || rows.opt.Layer == l[1] || rows.opt.Layer == "" {
				found = append(found, name)
			}
		}
		tables[name] = append(tables[name], l[2])
	}
	how := "points.ReadOptions.Layer"
	if rows.shapes != nil {
		how = "|layername=NAME after the connection string"
	}
	switch {
	case len(names) == 0:
		return "", "", fmt.Errorf("the database has no table with a geometry: give a query as %s, such as SELECT kind, ST_MakePoint(x, y) AS geom FROM places", how)
	case len(found) == 0:
		return "", "", fmt.Errorf("no table %q with a geometry: want one of %s, or a query", rows.opt.Layer, quoteAll(names))
	case len(found) > 1:
		return "", "", fmt.Errorf("the database has several tables with geometries, %s: choose one, or give a query, with %s", quoteAll(found), how)
	}
	if of := tables[found[0]]; geometry == "" && len(of) == 1 {
		geometry = of[0]
	}
	schema, table, _ := strings.Cut(found[0], ".")
	if rows.opt.Layer == "" {
		rows.guess("table %s, the only one with a geometry", found[0])
	}
	return sqlName(schema) + "." + sqlName(table), geometry, nil
}

// Types of columns whose values are times.
const (
	pgDate        = 1082
	pgTimestamp   = 1114
	pgTimestampTZ = 1184
)

// read reads the rows of a table or query.
func (p *postGIS) read(from, geometry string, rows *rowSink) error {
	types, err := p.all("SELECT oid FROM pg_type WHERE typname IN ('geometry', 'geography')")
	if err != nil {
		return err
	}
	described, err := p.conn.Prepare(p.ctx, "", "SELECT * FROM "+from+" AS layer", nil)
	if err != nil {
		return p.explain(err)
	}
	var names, shapes []string
	var oids []uint32
	for _, f := range described.Fields {
		if slices.ContainsFunc(types, func(t []string) bool { return t[0] == strconv.FormatUint(uint64(f.DataTypeOID), 10) }) {
			shapes = append(shapes, f.Name)
			continue
		}
		names, oids = append(names, f.Name), append(oids, f.DataTypeOID)
	}
	switch {
	case geometry != "" && !slices.Contains(shapes, geometry):
		return fmt.Errorf("no geometry %q for points.ReadOptions.Geometry: want one of %s", geometry, quoteAll(shapes))
	case len(shapes) == 0:
		return errors.New("no column of the query is a geometry: add one such as ST_SetSRID(ST_MakePoint(x, y), 4326) AS geom")
	case geometry == "" && len(shapes) > 1:
		return fmt.Errorf("several geometries, %s: choose one with points.ReadOptions.Geometry", quoteAll(shapes))
	case geometry == "":
		geometry = shapes[0]
	}
	at, err := rows.columns(names, false)
	if err != nil {
		return err
	}
	feature, when := "NULL", "NULL"
	if at.feature >= 0 {
		rows.in.Columns[2] = names[at.feature]
		feature = sqlName(names[at.feature]) + "::text"
	}
	if at.time >= 0 {
		when = sqlName(names[at.time])
		if oid := oids[at.time]; oid == pgDate || oid == pgTimestamp || oid == pgTimestampTZ {
			when = "to_char(" + when + `, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`
		} else {
			when += "::text"
		}
	}
	srid, err := p.declare(from, geometry, rows)
	if err != nil {
		return err
	}
	g := sqlName(geometry)
	// Binary, as text would double the bytes of a geometry.
	r := p.conn.ExecParams(p.ctx, fmt.Sprintf("SELECT ST_AsBinary(%s), ST_SRID(%s::geometry)::int4, %s, %s FROM %s AS layer",
		g, g, feature, when, from), nil, nil, nil, []int16{1})
	n := 0
	for r.NextRow() {
		n++
		if err := addRow(r.Values(), n, srid, rows); err != nil {
			r.Close()
			return err
		}
	}
	_, err = r.Close()
	if p.ctx.Err() != nil {
		return p.ctx.Err()
	}
	return p.explain(err)
}

// addRow adds a row: geometry, number of the reference system, feature and time.
func addRow(values [][]byte, n int, srid int32, rows *rowSink) error {
	where := func() string { return fmt.Sprintf("row %d", n) }
	if len(values) != 4 {
		return fmt.Errorf("%s: %d values, want 4", where(), len(values))
	}
	if values[0] == nil || len(values[1]) != 4 {
		return rows.bad(noPosition, errors.New("no geometry"), where)
	}
	if id := int32(binary.BigEndian.Uint32(values[1])); id != srid {
		return fmt.Errorf("%s: reference system %d, and %d before: want one for all, as ST_Transform makes", where(), id, srid)
	}
	if rows.shapes != nil {
		return rows.polygons(string(values[2]), values[0], nil, where)
	}
	x, y, err := parseWKBPoint(values[0])
	if err != nil {
		return rows.bad(noPosition, err, where)
	}
	rows.when = values[3]
	return rows.add(x, y, values[2], where)
}

// declare sets the reference system of a layer, by that of its first geometry, and returns its
// number. 0 means that none is known.
func (p *postGIS) declare(from, geometry string, rows *rowSink) (int32, error) {
	found, err := p.all(fmt.Sprintf("SELECT ST_SRID(%[1]s::geometry) FROM %[2]s AS layer WHERE %[1]s IS NOT NULL LIMIT 1",
		sqlName(geometry), from))
	if err != nil || len(found) == 0 {
		return 0, err
	}
	id, err := strconv.ParseInt(found[0][0], 10, 32)
	if err != nil || id == 0 || rows.opt.CRS != nil {
		return int32(id), err
	}
	found, err = p.all(fmt.Sprintf("SELECT auth_name, auth_srid, srtext FROM spatial_ref_sys WHERE srid = %d", id))
	if err != nil {
		return 0, err
	}
	if len(found) == 0 {
		return 0, fmt.Errorf("reference system %d is not in spatial_ref_sys: name one with points.ReadOptions.CRS", id)
	}
	if code, err := strconv.Atoi(found[0][1]); err == nil && found[0][0] == "EPSG" {
		if rows.crs, err = epsg(code); err == nil {
			return int32(id), nil
		}
	}
	return int32(id), rows.declare(found[0][2])
}

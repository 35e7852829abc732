package points

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// fakePostGIS answers the statements of readPostGIS as PostgreSQL 15 with PostGIS 3.3 does, so that
// tests need no database. COLLOCATE_POSTGIS is the connection string of a real one, for
// TestPostGISInADatabase.
type fakePostGIS struct {
	tables  [][]string // schema, table, column of the geometry
	columns []pgproto3.FieldDescription
	srids   [][]string // of spatial_ref_sys: auth_name, auth_srid, srtext
	rows    [][][]byte // of the layer: geometry, reference system, feature, time
	noGIS   bool
	hang    chan struct{} // closed when the rows are asked for, which then never come
	asked   []string
}

const fakeGeometry = 16400 // type of columns that are geometries

func column(name string, oid uint32) pgproto3.FieldDescription {
	return pgproto3.FieldDescription{Name: []byte(name), DataTypeOID: oid, DataTypeSize: -1}
}

func pgPoint(x, y float64) []byte {
	b := []byte{1, 1, 0, 0, 0}
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(y))
}

func pgInt(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }

// serve answers one connection after the other, and returns the connection string.
func (f *fakePostGIS) serve(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f.answer(c)
		}
	}()
	return "postgres://me:secret@" + l.Addr().String() + "/city?sslmode=disable"
}

func (f *fakePostGIS) answer(c net.Conn) {
	defer c.Close()
	b := pgproto3.NewBackend(c, c)
	start, err := b.ReceiveStartupMessage()
	if _, ok := start.(*pgproto3.StartupMessage); !ok || err != nil {
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for b.Flush() == nil {
		m, err := b.Receive()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *pgproto3.Query:
			f.asked = append(f.asked, m.String)
			f.simple(b, m.String)
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'T'})
		case *pgproto3.Parse:
			f.asked = append(f.asked, m.Query)
			b.Send(&pgproto3.ParseComplete{})
		case *pgproto3.Bind:
			b.Send(&pgproto3.BindComplete{})
		case *pgproto3.Describe:
			fields := f.columns
			if m.ObjectType == 'S' {
				b.Send(&pgproto3.ParameterDescription{})
			} else {
				fields = []pgproto3.FieldDescription{column("g", 17), column("s", 23), column("f", 25), column("t", 25)}
			}
			b.Send(&pgproto3.RowDescription{Fields: fields})
		case *pgproto3.Execute:
			if f.hang != nil {
				close(f.hang)
				b.Flush()
				b.Receive()
				return
			}
			for _, row := range f.rows {
				b.Send(&pgproto3.DataRow{Values: row})
			}
			b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT")})
		case *pgproto3.Sync:
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'T'})
		case *pgproto3.Terminate:
			return
		}
	}
}

// simple answers a query whose rows are text.
func (f *fakePostGIS) simple(b *pgproto3.Backend, sql string) {
	var rows [][]string
	switch {
	case strings.Contains(sql, "geometry_columns"):
		if f.noGIS {
			b.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "42P01", Message: `relation "geometry_columns" does not exist`})
			return
		}
		rows = f.tables
	case strings.Contains(sql, "pg_type"):
		rows = [][]string{{"16400"}}
	case strings.Contains(sql, "spatial_ref_sys"):
		rows = f.srids
	case strings.Contains(sql, "ST_SRID"):
		for _, row := range f.rows[:min(1, len(f.rows))] {
			rows = append(rows, []string{string(rune('0' + binary.BigEndian.Uint32(row[1])%10))})
		}
	}
	if len(rows) > 0 {
		b.Send(&pgproto3.RowDescription{Fields: make([]pgproto3.FieldDescription, len(rows[0]))})
	}
	for _, row := range rows {
		var values [][]byte
		for _, v := range row {
			values = append(values, []byte(v))
		}
		b.Send(&pgproto3.DataRow{Values: values})
	}
	b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT")})
}

func newFakePostGIS() *fakePostGIS {
	return &fakePostGIS{tables: [][]string{{"public", "poi", "geom"}},
		columns: []pgproto3.FieldDescription{column("id", 23), column("kind", 25), column("opened", pgTimestamp), column("geom", fakeGeometry)},
		srids:   [][]string{{"EPSG", "25832", "PROJCS[...]"}},
		rows: [][][]byte{{pgPoint(500000, 5.7e6), pgInt(7), []byte("cafe"), []byte("2024-05-31T18:30:00Z")},
			{pgPoint(500010, 5.7e6), pgInt(7), []byte("bar"), []byte("2024-06-01T00:00:00Z")}}}
}

func TestPostGISIsRead(t *testing.T) {
	f := newFakePostGIS()
	in, err := ReadFiles(t.Context(), []string{f.serve(t)}, ReadOptions{Time: "opened"})
	if err != nil {
		t.Fatal(err)
	}
	if in.Format != "postgis" || in.Columns[2] != "kind" || in.CRS.EPSG != 25832 || in.Len() != 2 ||
		in.X[1] != 500010 || in.Features[in.Feature[0]] != "cafe" || in.Time[1] != 1717200000 {
		t.Errorf("read as %+v of %v, %v", in, in.CRS, in.Set)
	}
	if all := strings.Join(f.asked, "\n"); !strings.Contains(all, "BEGIN READ ONLY") || !strings.Contains(all, `"public"."poi"`) {
		t.Errorf("asked %s", all)
	}
	in, err = ReadFile(f.serve(t), ReadOptions{Layer: "SELECT kind, geom FROM poi WHERE id < 9;", Feature: "id"})
	if err != nil || in.Columns[2] != "id" {
		t.Errorf("read a query: %v", err)
	}
	if all := strings.Join(f.asked, "\n"); !strings.Contains(all, `"id"::text, NULL FROM (SELECT kind, geom FROM poi WHERE id < 9) AS layer`) {
		t.Errorf("asked %s", all)
	}
}

func TestPostGISPolygons(t *testing.T) {
	f := newFakePostGIS()
	square := []byte{1, 3, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0}
	for _, at := range [][2]float64{{0, 0}, {9, 0}, {9, 9}, {0, 9}, {0, 0}} {
		square = append(square, pgPoint(at[0], at[1])[5:]...)
	}
	f.columns[1].Name = []byte("name")
	f.rows = [][][]byte{{square, pgInt(7), []byte("middle"), nil}}
	utm, err := ParseCRS("EPSG:25832")
	if err != nil {
		t.Fatal(err)
	}
	regions, err := ReadRegions(t.Context(), f.serve(t)+"|layername=poi", utm)
	if err != nil || len(regions) != 1 || regions[0].Name != "middle" || !regions[0].Contains(4, 4) {
		t.Errorf("regions %v, %v", regions, err)
	}
	w, err := ReadWindow(t.Context(), f.serve(t), utm)
	if err != nil || !w.Contains(4, 4) || w.Contains(10, 4) {
		t.Errorf("window %v, %v", w, err)
	}
}

func TestPostGISErrors(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(*fakePostGIS)
		opt        ReadOptions
	}{
		{"no PostGIS", "no PostGIS", func(f *fakePostGIS) { f.noGIS = true }, ReadOptions{}},
		{"no table", "no table with a geometry", func(f *fakePostGIS) { f.tables = nil }, ReadOptions{}},
		{"several", `"public.poi", "town.poi"`, func(f *fakePostGIS) {
			f.tables = append(f.tables, []string{"town", "poi", "geom"})
		}, ReadOptions{}},
		{"several of a name", "choose one", func(f *fakePostGIS) {
			f.tables = append(f.tables, []string{"town", "poi", "geom"})
		}, ReadOptions{Layer: "poi"}},
		{"another name", `no table "bars"`, func(*fakePostGIS) {}, ReadOptions{Layer: "bars"}},
		{"no geometry", "no column of the query is a geometry", func(f *fakePostGIS) { f.columns = f.columns[:3] }, ReadOptions{Layer: "SELECT 1"}},
		{"two geometries", "several geometries", func(f *fakePostGIS) {
			f.columns = append(f.columns, column("other", fakeGeometry))
			f.tables = append(f.tables, []string{"public", "poi", "other"})
		}, ReadOptions{}},
		{"no feature", "no column with features", func(f *fakePostGIS) { f.columns[1].Name = []byte("a") }, ReadOptions{}},
		{"mixed systems", "row 2: reference system 8, and 7 before", func(f *fakePostGIS) { f.rows[1][1] = pgInt(8) }, ReadOptions{}},
		{"unknown system", "not in spatial_ref_sys", func(f *fakePostGIS) { f.srids = nil }, ReadOptions{}},
		{"no point", "row 2: no geometry", func(f *fakePostGIS) { f.rows[1][0] = nil }, ReadOptions{}},
		{"a damaged point", "row 1", func(f *fakePostGIS) { f.rows[0][0] = f.rows[0][0][:9] }, ReadOptions{}},
	} {
		f := newFakePostGIS()
		c.change(f)
		_, err := ReadFile(f.serve(t), c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want one with %q and without the password", c.name, err, c.want)
		}
	}
	f := newFakePostGIS()
	f.rows[1][0] = nil
	if in, err := ReadFile(f.serve(t), ReadOptions{SkipBad: true}); err != nil || in.Skipped != 1 || in.Len() != 1 {
		t.Errorf("skipping rows without a geometry: %v", err)
	}
}

// A query that takes long ends with its context.
func TestPostGISEndsWithItsContext(t *testing.T) {
	f := newFakePostGIS()
	f.hang = make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	begun := time.Now()
	go func() {
		<-f.hang
		cancel()
	}()
	if _, err := ReadFiles(ctx, []string{f.serve(t)}, ReadOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %v to end", took)
	}
}

func TestPasswordsAreNotShown(t *testing.T) {
	for path, want := range map[string]string{
		"postgres://me:secret@host/db":          "postgres://me:xxxxx@host/db",
		"postgresql://host/db?password=secret":  "postgresql://host/db?password=xxxxx",
		"PG:host=here password=secret dbname=a": "PG:host=here password=xxxxx dbname=a",
		"PG:password = 'my secret' dbname=a":    "PG:password=xxxxx dbname=a",
		"poi.csv":                               "poi.csv",
	} {
		if got := withoutPassword(path); got != want {
			t.Errorf("%s is shown as %s, want %s", path, got, want)
		}
		if name := SourceName(path); strings.Contains(name, "secret") || name == "" {
			t.Errorf("the name of %s is %q", path, name)
		}
	}
}

// COLLOCATE_POSTGIS=postgres://postgres@localhost/gis go test -run InADatabase ./points
func TestPostGISInADatabase(t *testing.T) {
	at := os.Getenv("COLLOCATE_POSTGIS")
	if at == "" {
		t.Skip("COLLOCATE_POSTGIS names no database")
	}
	in, err := ReadFile(at, ReadOptions{Time: "t", Layer: `SELECT 'a' AS kind, TIMESTAMPTZ '2024-05-31 20:30+02' AS t,
		ST_SetSRID(ST_MakePoint(500000 + i, 5700000), 25832) AS g FROM generate_series(1, 1000) i`})
	if err != nil {
		t.Fatal(err)
	}
	if in.Len() != 1000 || in.X[999] != 501000 || in.CRS.EPSG != 25832 || in.Time[0] != 1717180200 {
		t.Errorf("read %d points, %v, %v, %v", in.Len(), in.X[999], in.CRS, in.Time[0])
	}
}

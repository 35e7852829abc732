package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/spf13/cobra"

	"github.com/collocate/collocate/internal/scratch"
)

// resultTable is a result with the same columns on a terminal and in CSV, TSV, JSON and Parquet
// files. Cells are string, int, uint64, float64 or nil. Rows are held as bytes: a letter for the
// type of each cell, then its value. Those beyond tableRoom go to a temporary file, since a list
// may have millions.
type resultTable struct {
	names []string
	dir   string // for the temporary file; "" is the system's
	most  int    // rows that are read; 0 means all
	n     int    // rows
	kinds []any  // the first cell of each column that is not nil, as an example of its type
	room  int    // bytes in memory; 0 means tableRoom
	data  []byte // rows, or those that are not yet in the file
	file  *scratch.File
	pages *scratch.Pages // the file, once it is complete
}

// tableRoom is the memory for the rows of a table: enough for any list that is read by people.
const tableRoom = 4 << 20

// add adds a row. It fails only if there is no room on the disk.
func (t *resultTable) add(cells ...any) error {
	if t.kinds == nil {
		t.kinds = make([]any, len(t.names))
	}
	for i, cell := range cells {
		if t.kinds[i] == nil {
			t.kinds[i] = cell
		}
		t.data = appendCell(t.data, cell)
	}
	t.n++
	if len(t.data) < cmp.Or(t.room, tableRoom) {
		return nil
	}
	if t.file == nil {
		f, err := scratch.Create(t.dir)
		if err != nil {
			return err
		}
		t.file = f
	}
	_, err := t.file.Write(t.data)
	t.data = t.data[:0]
	return err
}

func appendCell(b []byte, cell any) []byte {
	switch v := cell.(type) {
	case string:
		return append(binary.AppendUvarint(append(b, 's'), uint64(len(v))), v...)
	case int:
		return binary.AppendVarint(append(b, 'i'), int64(v))
	case uint64:
		return binary.AppendUvarint(append(b, 'u'), v)
	case float64:
		return binary.BigEndian.AppendUint64(append(b, 'f'), math.Float64bits(v))
	case nil:
		return append(b, 'n')
	}
	panic(fmt.Sprintf("a cell of type %T", cell))
}

// cutCell splits off the first cell of a row.
func cutCell(b []byte) (cell any, rest []byte) {
	kind, b := b[0], b[1:]
	switch kind {
	case 's':
		size, n := binary.Uvarint(b)
		return string(b[n : n+int(size)]), b[n+int(size):]
	case 'i':
		v, n := binary.Varint(b)
		return int(v), b[n:]
	case 'u':
		v, n := binary.Uvarint(b)
		return v, b[n:]
	case 'f':
		return math.Float64frombits(binary.BigEndian.Uint64(b)), b[8:]
	}
	return nil, b
}

// rows yields the rows, which are valid until the next one. Nothing can be added after it.
func (t *resultTable) rows() iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		if t.file != nil && t.pages == nil {
			pages, err := t.file.Map(tableRoom / 2)
			if err != nil {
				yield(nil, err)
				return
			}
			t.pages = pages
		}
		left := t.n
		if t.most > 0 {
			left = min(left, t.most)
		}
		row := make([]any, len(t.names))
		read := func(data []byte) bool {
			touched := len(data)
			for ; left > 0 && len(data) > 0; left-- {
				for i := range row {
					row[i], data = cutCell(data)
				}
				if !yield(row, nil) {
					return false
				}
				if touched-len(data) >= scratch.PageBytes {
					t.pages.Touch(1 + (touched-len(data))/scratch.PageBytes)
					touched = len(data)
				}
			}
			return true
		}
		if t.pages == nil || read(t.pages.Data) {
			read(t.data)
		}
	}
}

// close removes the temporary file.
func (t *resultTable) close() {
	t.pages.Close()
	if t.file != nil {
		t.file.Close()
	}
}

// tableFlags adds --out and --bom. The help of --out begins with "write", or with "also write" if
// the table is printed too.
func (a *app) tableFlags(cmd *cobra.Command, path *string, help string) {
	cmd.Flags().StringVarP(path, "out", "o", "",
		help+" the list to `FILE`: .csv, .tsv, .json or .parquet")
	cmd.Flags().BoolVar(&a.bom, "bom", false,
		"begin a .csv or .tsv with a byte order mark, without which Excel shows é as Ã©")
}

// checkTableFile refuses a name without the ending of a format.
func (a *app) checkTableFile(path string) error {
	format := strings.ToLower(filepath.Ext(path))
	if a.bom && format != ".csv" && format != ".tsv" {
		return usagef("--bom needs --out with a name that ends in .csv or .tsv")
	}
	if path == "" || slices.Contains([]string{".csv", ".tsv", ".json", ".parquet"}, format) {
		return canWrite(path)
	}
	return usagef("--out %s: want a name that ends in .csv, .tsv, .json or .parquet", path)
}

// writeFile writes the table in the format of the file's ending.
func (t *resultTable) writeFile(a *app, path string) error {
	if path == "" {
		return nil
	}
	return a.writeTo(path, func(w io.Writer) error {
		if a.bom {
			if _, err := io.WriteString(w, "\ufeff"); err != nil {
				return err
			}
		}
		switch strings.ToLower(filepath.Ext(path)) {
		case ".tsv":
			return t.separated(w, '\t')
		case ".json":
			return t.json(w)
		case ".parquet":
			return t.parquet(w)
		}
		return t.separated(w, ',')
	})
}

// print writes aligned columns with shortened numbers. It reads the rows twice, first for the
// widths of the columns.
func (t *resultTable) print(w io.Writer) error {
	line := make([]string, len(t.names))
	for i, name := range t.names {
		line[i] = strings.ToUpper(strings.ReplaceAll(name, "_", " "))
	}
	widths := make([]int, len(line))
	measure := func() {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	head := slices.Clone(line)
	measure()
	each := func(do func()) error {
		for row, err := range t.rows() {
			if err != nil {
				return err
			}
			for i, cell := range row {
				line[i] = short(cell)
			}
			do()
		}
		return nil
	}
	if err := each(measure); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	write := func() {
		for i, cell := range line {
			out.WriteString(cell)
			if i+1 < len(line) {
				for range widths[i] + 2 - utf8.RuneCountInString(cell) {
					out.WriteByte(' ')
				}
			}
		}
		out.WriteByte('\n')
	}
	copy(line, head)
	write()
	if err := each(write); err != nil {
		return err
	}
	return out.Flush()
}

// short formats a cell for a terminal.
func short(cell any) string {
	switch v := cell.(type) {
	case nil:
		return "-"
	case float64:
		if v != 0 && (v < 1e-3 && v > -1e-3) || v >= 1e7 || v <= -1e7 {
			return strconv.FormatFloat(v, 'e', 2, 64)
		}
		s := strconv.FormatFloat(v, 'f', 3, 64)
		if v == float64(int64(v)) {
			s = strconv.FormatInt(int64(v), 10)
		}
		return s
	}
	return fmt.Sprint(cell)
}

func (t *resultTable) separated(w io.Writer, comma rune) error {
	out := csv.NewWriter(w)
	out.Comma = comma
	if err := out.Write(t.names); err != nil {
		return err
	}
	record := make([]string, len(t.names))
	for row, err := range t.rows() {
		if err != nil {
			return err
		}
		for i, cell := range row {
			switch v := cell.(type) {
			case nil:
				record[i] = ""
			case float64:
				record[i] = strconv.FormatFloat(v, 'g', -1, 64)
			default:
				record[i] = fmt.Sprint(v)
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// json writes the rows as a list of objects.
func (t *resultTable) json(w io.Writer) error {
	out := bufio.NewWriter(w)
	e := json.NewEncoder(&withoutNewline{out})
	e.SetEscapeHTML(false)
	between := "["
	for row, err := range t.rows() {
		if err != nil {
			return err
		}
		out.WriteString(between)
		between = ","
		if err := e.Encode(t.object(row)); err != nil {
			return err
		}
	}
	if between == "[" {
		out.WriteString(between)
	}
	out.WriteString("]\n")
	return out.Flush()
}

// withoutNewline drops the line end that a json.Encoder writes after each value.
type withoutNewline struct{ to io.Writer }

func (w *withoutNewline) Write(p []byte) (int, error) {
	n, err := w.to.Write(bytes.TrimSuffix(p, []byte("\n")))
	if err != nil {
		return n, err
	}
	return len(p), nil
}

// object returns a row for JSON, without the cells that are nil.
func (t *resultTable) object(row []any) map[string]any {
	object := map[string]any{}
	for k, cell := range row {
		if cell != nil {
			object[t.names[k]] = cell
		}
	}
	return object
}

// objects returns all rows for JSON, at once: it is meant for short lists.
func (t *resultTable) objects() ([]map[string]any, error) {
	list := make([]map[string]any, 0, t.n)
	for row, err := range t.rows() {
		if err != nil {
			return nil, err
		}
		list = append(list, t.object(row))
	}
	return list, nil
}

func (t *resultTable) parquet(w io.Writer) error {
	group := parquet.Group{}
	for i, name := range t.names {
		var node parquet.Node
		switch t.kind(i).(type) {
		case string:
			node = parquet.String()
		case float64:
			node = parquet.Leaf(parquet.DoubleType)
		default:
			node = parquet.Int(64)
		}
		group[name] = parquet.Optional(node)
	}
	sorted := slices.Sorted(slices.Values(t.names)) // parquet sorts the columns of a group
	out := parquet.NewWriter(w, parquet.NewSchema("list", group),
		parquet.MaxRowsPerRowGroup(tableGroup), parquet.CreatedBy("collocate", "1", ""),
		parquet.Compression(&parquet.Zstd))
	for row, err := range t.rows() {
		if err != nil {
			return err
		}
		record := make(parquet.Row, len(row))
		for k, cell := range row {
			column := slices.Index(sorted, t.names[k])
			value := parquet.ValueOf(cell)
			if n, ok := cell.(uint64); ok {
				value = parquet.ValueOf(int64(n))
			}
			if cell == nil {
				record[column] = parquet.NullValue().Level(0, 0, column)
			} else {
				record[column] = value.Level(0, 1, column)
			}
		}
		if _, err := out.WriteRows([]parquet.Row{record}); err != nil {
			return err
		}
	}
	return out.Close()
}

// tableGroup is the number of rows in a row group, which is kept in memory until it is written.
const tableGroup = 1 << 16

// kind returns a cell of a column, as an example of its type.
func (t *resultTable) kind(column int) any {
	if t.kinds == nil || t.kinds[column] == nil {
		return 0
	}
	return t.kinds[column]
}

// printJSON writes a value as JSON in which the given list, empty in the value, has the rows of the
// table, each as item returns it, or as an object if that is nil.
func (t *resultTable) printJSON(a *app, value any, list string, item func(row []any) any) error {
	if item == nil {
		item = func(row []any) any { return t.object(row) }
	}
	var whole bytes.Buffer
	e := json.NewEncoder(&whole)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return err
	}
	head, tail, ok := strings.Cut(whole.String(), fmt.Sprintf("\n  %q: []", list))
	if !ok {
		return fmt.Errorf("the result has no list %s", list)
	}
	out := bufio.NewWriter(a.stdout)
	fmt.Fprintf(out, "%s\n  %q: [", head, list)
	items := json.NewEncoder(&withoutNewline{out})
	items.SetIndent("    ", "  ")
	items.SetEscapeHTML(false)
	between, end := "\n    ", ""
	for row, err := range t.rows() {
		if err != nil {
			return err
		}
		out.WriteString(between)
		between, end = ",\n    ", "\n  "
		if err := items.Encode(item(row)); err != nil {
			return err
		}
	}
	out.WriteString(end + "]" + tail)
	return out.Flush()
}

package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/parquet-go/parquet-go"
	"github.com/spf13/cobra"
)

// resultTable is a result with the same columns on a terminal and in CSV, TSV, JSON and Parquet
// files. Cells are string, int, uint64, float64 or nil.
type resultTable struct {
	names []string
	rows  [][]any
}

func (t *resultTable) add(cells ...any) { t.rows = append(t.rows, cells) }

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
			e := json.NewEncoder(w)
			e.SetEscapeHTML(false)
			return e.Encode(t.objects())
		case ".parquet":
			return t.parquet(w)
		}
		return t.separated(w, ',')
	})
}

// print writes aligned columns with shortened numbers.
func (t *resultTable) print(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for i, name := range t.names {
		if i > 0 {
			fmt.Fprint(tw, "\t")
		}
		fmt.Fprint(tw, strings.ToUpper(strings.ReplaceAll(name, "_", " ")))
	}
	fmt.Fprintln(tw)
	for _, row := range t.rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(tw, "\t")
			}
			fmt.Fprint(tw, short(cell))
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
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
	for _, row := range t.rows {
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

// objects returns the rows for JSON, without the cells that are nil.
func (t *resultTable) objects() []map[string]any {
	list := make([]map[string]any, len(t.rows))
	for i, row := range t.rows {
		list[i] = map[string]any{}
		for k, cell := range row {
			if cell != nil {
				list[i][t.names[k]] = cell
			}
		}
	}
	return list
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
		parquet.CreatedBy("collocate", "1", ""), parquet.Compression(&parquet.Zstd))
	for _, row := range t.rows {
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

// kind returns the first cell of a column that is not nil, as an example of its type.
func (t *resultTable) kind(column int) any {
	for _, row := range t.rows {
		if row[column] != nil {
			return row[column]
		}
	}
	return 0
}

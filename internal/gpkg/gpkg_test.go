package gpkg

import (
	"errors"
	"strings"
	"testing"
)

// fullDisk takes a number of bytes, and no more.
type fullDisk struct{ room int }

var errFull = errors.New("no space left")

func (f *fullDisk) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func (f *fullDisk) WriteAt(p []byte, _ int64) (int, error) { return f.Write(p) }

// A write that fails ends the rows of its layer, which are not encoded for nothing.
func TestFullDiskEndsTheRows(t *testing.T) {
	const rows, size = 100, 100_000
	for _, room := range []int{0, 3 << 20, 1 << 30} {
		asked := 0
		err := Write(&fullDisk{room}, Plane, []Layer{{Name: "notes", Columns: []Column{{Name: "text", Type: "TEXT"}},
			Rows: func(yield func(Row) bool) {
				for range rows {
					asked++
					if !yield(Row{Values: []any{strings.Repeat("x", size)}}) {
						return
					}
				}
			}}})
		fits := room > rows*size
		if fits && (err != nil || asked != rows) {
			t.Errorf("room for %d bytes: %v after %d rows; want all %d", room, err, asked, rows)
		}
		if most := room/size + 1<<20/size + 3; !fits && (err != errFull || asked > most) {
			t.Errorf("room for %d bytes: %v after %d rows; want %v after at most %d", room, err, asked, errFull, most)
		}
	}
}

package cluster

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
)

// The payloads of records are checked up to their borders: what just fits is taken, and the next
// larger is an error, not a wrong count.
func TestPayloadsAreCheckedAtTheirBorders(t *testing.T) {
	a := []count{{[]byte("w"), math.MaxUint64}}
	if _, err := addCounts(a, []count{{[]byte("w"), 1}}); err == nil || !strings.Contains(err.Error(), "too often") {
		t.Errorf("a count that overflows: error %v", err)
	}
	if sum, err := addCounts([]count{{[]byte("w"), math.MaxUint64 - 1}}, []count{{[]byte("w"), 1}}); err != nil ||
		sum[0].n != math.MaxUint64 {
		t.Errorf("the largest count: %v, %v", sum, err)
	}
	cell := func(key int64, col uint64) error {
		return new(cells).parse(key, binary.AppendUvarint(binary.AppendUvarint(nil, col), 1))
	}
	_, rows := blockRows(0)
	if err := cell(0, uint64(rows)<<32-1); err != nil {
		t.Errorf("the last cell of a block: %v", err)
	}
	if err := cell(0, uint64(rows)<<32); !errors.Is(err, errPayload) {
		t.Errorf("a cell behind the block: error %v", err)
	}
	for _, feature := range []uint64{1 << 30, 1 << 31, math.MaxUint32} { // the last two are negative int32
		if _, err := parseClass(binary.AppendUvarint(nil, feature)); !errors.Is(err, errPayload) {
			t.Errorf("feature %d: error %v", feature, err)
		}
	}
	if p, err := parsePart(0, []byte(`{"of":1,"name":"a"}`)); err != nil || p.Of != 1 {
		t.Errorf("one part of one: %v, %v", p, err)
	}
	for _, bad := range []string{`{"of":0,"name":"a"}`, `{"of":1,"name":".."}`, `{"of":1,"name":"a/b"}`} {
		if _, err := parsePart(0, []byte(bad)); err == nil {
			t.Errorf("part %s: no error", bad)
		}
	}
	if _, err := parsePart(1, []byte(`{"of":1,"name":"a"}`)); err == nil {
		t.Error("part 1 of one: no error")
	}
	name := "a" + spillSuffix
	if _, err := parseSpillRange([]byte(`{"name":"` + name + `","from":0,"bytes":0}`)); err != nil {
		t.Errorf("an empty range: %v", err)
	}
	for _, bad := range []string{`"from":-1,"bytes":1`, `"from":1,"bytes":-1`,
		`"from":9223372036854775807,"bytes":1`} {
		if _, err := parseSpillRange([]byte(`{"name":"` + name + `",` + bad + `}`)); err == nil {
			t.Errorf("a range with %s: no error", bad)
		}
	}
}

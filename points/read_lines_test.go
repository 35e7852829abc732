package points

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// Lines without quotes do not go through the csv package. The points, and the lines that errors
// name, must be the same as if all lines did.
func TestQuickLinesReadAsTheCSVPackageDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	cells := []string{"1", "-2.5", "", " 7 ", "1e3", "x", `"4"`, `"a,b"`, `"two` + "\n" + `lines"`,
		"0.000001", "123456789012345678", "nan", "A", "B\r"}
	for range 3000 / trials.Every(5) {
		var b strings.Builder
		b.WriteString("x,y,feature\n")
		for range r.IntN(6) {
			for f := range 3 - r.IntN(12)/11 {
				if f > 0 {
					b.WriteByte(',')
				}
				if r.IntN(3) == 0 {
					b.WriteString(cells[r.IntN(len(cells))])
				} else {
					b.WriteString([]string{"3", "4.25", "A"}[f])
				}
			}
			b.WriteString([]string{"\n", "\r\n", "\n\n"}[r.IntN(3)])
		}
		text := b.String()
		skip := r.IntN(2) == 0
		quick := outcome(text, skip)
		// A quoted header leaves everything to the csv package.
		if slow := outcome(strings.Replace(text, "x,", `"x",`, 1), skip); quick != slow {
			t.Fatalf("%q:\nquick %s\nslow  %s", text, quick, slow)
		}
	}
}

func outcome(text string, skip bool) string {
	in, err := Read(strings.NewReader(text), ReadOptions{SkipBad: skip})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(in.X, in.Y, in.Feature, in.Features, in.Skipped)
}

func TestCoordinatesAreParsedToTheBit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 / trials.Every(8) {
		v := (r.Float64() - 0.5) * math.Pow10(r.IntN(12))
		text := strconv.FormatFloat(v, "feg"[r.IntN(3)], r.IntN(18)-1, 64)
		want, _ := strconv.ParseFloat(text, 64)
		if got, err := parseCoordinate([]byte(" " + text)); err != nil ||
			math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "-", ".", "1.2.3", "1-", "--1", "1 2"} {
		if v, err := parseCoordinate([]byte(bad)); err == nil {
			t.Errorf("%q: got %v, want an error", bad, v)
		}
	}
}

func BenchmarkReadTable(b *testing.B) {
	var text bytes.Buffer
	text.WriteString("feature,instance,x,y\n")
	for i := range 100_000 {
		fmt.Fprintf(&text, "F%d,%d,%.4f,%.4f\n", i%40, i, float64(i%997)*1.00371, float64(i%1009)*0.99173)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := Read(bytes.NewReader(text.Bytes()), ReadOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

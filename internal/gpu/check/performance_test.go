package check

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/collocate/collocate/internal/gpu/kernelsrc"
	"github.com/collocate/collocate/internal/quoted"
)

// docs/performance.md quotes the receipt of the H200. UPDATE=1 writes those parts again from
// testdata/performance.tmpl, so that a new receipt cannot leave old figures behind.
func TestPerformanceQuotesTheReceipt(t *testing.T) {
	root, r := committed(t)
	pages, err := template.New("").Funcs(quotes(&r)).ParseFiles("testdata/performance.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	quoted.Refresh(t, filepath.Join(root, "docs", "performance.md"), "receipt", "go test -run Performance ./internal/gpu/check", pages)
}

// Elsewhere, a number in a sentence or table that names the receipt is in it, too.
func TestReceiptHasLooseNumbers(t *testing.T) {
	root, r := committed(t)
	var f quoted.Figures
	f.Add(r.Device.Name + " " + r.Device.Driver)
	for _, b := range r.Benches {
		f.Add(b.Name)
		for _, v := range []float64{b.Seconds, b.GBs, b.GItems, b.Fraction, b.Joules} {
			if v != 0 {
				f.AddValue(v)
			}
		}
	}
	missing, err := quoted.Loose(root, regexp.MustCompile(`\breceipt`), &f)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range missing {
		t.Errorf("%s: the receipt has no such number", m)
	}
}

// committed returns the root of the sources and the receipt of the H200.
func committed(t *testing.T) (string, Receipt) {
	t.Helper()
	root, err := kernelsrc.Root()
	if err != nil {
		t.Skipf("the sources are not here: %v", err)
	}
	r, ok := receipts(t, root)[filepath.Join(root, filepath.FromSlash(receiptsDir), "h200.json")]
	if !ok {
		t.Fatal("no receipt of the H200")
	}
	return root, r
}

// A quote is the rounded figure of one measurement. A name that fits none or several is an error.
func TestQuotes(t *testing.T) {
	f := quotes(&Receipt{Benches: []Bench{
		{Name: "a", Seconds: 0.003070788}, {Name: "b: 53.2x", Seconds: 0.003070788}, {Name: "c", GBs: 1.86},
		{Name: "d", GBs: 2929}, {Name: "e", Seconds: 1.609}, {Name: "ff", Seconds: 1.8e-5}, {Name: "fg", Seconds: 2.46e-5},
	}})
	for _, c := range []struct{ call, argument, want string }{
		{"time", "a", "3.1 ms"}, {"cores", "b: ", "0.16 s"}, {"rate", "c", "1.86 GB/s"}, {"rate", "d", "2.93 TB/s"},
		{"time", "e", "1.6 s"}, {"time", "ff", "18 µs"},
	} {
		got, err := f[c.call].(func(string) (string, error))(c.argument)
		if err != nil || got != c.want {
			t.Errorf("%s %q: %q, %v, want %q", c.call, c.argument, got, err, c.want)
		}
	}
	if got, err := f["between"].(func(string, string) (string, error))("f", ""); err != nil || got != "18 to 25 µs" {
		t.Errorf("a range: %q, %v", got, err)
	}
	if got, err := f["ratio"].(func(string, string) (string, error))("e", "a"); err != nil || got != "524.0" {
		t.Errorf("a ratio: %q, %v", got, err)
	}
	for _, name := range []string{"", "none", "f"} {
		if got, err := f["time"].(func(string) (string, error))(name); err == nil {
			t.Errorf("time %q is %q, want an error", name, got)
		}
	}
}

// quotes returns the functions of the templates. They take the name of a measurement or the only
// possible beginning of one.
func quotes(r *Receipt) template.FuncMap {
	of := func(name string) (found Bench, err error) {
		n := 0
		for _, b := range r.Benches {
			if b.Name == name {
				return b, nil
			}
			if strings.HasPrefix(b.Name, name) {
				found = b
				n++
			}
		}
		if n != 1 {
			err = fmt.Errorf("%d measurements begin with %q, want one", n, name)
		}
		return found, err
	}
	quote := func(format func(Bench) string) func(string) (string, error) {
		return func(name string) (string, error) {
			b, err := of(name)
			return format(b), err
		}
	}
	return template.FuncMap{
		"time": quote(func(b Bench) string { return duration(b.Seconds) }),
		// The cores' time is that of the device times the ratio at the end of the name.
		"cores": func(name string) (string, error) {
			b, err := of(name)
			if err != nil {
				return "", err
			}
			last := b.Name[strings.LastIndexByte(b.Name, ' ')+1:]
			ratio, err := strconv.ParseFloat(strings.TrimSuffix(last, "x"), 64)
			return duration(ratio * b.Seconds), err
		},
		// How many times as long the first takes as the second.
		"ratio": func(first, second string) (string, error) {
			a, err := of(first)
			if err != nil {
				return "", err
			}
			b, err := of(second)
			return fmt.Sprintf("%.1f", a.Seconds/b.Seconds), err
		},
		"rate":   quote(func(b Bench) string { return rate(b.GBs) }),
		"keys":   quote(func(b Bench) string { return fmt.Sprintf("%.1f G keys/s", b.GItems) }),
		"ofCopy": quote(func(b Bench) string { return fmt.Sprintf("%.0f%%", 100*b.Fraction) }),
		"share": func(name string, most float64) (string, error) {
			b, err := of(name)
			return fmt.Sprintf("%.0f%%", 100*b.GBs/most), err
		},
		"between": func(prefix, suffix string) (string, error) {
			least, most := 0.0, 0.0
			for _, b := range r.Benches {
				if strings.HasPrefix(b.Name, prefix) && strings.HasSuffix(b.Name, suffix) {
					if least == 0 || b.Seconds < least {
						least = b.Seconds
					}
					most = max(most, b.Seconds)
				}
			}
			if least == 0 {
				return "", fmt.Errorf("no measurement is named %q ... %q", prefix, suffix)
			}
			return fmt.Sprintf("%.0f to %.0f µs", least*1e6, most*1e6), nil
		},
	}
}

// duration has two digits.
func duration(seconds float64) string {
	unit := "s"
	switch {
	case seconds < 0.0001:
		seconds, unit = seconds*1e6, "µs"
	case seconds < 0.1:
		seconds, unit = seconds*1e3, "ms"
	}
	digits := 0
	if seconds < 1 {
		digits = 2
	} else if seconds < 10 {
		digits = 1
	}
	return strconv.FormatFloat(seconds, 'f', digits, 64) + " " + unit
}

func rate(gbs float64) string {
	if gbs >= 1000 {
		return fmt.Sprintf("%.2f TB/s", gbs/1000)
	}
	return fmt.Sprintf("%.2f GB/s", gbs)
}

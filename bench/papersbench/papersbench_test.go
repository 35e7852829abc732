package papersbench

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/internal/trials"
)

// After a run without a GPU every table and figure of the list is on the page, with the paper's
// value, ours or a reason why there is none, and a mark.
func TestEveryTableAndFigure(t *testing.T) {
	trials.Long(t, "every table, in the interpreter")
	dir := t.TempDir()
	o := Options{Tiny: true, Threads: 2, Pieces: filepath.Join(dir, "pieces")}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	check(t, r)
	if err := errors.Join(r.Write(dir), r.WriteHTML(dir)); err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		i, err := e.Info()
		size += i.Size()
		return err
	})
	if t.Logf("%d bytes", size); size > 3e6 || err != nil {
		t.Errorf("the folder has %d bytes, %v; want at most 3 MB", size, err)
	}
	// Everything was kept: a second run measures nothing, and makes the same page.
	again, err := Run(t.Context(), o)
	if err != nil || !reflect.DeepEqual(texts(again), texts(r)) {
		t.Errorf("a second run makes another page, %v", err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Titan Xp", "GTX 1050 Ti", "GTX 970", "GTX Titan", "no GPU",
		"quick run", "thesis-figure-5.4-sh-r.svg"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// texts returns everything on a page but the plots, whose gaps do not equal themselves.
func texts(r *report.Report) (out []string) {
	out = append(out, r.Intro)
	for _, s := range r.Sections {
		out = append(out, s.Title, s.Text, fmt.Sprint(s.Tables))
	}
	return out
}

// A run can be done in pieces: what was measured is kept, what was not is marked, and a part that
// is missing is measured again.
func TestPieces(t *testing.T) {
	var said []string
	o := Options{Tiny: true, Threads: 1, Memory: 8e9, Pieces: filepath.Join(t.TempDir(), "pieces"), Only: []string{"dict"},
		Say: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }}
	run := func() *report.Report {
		t.Helper()
		said = nil
		r, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := run()
	if !strings.Contains(first.Intro, "**Not measured yet:** retrieval (thesis), vocabulary and co-occurrence (cooccur), term weighting (weigh), co-location (places), energy (energy).") {
		t.Errorf("the page begins with %q, want the jobs that are missing", first.Intro)
	}
	marks := map[string]int{}
	for i, p := range papers() {
		for _, row := range first.Sections[i].Tables[0].Rows {
			if p.ID != "weigh-2017" || row[0] == "Figure 5" {
				marks[row[5]]++
			}
		}
	}
	if marks["cannot be compared: not measured yet"] < 40 {
		t.Errorf("marks %v, want those of the other jobs to say that they are not measured yet", marks)
	}
	if second := run(); !slices.Equal(said, []string{"dict: kept from an earlier run"}) ||
		!reflect.DeepEqual(texts(second), texts(first)) {
		t.Errorf("a second run says %q, want that it kept all, and the same page", said)
	}
	// The page can be made again from the parts alone, also on another machine, and of a thesis
	// that is not complete.
	again, err := Page(o.Pieces)
	if err != nil || !reflect.DeepEqual(texts(again), texts(first)) {
		t.Errorf("the page of the parts, %v, is another one than that of the run", err)
	}
	store := &report.Store{Dir: o.Pieces, Settings: o.settings(), Machine: machine(&o)}
	if _, err := store.Do("thesis.2", func() (*report.Report, error) {
		return &report.Report{Sections: []report.Section{{Title: "5.2.2", Tables: []report.Table{{Name: "table-5.6",
			Header: []string{"queries", "ms", "as written: ms"}, Rows: [][]string{{"short", "7.5", "8.5"}}}}}}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if again, err = Page(o.Pieces); err != nil || !strings.Contains(again.Intro, "**Not measured yet:** parts of retrieval (thesis), ") ||
		!strings.Contains(fmt.Sprint(texts(again)), "short 7.5 ms; short 8.5 ms as written") {
		t.Errorf("a part of the thesis, %v: %v", err, again)
	}
	// So are the figures of places that were kept; the others are not measured yet.
	if _, err := store.Do("places.2", func() (*report.Report, error) {
		return &report.Report{Sections: []report.Section{{Title: "Figure 5", Tables: []report.Table{{Name: "figure-5-neighbours",
			Header: []string{"points", "sgct"}, Rows: [][]string{{"30", "1.5"}, {"60", "-"}}}}}}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if again, err = Page(o.Pieces); err != nil || !strings.Contains(again.Intro, ", parts of co-location (places), ") {
		t.Fatalf("a part of places, %v: %v", err, again)
	}
	figures := again.Sections[len(papers())-1].Tables[0].Rows
	for _, want := range [][]string{{"Figure 4", "", "cannot be compared: not measured yet"},
		{"Figure 5", "points 30: sgct 1.5 ms; points 60: sgct given up", "compared in words: drawn, no numbers in the text; given up after the time limit where it says so"}} {
		if !slices.ContainsFunc(figures, func(row []string) bool { return slices.Equal([]string{row[0], row[3], row[5]}, want) }) {
			t.Errorf("places has the figures %q, want %q", figures, want)
		}
	}
	if _, err := Page(t.TempDir()); err == nil {
		t.Error("a page of nothing: no error")
	}
	// Parts of other machines are taken, and named where they are.
	store.Machine = "another machine"
	if _, err := store.Do("places.3", func() (*report.Report, error) {
		return &report.Report{Sections: []report.Section{{Title: "Figure 6"}}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	again, err = Page(o.Pieces)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"measured on several machines: each job names its own. ",
		"\n\nMeasured on " + machine(&o) + ". []. Dictionaries",
		"\n\nMeasured on " + machine(&o) + " (places.2), and on another machine (places.3)."} {
		if text := strings.ReplaceAll(strings.Join(texts(again), ". "), ".. ", ". "); !strings.Contains(text, want) {
			t.Errorf("the page of two machines lacks %q", want)
		}
	}
	if err := os.Remove(filepath.Join(o.Pieces, "places.3.json")); err != nil {
		t.Fatal(err)
	}
	// Without the job's file, its parts are kept; one of these is measured again.
	for _, name := range []string{"dict.json", "dict.stt.100.json"} {
		if err := os.Remove(filepath.Join(o.Pieces, name)); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if slices.Contains(said, "dict.stt.100: kept from an earlier run") ||
		!slices.Contains(said, "dict.stt.50: kept from an earlier run") {
		t.Errorf("the run says %q, want that only dict.stt.100 was measured", said)
	}
	// So are the rows of co-occurrence.
	o.Only = []string{"cooccur"}
	run()
	for _, name := range []string{"cooccur.json", "cooccur.2.sequential.json"} {
		if err := os.Remove(filepath.Join(o.Pieces, name)); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if slices.Contains(said, "cooccur.2.sequential: kept from an earlier run") ||
		!slices.Contains(said, "cooccur.2.multicore: kept from an earlier run") {
		t.Errorf("the run says %q, want that only the sequential engine was measured", said)
	}
	o.Memory = 16e9
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "8000000000 bytes of memory, now 16000000000") {
		t.Errorf("with more memory: error %v", err)
	}
	o.Memory, o.Threads = 8e9, 2
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "other settings") {
		t.Errorf("with other settings: error %v", err)
	}
	if _, err := Run(t.Context(), Options{Only: []string{"dicts"}}); err == nil {
		t.Error("an unknown job: no error")
	}
}

// Parts can be measured by their names, and complete a job that has the others.
func TestPartsByName(t *testing.T) {
	o := Options{Tiny: true, Threads: 1, Memory: 8e9, Pieces: filepath.Join(t.TempDir(), "pieces")}
	kept := func(only ...string) (names []string) {
		t.Helper()
		o.Only = only
		if _, err := Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		paths, err := filepath.Glob(filepath.Join(o.Pieces, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			names = append(names, strings.TrimSuffix(filepath.Base(path), ".json"))
		}
		return names
	}
	want := []string{"cooccur.2.sequential", "dict.stt.100", "dict.xbw.50", "places.2"}
	if got := kept("dict.stt.100", "dict.xbw.50", "places.2", "cooccur.2.sequential"); !slices.Equal(got, want) {
		t.Errorf("parts %q were kept, want %q", got, want)
	}
	want = append(want, "thesis.compressed", "thesis.schedules")
	if got := kept("thesis.schedules", "thesis.compressed"); !slices.Equal(got, want) {
		t.Errorf("parts %q were kept, want %q", got, want)
	}
	rest := []string{"dict.stt.50", "dict.xbw-paper", "dict.xbw.100"}
	if got := kept(rest...); !slices.Contains(got, "dict") || !slices.Contains(got, "dict.xbw-paper.100") {
		t.Errorf("parts %q were kept, want the whole job dict with its last parts", got)
	}
	o.Only = []string{"dict.trie.50"}
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "dict.trie.50") {
		t.Errorf("a part that does not exist: error %v", err)
	}
	if _, err := Run(t.Context(), Options{Tiny: true, Only: []string{"places.2"}}); err == nil {
		t.Error("a part and no folder: no error")
	}
}

func check(t *testing.T, r *report.Report) {
	t.Helper()
	lengths := r.Sections[slices.IndexFunc(r.Sections,
		func(s report.Section) bool { return s.Title == "Dictionaries" })].Tables[1]
	if lengths.Name != "dict-by-length" || len(lengths.Rows) != 3 || len(lengths.Header) != 1+2*len(dictKinds) {
		t.Errorf("figure 9 is %+v, want a curve for each of two vocabularies", lengths)
	}
	for i, p := range papers() {
		rows := r.Sections[i].Tables[0].Rows
		for _, item := range p.Items {
			at := slices.IndexFunc(rows, func(row []string) bool { return row[0] == item.Number })
			if at < 0 {
				t.Errorf("%s: %s is not on the page", p.ID, item.Number)
				continue
			}
			paper, ours, mark := rows[at][2], rows[at][3], rows[at][5]
			switch {
			case item.kind == drawing || item.kind == setting:
			case paper == "":
				t.Errorf("%s: %s has no value of the paper", p.ID, item.Number)
			case ours == "" && mark != "cannot be compared: needs a GPU":
				t.Errorf("%s: %s has no value of ours, but is marked %q", p.ID, item.Number, mark)
			case mark == "compared": // with data of another size
				t.Errorf("%s: %s is marked %q in a small run", p.ID, item.Number, mark)
			}
		}
	}
}

// captions are patterns of the captions of tables and figures in the documents.
var captions = []struct {
	file, paper string
	pattern     *regexp.Regexp
	table       string // how a table's caption begins
}{
	{"000_", "thesis", regexp.MustCompile(`(?m)^(Figura|Tabela) (\d+\.\d+):`), "Tabela"},
	{"001_", "cooccur", regexp.MustCompile(`(?m)^(Figura|Tabela) (\d+)\.`), "Tabela"},
	{"003_", "weigh-2017", regexp.MustCompile(`(?m)(Fig\.|Table) (\d+)\.`), "Table"},
	{"004_", "places", regexp.MustCompile(`(?m)^(Rysunek|Tabela) (\d+):`), "Tabela"},
}

// The list has all tables and figures that the documents' captions name. Text recognition lost some
// captions: that of the thesis' figure 3.4, which is in its list of figures, and all of the
// Japanese paper.
func TestListIsComplete(t *testing.T) {
	seeds := filepath.Join("..", "..", "..", "shared", "seeds")
	if _, err := os.Stat(seeds); err != nil {
		t.Skip("no texts of the documents beside the checkout: ", err)
	}
	total := 0
	for _, p := range papers() {
		total += len(p.Items)
		numbers := p.numbers()
		if len(slices.Compact(slices.Clone(numbers))) != len(numbers) {
			t.Errorf("%s: a number is listed twice", p.ID)
		}
		for _, c := range captions {
			if c.paper != p.ID {
				continue
			}
			files, err := filepath.Glob(filepath.Join(seeds, c.file+"*.txt"))
			if err != nil || len(files) != 1 {
				t.Fatalf("%s: %v, %v", c.file, files, err)
			}
			text, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]bool{}
			for _, m := range c.pattern.FindAllStringSubmatch(string(text), -1) {
				kind := "Figure "
				if m[1] == c.table {
					kind = "Table "
				}
				found[kind+m[2]] = true
				if !slices.Contains(numbers, kind+m[2]) {
					t.Errorf("%s: %s%s is not in the list", p.ID, kind, m[2])
				}
			}
			for _, n := range numbers {
				if !found[n] && n != "Figure 3.4" {
					t.Errorf("%s: the text has no caption of %s", p.ID, n)
				}
			}
		}
	}
	if total != 103 {
		t.Errorf("%d tables and figures, want 103", total)
	}
}

// A job that was given up has no unit.
func TestLastRow(t *testing.T) {
	p := &pages{tables: map[string]*report.Table{"x": {Header: []string{"points", "slow", "fast",
		"absent"}, Rows: [][]string{{"5", "-", "7", ""}}}}}
	if got, err := lastRow("x", "", " ms")(p); err != nil || got != "points 5: slow given up, fast 7 ms" {
		t.Errorf("%q, %v", got, err)
	}
}

// The dictionaries of the paper were on a GPU: its figures are compared with ours on one, also if
// cores were not measured, and with cores only without a GPU.
func TestDictionariesOnTheDevice(t *testing.T) {
	p := &pages{device: true, missing: []string{"dict"}, tables: map[string]*report.Table{
		"dict-device-by-vocabulary": {Header: []string{"kind", "vocabulary", "MB", "frequent ms", "ns/char", "uniform ms", "ns/char"},
			Rows: [][]string{{"stt", "10", "4", "1", "0.1", "2", "0.2"}, {"stt", "20", "8", "1", "0.3", "2", "0.4"}, {"xbw", "10", "1", "1", "0.5", "2", "0.6"}, {"xbw", "20", "2", "1", "0.7", "2", ""}}},
		"dict-device-by-length": {Header: []string{"kind", "vocabulary", "words", "ms"},
			Rows: [][]string{{"stt", "10", "5", "1"}, {"stt", "20", "5", "2"}}},
		"dict-device-lengths": {Rows: [][]string{{"10", "4.5", "4.6", "6.3", "6.4", "6.5", "6.6", "7.1", "7.2"}}}}}
	for number, want := range map[string]string{
		"Figure 8":  "vocabulary 10, 20: stt 4, 8 MB; xbw 1, 2 MB",
		"Figure 9":  "words 5: stt of 10 1 ms; stt of 20 2 ms",
		"Figure 11": "vocabulary 10, 20: stt 0.1, 0.3 ns; xbw 0.5, 0.7 ns",
		"Figure 12": "vocabulary 10, 20: stt 0.2, 0.4 ns; xbw 0.6, not measured ns",
		"Table 3":   "10 words: by frequency 4.5 (6.3), uniform 6.5 (7.1)",
	} {
		items := weighPaper().Items
		i := items[slices.IndexFunc(items, func(i item) bool { return i.Number == number })]
		if got, err := i.ours(p); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", number, got, err, want)
		}
		if _, err := i.ours(&pages{missing: []string{"dict"}}); !errors.Is(err, errNotYet) {
			t.Errorf("%s without a GPU: %v, want that cores are not measured yet", number, err)
		}
	}
}

// Steps are those of the paper's size of text, without those that run beside others.
func TestSteps(t *testing.T) {
	p := &pages{tables: map[string]*report.Table{
		"weigh-steps-ppd":         {Rows: [][]string{{"copy up", "9", ""}, {"dictionary", "3", ""}, {"4 sort", "5", ""}, {"copy up", "9.5", "yes"}}},
		"weigh-steps-ppd-by-size": {Header: []string{"step", "314.6", "524.3"}, Rows: [][]string{{"copy up", "4", "9"}, {"dictionary", "1", "3"}, {"4 sort", "3", "5"}, {"copy up", "4.5", "9.5"}}}}}
	for size, want := range map[string]string{
		"314.6": "PPD, 314.6 MB: copy up 4 ms, 4 sort 3 ms, dictionary 1 ms, of the time without copies the dictionary takes 25%",
		"":      "PPD, 524.3 MB: copy up 9 ms, 4 sort 5 ms, dictionary 3 ms, of the time without copies the dictionary takes 38%",
	} {
		if got, err := steps("ppd", size)(p); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
}

// A value that is scaled, given up or of fewer rounds than the paper's is marked as such.
func TestMarks(t *testing.T) {
	numeric, drawn := item{rounds: 10}, item{kind: told, Differs: "x", rounds: 20}
	for _, c := range []struct {
		got, want string
	}{
		{numeric.mark("gpu 3 s", nil, true, false), "compared"},
		{numeric.mark("one core 430 s (scaled from 5000000 words)", nil, true, false),
			"compared; not measured in full, but scaled from a sample, where it says so"},
		{numeric.mark("multicore 30 s (3 rounds)", nil, true, false), "compared; of fewer rounds where it says so"},
		{drawn.mark("points 5: slow given up, fast 7 ms", nil, true, false),
			"compared in words: drawn, no numbers in the text; given up after the time limit where it says so"},
		{drawn.mark("points 5: slow given up, fast given up", nil, true, false),
			"cannot be compared: all jobs were given up after the time limit"},
		{numeric.differs(10), ""},
		{numeric.differs(1), "times are means of 1 round here, of 10 in the paper"},
		{drawn.differs(3), "x; times are means of 3 rounds here, of 20 in the paper"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	// The thesis gives speedups for its batches; seconds follow from these.
	n := 0
	for _, i := range thesisPaper().Items {
		n += strings.Count(i.Paper, "(derived: ")
	}
	if n != 3 {
		t.Errorf("%d values of the thesis are marked as derived, want 3", n)
	}
}

// Every number that the list takes from a table is in the paper's text, perhaps with more decimals.
func TestListQuotesThePapers(t *testing.T) {
	seeds := filepath.Join("..", "..", "..", "shared", "seeds")
	files := map[string]string{"thesis": "000_", "cooccur": "001_", "weigh-2016": "002_", "weigh-2017": "003_", "places": "004_"}
	checked := 0
	for _, p := range papers() {
		paths, err := filepath.Glob(filepath.Join(seeds, files[p.ID]+"*.txt"))
		if err != nil || len(paths) != 1 {
			t.Skip("no texts of the documents beside the checkout: ", paths, err)
		}
		text, err := os.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		var printed []float64
		for _, s := range number.FindAllString(strings.ReplaceAll(string(text), `\!`, ""), -1) {
			printed = append(printed, valuesOf(s)...)
		}
		for _, i := range p.Items {
			if !strings.HasPrefix(i.Number, "Table") {
				continue
			}
			for _, s := range number.FindAllString(i.Paper, -1) {
				_, decimals, _ := strings.Cut(s, ".")
				off := 0.5*math.Pow10(-len(decimals)) + 1e-9
				v, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64) // commas group digits here
				if err != nil {
					t.Fatal(err)
				}
				if checked++; !slices.ContainsFunc(printed, func(x float64) bool { return math.Abs(x-v) <= off }) {
					t.Errorf("%s: %s has %s, which its text does not", p.ID, i.Number, s)
				}
			}
		}
	}
	if checked < 150 {
		t.Errorf("%d numbers were looked for, want those of all tables", checked)
	}
}

var number = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// valuesOf returns the values that a printed number may have: without its separators, and with one
// of them as a decimal point.
func valuesOf(s string) []float64 {
	whole, _ := strconv.ParseFloat(strings.NewReplacer(",", "", ".", "").Replace(s), 64)
	decimal, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", "."), 64)
	if err != nil { // several separators
		decimal = whole
	}
	return []float64{whole, decimal}
}

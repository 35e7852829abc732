package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/internal/energy"
)

// slowly makes an input that takes long enough for its energy to be measured, and 3 J.
func slowly(t *testing.T, text, counter string) *os.File {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stdin
	os.Stdin = in
	t.Cleanup(func() { os.Stdin = before; in.Close() })
	go func() {
		defer out.Close()
		time.Sleep(energy.Least + 200*time.Millisecond) // the verb begins to measure a little later
		setCounter(counter, "4000000")
		io.WriteString(out, text)
	}()
	return in
}

// setCounter replaces the counter at once, as it is read meanwhile.
func setCounter(path, microjoules string) {
	must(os.WriteFile(path+".new", []byte(microjoules+"\n"), 0o666))
	must(os.Rename(path+".new", path))
}

// counters makes a folder with the counter of a processor at 1 J.
func counters(t *testing.T) (folder, counter string) {
	t.Helper()
	folder = t.TempDir()
	dir := filepath.Join(folder, "intel-rapl:0")
	must(os.Mkdir(dir, 0o777))
	for name, text := range map[string]string{"name": "package-0", "energy_uj": "1000000", "max_energy_range_uj": "9000000"} {
		must(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return folder, filepath.Join(dir, "energy_uj")
}

// With --stats each job tells the joules of its run, of a query, of a million words or of a million
// points; without it, nothing.
func TestStatsHaveJoules(t *testing.T) {
	t.Chdir(t.TempDir())
	const words, places = "a cat saw a cat\n", "x,y,kind\n0,0,cafe\n0,1,bar\n"
	must(os.WriteFile("words.txt", []byte(words), 0o666))
	for i, c := range []struct {
		args, in, unit string
		units          float64
	}{
		{"vocab -", words, "million words", 5e-6},
		{"vocab - --out vocab.txt", words, "million words", 5e-6},
		{"cooccur - --format lines --out a.cooc", words, "million words", 5e-6},
		{"weigh - --format lines --out a.weights", words, "million words", 5e-6},
		{"weigh - --format lines --index b.index", words, "million words", 5e-6},
		{"index - --format lines --out a.index", words, "million words", 5e-6},
		{"places - -d 2 -p 0.1", places, "million points", 2e-6},
	} {
		folder, counter := counters(t)
		run := func(flags ...string) (stdout, stderr string) {
			t.Helper()
			setCounter(counter, "1000000")
			var out, errs strings.Builder
			a := newApp(slowly(t, c.in, counter), &out, &errs)
			a.powercap = folder
			args := append(append(strings.Fields(c.args), "--engine", "multicore"), flags...)
			if err := newRoot(a, args...).ExecuteContext(t.Context()); err != nil {
				t.Fatalf("%q: %v", args, err)
			}
			return out.String(), errs.String()
		}
		out, _ := run("--stats", "--json")
		var got struct{ Energy *energyUse }
		if err := json.Unmarshal([]byte(out), &got); err != nil || got.Energy == nil || got.Energy.Cores == nil {
			t.Errorf("%s: %v: no joules in %s", c.args, err, out)
			continue
		}
		if e := got.Energy; e.Cores.Joules != 3 || e.Cores.JoulesPerUnit != 3/c.units || e.Unit != c.unit || e.Seconds < 0.5 {
			t.Errorf("%s: %+v of %+v; want 3 J, and %g J per %s", c.args, *e.Cores, *e, 3/c.units, c.unit)
		}
		if i > 0 { // the line is the same for all
			continue
		}
		_, line := run("--stats", "--quiet")
		if want := fmt.Sprintf("s: cores 3 J, %.3g J per %s\n", 3/c.units, c.unit); !strings.HasPrefix(line, "energy in 0.") ||
			!strings.HasSuffix(line, want) || strings.Count(line, "\n") != 1 {
			t.Errorf("%s: %q, want a line that ends in %q", c.args, line, want)
		}
		if out, line := run(); strings.Contains(out+line, "energy") {
			t.Errorf("%s without --stats: %s%s", c.args, out, line)
		}
	}
}

// Topics are measured as a batch. What cannot be measured is said in one line.
func TestStatsOfTopics(t *testing.T) {
	t.Chdir(t.TempDir())
	must(os.WriteFile("words.txt", []byte("a cat saw a cat\n"), 0o666))
	must(os.WriteFile("topics.tsv", []byte("1\tcat\n2\tsaw\n"), 0o666))
	run := func(powercap string, args ...string) string {
		t.Helper()
		var out, errs strings.Builder
		a := newApp(strings.NewReader(""), &out, &errs)
		a.powercap = powercap
		if err := newRoot(a, append(args, "--engine", "multicore", "--quiet")...).ExecuteContext(t.Context()); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		return errs.String()
	}
	run("", "index", "words.txt", "--out", "words.index")
	search := []string{"search", "words.index", "--topics", "topics.tsv", "--run", "run.txt", "--stats"}
	if got := run(t.TempDir(), search...); !strings.HasPrefix(got, "energy in ") || strings.Count(got, "\n") != 1 ||
		!strings.HasSuffix(got, " s: cores not measured: the system has no counters of the processors' energy\n") {
		t.Errorf("without counters: %q", got)
	}
	u := newEnergyUse(energy.Use{Seconds: 2, Cores: 8, GPU: 3, CoresNote: "RAPL", GPUNote: "NVML"}, 4, "query")
	var errs strings.Builder
	newApp(nil, nil, &errs).printEnergy(u)
	if want := "energy in 2 s: cores 8 J, 2 J per query; GPU 3 J, 0.75 J per query\n"; errs.String() != want {
		t.Errorf("%q, want %q", errs.String(), want)
	}
}

package energybench

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/internal/energy"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
)

// Every job is measured on the cores and on the GPU. Without counters the joules are empty, the
// text says why, and prices come from the assumed watts.
func TestRun(t *testing.T) {
	trials.Long(t, "all jobs, in the interpreter")
	dev, _ := gputest.Named(t)
	r, err := Run(t.Context(), Options{Device: dev, Threads: 2, Quick: true, For: time.Millisecond,
		Prices: Defaults, Powercap: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Sections[0]
	if rows := s.Tables[0].Rows; len(rows) != 8 {
		t.Fatalf("%d rows, want four jobs on cores and GPU", len(rows))
	}
	for _, row := range s.Tables[0].Rows {
		if row[3] == "" || row[4] != "" || row[5] != "" || row[6] == "" {
			t.Errorf("%q: want a time and a price, and no joules", row)
		}
	}
	if !strings.Contains(s.Text, "Cores: not measured: ") || !strings.Contains(s.Text, "GPU: not measured: ") {
		t.Errorf("the text does not say why joules are empty: %s", s.Text)
	}
}

// With a counter the joules are its own.
func TestJoules(t *testing.T) {
	trials.Long(t, "all jobs on cores")
	dir := filepath.Join(t.TempDir(), "intel-rapl:0")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"name": "package-0", "energy_uj": "5", "max_energy_range_uj": "100"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := Rows(t.Context(), Options{Threads: 2, Quick: true, For: energy.Least, Powercap: filepath.Dir(dir)})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Use.Seconds < energy.Least.Seconds() || !strings.Contains(r.Use.CoresNote, "RAPL") || r.Use.Cores != 0 {
			t.Errorf("%s: %+v: want 0 J by the counter, which stands still", r.Job, r.Use)
		}
	}
}

// The price is that of the energy and of the machine's time.
func TestPrice(t *testing.T) {
	p := Prices{KWh: 0.36, CoresHour: 3.6, GPUHour: 36, CoresWatts: 100, GPUWatts: 200}
	r := Row{Engine: "multicore", Unit: "query", Units: 500, Runs: 2, Use: energy.Use{Seconds: 10, Cores: 1000, GPU: 7}}
	for _, c := range []struct {
		engine      string
		cores, want float64
	}{
		{"multicore", 1000, 1e3 * (1000*0.36/3.6e6 + 10*3.6/3600)},
		{"multicore", 0, 1e3 * (100*10*0.36/3.6e6 + 10*3.6/3600)}, // assumed
		{"gpu", 1000, 1e3 * (1007*0.36/3.6e6 + 10*36.0/3600)},
	} {
		r.Engine, r.Use.Cores = c.engine, c.cores
		if got := r.Price(p); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s, %v J: a million queries cost %v, want %v", c.engine, c.cores, got, c.want)
		}
	}
	r.Unit = "million words"
	if got, want := r.Price(p), 1e-3*(1007*0.36/3.6e6+10*36.0/3600); math.Abs(got-want) > 1e-9 {
		t.Errorf("a million words cost %v, want %v", got, want)
	}
}

package energy

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// powercap makes a folder of counters: a package with its cores and memory, and a whole board.
func powercap(t *testing.T) (folder string, set func(domain string, microjoules uint64)) {
	t.Helper()
	folder = t.TempDir()
	set = func(domain string, microjoules uint64) {
		path := filepath.Join(folder, domain, "energy_uj")
		// At once, as it is read meanwhile.
		err := errors.Join(os.WriteFile(path+".new", fmt.Appendln(nil, microjoules), 0o666), os.Rename(path+".new", path))
		if err != nil {
			t.Fatal(err)
		}
	}
	for domain, name := range map[string]string{"intel-rapl:0": "package-0", "intel-rapl:0:0": "core",
		"intel-rapl:0:1": "dram", "intel-rapl:1": "psys"} {
		dir := filepath.Join(folder, domain)
		if err := errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(filepath.Join(dir, "name"), []byte(name+"\n"), 0o666),
			os.WriteFile(filepath.Join(dir, "max_energy_range_uj"), []byte("9999999\n"), 0o666)); err != nil {
			t.Fatal(err)
		}
		set(domain, 1_000_000)
	}
	return folder, set
}

// The cores' energy is that of packages and of their memory, whose counters wrap around.
func TestCores(t *testing.T) {
	folder, set := powercap(t)
	m := Open(folder)
	set("intel-rapl:0", 9_000_000)
	u, err := m.Measure(func() error {
		time.Sleep(Least / 2)
		set("intel-rapl:0", 9_500_000) // 0.5 J
		time.Sleep(Least)
		set("intel-rapl:0", 250_000) // 0.75 J more, around the end
		set("intel-rapl:0:1", 3_000_000)
		set("intel-rapl:0:0", 5_000_000)
		set("intel-rapl:1", 7_000_000)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(u.Cores-3.25) > 1e-3 || !strings.Contains(u.CoresNote, "RAPL") {
		t.Errorf("%v J, %q; want 3.25 J of the package and its memory", u.Cores, u.CoresNote)
	}
	if u.GPU != 0 || u.GPUNote != "no GPU" || u.Seconds < Least.Seconds() {
		t.Errorf("%+v, want no GPU", u)
	}
}

// What cannot be measured is said.
func TestNotMeasured(t *testing.T) {
	work := func() error { time.Sleep(Least); return nil }
	if u, _ := Open(t.TempDir()).Measure(work); u.Cores != 0 || !strings.Contains(u.CoresNote, "no counters") {
		t.Errorf("without counters: %+v", u)
	}
	folder, set := powercap(t)
	set("intel-rapl:0", 2_000_000)
	short, _ := Open(folder).Measure(func() error { set("intel-rapl:0", 3_000_000); return nil })
	if short.Cores != 0 || !strings.Contains(short.CoresNote, "less than") {
		t.Errorf("short work: %+v", short)
	}
	// A counter that disappears during the work.
	u, _ := Open(folder).Measure(func() error {
		os.Remove(filepath.Join(folder, "intel-rapl:0", "energy_uj"))
		return work()
	})
	if u.Cores != 0 || !strings.HasPrefix(u.CoresNote, "not measured: ") {
		t.Errorf("a counter that disappeared: %+v", u)
	}
	if err := os.WriteFile(filepath.Join(folder, "intel-rapl:0", "energy_uj"), []byte("many\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if m := Open(folder); m.cores != nil || !strings.Contains(m.coresNote, "many") {
		t.Errorf("a counter without a number: %d counters, %q", len(m.cores), m.coresNote)
	}
	failed := errors.New("failed")
	if _, err := Open(folder).Measure(func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("the error of the work is %v, want %v", err, failed)
	}
}

package energy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// counter is a file of microjoules that wraps around after max.
type counter struct {
	path string
	max  uint64
}

// openCores finds the counters of packages and of their memory. A package's counter contains those
// of its cores and of its graphics, but not that of its memory. "psys", the whole board, contains
// all others and is left out, as few machines have it.
func openCores(folder string) (out []*counter, note string) {
	names, err := filepath.Glob(filepath.Join(folder, "intel-rapl:*"))
	if err != nil || len(names) == 0 {
		return nil, "not measured: the system has no counters of the processors' energy"
	}
	for _, dir := range names {
		name, err := os.ReadFile(filepath.Join(dir, "name"))
		if err != nil {
			continue
		}
		what := strings.TrimSpace(string(name))
		if !strings.HasPrefix(what, "package") && what != "dram" {
			continue
		}
		c := &counter{path: filepath.Join(dir, "energy_uj")}
		if c.max, err = number(filepath.Join(dir, "max_energy_range_uj")); err == nil {
			_, err = c.read()
		}
		if err != nil {
			return nil, fmt.Sprintf("not measured: %v", err)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, "not measured: the system has no counters of packages of cores"
	}
	return out, "counters of the processors and their memory (RAPL)"
}

func (c *counter) read() (uint64, error) { return number(c.path) }

// since returns what was counted between two readings, of which the second may have wrapped around.
func (c *counter) since(before, now uint64) uint64 {
	if now >= before {
		return now - before
	}
	return c.max - before + now + 1
}

func number(path string) (uint64, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrPermission) {
		return 0, errors.New("only root may read the counters of the processors' energy")
	}
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
}

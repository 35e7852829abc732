package prim

import (
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// TestShapes: the kernels of our tables exist, and are compiled for blocks of the size that we
// launch.
func TestShapes(t *testing.T) {
	check := func(k tiled, name string) {
		t.Helper()
		entries, err := k.source.Entries()
		if err != nil {
			t.Fatalf("%s: %v", k.source.Name, err)
		}
		at := slices.IndexFunc(entries, func(e driver.Entry) bool { return e.Name == name })
		switch {
		case at < 0:
			t.Errorf("%s has no kernel %s", k.source.Name, name)
		case entries[at].MaxThreads != k.threads:
			t.Errorf("%s is compiled for blocks of %d threads, launched with %d", name, entries[at].MaxThreads, k.threads)
		}
	}
	for types, k := range scanKernels {
		check(k, "scan_inclusive_"+types)
		check(k, "scan_exclusive_"+types)
	}
	for name, k := range selectKernels {
		check(k, name)
	}
	for name, k := range sweeps {
		check(k, name)
	}
	for name, k := range runKernels {
		check(k, name)
	}
	for name, threads := range map[string]int{"sort_count_u32": histThreads,
		"sort_count_u64": histThreads, "sort_offsets": digits} {
		check(tiled{shape{threads, 1}, sortSource}, name)
	}
	for _, name := range []string{"histogram_small", "histogram_large"} {
		check(tiled{shape{binThreads, 1}, histogramSource}, name)
	}
	for _, name := range []string{"hash_add", "hash_add_bucketed", "hash_used"} {
		check(tiled{shape{hashThreads, 1}, hashSource}, name)
	}
	for _, name := range []string{"strings_tiles", "strings_merge", "strings_finish"} {
		check(tiled{shape{stringThreads, 1}, stringsSource}, name)
	}
	for _, name := range []string{"topk_filter", "topk_count", "topk_pick", "topk_gather", "topk_split"} {
		check(tiled{shape{topkThreads, 1}, topkSource}, name)
	}
	for _, name := range []string{"topk_sample", "topk_finish"} {
		check(tiled{shape{topkBlock, 1}, topkSource}, name)
	}
}

package weigh

import "testing"

// Every kernel is compiled for blocks of the size that it is launched with.
func TestGPUKernelShapes(t *testing.T) {
	own := map[string]int{
		"weigh_count_middle": 128, "weigh_count_large": 512, "weigh_count_wide": wideThreads, "weigh_count_huge": wideThreads,
	}
	for name, m := range gpuKernels {
		module, err := m.source.Module()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(module.Kernels) == 0 {
			t.Errorf("%s has no kernels", name)
		}
		for _, k := range module.Kernels {
			want := m.threads
			if n, ok := own[k.Name]; ok {
				want = n
			}
			if k.MaxThreads != want {
				t.Errorf("%s is compiled for blocks of %d threads, launched with %d", k.Name, k.MaxThreads, want)
			}
		}
	}
}

//go:build unix

package serve

import (
	"runtime"
	"testing"
)

// The process has used CPU time and, on Linux, at least a megabyte of memory.
func TestProcessUse(t *testing.T) {
	cpu, resident := processUse()
	if cpu <= 0 {
		t.Errorf("%v of CPU time, want some", cpu)
	}
	if runtime.GOOS == "linux" && resident < 1<<20 {
		t.Errorf("%d bytes resident, want at least %d", resident, 1<<20)
	}
}

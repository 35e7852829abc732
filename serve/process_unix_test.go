//go:build unix

package serve

import (
	"runtime"
	"testing"
)

func TestProcessUse(t *testing.T) {
	cpu, resident := processUse()
	if cpu <= 0 {
		t.Errorf("%v of processor time", cpu)
	}
	if runtime.GOOS == "linux" && resident < 1<<20 {
		t.Errorf("%d bytes in use", resident)
	}
}

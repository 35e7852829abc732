//go:build unix

package serve

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// processUse returns the CPU time and the resident memory of the process, 0 where they are not
// known.
func processUse() (cpu time.Duration, resident int64) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) == nil {
		cpu = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil { // Linux
		var all, pages int64
		if _, err := fmt.Sscan(string(text), &all, &pages); err == nil {
			resident = pages * int64(os.Getpagesize())
		}
	}
	return cpu, resident
}

// maxFiles returns the limit on open files of the process, 0 if it is not known.
func maxFiles() int {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return int(min(uint64(l.Cur), 1<<30))
}

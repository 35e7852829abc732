//go:build unix

package serve

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// processUse is the processor time that the process has used and the memory that it has in use; 0
// if nobody says.
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

// maxFiles is how many files the process may have open; 0 if nobody says.
func maxFiles() int {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return int(min(uint64(l.Cur), 1<<30))
}

//go:build unix

package serve

import "golang.org/x/sys/unix"

// maxFiles is how many files the process may have open; 0 if nobody says.
func maxFiles() int {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return int(min(uint64(l.Cur), 1<<30))
}

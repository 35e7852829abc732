//go:build unix

package text

import (
	"os"

	"golang.org/x/sys/unix"
)

// lastPage is a page in front of one that cannot be read, so that reading past its end faults.
var lastPage = func() []byte {
	size := os.Getpagesize()
	pages, err := unix.Mmap(-1, 0, 2*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err == nil {
		err = unix.Mprotect(pages[size:], unix.PROT_NONE)
	}
	if err != nil {
		panic(err)
	}
	return pages[:size:size]
}()

// atPageEnd returns the last n bytes of lastPage.
func atPageEnd(n int) []byte { return lastPage[len(lastPage)-n:] }

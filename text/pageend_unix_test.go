//go:build unix

package text

import (
	"os"

	"golang.org/x/sys/unix"
)

// lastPage is a page behind which nothing may be read.
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

// atPageEnd has n bytes at the end of that page.
func atPageEnd(n int) []byte { return lastPage[len(lastPage)-n:] }

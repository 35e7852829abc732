package mmap

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/collocate/collocate/internal/system"
)

// Pages of a mapped file are resident from when they are first read until the system wants
// them back, which counts as the program's memory. Trim bounds that for programs that read
// large files from front to back.

var (
	mu     sync.Mutex
	mapped = map[*File]bool{}

	trimming sync.Once
	bounded  bool
	ownFile  int64 // resident of the program's own file
	bound    int64
)

// trimEvery is how often Trim looks. Reading through a map gets to some 3 GB/s, so 30 MB
// may come to the bound.
const trimEvery = 10 * time.Millisecond

func add(f *File) *File {
	mu.Lock()
	defer mu.Unlock()
	mapped[f] = true
	return f
}

func remove(f *File) {
	mu.Lock()
	defer mu.Unlock()
	delete(mapped, f)
}

// Trim lets go of the pages of all mapped files, now and as long as the program runs, whenever more
// than about the given number of bytes of them are resident. They stay in the system's cache, from
// where they come back when they are read again. Where the system does not tell what is resident it
// does nothing.
func Trim(bytes int64) {
	mu.Lock()
	bound = bytes
	mu.Unlock()
	trimming.Do(func() {
		own, ok := residentFiles()
		if !ok {
			return
		}
		mu.Lock()
		ownFile, bounded = own, true
		mu.Unlock()
		go func() {
			for range time.Tick(trimEvery) {
				Tidy()
			}
		}()
	})
}

// Tidy is the look that Trim takes now and then. A busy machine may let the reader of a file go on
// for long before that look comes: one that reads from front to back asks for it every few
// megabytes.
func Tidy() {
	mu.Lock()
	defer mu.Unlock()
	if !bounded {
		return
	}
	if now, ok := residentFiles(); ok && now-ownFile > bound {
		for f := range mapped {
			system.Forget(f.Data)
		}
	}
}

// residentFiles is how many bytes of mapped files are resident.
func residentFiles() (int64, bool) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(b)
	if len(fields) < 3 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[2]), 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}

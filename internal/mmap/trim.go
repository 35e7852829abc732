package mmap

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/collocate/collocate/internal/system"
)

// Pages of a mapped file are resident from when they are first read until the system reclaims them,
// and count as the program's memory. Trim limits that for programs that read large files
// sequentially.

var (
	mu     sync.Mutex
	mapped = map[*File]bool{}

	trimming sync.Once
	bounded  bool
	ownFile  int64 // resident bytes of the program's own file
	bound    int64
)

// trimEvery is the interval of Trim. Reading through a map reaches about 3 GB/s, so up to 30 MB
// more than the limit may be resident.
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

// Trim drops the pages of all mapped files whenever more than about the given number of bytes of
// them are resident, for as long as the program runs. They stay in the system's cache, so that
// reading them again rarely reads the disk. Trim does nothing where the system does not report
// resident memory.
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

// Tidy does what Trim does at every interval. On a busy machine Trim's goroutine may run late, so
// code that reads a mapped file sequentially calls Tidy every few megabytes.
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

// residentFiles returns the number of resident bytes of mapped files.
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

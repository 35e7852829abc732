package weigh

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/text"
)

// Auto takes the GPU where it wins: where the corpus is so large, and cores are so few,
// that opening a device and loading the kernels is soon made up for. Documents are read
// and their words found on the cores in any case.

// autoEmulated lets tests bring auto to the interpreter.
var autoEmulated = false

// autoGPU reports whether the engine auto should try a GPU first. What a user named a
// method for, and corpora of unknown size, are left to the cores.
func autoGPU(e engine.Kind, m Method, c *text.Corpus, threads int) bool {
	if e != engine.Auto || m != Auto {
		return false
	}
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	bytes, ok := corpusBytes(c)
	return ok && gpuPays(bytes, threads)
}

// gpuPays reports whether so much text is worth opening a GPU: if a tenth of the time and
// some tenths of a second are gained. The first time ever takes a second more, when the
// driver compiles the kernels.
func gpuPays(bytes int64, threads int) bool {
	cores, device := coresTime(bytes, threads), gpuTime(bytes, threads)
	return cores-device > max(cores/10, 300*time.Millisecond)
}

// coresTime is about how long so much text takes CPU cores, and gpuTime how long an
// H200 that has to be opened first. Measured with the command, from file to weights in
// memory, all read once: 500 MB by 16 threads took the cores 0.98 s and the GPU 0.76, by
// 4 threads 1.69 and 1.01; 2 GB by 16 threads 2.91 and 2.40 (and an index 3.98 and
// 3.12). Reading, finding words and unpacking results are the cores' work in any case.
func coresTime(bytes int64, threads int) time.Duration {
	return estimate(bytes, threads, 0.3, 0.8, 7.5)
}
func gpuTime(bytes int64, threads int) time.Duration { return estimate(bytes, threads, 0.5, 0.9, 2.7) }

// estimate is some seconds, some a gigabyte, and some a gigabyte that threads share.
func estimate(bytes int64, threads int, once, each, shared float64) time.Duration {
	return time.Duration((once + float64(bytes)/1e9*(each+shared/float64(threads))) * float64(time.Second))
}

// corpusBytes is the size of a corpus of files; of compressed ones a low estimate.
func corpusBytes(c *text.Corpus) (total int64, ok bool) {
	for _, path := range c.Paths {
		err := filepath.WalkDir(path, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if !info.IsDir() && !info.Mode().IsRegular() {
				return errUnknownSize
			}
			if !info.IsDir() {
				total += info.Size()
			}
			return nil
		})
		if err != nil { // whoever reads it will say so
			return 0, false
		}
	}
	return total, len(c.Paths) > 0
}

var errUnknownSize = errors.New("nobody knows how much text this is")

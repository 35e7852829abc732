package weigh

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/text"
)

// engine.Auto uses the GPU if it is faster: if the corpus is so large, or the cores are so few,
// that the GPU makes up for opening a device and loading the kernels. Documents are read and
// tokenised on the cores in any case.

// autoEmulated lets engine.Auto use the PTX interpreter, for tests.
var autoEmulated = false

// choiceOf is the choice of a job's engine. auto is what autoGPU returned.
func choiceOf(e engine.Kind, auto bool, log *slog.Logger) gpu.Choice {
	return gpu.Choice{Kind: e, Pays: func() bool { return auto }, Emulated: autoEmulated, Log: log}
}

// autoGPU reports whether engine.Auto should try a GPU first. If the method is given, or the size
// of the corpus is unknown, it uses the cores.
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

// gpuPays reports whether opening a GPU pays for that much text: if it saves a tenth of the time
// and at least 0.3 seconds. The very first time takes a second more, when the driver compiles the
// kernels.
func gpuPays(bytes int64, threads int) bool {
	cores, device := coresTime(bytes, threads), gpuTime(bytes, threads)
	return cores-device > max(cores/10, 300*time.Millisecond)
}

// coresTime estimates the time for that much text on CPU cores, and gpuTime on an H200 that must be
// opened first. Measured with the command, from files to weights in memory that are read once. With
// 16 threads, 500 MB took 0.98 s on cores and 0.76 on the GPU; with 4 threads 1.69 and 1.01. With
// 16 threads, 2 GB took 2.91 and 2.40 (and an index 3.98 and 3.12). Reading, tokenising and
// unpacking results are done by the cores in any case.
func coresTime(bytes int64, threads int) time.Duration {
	return estimate(bytes, threads, 0.3, 0.8, 7.5)
}
func gpuTime(bytes int64, threads int) time.Duration {
	return estimate(bytes, threads, 0.5, 0.9,
		2.7)
}

// estimate returns a time from three parts in seconds: a fixed one, one per gigabyte, and one per
// gigabyte that is divided among the threads.
func estimate(bytes int64, threads int, once, each, shared float64) time.Duration {
	seconds := once + float64(bytes)/1e9*(each+shared/float64(threads))
	return time.Duration(seconds * float64(time.Second))
}

// corpusBytes returns the size of a corpus of files. For compressed files it is an underestimate.
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
		if err != nil { // a true error will occur again when the corpus is read
			return 0, false
		}
	}
	return total, len(c.Paths) > 0
}

var errUnknownSize = errors.New("the size of the text is unknown")

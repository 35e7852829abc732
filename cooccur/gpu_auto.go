package cooccur

import (
	"runtime"
	"time"

	"github.com/collocate/collocate/internal/gpu/words"
	"github.com/collocate/collocate/text"
)

// Auto takes the GPU where it wins, which is where the corpus is large: opening a
// device, loading the kernels and making the buffers took 0.8 to 1.2 s on an H200 (and
// 2 s more the first time ever, when the driver compiles the kernels), after which the
// job itself is some forty times as fast as on 16 cores. So the cores' time is
// estimated, from the size of the corpus. Where nobody knows it (standard input,
// compressed files), or where the words are made on the CPU all the same (by most
// analyzers, and by subsampling), auto stays with the cores.
const gpuOpening = 1200 * time.Millisecond

// coresTime is about how long the given number of bytes of text take the CPU cores: to count the
// words, and the pairs of a window unless that is 0. Measured on one core, with 50
// million words of generated text: 1.4 s for the words; 6.8 s for the pairs of window 2,
// 15 s for those of window 10. Sixteen cores get in each other's way: with 719 million
// words they took 10 s where this says 6.
func coresTime(bytes int64, count bool, window, threads int) time.Duration {
	const bytesOfWord = 5.6
	each := 0.0
	if count {
		each += 0.028e-6
	}
	if window > 0 {
		each += 0.095e-6 + 0.0205e-6*float64(window)
	}
	return time.Duration(float64(bytes) / bytesOfWord * each / float64(threads) * float64(time.Second))
}

// gpuPays reports whether the GPU is worth opening.
func gpuPays(corpus *text.Corpus, a text.Analyzer, count bool, window, threads int) bool {
	bytes := corpusBytes(corpus)
	if _, ok := words.KindOf(analyzerOf(a).Name()); !ok || bytes < 0 {
		return false
	}
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	// Twice, as the estimate may be that far off.
	return coresTime(bytes, count, window, threads) > 2*gpuOpening
}

// paysOnGPU tells it of a matrix, and of a vocabulary before it.
func (j *job) paysOnGPU(corpus *text.Corpus, count bool) bool {
	return j.Subsample == 0 && j.Window <= deviceWindow && gpuPays(corpus, j.Analyzer, count, j.Window, j.Threads)
}

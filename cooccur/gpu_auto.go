package cooccur

import (
	"runtime"
	"time"

	"github.com/collocate/collocate/internal/gpu/words"
	"github.com/collocate/collocate/text"
)

// engine.Auto uses the GPU for large corpora. Opening a device, loading the kernels and allocating
// buffers took 0.8 to 1.2 s on an H200, and 2 s more the very first time, when the driver compiles
// the kernels. After that, the job itself is about forty times as fast as on 16 cores. So the
// cores' time is estimated from the size of the corpus. If the size is unknown (standard input,
// compressed files), or if words must be found on the CPU anyway (with most analyzers, and with
// subsampling), engine.Auto uses the cores.
const gpuOpening = 1200 * time.Millisecond

// coresTime estimates the time to process that many bytes of text on CPU cores: to count words if
// count is true, and to count pairs unless the window is 0. It is based on measurements on one
// core, with 50 million words of generated text: 1.4 s for the words, 6.8 s for the pairs of window
// 2, 15 s for those of window 10. Scaling is not linear: with 719 million words, 16 cores took 10 s
// where the estimate is 6.
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
	// The factor 2 allows for the error of the estimate.
	return coresTime(bytes, count, window, threads) > 2*gpuOpening
}

// paysOnGPU is gpuPays for a matrix, and for the vocabulary before it if count is true.
func (j *job) paysOnGPU(corpus *text.Corpus, count bool) bool {
	return j.Subsample == 0 && j.Window <= deviceWindow && gpuPays(corpus, j.Analyzer, count, j.Window, j.Threads)
}

package cooccur

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/collocate/collocate/datagen"
	"github.com/collocate/collocate/internal/gpu/words"
)

// gpuBenchCorpus generates sentences of 100 million words, or of as many million as
// COLLOCATE_BENCH_MWORDS says.
func gpuBenchCorpus(b *testing.B) (path string, size int64) {
	b.Helper()
	if os.Getenv("COLLOCATE_TEST_GPU") == "" {
		b.Skip("no GPU: set COLLOCATE_TEST_GPU to its number")
	}
	million, err := strconv.Atoi(os.Getenv("COLLOCATE_BENCH_MWORDS"))
	if err != nil {
		million = 100
	}
	path = filepath.Join(b.TempDir(), "corpus.txt")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := datagen.Text(b.Context(), w,
		datagen.TextOptions{Tokens: int64(million) * 1e6, Lines: true, Seed: 1}); err != nil {
		b.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	f.Close()
	return path, info.Size()
}

// idle is a user of texts that does nothing with them, or only runs the kernel, so that a benchmark
// measures reading and copying.
type idle struct {
	*feed
	kernel bool
}

func (u idle) room(context.Context, int) error { return nil }
func (u idle) queue(s *textSlot) error {
	if u.kernel {
		return u.feed.queue(s)
	}
	return u.compute.Record(s.done)
}
func (u idle) landed(context.Context, *textSlot) error { return nil }

// BenchmarkGPUText times the stages of text on its way to the device: reading into pinned memory,
// the link, the kernel.
func BenchmarkGPUText(b *testing.B) {
	path, size := gpuBenchCorpus(b)
	for _, slot := range []int{2 << 20, 4 << 20} {
		for _, threads := range []int{16} {
			g := testGPU(b, 0)
			l, err := g.plan(size, threads, -1)
			if err != nil {
				b.Fatal(err)
			}
			l.slotSize = slot
			if err := g.takeSlots(l); err != nil {
				b.Fatal(err)
			}
			f := &feed{GPU: g}
			if f.dict, err = words.NewDictionary(g.compute, 1<<22); err != nil {
				b.Fatal(err)
			}
			if f.seq, err = words.NewSequence(g.compute, l.sequence); err != nil {
				b.Fatal(err)
			}
			corpus := linesOf(path)
			run := func(name string, user textUser) {
				best := time.Hour
				for range 3 {
					f.length, f.documents, f.user = 0, 0, user
					if err := f.seq.Clear(g.compute); err != nil {
						b.Fatal(err)
					}
					start := time.Now()
					if err := newSource(corpus, nil, threads).feed(b.Context(), f); err != nil {
						b.Fatal(err)
					}
					best = min(best, time.Since(start))
				}
				b.Logf("%s: %d threads, %d KB: %v, %.1f GB/s", name, threads, slot>>10, best,
					float64(size)/best.Seconds()/1e9)
			}
			start := time.Now()
			readOnly(b, f, path, threads)
			d := time.Since(start)
			b.Logf("read only: %d threads, %d KB: %v, %.1f GB/s", threads, slot>>10, d, float64(size)/d.Seconds()/1e9)
			run("read and copy", idle{feed: f})
			run("read, copy and tokenise", nil)
			// The kernel alone, on text that is already on the device.
			s := g.slots[0]
			s.n = slot - 4096
			for range 2 {
				start = time.Now()
				for range 200 {
					if err := f.seq.Clear(g.compute); err != nil {
						b.Fatal(err)
					}
					if err := f.queue(s); err != nil {
						b.Fatal(err)
					}
				}
				if err := g.compute.Sync(b.Context()); err != nil {
					b.Fatal(err)
				}
				d = time.Since(start)
			}
			b.Logf("kernel only: %d KB: %v each, %.1f GB/s", slot>>10, d/200, 200*float64(s.n)/d.Seconds()/1e9)
			f.seq.Free()
			f.dict.Free()
		}
	}
}

// readOnly reads text into slots and reuses them without copying.
func readOnly(b *testing.B, f *feed, path string, threads int) {
	f.free, f.filled = make(chan *textSlot, len(f.slots)), make(chan *textSlot, len(f.slots))
	for _, s := range f.slots {
		f.free <- s
	}
	files, _ := plainLines(linesOf(path))
	r := &lineReader{files: files, room: int64(f.slots[0].text.Len() - 1)}
	var wg sync.WaitGroup
	wg.Go(func() {
		for s := range f.filled {
			f.free <- s
		}
	})
	if err := f.readLines(b.Context(), r, threads); err != nil {
		b.Fatal(err)
	}
	close(f.filled)
	wg.Wait()
}

// BenchmarkGPUStages times the stages of whole jobs.
func BenchmarkGPUStages(b *testing.B) {
	path, _ := gpuBenchCorpus(b)
	corpus := linesOf(path)
	for _, method := range []Method{Paper, Ours} {
		for _, window := range []int{2, 10} {
			for _, head := range []int{8192} {
				g := testGPU(b, 0)
				for round := range 4 {
					opt := Options{Window: window, Weighting: Count, Method: method, gpuHead: head}
					if method == Paper {
						opt.gpuHead = 0
					}
					start := time.Now()
					err := g.Trace(func() error {
						_, stats, err := g.Make(b.Context(), corpus, VocabularyOptions{}, opt,
							func(*Vocabulary) (Sink, error) { return noSink{}, nil })
						b.Logf("%v, window %d, head %d: %v in all, %d entries", method, window, head,
							time.Since(start), stats.Entries)
						return err
					}, func(stage string, took time.Duration) {
						if round == 3 {
							b.Logf("%v, window %d, head %d: %-28s %v", method, window, head, stage, took)
						}
					})
					if err != nil {
						b.Fatal(err)
					}
				}
				if method == Paper {
					break
				}
			}
		}
	}
}

type noSink struct{}

func (noSink) Rows(*Rows) error { return nil }

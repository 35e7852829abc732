package main

import (
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progressBars shows one bar at a time on a terminal, and nothing in a pipe.
type progressBars struct {
	mu    sync.Mutex
	bar   *progressbar.ProgressBar
	stage string
}

// progress returns a callback for a job's stage that shows bytes done of total (0 if unknown), with
// rate and time left. It is safe for concurrent use, and nil if standard error is no terminal.
func (a *app) progress(stage string) func(done, total int64) {
	if !a.watched() {
		return nil
	}
	return func(done, total int64) { a.bars.show(a, stage, done, total, true) }
}

// stages is like progress, for callbacks that name their stage and count items instead of bytes.
func (a *app) stages() func(stage string, done, total int64) {
	if !a.watched() {
		return nil
	}
	return func(stage string, done, total int64) { a.bars.show(a, stage, done, total, false) }
}

// watched reports whether progress bars are shown.
func (a *app) watched() bool {
	f, ok := a.stderr.(*os.File)
	return !a.quiet && ok && term.IsTerminal(int(f.Fd()))
}

func (b *progressBars) show(a *app, stage string, done, total int64, bytes bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bar == nil || b.stage != stage {
		if b.bar != nil {
			b.bar.Clear()
		}
		if total <= 0 {
			total = -1
		}
		b.stage = stage
		b.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(a.stderr),
			progressbar.OptionSetDescription(stage),
			progressbar.OptionShowBytes(bytes),
			progressbar.OptionShowCount(),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionFullWidth(),
			progressbar.OptionClearOnFinish(),
		)
	}
	b.bar.Set64(done)
}

// endProgress erases the bar, so that the next output starts on an empty line.
func (a *app) endProgress() {
	b := &a.bars
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bar != nil {
		b.bar.Clear()
		b.bar = nil
	}
}

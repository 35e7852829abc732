package segments

import "context"

// background is a running background merge. There is at most one at a time.
type background struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// mostWaiting limits the number of segments, in multiples of MergeFactor. Beyond it, Commit waits
// for the merge. Otherwise, if commits came faster than merging, segments would accumulate.
const mostWaiting = 4

// mergeBehind starts a background merge if the options ask for it, the policy finds segments to
// merge, and none is running. The caller holds the lock.
func (w *Writer) mergeBehind() {
	if !w.o.Background || w.behind != nil {
		return
	}
	if from, to, err := w.o.chooseRun(w.segs); from == to && err == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	b := &background{cancel, make(chan struct{})}
	w.behind = b
	go func() {
		defer close(b.done)
		_, err := w.Merge(ctx)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.behind = nil
		if err != nil && ctx.Err() == nil && w.behindErr == nil {
			w.behindErr = err
		}
		cancel()
	}()
}

// Wait waits for the background merge, if there is one. It returns the first error of any
// background merge, after which the segments are as they were. The next Commit publishes what was
// merged.
func (w *Writer) Wait() error {
	w.mu.Lock()
	b := w.behind
	w.mu.Unlock()
	if b != nil {
		<-b.done
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.behindErr
	w.behindErr = nil
	return err
}

// stopBehind cancels the background merge and waits for it to end.
func (w *Writer) stopBehind() {
	w.mu.Lock()
	b := w.behind
	w.mu.Unlock()
	if b != nil {
		b.cancel()
		<-b.done
	}
}

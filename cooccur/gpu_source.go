package cooccur

import (
	"bytes"
	"context"
	"fmt"
	"runtime"

	"github.com/collocate/collocate/internal/gpu/words"
	"github.com/collocate/collocate/text"
)

// This file fills slots from a corpus. Plain files of lines are nearly in the form that the device
// needs, so they are read directly into pinned memory (gpu_lines.go). Everything else is read by
// package text, document by document.

// docWriter collects one worker's documents in a slot.
type docWriter struct {
	*feed
	s *textSlot
	_ [64]byte // padding against false sharing
}

func (w *docWriter) add(ctx context.Context, doc []byte) error {
	if w.s != nil && w.s.n+len(doc)+1 > w.s.text.Len() {
		w.put(w.s)
		w.s = nil
	}
	if w.s == nil {
		s, err := w.slot(ctx)
		if err != nil {
			return err
		}
		w.s = s
		if len(doc)+1 > s.text.Len() {
			w.free <- s
			w.s = nil
			return w.long(ctx, bytes.NewReader(doc), true)
		}
	}
	room := w.s.host.Values()[w.s.n:]
	b := room[:copy(room, doc)]
	newlinesToBlanks(b)
	b = append(w.kind.Squeeze(b), '\n')
	w.s.n += len(b)
	return nil
}

func (w *docWriter) flush() {
	if w.s != nil {
		w.put(w.s)
		w.s = nil
	}
}

// source is a corpus to be fed to the device, and how its documents are preprocessed.
type source struct {
	corpus   *text.Corpus
	analyzer text.Analyzer
	kind     words.Kind
	threads  int
	// edit, if not nil, returns the text to feed for a document: words separated by blanks.
	edit func(worker int, b *text.Batch, i int) ([]byte, error)
	// words counts, by worker, all words before sampling; nil without a sampler.
	words []tally
}

type tally struct {
	n int64
	_ [56]byte // padding against false sharing
}

// newSource returns a source that is tokenised on the device if it supports the analyzer, and
// otherwise on the CPU.
func newSource(c *text.Corpus, a text.Analyzer, threads int) *source {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	src := &source{corpus: c, analyzer: analyzerOf(a), threads: threads}
	kind, ok := words.KindOf(src.analyzer.Name())
	if src.kind = kind; ok {
		return src
	}
	src.analyze(func(int, *text.Batch, int, int, []byte) bool { return true })
	return src
}

// sampled makes the source tokenise on the CPU, with the job's sampler choosing the words.
func (src *source) sampled(j *job) {
	src.words = make([]tally, src.threads)
	seen := make([]tally, src.threads) // words of the document that are in the vocabulary
	src.analyze(func(worker int, b *text.Batch, doc, word int, w []byte) bool {
		if word == 0 {
			seen[worker].n = 0
		}
		src.words[worker].n++
		id, ok := j.vocab.Lookup(w)
		if !ok {
			return false
		}
		n := int(seen[worker].n)
		seen[worker].n++
		return j.sample.keeps(j.sample.document(b.Seq, doc), n, uint32(id))
	})
}

// analyze makes the source tokenise on the CPU, and feed the words for which keep returns true.
func (src *source) analyze(keep func(worker int, b *text.Batch, doc, word int, w []byte) bool) {
	src.kind = words.Separated
	tokens := make([]text.Tokens, src.threads)
	joined := make([][]byte, src.threads)
	src.edit = func(worker int, b *text.Batch, i int) ([]byte, error) {
		t := &tokens[worker]
		if err := src.analyzer.Analyze(b.Docs[i].Text, t); err != nil {
			return nil, err
		}
		out := joined[worker][:0]
		n := 0
		for k := range t.Words {
			w := t.Word(k)
			if len(w) == 0 {
				continue
			}
			if bytes.ContainsAny(w, " \t\n") {
				return nil, fmt.Errorf("the analyzer made the word %q, which contains a blank: the GPU engine does not support those; use cooccur.Options.Engine=multicore", shorten(w))
			}
			if keep(worker, b, i, n, w) {
				out = append(append(out, w...), ' ')
			}
			n++
		}
		joined[worker] = out
		return out, nil
	}
}

// feed feeds the source to the device.
func (src *source) feed(ctx context.Context, f *feed) error {
	f.kind = src.kind
	if src.edit == nil {
		if files, ok := plainLines(src.corpus); ok {
			r := &lineReader{files: files, room: int64(f.slots[0].text.Len() - 1),
				tell: src.corpus.Options.Progress, total: corpusBytes(src.corpus)}
			return f.run(ctx, func(ctx context.Context) error { return f.readLines(ctx, r, src.threads) })
		}
	}
	withThreads := *src.corpus
	withThreads.Options.Threads = src.threads
	return f.run(ctx, func(ctx context.Context) error {
		writers := make([]docWriter, src.threads)
		for i := range writers {
			writers[i].feed = f
		}
		err := withThreads.Batches(ctx, func(worker int, b *text.Batch) error {
			for i := range b.Docs {
				doc := b.Docs[i].Text
				if src.edit != nil {
					var err error
					if doc, err = src.edit(worker, b, i); err != nil {
						return fmt.Errorf("document %s: %w", b.Docs[i].ID, err)
					}
				}
				if err := writers[worker].add(ctx, doc); err != nil {
					return fmt.Errorf("document %s: %w", b.Docs[i].ID, err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i := range writers {
			writers[i].flush()
		}
		return nil
	})
}

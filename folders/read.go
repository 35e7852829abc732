package folders

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/collocate/collocate/extract"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/text"
)

// outcome is what became of a file.
type outcome struct {
	*file
	how      how
	docs     []text.Document // to be added
	from     string          // the path from which it was moved
	problem  string
	encoding string
	err      error // which ends the whole run
	done     chan struct{}
}

type how int

const (
	read    how = iota // its text is new
	same               // nothing changed
	touched            // its time changed
	moved              // it is a file that is gone
	other              // not a kind of file that is read
	vanished
	failed // it could not be opened: what the index has stays
)

// add reads files and adds what they hold as a segment.
func (s *syncer) add(ctx context.Context, files []file) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next, stop := iter.Pull2(s.documents(ctx, files))
	defer stop()
	first, err, some := next()
	if err != nil {
		return err
	}
	if some {
		source := func(context.Context) iter.Seq2[[]text.Document, error] {
			return func(yield func([]text.Document, error) bool) {
				for docs, err, ok := first, error(nil), true; ok; docs, err, ok = next() {
					if !yield(docs, err) || err != nil {
						return
					}
				}
			}
		}
		c := &text.Corpus{Source: source, Options: text.Options{Memory: s.o.Memory, Finish: s.o.Finish}}
		o := index.BuildOptions{Threads: s.o.Threads, Memory: s.o.Memory}
		if _, _, err := s.w.AddCorpus(ctx, c, o); err != nil {
			return err
		}
	}
	for i := range files { // parts that a file has no more, and files that have no text any more
		if f := files[i].old; f != nil {
			if err := s.delete(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// documents yields the documents of files in their order, about a megabyte at a time. Several files
// are read at once, as many as the memory allows.
func (s *syncer) documents(ctx context.Context, files []file) iter.Seq2[[]text.Document, error] {
	return func(yield func([]text.Document, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		threads := s.o.Threads
		if threads <= 0 {
			threads = runtime.GOMAXPROCS(0)
		}
		queue := make(chan *outcome, 4*threads)
		room := newGate(s.o.Memory / 8)
		all.Add(1)
		go func() {
			defer all.Done()
			defer close(queue)
			slots := make(chan struct{}, threads)
			for i := range files {
				out := &outcome{file: &files[i], done: make(chan struct{})}
				if !room.enter(ctx, out.size) {
					return
				}
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
					return
				}
				all.Add(1)
				go func() {
					defer all.Done()
					defer close(out.done)
					out.err = s.read(out)
					<-slots
				}()
				select {
				case queue <- out:
				case <-ctx.Done():
					return
				}
			}
		}()
		var docs []text.Document
		bytes := 0
		for out := range queue {
			select {
			case <-out.done:
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
			if out.err != nil {
				yield(nil, out.err)
				return
			}
			s.count(out)
			room.leave(out.size)
			for i := range out.docs {
				docs = append(docs, out.docs[i])
				bytes += 200
				for _, v := range out.docs[i].Fields {
					for _, b := range v {
						bytes += len(b)
					}
				}
				if bytes >= 1<<20 {
					if !yield(docs, nil) {
						return
					}
					docs, bytes = nil, 0
				}
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		} else if len(docs) > 0 {
			yield(docs, nil)
		}
	}
}

// count keeps the books. It is called in the order of the files.
func (s *syncer) count(out *outcome) {
	r := s.report
	for _, d := range out.docs {
		s.emitted[d.ID] = true
	}
	switch out.how {
	case moved:
		if s.moved[out.from] { // a second copy of it
			r.Added++
		} else {
			s.moved[out.from] = true
			r.Moved++
		}
	case same:
		r.Unchanged++
	case touched:
		r.Touched++
	case other:
		r.Other++
	case read:
		if out.old == nil {
			r.Added++
		} else {
			r.Changed++
		}
	}
	if out.old != nil {
		switch out.how {
		case same, failed:
			for _, d := range out.old.docs {
				s.emitted[d.id] = true // they stay
			}
		case other, vanished:
			r.Deleted++
		}
	}
	if out.problem != "" {
		r.Problems = append(r.Problems, Problem{out.path, out.problem})
	}
	if out.encoding != "" {
		r.Encodings[out.encoding]++
	}
	if s.done += out.size; s.o.Progress != nil {
		s.o.Progress(s.done, s.total)
	}
}

// read decides what to do about a file that is new or may have changed.
func (s *syncer) read(out *outcome) error {
	data, err := s.load(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out.how = vanished
		return nil
	case err != nil:
		out.how, out.problem = failed, short(err)
		return nil
	case out.how == other:
		return nil
	}
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:len(sum)/2])
	if int64(len(data)) < out.size && out.size > s.o.MaxFile {
		hash = "" // of its beginning
	}
	if done, err := s.reuse(out, hash); done || err != nil {
		return err
	}
	docs, err := extract.Read(out.path, data, extract.Options{MaxText: int(min(s.o.MaxFile, s.o.Memory/4)), Encoding: s.o.Encoding})
	if out.size > s.o.MaxFile {
		docs, err = nil, &extract.Error{Why: extract.TooLarge}
	}
	return s.made(out, hash, docs, err)
}

// made adds the documents that were found in a file, or one with its name and why there are none.
func (s *syncer) made(out *outcome, hash string, docs []extract.Document, err error) error {
	if e := (*extract.Error)(nil); errors.As(err, &e) {
		if e.Why == extract.Unknown {
			out.how = other
			return nil
		}
		out.problem = e.Error()
		docs = []extract.Document{{Fields: map[string][]string{"problem": {e.Why.String()}}}}
	} else if err != nil {
		return err
	}
	with := 0 // documents with a problem
	for i := range docs {
		d := &docs[i]
		if err := s.wordsFit(d); err != nil {
			why := err.(*extract.Error)
			d.Text, d.Headings, d.Fields = nil, nil, map[string][]string{"problem": {why.Why.String()}}
			out.problem = err.Error()
		}
		if p := d.Fields["problem"]; len(p) > 0 {
			if with++; out.problem == "" {
				out.problem = p[0]
			}
		}
		for _, part := range s.parts(*d) {
			one, err := s.document(out.file, &part, hash)
			if err != nil {
				return err
			}
			out.docs = append(out.docs, one)
		}
		if e := d.Encoding; e != "" && e != "utf-8" && i == 0 {
			out.encoding = e
		}
	}
	switch {
	case len(docs) == 0:
		out.how = other
	case with > 0 && len(docs) > 1:
		out.problem = fmt.Sprintf("%d of %d messages: %s", with, len(docs), out.problem)
	}
	return nil
}

// reuse takes the documents that the index has of the same bytes, at the same path or at one that
// is gone.
func (s *syncer) reuse(out *outcome, hash string) (done bool, err error) {
	if s.old == nil || s.o.Again || hash == "" {
		return false, nil
	}
	was, from := out.old, out.path
	if was == nil {
		if from = s.byHash[hash]; from == "" || path.Ext(from) != path.Ext(out.path) {
			return false, nil
		}
		out.how, was, out.from = moved, s.gone[from], from
	} else {
		h, err := hashOf(s.old, was)
		if err != nil || h != hash {
			return false, err
		}
		if out.how = touched; was.size == out.size && was.modified == out.modified.UnixMilli() {
			out.how = same
			return true, nil
		}
	}
	if s.old.Schema().Passages != nil { // the text is not stored as a whole: find it again
		return false, nil
	}
	if was.problem { // the reason is not stored: find it again
		out.how = read
		return false, nil
	}
	for _, d := range was.docs {
		doc, err := s.again(out.file, d, from)
		if err != nil {
			return false, err
		}
		out.docs = append(out.docs, doc)
	}
	return true, nil
}

// load reads a file, or only the beginning of one that is not read.
func (s *syncer) load(out *outcome) ([]byte, error) {
	f, err := os.Open(filepath.Join(s.folder, filepath.FromSlash(out.path)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	start := make([]byte, 8<<10)
	n, err := io.ReadFull(f, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	start = start[:n]
	if !extract.Reads(out.path, start) {
		out.how = other
		return nil, nil
	}
	if n < 8<<10 || out.size > s.o.MaxFile {
		return start, nil
	}
	var all bytes.Buffer
	all.Grow(int(min(out.size, s.o.MaxFile)) + bytes.MinRead)
	all.Write(start)
	if _, err = all.ReadFrom(io.LimitReader(f, s.o.MaxFile+1-int64(n))); err == nil && int64(all.Len()) > s.o.MaxFile {
		err = errors.New("it grows while it is read")
	}
	return all.Bytes(), err
}

// maxText is the largest text of a document: what an index with these fields allows for the memory.
// A larger one is divided.
func (s *syncer) maxText() int {
	const some = 1 << 20
	most := some * s.o.Memory / index.MemoryForFields(s.stored, some, 0)
	return int(min(64<<20, most)) - 8<<10
}

// gate lets files in while their bytes are within a bound, and always one.
type gate struct {
	mu     sync.Mutex
	most   int64
	inside int64
	left   chan struct{}
}

func newGate(most int64) *gate { return &gate{most: most, left: make(chan struct{}, 1)} }

func (g *gate) enter(ctx context.Context, n int64) bool {
	for {
		g.mu.Lock()
		if g.inside == 0 || g.inside+n <= g.most {
			g.inside += max(n, 1)
			g.mu.Unlock()
			return true
		}
		g.mu.Unlock()
		select {
		case <-g.left:
		case <-ctx.Done():
			return false
		}
	}
}

func (g *gate) leave(n int64) {
	g.mu.Lock()
	g.inside -= max(n, 1)
	g.mu.Unlock()
	select {
	case g.left <- struct{}{}:
	default:
	}
}

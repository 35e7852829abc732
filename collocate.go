// Package collocate is a search index in one value: documents are added, replaced and deleted while
// others search.
//
//	type Page struct {
//		URL   string `index:"id"`
//		Title string
//		Body  string
//		Tags  []string
//		Date  time.Time
//	}
//
//	x, err := collocate.Open("pages.index", collocate.Options{Like: Page{}, Analyzer: "english"})
//	err = x.Add(Page{URL: "/a", Title: "Solar eclipse", Body: "..."})
//	err = x.Commit(ctx)
//	found, err := x.Search(ctx, collocate.Request{Query: `"solar eclipse"`,
//		Filter: "tags:news date:>=2024", Snippet: 150})
//	for _, hit := range found.Hits {
//		fmt.Println(hit.ID, hit.Score, hit.Snippet.HTML("<b>", "</b>"))
//	}
//
// An Index may be used by several goroutines at once. Each search sees one generation of the index
// from beginning to end, whatever is committed or closed meanwhile. Commit and Refresh show later
// searches the newest generation; with Options.RefreshEvery an Index also follows what other
// programs commit.
//
// A query without the name of a field looks in all text fields, whose words are those that
// Options.Analyzer makes. The analyzer of a field makes the words that title:eclipse finds.
//
// AddCorpus adds files, on all cores. Complete and Similar suggest words; Options.Observe, Progress
// and Log tell what the Index does. The program examples/service is a web service with all of it.
//
// The package has no code for GPUs or for formats of corpora: packages gpu and formats bring these.
// It runs on 64-bit systems and, with GOOS=js GOARCH=wasm, in a browser: Go's package os then takes
// its files from the object fs of the page, which may keep them in memory. It does not compile for
// 32-bit processors such as linux/386: an int holds file sizes and numbers of postings, and indexes
// are mapped whole, which 32 bits do not address.
//
// Versions follow semver.org. Until 1.0 minor versions may break programs, and the changelog says
// where. Tests and apidiff compare this package, fields, index/segments, search, search/query and
// text with the last release. All others are experimental, and their documentation says so.
//
// The package joins others that can be used alone: index/segments changes indexes, search and
// search/query answer requests, fields describes documents. Results are exact; see package search.
package collocate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/lockfile"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// ErrClosed is wrapped by the errors of an Index after Close.
var ErrClosed = index.ErrClosed

// ErrReadOnly is wrapped by the errors of changes to an Index of FS.
var ErrReadOnly = errors.New("the index is read-only")

// Options say how an index is opened and, if there is none yet, how it is made. An index is made
// only if Like, Schema or Analyzer is given, so that a mistyped folder is an error. For an existing
// index they must be left out or be the same.
type Options struct {
	// Like is a struct, or a pointer to one, of the type of the documents. Its fields become those
	// of the index; see SchemaOf.
	Like any
	// Schema lists the fields of documents instead of Like.
	Schema *fields.Schema
	// Analyzer is the name of what splits text into words, where a field names no other: unicode,
	// english and others of text.Analyzers, one of Analyzers, or a chain such as
	// "words | lower | fold" (see package text); "" means unicode.
	Analyzer string
	// Analyzers are those of your program's own that Analyzer and fields name.
	Analyzers []text.Analyzer
	// NoText leaves the text of documents out of a new index that has no fields. There are no
	// snippets then.
	NoText bool
	// NoPositions leaves the positions of words out of a new index. There are no phrases then.
	NoPositions bool
	// Fetch opens indexes at addresses such as s3://bucket/name: bucket.Fetch of package
	// index/bucket. nil refuses them, so that programs without them need no client for S3.
	Fetch func(ctx context.Context, address string,
		build func(dir string, o segments.Options) error) (segments.Copy, error)
	// RefreshEvery is the time between two looks for what other programs have committed; 0 means
	// that only Commit and Refresh look.
	RefreshEvery time.Duration
	// Memory bounds, in bytes, what documents take before they are written; 0 means 256 MB.
	Memory int64
	// MergeFactor is the number of segments of about the same size that are merged into one; 0
	// means 10. More make commits faster and searches slower.
	MergeFactor int
	// MergePolicy chooses which neighbouring segments are merged, instead of MergeFactor; see
	// segments.Options. It may be nil.
	MergePolicy func(documents, deleted []int) (from, to int)
	// MergeBehind merges in the background after Commit, not before it returns; the next Commit
	// shows the result.
	MergeBehind bool
	// Log gets the events of Observe at level debug, and at level warn the errors that no call
	// returns, such as those of RefreshEvery; nil means no log.
	Log *slog.Logger
	// Observe is called after every call of the kinds that Event names, by the goroutine that made
	// it, and after every merge: for metrics. It must be fast, and not use the Index. It may be
	// nil.
	Observe func(Event)
	// Progress is called while documents are written and segments are merged, in Add, Commit,
	// Compact and in the background: see segments.Options. It must be fast, and not use the Index.
	// It may be nil.
	Progress func(segments.Progress)
}

// Index is an open index.
type Index struct {
	dir     string // or its address
	folder  string // dir, or that of the copy
	options Options
	schema  *fields.Schema  // nil if documents have no fields
	fixed   bool            // it cannot be changed
	scratch *scratch        // where it is, if that is temporary
	copy    segments.Copy   // of the index, if that is at an address
	cut     func()          // ends requests of the copy
	asking  context.Context // of these requests

	current current // what searches read

	writing sync.Mutex
	writer  *segments.Writer // nil before the first change
	merging time.Time        // when a merge began; zero if there is none. The writer merges one at a time.

	refreshing sync.Mutex
	closed     bool          // guarded by refreshing
	stop       chan struct{} // closed by Close
	following  sync.WaitGroup
}

// Open opens the index in a folder, or makes one if the folder is missing or empty and the options
// say how; otherwise a missing one is fs.ErrNotExist. Others may have it open. The first change
// takes the lock for writing, which Close releases: only one program at a time may change an index
// (segments.ErrLocked).
//
// With Options.Fetch it also opens indexes at addresses such as s3://bucket/name, which any number
// of programs may change at once. If a Commit fails there, the changes since the last one are lost,
// and further ones may be made.
func Open(dir string, o Options) (*Index, error) {
	x := &Index{dir: dir, folder: dir, options: o, stop: make(chan struct{})}
	err := x.adoptLike()
	if err == nil {
		err = x.fetch()
	}
	if err == nil {
		err = x.open()
	}
	if err != nil {
		return nil, fmt.Errorf("collocate: %w", errors.Join(err, x.closeCopy()))
	}
	if o.RefreshEvery > 0 {
		x.following.Go(x.follow)
	}
	return x, nil
}

// Memory makes an index that is gone after Close. It is kept in a temporary folder, in shared
// memory where the system has such a folder, so it may be larger than what Go's heap could hold. If
// the program ends without Close, the next one that calls Memory or FS removes the folder.
func Memory(o Options) (*Index, error) {
	if o.Like == nil && o.Schema == nil && o.Analyzer == "" {
		o.Analyzer = "unicode"
	}
	return openScratch(o, nil)
}

// FS opens an index that is part of a file system, such as one that is embedded in the program. It
// is copied into a temporary folder first, and cannot be changed. The index is at the top: fs.Sub
// makes a file system of a folder, such as the one that go:embed names.
func FS(files fs.FS, o Options) (*Index, error) {
	if err := indexIn(files); err != nil {
		return nil, fmt.Errorf("collocate: %w", err)
	}
	return openScratch(o, files)
}

// openScratch opens an index in a temporary folder: a copy of files or, if these are nil, a new
// one.
func openScratch(o Options, files fs.FS) (*Index, error) {
	in, err := newScratch()
	if err != nil {
		return nil, fmt.Errorf("collocate: %w", err)
	}
	if files != nil {
		err = os.CopyFS(in.index(), files)
	}
	var x *Index
	if err == nil {
		x, err = Open(in.index(), o)
	}
	if err != nil {
		return nil, errors.Join(err, in.remove())
	}
	x.scratch, x.fixed = in, files != nil
	return x, nil
}

// adoptLike makes Options.Schema of Options.Like.
func (x *Index) adoptLike() (err error) {
	o := &x.options
	if o.Like == nil {
		return nil
	}
	if o.Schema != nil {
		return errors.New("both Options.Like and Options.Schema: give one")
	}
	o.Schema, err = SchemaOf(o.Like)
	return err
}

// fetch makes a copy of the index if that is at an address, or makes the index there.
func (x *Index) fetch() (err error) {
	if !strings.Contains(x.dir, "://") {
		return nil
	}
	if x.options.Fetch == nil {
		return fmt.Errorf("%s: an index in a bucket: set Options.Fetch to the function of that name in "+
			"package index/bucket", x.dir)
	}
	build := x.make
	if !x.known() {
		build = nil
	}
	x.asking, x.cut = context.WithCancel(context.Background())
	if x.copy, err = x.options.Fetch(x.asking, x.dir, build); err == nil {
		x.folder = x.copy.Folder()
	}
	return err
}

func (x *Index) closeCopy() error {
	if x.cut != nil {
		x.cut()
	}
	if x.copy == nil {
		return nil
	}
	return x.copy.Close()
}

// known reports whether the options say how an index is made.
func (x *Index) known() bool {
	return x.options.Schema != nil || x.options.Analyzer != ""
}

func (x *Index) open() (err error) {
	o := &x.options
	for try, end := 0, time.Now().Add(mostWaiting); ; try++ {
		s, err := search.Open(x.folder, o.Analyzers...)
		if err == nil {
			x.current.set(s)
			if err := x.adopt(s.Index()); err != nil {
				return errors.Join(err, x.current.set(nil))
			}
			return nil
		}
		if !vacant(x.folder) {
			if try < 100 && errors.Is(err, fs.ErrNotExist) { // it is being made
				time.Sleep(mostWaiting / 1000)
				continue
			}
			return err
		}
		if !x.known() {
			return fmt.Errorf("%s: no index is there: to make one, set Options.Like, Schema or Analyzer: %w",
				x.dir, fs.ErrNotExist)
		}
		switch err := x.make(x.folder, x.writerOptions()); { // and open it
		case errors.Is(err, segments.ErrLocked) && time.Now().Before(end):
			time.Sleep(mostWaiting / 1000) // another program makes it
		case err != nil:
			return err
		}
	}
}

// mostWaiting is how long Open waits for another program that makes the index.
const mostWaiting = 5 * time.Second

// make makes an index without documents in a folder.
func (x *Index) make(dir string, to segments.Options) error {
	o := &x.options
	if o.Schema != nil { // chains are stored in one form
		s := o.Schema.With(slices.Clone(o.Schema.Fields))
		for i := range s.Fields {
			s.Fields[i].Analyzer = text.Canonical(s.Fields[i].Analyzer)
		}
		o.Schema = s
	}
	analyzer, err := text.ParseAnalyzer(cmp.Or(o.Analyzer, "unicode"), o.Analyzers...)
	if err != nil {
		return err
	}
	for i := 0; o.Schema != nil && i < len(o.Schema.Fields); i++ {
		f, own := &o.Schema.Fields[i], append([]text.Analyzer{analyzer}, o.Analyzers...)
		if _, err := text.ParseAnalyzer(cmp.Or(f.Analyzer, "unicode"), own...); err != nil {
			return fmt.Errorf("field %q: %w; your own go into Options.Analyzers", f.Name, err)
		}
	}
	to.Analyzers = o.Analyzers
	to.Analyzer, to.Schema = analyzer, o.Schema
	to.StoreText, to.Positions = !o.NoText && o.Schema == nil, !o.NoPositions
	return segments.Create(dir, to)
}

// vacant reports whether a folder is missing, or has nothing but what a writer leaves behind that
// ended before its first commit.
func vacant(dir string) bool {
	list, err := os.ReadDir(dir)
	used := func(e fs.DirEntry) bool {
		return e.Name() != lockfile.Name && !index.IsUnfinished(e.Name()) && !atomicfile.IsTemporary(e.Name())
	}
	return errors.Is(err, fs.ErrNotExist) || err == nil && !slices.ContainsFunc(list, used)
}

// adopt takes the fields of an existing index. What the options say of them must agree.
func (x *Index) adopt(r *segments.Reader) error {
	s := r.Schema()
	if want := x.options.Schema; want != nil {
		if why := difference(want, s); why != "" {
			return fmt.Errorf("%s: the fields of Options.Like or Schema are not those of the index: %s; "+
				"fields of an index stay as they are: make another one", x.dir, why)
		}
	}
	switch o := &x.options; {
	case o.NoText && s == nil && r.HasText():
		return fmt.Errorf("%s: the index has the text of documents: leave Options.NoText out", x.dir)
	case o.Memory < 0 || o.RefreshEvery < 0:
		return errors.New("Options.Memory or RefreshEvery below 0: want 0 for the default")
	}
	if want := x.options.Analyzer; want != "" {
		a, err := text.ParseAnalyzer(want, x.options.Analyzers...)
		if err != nil {
			return err
		}
		if a.Name() != r.Analyzer() {
			return fmt.Errorf("%s: the analyzer of the index is %s, not %s", x.dir, text.Short(r.Analyzer()), text.Short(want))
		}
	}
	x.schema = s
	return nil
}

// writerOptions returns the options of a writer, but for those of a new index.
func (x *Index) writerOptions() segments.Options {
	o := &x.options
	to := segments.Options{Analyzers: o.Analyzers, Memory: o.Memory, MergeFactor: o.MergeFactor,
		MergePolicy: o.MergePolicy, Background: o.MergeBehind}
	if o.Progress != nil || x.observed() {
		to.Progress = x.progress
	}
	return to
}

// write calls fn with the writer.
func (x *Index) write(fn func(*segments.Writer) error) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	switch {
	case x.isClosed():
		return ErrClosed
	case x.fixed:
		return ErrReadOnly
	}
	if x.copy != nil && x.writer != nil && x.writer.Err() != nil { // it may have been the network
		err := x.writer.Close()
		if x.writer = nil; err != nil {
			return err
		}
	}
	if x.writer == nil {
		newWriter := segments.NewWriter
		if x.copy != nil {
			newWriter = func(_ string, o segments.Options) (*segments.Writer, error) {
				return x.copy.NewWriter(x.asking, o)
			}
		}
		w, err := newWriter(x.folder, x.writerOptions())
		if err != nil {
			return err
		}
		x.writer = w
	}
	return fn(x.writer)
}

// Add adds documents, or replaces those with the same IDs. A document is a struct of the type of
// Options.Like, or a pointer to one; a map[string]any with "id" and the names of fields, whose
// values have the types that SchemaOf names or are what encoding/json makes; or a text.Document.
// Searches find it after Commit. Documents before one that is refused are added.
func (x *Index) Add(documents ...any) (err error) {
	added := 0
	if x.observed() {
		defer func(start time.Time) { x.observe(Event{Call: "add", Documents: added, Err: err}, start) }(time.Now())
	}
	err = x.write(func(w *segments.Writer) error {
		for i, v := range documents {
			d, err := documentOf(v, x.schema)
			if err == nil {
				err = w.Add(d)
			}
			if err != nil {
				return fmt.Errorf("document %d of %d: %w", i+1, len(documents), err)
			}
			added++
		}
		return nil
	})
	return named("add", err)
}

// AddCorpus adds the documents of a corpus, on all cores: those of files, as JSON lines, CSV or
// other formats of package text, or those of a reader of your own, Corpus.Source. The names of
// fields in files are those of the index. It returns how many were added, and how many older ones
// they replaced. If it fails, none are added. Searches find them after Commit.
func (x *Index) AddCorpus(ctx context.Context, c *text.Corpus) (added, replaced int, err error) {
	if err := checked(ctx); err != nil {
		return 0, 0, named("add", err)
	}
	if x.observed() {
		defer func(start time.Time) { x.observe(Event{Call: "add", Documents: added, Err: err}, start) }(time.Now())
	}
	err = x.write(func(w *segments.Writer) error {
		switch {
		case c == nil:
			return errors.New("the corpus is nil")
		case c.Options.Schema != nil:
			return errors.New("want a corpus without Options.Schema: its fields are those of the index")
		}
		added, replaced, err = w.AddCorpus(ctx, c, index.BuildOptions{})
		return err
	})
	return added, replaced, named("add", err)
}

// Delete deletes the documents with these IDs and returns how many there were. Searches find them
// until Commit.
func (x *Index) Delete(ids ...string) (n int, err error) {
	if x.observed() {
		defer func(start time.Time) { x.observe(Event{Call: "delete", Documents: n, Err: err}, start) }(time.Now())
	}
	err = x.write(func(w *segments.Writer) error {
		for _, id := range ids {
			deleted, err := w.Delete(id)
			if n += deleted; err != nil {
				return err
			}
		}
		return nil
	})
	return n, named("delete", err)
}

// Commit makes all changes durable and shows them to searches. Then it merges segments where that
// is due (see Options.MergeFactor and MergeBehind); if only that fails, the error is a
// *segments.MergeError, and the changes hold. A context that is cancelled before changes nothing.
func (x *Index) Commit(ctx context.Context) error {
	return x.commit(ctx, "commit", func(w *segments.Writer) error {
		if x.options.MergeBehind {
			return w.Commit()
		}
		_, err := w.CommitAndMerge(ctx)
		return err
	})
}

// Compact commits, and merges all segments into one without deleted documents: searches are then at
// their fastest. It writes the whole index again. Errors are like those of Commit.
func (x *Index) Compact(ctx context.Context) error {
	return x.commit(ctx, "compact", func(w *segments.Writer) error {
		if err := w.Commit(); err != nil {
			return err
		}
		_, err := w.Compact(ctx)
		if err := errors.Join(err, w.Commit()); err != nil {
			return &segments.MergeError{Err: err}
		}
		return nil
	})
}

// commit calls fn with the writer and shows searches the result.
func (x *Index) commit(ctx context.Context, call string, fn func(*segments.Writer) error) (err error) {
	if err := checked(ctx); err != nil {
		return named(call, err)
	}
	if x.observed() {
		defer func(start time.Time) { x.observe(Event{Call: call, Documents: x.Len(), Err: err}, start) }(time.Now())
	}
	err = x.write(fn)
	if _, merging := errors.AsType[*segments.MergeError](err); err != nil && !merging {
		return named(call, err)
	}
	_, refreshed := x.Refresh()
	return errors.Join(named(call, err), refreshed)
}

// Refresh shows searches the newest generation, which another program may have committed. It
// reports whether there was a newer one.
func (x *Index) Refresh() (changed bool, err error) {
	if x.observed() {
		defer func(start time.Time) {
			if changed || err != nil {
				x.observe(Event{Call: "refresh", Documents: x.Len(), Err: err}, start)
			}
		}(time.Now())
	}
	x.refreshing.Lock()
	defer x.refreshing.Unlock()
	if x.closed {
		return false, named("refresh", ErrClosed)
	}
	if x.copy != nil {
		if _, err := x.copy.Refresh(x.asking); err != nil {
			return false, named("refresh", err)
		}
	}
	old := x.current.get()
	defer old.release()
	newer, err := old.searcher.Refresh()
	if err != nil || newer == nil {
		return false, named("refresh", err)
	}
	return true, named("refresh", x.current.set(newer))
}

// follow refreshes from time to time. An error is logged, and met again by the next Refresh.
func (x *Index) follow() {
	tick := time.NewTicker(x.options.RefreshEvery)
	defer tick.Stop()
	for {
		select {
		case <-x.stop:
			return
		case <-tick.C:
			if _, err := x.Refresh(); err != nil && x.options.Log != nil && !x.isClosed() {
				x.options.Log.Warn("collocate: refresh failed", "index", x.dir, "error", err)
			}
		}
	}
}

func (x *Index) isClosed() bool {
	x.refreshing.Lock()
	defer x.refreshing.Unlock()
	return x.closed
}

// Len returns the number of documents that searches see.
func (x *Index) Len() int {
	g := x.current.get()
	if g == nil {
		return 0
	}
	defer g.release()
	return g.searcher.Index().Docs()
}

// Schema returns the fields of the documents, or nil if they have none. It must not be changed.
func (x *Index) Schema() *fields.Schema { return x.schema }

// Close waits for searches in progress, drops changes that were not committed, and releases the
// index for other writers. Calls after it return ErrClosed.
func (x *Index) Close() error {
	x.refreshing.Lock()
	if x.closed {
		x.refreshing.Unlock()
		return nil
	}
	if x.closed = true; x.stop != nil { // nil in a zero Index
		close(x.stop)
	}
	x.refreshing.Unlock()
	x.following.Wait()

	err := x.current.close()
	x.writing.Lock()
	defer x.writing.Unlock()
	if x.writer != nil {
		err = errors.Join(err, x.writer.Close())
	}
	if x.scratch != nil {
		err = errors.Join(err, x.scratch.remove())
	}
	return named("close", errors.Join(err, x.closeCopy()))
}

func named(call string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("collocate: %s: %w", call, err)
}

package segments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/lockfile"
	"github.com/collocate/collocate/text"
)

// ErrLocked is wrapped by the error of NewWriter if another Writer has the index open.
var ErrLocked = lockfile.ErrHeld

// ErrFixed is returned for changes of an index that is a shard or pruned.
var ErrFixed = errors.New("nothing can be added to it")

// Options are the options of NewWriter. The zero value is for an existing index.
type Options struct {
	// Analyzer splits text into words. A new index needs one; so a mistyped folder name is an
	// error. For an existing index it must be nil or the analyzer of the index.
	Analyzer text.Analyzer
	// Analyzers are further ones that text fields of the schema may name, besides Analyzer and
	// those of package text.
	Analyzers []text.Analyzer
	// StoreText keeps the documents' text in a new index. It is ignored for an existing one.
	StoreText bool
	// Positions keeps the positions of words in a new index, which phrase queries need.
	Positions bool
	// Schema lists the fields of the documents of a new index; nil means none. For an existing
	// index it must be nil or the schema of the index.
	Schema *fields.Schema
	// Memory bounds, in bytes, the memory for documents that are not yet part of a segment, and for
	// merging; 0 means 256 MB.
	Memory int64
	// MergeFactor is the number of segments of about the same size that Merge combines into one; 0
	// means 10.
	MergeFactor int
	// MergePolicy chooses what Merge combines, instead of MergeFactor: the segments from, from+1
	// and so on up to but without to. It gets the number of documents of each segment, and how many
	// of these are deleted; from == to means that nothing is to be merged. It may be nil.
	MergePolicy func(documents, deleted []int) (from, to int)
	// Background makes Commit start a merge in the background if one is due. The next Commit
	// publishes its result, Wait waits for it, and Close cancels it.
	Background bool
	// Names returns the name of a new segment, which index.IsSegment accepts and no other segment
	// has; nil means numbers in order. It is for segments that move to another place.
	Names func() string
	// Remote, unless it is nil, is the place of which the folder is a copy. Commit and Merge change
	// the index there, and there is no other lock than of the copy.
	Remote Remote
	// Finish, unless it is nil, completes documents that Add gets, such as with vectors, after they
	// were cut into passages and before they are added. It gets those of a call together. Other
	// methods of the Writer go on meanwhile. For AddCorpus see text.Options.Finish.
	Finish func(ctx context.Context, schema *fields.Schema, docs []text.Document) error
	// Progress is called when a segment is begun, about a hundred times while it is written, and
	// when it has ended. A merge in the background calls it beside other calls. It must be fast,
	// and not use the Writer. It may be nil.
	Progress func(Progress)
}

const defaultMergeFactor = 10

// Progress is how far a Writer is with a segment.
type Progress struct {
	Merging     bool  // it merges others; otherwise it holds documents that were added
	Done, Total int   // documents; of a merge, the share of the postings that are done
	Ended       bool  // this is the last call for the segment
	Err         error // why the segment was not written; nil until Ended, and after a success
}

// tell returns a function that reports how far a segment of total documents is, and one for its
// end.
func (o *Options) tell(merging bool, total int) (progress func(done, of int64), ended func(err error)) {
	if o.Progress == nil {
		return nil, func(error) {}
	}
	at := Progress{Merging: merging, Total: total}
	o.Progress(at)
	return func(done, of int64) {
			at.Done = int(float64(total) * (float64(done) / float64(max(of, 1))))
			o.Progress(at)
		}, func(err error) {
			at.Ended, at.Err = true, err
			if err == nil {
				at.Done = total
			}
			o.Progress(at)
		}
}

// Writer changes an index. Several goroutines may call its methods at once. Changes become visible
// to others with Commit, and Close drops changes that were not committed. After a disk error only
// Close works; the last committed generation stays intact.
type Writer struct {
	dir  string
	o    Options
	lock *os.File

	merging sync.Mutex // one merge at a time
	mu      sync.Mutex
	m       manifest     // the manifest committed last
	next    int          // number of the next segment
	segs    []*segment   // segments of the next commit
	buffer  *buffer      // documents after them, not yet in a segment
	cut     *text.Cutter // nil unless documents are cut into passages
	making  string       // name of the segment that a merge is writing, not yet in segs
	changed bool
	deleted []string // with a Remote, IDs of Delete since the last Commit
	err     error    // fatal error, after which only Close works

	behind    *background // the background merge, or nil
	behindErr error       // first error of a background merge
}

// segment is a segment of a Writer.
type segment struct {
	*index.Reader
	name string
	live *docset.Set // nil means all; immutable once a manifest refers to it
	own  bool        // no manifest refers to live, so it may be changed
	from []origin    // the segments it was merged from since the last Commit
	busy bool        // being merged, so it must stay open
	gone bool        // dropped while being merged: the merge closes it
}

func (s *segment) docs() int {
	if s.live == nil {
		return s.Docs()
	}
	return s.live.Count()
}

// remove deletes a document, and reports whether it was not deleted before.
func (s *segment) remove(doc uint32) bool {
	switch {
	case s.live == nil:
		s.live = docset.Full(s.Docs())
	case !s.live.Has(doc):
		return false
	case !s.own:
		s.live = s.live.Clone()
	}
	s.own = true
	return s.live.Remove(doc)
}

// NewWriter opens an index for changes. The folder may be an index with segments, an index made by
// package index, or empty or missing, in which case a new index is started. The error wraps
// ErrLocked if another Writer has the index open.
func NewWriter(dir string, o Options) (w *Writer, err error) {
	if o.Memory <= 0 {
		o.Memory = 256 << 20
	}
	if o.MergeFactor == 0 {
		o.MergeFactor = defaultMergeFactor
	}
	if o.MergeFactor < 2 {
		return nil, fmt.Errorf("segments: merge %d segments: want 2 or more", o.MergeFactor)
	}
	if err := text.CheckName(append([]text.Analyzer{o.Analyzer}, o.Analyzers...)...); err != nil {
		return nil, fmt.Errorf("segments: %w", err)
	}
	if o.Analyzer != nil {
		if o.Analyzer, err = text.ParseAnalyzer(o.Analyzer.Name(), o.Analyzer); err != nil { // checks its words
			return nil, fmt.Errorf("segments: %w", err)
		}
	}
	err = disk.MakeDir(dir, 0o777)
	made := err == nil
	if made {
		err = disk.SyncFolder(filepath.Dir(filepath.Clean(dir)))
	} else if errors.Is(err, fs.ErrExist) {
		err = ours(dir)
	}
	if err != nil {
		return nil, err
	}
	w = &Writer{dir: dir, o: o}
	if w.lock, err = lockfile.Take(dir); err != nil {
		return nil, err
	}
	if o.Remote != nil {
		w.o.Names = o.Remote.NewName
		err = o.Remote.Begin()
	}
	if err == nil {
		err = w.load()
	}
	if err != nil {
		w.Close()
		if made { // remove the folder again
			os.Remove(filepath.Join(dir, lockfile.Name))
			os.Remove(dir)
		}
		return nil, err
	}
	return w, nil
}

// ours returns an error if an existing folder is neither an index nor empty.
func ours(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == index.SegmentsFile || e.Name() == "index" {
			return nil
		}
	}
	if slices.ContainsFunc(entries, foreign) {
		return fmt.Errorf("%s: the folder is not empty and not an index: name another one", dir)
	}
	return nil
}

// foreign reports whether a folder entry cannot stem from a Writer that never committed.
func foreign(e fs.DirEntry) bool {
	return e.Name() != lockfile.Name && !index.IsSegment(e.Name()) && !atomicfile.IsTemporary(e.Name())
}

// begun reports whether a folder was used by a Writer, but nothing was committed.
func begun(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) > 0 && !slices.ContainsFunc(entries, foreign)
}

// load opens the segments of the newest generation, and removes what crashed writers left behind.
func (w *Writer) load() error {
	g, err := Open(w.dir)
	switch {
	case err == nil:
		for i, o := range g.open { // the Writer takes these over
			w.segs = append(w.segs, &segment{Reader: o.Reader, name: o.name, live: g.segments[i].Live})
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	m, err := readManifest(w.dir)
	switch {
	case err == nil:
		w.m = *m
	case errors.Is(err, fs.ErrNotExist) && g != nil:
		r := g.segments[0].Reader
		w.m = manifest{Analyzer: g.Analyzer(), StoreText: g.HasText(), Positions: r.HasPositions()}
		if s := r.Schema(); s != nil {
			w.m.Schema = s.JSON()
		}
		if w.m.Root, err = index.Root(w.dir); err != nil {
			return err
		}
		if r.Pruned() {
			return fmt.Errorf("segments: %s is pruned: %w: change the index that it was made from", w.dir, ErrFixed)
		}
		if r.Shard().Of > 0 {
			return fmt.Errorf("segments: %s is a shard: %w: change the index that it was cut from", w.dir, ErrFixed)
		}
	case errors.Is(err, fs.ErrNotExist):
		if w.o.Analyzer == nil {
			return errors.New("segments: a new index needs an analyzer")
		}
		w.m = manifest{Analyzer: w.o.Analyzer.Name(), StoreText: w.o.StoreText, Positions: w.o.Positions, Root: &text.Root{}}
		if w.o.Schema != nil {
			if err := w.o.Schema.Check(); err != nil {
				return fmt.Errorf("segments: schema: %w", err)
			}
			w.m.Schema = w.withAnalyzers(w.o.Schema).JSON()
		}
		w.changed = true // Commit publishes it, even without documents
	default:
		return err
	}
	if w.o.Analyzer == nil {
		if w.o.Analyzer, err = text.ParseAnalyzer(w.m.Analyzer, w.o.Analyzers...); err != nil {
			return text.Missing("segments: the words of the index", w.m.Analyzer, err)
		}
	} else if name := w.o.Analyzer.Name(); name != w.m.Analyzer {
		return fmt.Errorf("segments: the analyzer of %s is %s, not %s", w.dir, text.Short(w.m.Analyzer),
			text.Short(name))
	}
	s, err := w.schema()
	if err != nil {
		return err
	}
	if err := w.checkFields(s); err != nil {
		return err
	}
	if w.o.Schema != nil {
		if s == nil || !s.Equal(w.withAnalyzers(w.o.Schema)) {
			return fmt.Errorf("segments: the fields of %s are not those of the schema", w.dir)
		}
	}
	w.next = w.m.Next
	w.removeOthers()
	w.removeUnfinished()
	return w.begin()
}

// checkFields returns an error if the analyzer of a text field is not there. Documents are split
// only when they are written, which would be too late to say so.
func (w *Writer) checkFields(s *fields.Schema) error {
	if s == nil {
		return nil
	}
	own := append([]text.Analyzer{w.o.Analyzer}, w.o.Analyzers...)
	for _, i := range s.Indexed() {
		f := &s.Fields[i]
		if _, err := text.ParseAnalyzer(f.Analyzer, own...); f.Analyzer != "" && err != nil {
			return text.Missing(fmt.Sprintf("segments: the words of field %q", f.Name), f.Analyzer, err)
		}
	}
	return nil
}

// withAnalyzers returns the schema with the analyzer of each text field filled in, as indexes store
// it.
func (w *Writer) withAnalyzers(s *fields.Schema) *fields.Schema {
	s = s.With(slices.Clone(s.Fields))
	for _, i := range s.Indexed() {
		if s.Fields[i].Analyzer == "" {
			s.Fields[i].Analyzer = w.o.Analyzer.Name()
		}
		s.Fields[i].Analyzer = text.Canonical(s.Fields[i].Analyzer)
	}
	return s
}

// Schema returns the schema of the documents' fields, or nil if they have none. It is that of whole
// documents if the index has passages.
func (w *Writer) Schema() (*fields.Schema, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lock == nil {
		return nil, errClosed
	}
	s, err := w.schema()
	return s.Documents(), err
}

func (w *Writer) schema() (*fields.Schema, error) {
	if w.m.Schema == nil {
		return nil, nil
	}
	return fields.ParseJSON(w.m.Schema)
}

// begin starts an empty buffer.
func (w *Writer) begin() error {
	schema, err := w.schema()
	w.buffer = newBuffer(w.o.Analyzer, w.m.StoreText, w.m.Positions, schema)
	w.buffer.more = w.o.Analyzers
	w.cut = cutter(schema)
	if schema != nil && err == nil {
		w.buffer.splitters, err = splitters(schema, append([]text.Analyzer{w.o.Analyzer}, w.o.Analyzers...))
	}
	return err
}

// removeOthers removes the folders of segments that are no longer used, and the index files in the
// folder itself if they are no longer a segment. Files that cannot be removed are left behind.
func (w *Writer) removeOthers() {
	entries, _ := os.ReadDir(w.dir)
	used := map[string]bool{}
	for _, e := range w.m.Segments {
		used[e.Name] = true
	}
	for _, s := range w.segs {
		used[s.name] = true
	}
	used[w.making] = true
	for _, e := range entries {
		if index.IsSegment(e.Name()) && !used[e.Name()] {
			os.RemoveAll(filepath.Join(w.dir, e.Name()))
		}
	}
	if len(w.m.Segments) > 0 && !used[here] {
		index.RemoveFiles(w.dir)
	}
}

// removeUnfinished removes segments that a killed writer did not complete.
func (w *Writer) removeUnfinished() {
	entries, _ := os.ReadDir(w.dir)
	for _, e := range entries {
		if e.IsDir() && index.IsUnfinished(e.Name()) {
			os.RemoveAll(filepath.Join(w.dir, e.Name()))
		}
	}
}

// fail records a disk error, after which only Close works. It returns err.
func (w *Writer) fail(err error) error {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("segments: the writer of %s was closed after an error: %w", w.dir, err)
	}
	return err
}

// Err returns the error after which only Close works, or nil.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

var errClosed = fmt.Errorf("segments: the writer is closed: %w", index.ErrClosed)

// Add appends a document. Every document must have an ID; an older document with the same ID is
// replaced. If the index has a schema, the document needs Fields, in the order of the schema, and
// no Text; see fields.Schema.Values and text.Document.Complete. If the schema has Passages, the
// document is cut, and its Fields are those of whole documents: see Schema.
func (w *Writer) Add(d text.Document) error { return w.AddMany([]text.Document{d})[0] }

// AddMany is Add for several documents, and returns the error of each. Options.Finish gets them
// together. If it fails, it gets them one by one, until it fails again: that document and those
// after it are not added, and have this error.
func (w *Writer) AddMany(docs []text.Document) []error {
	w.mu.Lock()
	defer w.mu.Unlock()
	errs, ends := make([]error, len(docs)), make([]int, len(docs))
	var all []text.Document
	for i, d := range docs {
		all, errs[i] = w.appendPassages(all, d)
		ends[i] = len(all)
	}
	together := w.finish(all)
	var failed error
	at := 0
	for i, d := range docs {
		list := all[at:ends[i]]
		if at = ends[i]; errs[i] != nil {
			continue
		}
		if together != nil && failed == nil {
			if failed = together; len(docs) > 1 {
				failed = w.finish(list)
			}
		}
		if errs[i] = failed; failed == nil {
			errs[i] = w.addFinished(d.ID, list)
		}
	}
	return errs
}

// appendPassages appends the passages of a document, or the document.
func (w *Writer) appendPassages(dst []text.Document, d text.Document) ([]text.Document, error) {
	switch {
	case w.err != nil:
		return dst, w.err
	case d.ID == "":
		return dst, errors.New("segments: a document without an ID: it would replace others without one")
	case w.cut == nil:
		return append(dst, d), nil
	}
	list, err := w.cut.Cut(d)
	if err != nil {
		return dst, err
	}
	return append(dst, list...), nil
}

// addFinished adds a document, or its passages.
func (w *Writer) addFinished(id string, list []text.Document) error {
	if w.err != nil {
		return w.err
	}
	if w.cut != nil {
		if err := w.addPassages(id, list); err != nil {
			return err
		}
	} else {
		if err := w.buffer.add(list[0]); err != nil {
			return err
		}
		w.changed = true
		if _, err := w.remove(id); err != nil {
			return w.fail(err)
		}
	}
	if w.buffer.full(w.o.Memory) {
		return w.fail(w.flush())
	}
	return nil
}

// finish calls Options.Finish without holding the lock, since it may take long.
func (w *Writer) finish(list []text.Document) error {
	if w.o.Finish == nil || len(list) == 0 {
		return nil
	}
	schema := w.buffer.schema
	w.mu.Unlock()
	err := w.o.Finish(context.Background(), schema, list)
	w.mu.Lock()
	return cmp.Or(err, w.err)
}

// has reports whether a document of the segments has an ID.
func (w *Writer) has(id string) (bool, error) {
	if w.cut != nil {
		id = text.PassageID(id, 1)
	}
	for _, s := range w.segs {
		docs, err := s.FindDocs(id)
		if err != nil {
			return false, err
		}
		if s.live == nil && len(docs) > 0 || s.live != nil && slices.ContainsFunc(docs, s.live.Has) {
			return true, nil
		}
	}
	return false, nil
}

// remove deletes the documents with an ID from all segments.
func (w *Writer) remove(id string) (n int, err error) {
	for _, s := range w.segs {
		docs, err := s.FindDocs(id)
		if err != nil {
			return n, err
		}
		for _, d := range docs {
			if s.remove(d) {
				n++
			}
		}
	}
	return n, nil
}

// Delete deletes the documents with an ID and returns how many there were; of a document that is
// cut, how many passages.
func (w *Writer) Delete(id string) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	if w.cut != nil {
		n, err = w.deletePassages(id)
	} else if n, err = w.remove(id); w.buffer.remove(id) {
		n++
	}
	w.changed = w.changed || n > 0
	if w.o.Remote != nil {
		w.deleted = append(w.deleted, id)
	}
	return n, w.fail(err)
}

// DeleteDocs deletes documents of a generation, given as one set for each segment. It returns how
// many it deleted; some of them may have been deleted before. The generation must be the one that
// this Writer started from or committed last, but segments may have been merged since. With one
// passage, all of its document are deleted.
func (w *Writer) DeleteDocs(g *Reader, sets []*docset.Set) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	if g.generation != w.m.Generation {
		return 0, fmt.Errorf("segments: the documents to delete were found in generation %d, "+
			"but the newest is %d: search again", g.generation, w.m.Generation)
	}
	if len(sets) != len(g.segments) {
		return 0, fmt.Errorf("segments: %d sets of documents to delete: "+
			"want one for each of the %d segments", len(sets), len(g.segments))
	}
	for i, s := range g.segments {
		if sets[i] == nil || sets[i].Len() != s.Docs() {
			return 0, fmt.Errorf("segments: the set of documents to delete is not of segment %s", s.Name)
		}
	}
	for i := range sets {
		for _, s := range w.segs {
			set, ok := s.image(g.segments[i].Name, sets[i])
			if !ok {
				continue // if no segment has it, all its documents were deleted before
			}
			if w.cut != nil {
				more, err := w.removeWhole(s, set)
				if n += more; err != nil {
					return n, w.fail(err)
				}
				break
			}
			for doc := range set.All() {
				if s.remove(doc) {
					n++
				}
			}
			break
		}
	}
	w.changed = w.changed || n > 0
	return n, nil
}

// AddCorpus adds the documents of a corpus as a segment of their own, on all cores. It returns how
// many documents were added, and how many older ones they replaced. The Analyzer, StoreText and
// Positions of o are ignored in favour of those of the index; Memory 0 means the Writer's. IDs of
// files are paths relative to a folder that the index remembers: see text.Corpus.WithRoot.
func (w *Writer) AddCorpus(ctx context.Context, c *text.Corpus, o index.BuildOptions) (added, replaced int, err error) {
	if err := given.Context(ctx); err != nil {
		return 0, 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, 0, w.err
	}
	if err := w.flush(); err != nil {
		return 0, 0, w.fail(err)
	}
	o.Analyzer, o.StoreText, o.AllowDuplicateIDs = w.o.Analyzer, w.m.StoreText, false
	o.Analyzers = slices.Concat(o.Analyzers, w.o.Analyzers)
	o.Positions = w.m.Positions
	switch {
	case w.m.Schema != nil:
		s, err := w.schema()
		if err != nil {
			return 0, 0, err
		}
		if c.Options.Schema != nil {
			return 0, 0, errors.New("segments: the index has a schema already: leave the schema out")
		}
		with := *c
		with.Options.Schema, with.Options.Fields, with.Options.Sparse = s, nil, true
		c = &with
	case c.Options.Schema != nil && len(w.segs) > 0:
		return 0, 0, errors.New("segments: the index was made without fields: leave the schema out")
	}
	if o.Memory == 0 {
		o.Memory = w.o.Memory
	}
	has := w.has
	if w.docs() == 0 {
		has = nil
	}
	c, remember, err := c.WithRoot(w.m.Root, has)
	if err != nil {
		return 0, 0, err
	}
	name := w.newName()
	if err := index.Build(ctx, filepath.Join(w.dir, name), c, o); err != nil {
		if twice := new(index.DuplicateIDError); errors.As(err, &twice) {
			again := *twice
			again.Adding = true
			return 0, 0, &again
		}
		return 0, 0, err
	}
	r, err := index.OpenSegment(filepath.Join(w.dir, name))
	if err != nil {
		return 0, 0, w.fail(err)
	}
	if replaced, err = w.replace(r); err != nil {
		r.Close()
		return 0, 0, w.fail(err)
	}
	w.segs = append(w.segs, &segment{Reader: r, name: name})
	w.changed, w.m.Root = true, remember()
	if s := r.Schema(); s != nil && w.m.Schema == nil {
		w.m.Schema = s.JSON()
		return r.Docs(), replaced, w.begin()
	}
	return r.Docs(), replaced, nil
}

// replace deletes the documents that a new segment has again, and returns how many there were.
func (w *Writer) replace(r *index.Reader) (n int, err error) {
	for _, s := range w.segs {
		for d, err := range s.SharedIDs(r) {
			switch {
			case err != nil:
				return n, err
			case w.cut != nil:
				more, err := w.replaced(s, d)
				if n += more; err != nil {
					return n, err
				}
			case s.remove(d):
				n++
			}
		}
	}
	return n, nil
}

// SetRoot makes the index remember a folder to which the IDs of files are relative. AddCorpus does
// so itself for files that it reads.
func (w *Writer) SetRoot(root text.Root) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if w.m.Root == nil || *w.m.Root != root {
		w.m.Root, w.changed = &root, true
	}
	return nil
}

func (w *Writer) newName() string {
	if w.o.Names != nil {
		return w.o.Names()
	}
	w.next++
	return nameOf(w.next - 1)
}

// flush writes the documents in memory as a segment.
func (w *Writer) flush() error {
	if w.buffer.alive == 0 {
		return w.begin()
	}
	name := w.newName()
	progress, ended := w.o.tell(false, w.buffer.alive)
	err := w.buffer.write(filepath.Join(w.dir, name), w.o.Memory, progress)
	if ended(err); err != nil {
		return err
	}
	r, err := index.OpenSegment(filepath.Join(w.dir, name))
	if err != nil {
		return err
	}
	w.segs = append(w.segs, &segment{Reader: r, name: name})
	return w.begin()
}

// Commit publishes all changes as the newest generation. When it returns, they are on disk. Without
// changes it does nothing.
func (w *Writer) Commit() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if w.changed {
		if err := w.fail(w.commit()); err != nil {
			return err
		}
	}
	w.mergeBehind()
	if b := w.behind; b != nil && len(w.segs) > mostWaiting*w.o.MergeFactor {
		w.mu.Unlock()
		<-b.done
		w.mu.Lock()
	}
	return nil
}

// MergeError is the error of CommitAndMerge if the changes were published, but merging segments
// afterwards failed. Nothing is lost; another Merge may be tried at any time.
type MergeError struct{ Err error }

func (e *MergeError) Error() string {
	return "the change is complete, but merging segments afterwards failed: " + e.Err.Error()
}

func (e *MergeError) Unwrap() error { return e.Err }

// CommitAndMerge publishes all changes. Then it merges segments where the merge policy says so,
// publishes that as well, and returns how many it merged. An error after the changes were published
// is a *MergeError.
func (w *Writer) CommitAndMerge(ctx context.Context) (merged int, err error) {
	if err := w.Commit(); err != nil {
		return 0, err
	}
	merged, err = w.Merge(ctx)
	if err := errors.Join(err, w.Commit()); err != nil {
		return 0, &MergeError{err}
	}
	return merged, nil
}

func (w *Writer) commit() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.publish()
}

// publish writes the manifest of the segments that there are.
func (w *Writer) publish() error {
	// Segments whose documents are all deleted are dropped.
	var gone []*segment
	w.segs = slices.DeleteFunc(w.segs, func(s *segment) bool {
		if s.docs() > 0 {
			return false
		}
		gone = append(gone, s)
		return true
	})
	m := w.m
	m.Generation, m.Next, m.Segments = m.Generation+1, w.next, nil
	for _, s := range w.segs {
		e := entry{Name: s.name, Docs: s.Docs(), live: s.live}
		e.Bytes, e.Checksum = s.Stamp()
		if e.Deleted = s.Docs() - s.docs(); e.Deleted == 0 {
			e.live = nil
		}
		s.own, s.from = false, nil
		m.Segments = append(m.Segments, e)
	}
	if err := m.write(w.dir); err != nil {
		return err
	}
	w.m, w.changed = m, false
	w.removeOthers()
	for _, s := range gone {
		if s.gone = true; !s.busy {
			s.Close()
		}
	}
	if w.o.Remote != nil {
		return w.publishRemotely()
	}
	return nil
}

// Create makes an index without documents, unless there is one already. Programs that only search
// do not link what writes documents.
func Create(dir string, o Options) error {
	w, err := NewWriter(dir, o)
	if err != nil {
		return err
	}
	if w.changed {
		err = w.publish()
	}
	return errors.Join(err, w.Close())
}

// Docs returns the number of documents that the index would have after a Commit.
func (w *Writer) Docs() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.docs()
}

func (w *Writer) docs() (n int) {
	if w.buffer != nil {
		n = w.buffer.alive
	}
	for _, s := range w.segs {
		n += s.docs()
	}
	return n
}

// Close drops changes that were not committed and releases the index for other writers.
func (w *Writer) Close() error {
	w.stopBehind()
	w.merging.Lock()
	defer w.merging.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lock == nil {
		return nil
	}
	var errs []error
	for _, s := range w.segs {
		errs = append(errs, s.Close())
	}
	w.segs, w.buffer = nil, nil
	if w.err == nil { // otherwise it is unknown which generation is on disk
		w.removeOthers()
	}
	w.err = errClosed
	errs = append(errs, w.behindErr, lockfile.Release(w.lock))
	w.lock = nil
	if w.o.Remote != nil {
		errs = append(errs, w.o.Remote.Close())
	}
	return errors.Join(errs...)
}

package folders

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
)

// Options say what of a folder is indexed, and how. The zero value is useful, except that a new
// index needs an Analyzer.
type Options struct {
	Analyzer  text.Analyzer // of a new index, or nil or the same for an existing one
	Positions bool          // a new index has positions, for phrases
	// Passages says how a new index cuts the texts of files into passages; nil leaves them whole.
	Passages *fields.Passages

	// Finish, unless it is nil, completes documents with vectors, of Dim dimensions, after they
	// were cut. An index has the field vector if it was made with it, and then always needs it.
	Finish func(ctx context.Context, schema *fields.Schema, docs []text.Document) error
	Dim    int // of the vectors of Finish

	Exclude  []string // patterns as in .gitignore, relative to the folder; they come before the ignore files
	NoIgnore bool     // do not read .gitignore and .ignore
	Hidden   bool     // also read files and folders whose names begin with a dot

	Hash       bool   // compare the bytes of all files, not only their sizes and times
	Again      bool   // read all files again, also those that did not change
	Moved      bool   // the index was made from this folder when it had another path
	AllowEmpty bool   // the folder may have no files any more
	Encoding   string // of text that does not say its own and is not UTF-8; "" means a guess

	MaxFile int64 // the largest file that is read; 0 means 256 MB
	Memory  int64 // bound of the memory in bytes; 0 means 1 GB
	Threads int   // that read files; 0 means GOMAXPROCS
	// Batch is the number of files after which a long Sync commits what it has. If it is killed,
	// the next one goes on from there. 0 means 20,000.
	Batch int

	// Remote, unless it is nil, is the place of which the folder of the index is a copy.
	Remote segments.Remote

	Progress func(done, total int64) // bytes of the files that are to be read
	Note     func(line string)       // what should be known, such as that merging failed
}

// Problem is a file or folder that could not be read.
type Problem struct {
	Path string `json:"path"` // below the folder; that of a folder ends in a slash
	Why  string `json:"why"`  // in words
}

// Report says what Sync did.
type Report struct {
	Folder    string `json:"folder"`    // its absolute path
	Index     string `json:"index"`     // its folder
	Added     int    `json:"added"`     // files, as are the next six
	Changed   int    `json:"changed"`   // replaced by new text
	Touched   int    `json:"touched"`   // only their times changed
	Moved     int    `json:"moved"`     // have the bytes of a file that is gone
	Deleted   int    `json:"deleted"`   // gone, without those that were moved
	Unchanged int    `json:"unchanged"` // since the last time
	Other     int    `json:"other"`     // not a kind of file that is read
	Ignored   int    `json:"ignored"`   // files and folders that an ignore file or a pattern names
	Links     int    `json:"links"`     // symbolic links, which are not followed
	Special   int    `json:"special"`   // pipes, sockets and devices
	// Problems are files that were read now and have no text, and what could not be opened.
	Problems []Problem `json:"problems"`
	// Encodings are the numbers of files read now that were not in UTF-8.
	Encodings  map[string]int `json:"encodings"`
	Documents  int            `json:"documents"`          // of the index, after this
	Passages   bool           `json:"passages,omitempty"` // they are passages
	Segments   int            `json:"segments"`           // of the index
	Generation uint64         `json:"generation"`         // counts the commits

	folders []string // that were read
}

// Changes reports whether the index was changed.
func (r *Report) Changes() bool { return r.Added+r.Changed+r.Touched+r.Moved+r.Deleted > 0 }

// syncer is a run of Sync.
type syncer struct {
	o      Options
	folder string
	begun  time.Time      // of the scan
	schema *fields.Schema // of files
	stored *fields.Schema // of the index: that of passages, if files are cut
	// analyzers are those that split texts; see wordsFit.
	analyzers []text.Analyzer
	w         *segments.Writer
	old       *segments.Reader // the index before, or nil
	report    *Report

	gone    map[string]*known // files of the index that the folder has no more
	byHash  map[string]string // of them, the path by the hash, to find those that were moved
	moved   map[string]bool   // of them, those that were
	emitted map[string]bool   // IDs that were added
	done    int64             // bytes
	total   int64
}

// Sync makes an index have the files of a folder, and nothing of files that are gone. Each file is
// replaced as a whole; all changes are one commit, unless they exceed Options.Batch. It may be
// stopped or killed at any time: the next Sync completes what is left.
//
// If a file or folder cannot be read, the index keeps what it has of it, and the report names it. A
// file without text that can be found, such as an encrypted one, is a document with its name and
// the field problem.
func Sync(ctx context.Context, folder, dir string, o Options) (r *Report, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	folder, err = filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(folder)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: want a folder", folder)
	}
	if o.Memory <= 0 {
		o.Memory = 1 << 30
	}
	if o.MaxFile <= 0 {
		o.MaxFile = 256 << 20
	}
	if o.Batch <= 0 {
		o.Batch = 20_000
	}
	s := &syncer{o: o, folder: folder, report: &Report{Folder: folder, Index: dir, Problems: []Problem{}, Encodings: map[string]int{}},
		byHash: map[string]string{}, moved: map[string]bool{}, emitted: map[string]bool{}}
	if err := s.open(dir); err != nil {
		return nil, err
	}
	defer func() {
		if s.old != nil {
			err = errors.Join(err, s.old.Close())
		}
		if err = errors.Join(err, s.w.Close()); err != nil {
			r = nil
		}
	}()
	if err := s.run(ctx, dir); err != nil {
		return nil, err
	}
	return s.report, nil
}

// open opens the index for writing and what it has for reading, in this order: so nobody changes it
// in between.
func (s *syncer) open(dir string) error {
	o := segments.Options{Analyzer: s.o.Analyzer, Memory: s.o.Memory, Remote: s.o.Remote}
	before, err := segments.Open(dir)
	switch {
	case err == nil:
		if err = checkSchema(dir, before); err == nil {
			err = s.o.checkVectors(dir, before.Schema())
		}
		s.stored = before.Schema()
		if root := before.Root(); err == nil && (root == nil || root.Folder != s.folder) && !s.o.Moved {
			err = &OtherFolderError{Index: dir, Folder: s.folder}
			if root != nil {
				err.(*OtherFolderError).Was = root.Folder
			}
		}
		if err = errors.Join(err, before.Close()); err != nil {
			return err
		}
	case errors.Is(err, fs.ErrNotExist):
		o.Schema, o.Positions = Schema(), s.o.Positions
		if s.o.Finish != nil {
			if o.Schema, err = schema(s.o.Dim); err != nil {
				return err
			}
		}
		if p := s.o.Passages; p != nil {
			if o.Schema, err = p.Cut(o.Schema); err != nil {
				return err
			}
		}
	default:
		return err
	}
	if s.w, err = segments.NewWriter(dir, o); err != nil {
		return err
	}
	if s.stored == nil {
		s.stored = o.Schema
	}
	if s.schema, err = s.w.Schema(); err == nil && before != nil {
		s.old, err = segments.Open(dir)
	}
	if err == nil {
		err = s.splitters()
	}
	if err != nil {
		return errors.Join(err, s.w.Close())
	}
	return nil
}

// OtherFolderError is returned if an index was made from another folder: all its files would be
// deleted.
type OtherFolderError struct{ Index, Folder, Was string }

func (e *OtherFolderError) Error() string {
	if e.Was == "" {
		return fmt.Sprintf("%s was not made from a folder: name another index", e.Index)
	}
	return fmt.Sprintf("%s has the files of %s, not of %s: if that was moved there, say so by folders.Options.Moved", e.Index, e.Was, e.Folder)
}

func (s *syncer) run(ctx context.Context, dir string) error {
	var except []os.FileInfo
	if info, err := os.Stat(dir); err == nil {
		except = append(except, info)
	}
	s.begun = time.Now()
	found, err := scan(ctx, s.folder, &s.o, except...)
	if err != nil {
		return err
	}
	s.gone = map[string]*known{}
	if s.old != nil {
		if s.gone, err = readKnown(s.old); err != nil {
			return err
		}
	}
	if len(found.files) == 0 && len(s.gone) > 0 && !s.o.AllowEmpty {
		return fmt.Errorf("%s has no files, but the index has %d of it: is a disk not mounted? "+
			"If they were all removed, say so by folders.Options.AllowEmpty", s.folder, len(s.gone))
	}
	r := s.report
	r.Ignored, r.Links, r.Special, r.Problems, r.folders = found.ignored, found.links, found.special, append(r.Problems, found.err...), found.folders
	var todo []file
	for _, f := range found.files {
		f.old = s.gone[f.path]
		delete(s.gone, f.path)
		if f.old != nil && !s.o.Again && !s.o.Hash && !f.old.recheck &&
			f.old.size == f.size && f.old.modified == f.modified.UnixMilli() {
			r.Unchanged++
			continue
		}
		todo = append(todo, f)
		s.total += f.size
	}
	for path := range s.gone { // what cannot be looked at is kept
		if slices.ContainsFunc(found.failed, func(folder string) bool { return strings.HasPrefix(path, folder) }) {
			delete(s.gone, path)
		}
	}
	for path, f := range s.gone {
		hash, err := hashOf(s.old, f)
		if err != nil {
			return err
		}
		if other, ok := s.byHash[hash]; !ok || path < other { // the same one each time
			s.byHash[hash] = path
		}
	}
	if err := s.w.SetRoot(text.Root{Folder: s.folder, Whole: true}); err != nil {
		return err
	}
	for len(todo) > 0 {
		n := min(len(todo), s.o.Batch)
		if err := s.add(ctx, todo[:n]); err != nil {
			return err
		}
		if todo = todo[n:]; len(todo) > 0 {
			if err := s.w.Commit(); err != nil {
				return err
			}
		}
	}
	for path, f := range s.gone {
		if err := s.delete(f); err != nil {
			return err
		}
		if !s.moved[path] {
			r.Deleted++
		}
	}
	return s.finish(ctx, dir)
}

// delete deletes the documents of a file, unless others have taken their IDs.
func (s *syncer) delete(f *known) error {
	for _, d := range f.docs {
		if s.emitted[d.id] {
			continue
		}
		if _, err := s.w.Delete(d.id); err != nil {
			return err
		}
	}
	return nil
}

// finish publishes the changes.
func (s *syncer) finish(ctx context.Context, dir string) error {
	_, err := s.w.CommitAndMerge(ctx)
	if failed := (*segments.MergeError)(nil); errors.As(err, &failed) && ctx.Err() == nil {
		if s.o.Note != nil {
			s.o.Note(err.Error() + "; the next change tries again")
		}
		err = nil
	}
	if err != nil {
		return err
	}
	g, err := segments.Open(dir)
	if err != nil {
		return err
	}
	r := s.report
	r.Passages = g.Schema().Passages != nil
	r.Documents, r.Segments, r.Generation = g.Docs(), len(g.Segments()), g.Generation()
	return g.Close()
}

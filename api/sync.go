package api

import (
	"context"

	"github.com/collocate/collocate/folders"
	"github.com/collocate/collocate/text"
)

// Sync asks to make an index have the files of a folder, and nothing of files that are gone.
type Sync struct {
	Analyzer    string   `ask:"analyzer" default:"unicode" some:"analyzers" help:"of a new index: how text is split into words, by an analyzer or a chain of steps"`
	NoPositions bool     `ask:"no_positions" help:"of a new index: do not keep the positions of words, which phrases need"`
	Exclude     []string `ask:"exclude" help:"leave out files and folders that match these patterns, which mean what they do in .gitignore"`
	NoIgnore    bool     `ask:"no_ignore" help:"also take what .gitignore and .ignore leave out"`
	Hidden      bool     `ask:"hidden" help:"also take files and folders whose names begin with a dot"`
	Encoding    string   `ask:"encoding" help:"encoding of text that does not say its own and is not UTF-8 (default a guess)"`
	MaxFile     Size     `ask:"max_file" default:"256MB" help:"files that are larger are known by their names only"`
	Hash        bool     `ask:"hash" help:"compare the contents of all files, not only their sizes and times"`
	Again       bool     `ask:"again" help:"read all files again, also those that did not change"`
	Moved       bool     `ask:"moved" help:"the folder was moved here since the index was made"`
	AllowEmpty  bool     `ask:"allow_empty" help:"delete all documents if the folder has no files any more"`
	Cutting
	Watch bool `ask:"watch" help:"go on until interrupted: follow each change within seconds"`
}

const folderDoors = "http: the server changes no index by files of its machine: run the command beside it, and it follows; " +
	"python: run the command, as a job or with watch; page: it knows the files that are dropped on it alone"

// SyncQuestion declares how a folder is followed.
var SyncQuestion = answers[folders.Report](declare[Sync]("sync", "keep an index in step with a folder of files", onlyReads, noWriting, folderDoors))

// Options returns how the folder is followed. The analyzer is that of a new index.
func (q *Sync) Options(a text.Analyzer) (o folders.Options, err error) {
	if q.Encoding != "" {
		if _, err := text.ParseEncoding(q.Encoding); err != nil {
			return o, wrong("encoding", err)
		}
	}
	cut, err := q.Cutting.passages()
	if err != nil {
		return o, err
	}
	if cut != nil && cut.Field == "" {
		cut.Field = "text"
	}
	return folders.Options{
		Passages: cut, Analyzer: a, Positions: !q.NoPositions, Exclude: q.Exclude, NoIgnore: q.NoIgnore, Hidden: q.Hidden,
		Encoding: q.Encoding, MaxFile: int64(q.MaxFile), Hash: q.Hash, Again: q.Again, Moved: q.Moved, AllowEmpty: q.AllowEmpty,
	}, nil
}

// Do follows the folder once or, with Watch, until the context ends. did is called after each time.
func (q *Sync) Do(ctx context.Context, folder, dir string, o folders.Options, did func(*folders.Report, error) error) error {
	if q.Watch {
		return folders.Watch(ctx, folder, dir, o, folders.Watching{}, did)
	}
	return did(folders.Sync(ctx, folder, dir, o))
}

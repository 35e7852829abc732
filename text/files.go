package text

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// input is one file of the corpus before it is opened.
type input struct {
	path     string // for errors; "-" is standard input
	name     string // for IDs
	size     int64  // bytes on disk; 0 if it is not a regular file
	regular  bool
	inFolder bool
	outside  bool    // of Options.Root, so that it has no name for IDs
	note     string  // to be passed on before it is read
	part     *Stream // read instead of the path, if not nil
}

// before returns the number of documents of the file before this part.
func (in *input) before() int64 {
	if in.part == nil {
		return 0
	}
	return in.part.Before
}

// inputs lists the files of the corpus in order: the paths as given, each folder replaced by the
// files below it in byte order of their paths. Links are followed.
func (c *Corpus) inputs() ([]input, error) {
	var list []input
	for i := range c.Streams {
		list = append(list, input{path: c.Streams[i].Name, name: c.Streams[i].Name, part: &c.Streams[i]})
	}
	if len(list) > 0 {
		return list, nil
	}
	except := present(c.Options.Except)
	stdin := false
	var from []string // the path of the corpus that names or holds each file
	for _, path := range c.Paths {
		if path == "-" {
			if stdin {
				return nil, fmt.Errorf("standard input (-) is given twice")
			}
			stdin = true
			list, from = append(list, input{path: "-", name: "stdin"}), append(from, path)
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			if err := c.bad(path, err); err != nil {
				return nil, err
			}
			continue
		}
		if !info.IsDir() {
			from = append(from, path)
			list = append(list, input{path: path, name: filepath.Base(path),
				size: sizeOf(info), regular: info.Mode().IsRegular()})
			continue
		}
		below := len(list)
		if list, err = c.walk(list, path, "", []os.FileInfo{info}, except); err != nil {
			return nil, err
		}
		for range list[below:] {
			from = append(from, path)
		}
		slices.SortFunc(list[below:], func(a, b input) int { return strings.Compare(a.name, b.name) })
	}
	if c.Options.Root != "" {
		return c.underRoot(list, from), nil
	}
	tellApart(list)
	return list, nil
}

// bad reports a file or folder that cannot be read to Options.SkipBad, or returns the error.
func (c *Corpus) bad(path string, err error) error {
	if c.Options.SkipBad == nil {
		return err
	}
	c.Options.SkipBad(path, err)
	return nil
}

// tellApart replaces equal names of files by their paths, so that the IDs of their documents
// differ.
func tellApart(list []input) {
	count := map[string]int{}
	for _, in := range list {
		count[in.name]++
	}
	for i := range list {
		if in := &list[i]; count[in.name] > 1 && in.path != "-" {
			in.name = filepath.ToSlash(filepath.Clean(in.path))
		}
	}
}

// present returns the FileInfos of the paths that exist.
func present(paths []string) (list []os.FileInfo) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			list = append(list, info)
		}
	}
	return list
}

func isOneOf(list []os.FileInfo, info os.FileInfo) bool {
	return slices.ContainsFunc(list, func(other os.FileInfo) bool { return os.SameFile(other, info) })
}

// walk appends the files below folder. above are the folders on the path to it: one that occurs
// again is a loop of links.
func (c *Corpus) walk(list []input, folder, prefix string, above, except []os.FileInfo) ([]input, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return list, c.bad(folder, err)
	}
	only := beirCorpus(entries)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || only != "" && e.Name() != only {
			continue
		}
		path := filepath.Join(folder, e.Name())
		name := prefix + e.Name()
		info, err := os.Stat(path)
		switch {
		case err != nil:
			if err := c.bad(path, err); err != nil {
				return nil, err
			}
		case isOneOf(except, info):
		case info.IsDir():
			if isOneOf(above, info) {
				if err := c.bad(path, fmt.Errorf("%s: a symbolic link to a folder that contains it", path)); err != nil {
					return nil, err
				}
				continue
			}
			if list, err = c.walk(list, path, name+"/", append(above, info), except); err != nil {
				return nil, err
			}
		case !info.Mode().IsRegular():
			if err := c.bad(path, fmt.Errorf("%s: not a file but a %s", path, kindOf(info.Mode()))); err != nil {
				return nil, err
			}
		default:
			in := input{path: path, name: name, size: info.Size(), regular: true, inFolder: true}
			if only != "" {
				in.note = "of a folder in BEIR's layout only this is read, not its queries and judgments"
			}
			list = append(list, in)
		}
	}
	return list, nil
}

// beirCorpus returns the name of the corpus in a folder with BEIR's layout, or "":
//
//	corpus.jsonl
//	queries.jsonl
//	qrels/test.tsv
func beirCorpus(entries []os.DirEntry) string {
	corpus, others := "", false
	for _, e := range entries {
		name, _, _ := strings.Cut(e.Name(), ".jsonl")
		switch {
		case name == "corpus" && !e.IsDir():
			corpus = e.Name()
		case name == "queries" && !e.IsDir() || e.Name() == "qrels" && e.IsDir():
			others = true
		}
	}
	if !others {
		return ""
	}
	return corpus
}

func sizeOf(info os.FileInfo) int64 {
	if info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}

func kindOf(m os.FileMode) string {
	switch {
	case m&os.ModeNamedPipe != 0:
		return "pipe"
	case m&os.ModeSocket != 0:
		return "socket"
	default:
		return "device"
	}
}

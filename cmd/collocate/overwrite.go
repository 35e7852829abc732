package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/collocate/collocate/index/bucket"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/s3"
)

// These lists name the flags for files that are written and for files that are read. A flag has
// the same meaning in every verb, so they hold for all verbs. A test finds flags in neither list.
var (
	outputFlags = []string{"out", "run", "save-vocab", "ciff", "npz", "geojson", "geopackage", "svg", "html", "local",
		"local-svg", "csv", "rules-csv", "receipt", "access-log", "trace", "network",
		"index", "work", "parts", "spill"}
	inputFlags = []string{"topics", "qrels", "schema", "vocab", "dict", "matrix", "points", "hierarchy", "regions", "window",
		"tls-cert", "tls-key", "token-file", "reference",
		"stopwords", "synonyms", "ids", "id-root", "vectors", "vector-ids", "vector-of", "sparse-of", "embed", "shard-token-file", "indexes",
		"cache"}
)

// leadingPaths is the number of leading arguments that are paths, for verbs whose other arguments
// are words.
var leadingPaths = map[string]int{"search": 1, "show": 1, "neighbours": 1, "similar": 1, "analogy": 1, "lookup": 1}

// named is a file that the command line names.
type named struct {
	flag string // "" for an argument
	path string
	info fs.FileInfo // nil if the file does not exist yet
}

func (n named) String() string {
	if n.flag == "" {
		return n.path
	}
	return "--" + n.flag + " " + n.path
}

// keepInputs refuses to overwrite a file that the same command reads, also through another name or
// a link: files are compared by device and inode. It runs before every verb.
//
// A result may lie inside a folder that is read, since corpora leave it out. But it is refused if a
// link in that folder leads to it, or if the folder is an index.
func (a *app) keepInputs(cmd *cobra.Command, args []string) error {
	inputs, outputs := a.namedInputs(cmd, args), a.namedOutputs(cmd)
	for i, out := range outputs {
		if err := isNoAddress(cmd, out); err != nil {
			return err
		}
		for _, other := range outputs[:i] {
			if samePath(out, other) && !atomicfile.IsStream(out.path) && !atomicfile.IsStream(other.path) {
				return usagef("%v and %v are the same file: name two files", other, out)
			}
		}
		if out.info == nil || !out.info.Mode().IsRegular() {
			continue // a new file, a folder (which its writer protects) or a device
		}
		for _, in := range inputs {
			if os.SameFile(in.info, out.info) {
				return usagef("%v is the input %v, which would be overwritten: name another file", out, in)
			}
			if path := sameInFolder(in, out); path != "" {
				return usagef("%v is %s, a file of the input %v, which would be overwritten: name another file", out, path, in)
			}
		}
	}
	return nil
}

// s3Annotation lists the flags of a verb whose files may be in S3, separated by blanks.
const s3Annotation = "s3"

// isNoAddress refuses s3://bucket/file and other addresses where only files and folders can be
// written. A folder named s3: would be created otherwise.
func isNoAddress(cmd *cobra.Command, out named) error {
	scheme, _, is := strings.Cut(out.path, "://")
	if !is || strings.ContainsAny(scheme, `/\`) {
		return nil
	}
	if out.flag == "out" && cmd.Annotations[bucketAnnotation] == "out" && bucket.Is(out.path) {
		return nil
	}
	takesS3 := slices.Contains(strings.Fields(cmd.Annotations[s3Annotation]), out.flag)
	switch {
	case takesS3 && s3.Is(out.path):
		return nil
	case takesS3:
		return usagef("%v: want a path, or an address in S3, as in s3://bucket/file", out)
	}
	return usagef("%v: %scannot write to an address; name a local path, and copy it from there", out,
		verbPath(cmd))
}

// namedInputs returns the files to be read that exist.
func (a *app) namedInputs(cmd *cobra.Command, args []string) (list []named) {
	if n, ok := leadingPaths[cmd.Name()]; ok {
		args = args[:min(n, len(args))]
	}
	add := func(flag, path string) {
		if path == "" || path == "-" {
			return
		}
		if info, err := os.Stat(path); err == nil {
			list = append(list, named{flag, path, info})
		}
	}
	for _, path := range args {
		add("", path)
	}
	for _, name := range inputFlags {
		if f := cmd.Flags().Lookup(name); f != nil && isPath(f) {
			add(name, f.Value.String())
		}
	}
	if f, ok := a.stdin.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			list = append(list, named{"", "on standard input", info})
		}
	}
	return list
}

// namedOutputs returns the files to be written.
func (a *app) namedOutputs(cmd *cobra.Command) (list []named) {
	for _, name := range outputFlags {
		f := cmd.Flags().Lookup(name)
		if f == nil || !isPath(f) {
			continue
		}
		info, err := os.Stat(f.Value.String())
		if err != nil {
			info = nil
		}
		list = append(list, named{name, f.Value.String(), info})
	}
	if o, ok := a.stdout.(*output); ok {
		if info, err := o.f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			list = append(list, named{"", "standard output", info})
		}
	}
	return list
}

// isPath reports whether a flag is set to the name of a file, and not to a standard stream.
func isPath(f *pflag.Flag) bool {
	path := f.Value.String()
	return f.Value.Type() == "string" && path != "" && path != "-"
}

func samePath(a, b named) bool {
	if a.info != nil && b.info != nil {
		return a.info.Mode().IsRegular() && os.SameFile(a.info, b.info)
	}
	x, err1 := filepath.Abs(a.path)
	y, err2 := filepath.Abs(b.path)
	return err1 == nil && err2 == nil && x == y && a.flag != "" && b.flag != ""
}

// sameInFolder returns the path in the folder in that is the file out, or "" if writing out is
// allowed.
func sameInFolder(in, out named) (found string) {
	if !in.info.IsDir() {
		return ""
	}
	ofIndex := isIndex(in.path)
	own, err := filepath.EvalSymlinks(out.path)
	if err != nil {
		own = out.path
	}
	if abs, err := filepath.Abs(own); err == nil {
		own = abs
	}
	// The verb itself reports what cannot be read.
	_ = filepath.WalkDir(in.path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if !ofIndex && strings.HasPrefix(e.Name(), ".") {
			return nil // corpora leave hidden files out
		}
		info, err := os.Stat(path)
		if err != nil || !os.SameFile(info, out.info) {
			return nil
		}
		if abs, err := filepath.Abs(path); err != nil || ofIndex || !sameName(abs, own) {
			found = path
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// sameName reports whether two paths are the same entry of the same folder.
func sameName(a, b string) bool {
	if filepath.Base(a) != filepath.Base(b) {
		return false
	}
	x, err1 := os.Stat(filepath.Dir(a))
	y, err2 := os.Stat(filepath.Dir(b))
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

package cooccur

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
)

// Format is a file format for matrices.
type Format int

const (
	CSR          Format = iota // .cooc, our own: memory-mapped rows with words, for look-ups
	GloVe                      // Stanford GloVe's cooccurrence.bin
	MatrixMarket               // text, coordinates from 1
	NPZ                        // a SciPy CSR matrix, as scipy.sparse.save_npz writes it
	Parquet                    // columns id1, id2, word1, word2, value
	TSV                        // lines of word, word and value
)

var formatNames = choice.New[Format]("format", "csr", "glove", "mtx", "npz", "parquet", "tsv")

// endings lists the file name endings of the formats.
var endings = []string{".cooc", ".bin", ".mtx", ".npz", ".parquet", ".tsv"}

func (f Format) String() string { return formatNames.Of(f) }

// MarshalText returns the name, for JSON.
func (f Format) MarshalText() ([]byte, error) { return formatNames.Text(f) }

// UnmarshalText is the inverse of MarshalText.
func (f *Format) UnmarshalText(name []byte) error { return formatNames.Set(f, string(name)) }

// ParseFormat returns the format of that name.
func ParseFormat(name string) (Format, error) { return formatNames.Parse(name) }

// FormatOf returns the format that the name of a file stands for.
func FormatOf(path string) (Format, error) {
	if i := slices.Index(endings, strings.ToLower(filepath.Ext(path))); i >= 0 {
		return Format(i), nil
	}
	return 0, fmt.Errorf("%s: unknown format: want a name that ends in .cooc, .bin, .mtx, .npz, .parquet or .tsv", path)
}

// File is a Sink that writes a matrix file. The file appears under its name at Commit.
type File struct {
	file  *atomicfile.File
	rows  encoder
	cells int64 // see Scored
	about Corpus
}

// Rows implements Sink. It writes these rows after the previous ones.
func (f *File) Rows(r *Rows) error { return f.rows.Rows(r) }

// Describe records what the matrix was made from, for formats that store it. It must be called
// before Commit.
func (f *File) Describe(s Stats) {
	f.about.Words, f.about.Kept, f.about.Documents = uint64(s.Words), uint64(s.Kept), uint64(s.Documents)
}

// Scored returns, after Commit, the number of nonzero cells of a matrix that holds a measure (see
// Options.Values).
func (f *File) Scored() int64 { return f.cells }

// encoder writes rows in a file format; close writes what follows the rows.
type encoder interface {
	Sink
	close(Corpus) error
	abort()
}

// Create starts a file. Some formats store opt, the options that the matrix is made with.
func Create(path string, format Format, v *Vocabulary, opt Options) (*File, error) {
	j, err := newJob(v, opt)
	if err != nil {
		return nil, err
	}
	if err := text.CheckName(opt.Analyzer); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	if err := scores(format, opt.Values); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	e, err := newEncoder(f, format, v, j.Options)
	if err != nil {
		f.Abort()
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	out := &File{file: f, rows: e,
		about: Corpus{Analyzer: analyzerOf(opt.Analyzer).Name(), Subsampled: opt.Subsample > 0}}
	if opt.Values != ByValue {
		s, err := newScored(e, v.Len(), opt.Values, ScratchDir(path), &out.cells)
		if err != nil {
			e.abort()
			f.Abort()
			return nil, err
		}
		out.rows = s
	}
	return out, nil
}

// MakeFile makes the vocabulary of a corpus and its matrix, as Make does, and writes the matrix to
// a file. The ending of the file name selects the format (see FormatOf).
func MakeFile(ctx context.Context, path string, corpus *text.Corpus, vocabulary VocabularyOptions,
	opt Options) (vs VocabularyStats, stats Stats, err error) {
	if err := given.Context(ctx); err != nil {
		return VocabularyStats{}, Stats{}, err
	}
	format, err := FormatOf(path)
	if err != nil {
		return vs, stats, err
	}
	if err := oneAnalyzer(&vocabulary, &opt); err != nil {
		return vs, stats, err
	}
	if opt.TempDir == "" {
		opt.TempDir = ScratchDir(path)
	}
	var file *File
	vs, stats, err = Make(ctx, corpus, vocabulary, opt, func(v *Vocabulary) (_ Sink, err error) {
		file, err = Create(path, format, v, opt)
		return file, err
	})
	if file == nil {
		return vs, stats, err
	}
	defer file.Abort()
	if err != nil {
		return vs, stats, err
	}
	file.Describe(stats)
	return vs, stats, file.Commit()
}

func newEncoder(f *atomicfile.File, format Format, v *Vocabulary, opt Options) (encoder, error) {
	switch format {
	case CSR:
		return newCSREncoder(f, v, opt)
	case GloVe:
		return &gloveEncoder{f.Writer}, nil
	case MatrixMarket:
		return newMTXEncoder(f, v, opt)
	case NPZ:
		return newNPZEncoder(f, v, opt)
	case Parquet:
		return newParquetEncoder(f, v, opt)
	case TSV:
		return &tsvEncoder{w: f, vocab: v}, nil
	}
	return nil, fmt.Errorf("unknown format %v", format)
}

// ScratchDir returns the folder for temporary files while path is written: the folder of path,
// unless path is a device or a pipe. Then it returns "", which means the system's default.
func ScratchDir(path string) string {
	if atomicfile.IsStream(path) {
		return ""
	}
	return filepath.Dir(path)
}

// Commit finishes the file and makes it appear under its name.
func (f *File) Commit() error {
	if err := f.rows.close(f.about); err != nil {
		f.Abort()
		return err
	}
	return f.file.Commit()
}

// Abort removes the unfinished file. After Commit it does nothing.
func (f *File) Abort() {
	f.rows.abort()
	f.file.Abort()
}

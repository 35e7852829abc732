package dict

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/sections"
)

const (
	magic   = "COLODIC\n"
	version = 1
)

// Options are the options of Build. The zero value builds an xbw.
type Options struct {
	Kind    Kind  // data structure of the dictionary; the zero value is XBW
	Threads int   // 0 means GOMAXPROCS
	Memory  int64 // bound in bytes on the table of an stt; 0 means 2 GB
}

// meta is the section of that name: see the package comment.
type meta struct {
	kind                              Kind
	words, nodes, rows, leaves, chars int
	longest                           int
	bytes                             int64
	whole, heads                      int
}

func (m *meta) numbers() []uint64 {
	return []uint64{
		uint64(m.kind), uint64(m.words), uint64(m.nodes), uint64(m.rows), uint64(m.leaves),
		uint64(m.chars), uint64(m.longest), uint64(m.bytes), uint64(m.whole), uint64(m.heads),
	}
}

func readMeta(v []uint64) (*meta, error) {
	for i, n := range v {
		if n > math.MaxInt64/1024 || i < 7 && n > math.MaxInt32 {
			return nil, fmt.Errorf("corrupted: number %d of section \"meta\" is %d", i, n)
		}
	}
	m := &meta{
		kind: Kind(v[0]), words: int(v[1]), nodes: int(v[2]), rows: int(v[3]), leaves: int(v[4]),
		chars: int(v[5]), longest: int(v[6]), bytes: int64(v[7]), whole: int(v[8]), heads: int(v[9]),
	}
	if m.kind >= kinds {
		return nil, fmt.Errorf("corrupted: unknown kind of dictionary %d", m.kind)
	}
	if m.heads > maxHeads || m.rows > m.nodes || m.leaves > m.words || m.leaves+m.rows > m.nodes+m.words {
		return nil, fmt.Errorf("corrupted: %d words, %d nodes, %d rows, %d leaves", m.words, m.nodes, m.rows, m.leaves)
	}
	return m, nil
}

// Build writes a dictionary of the words. The memory it needs is proportional to their total
// length.
func Build(ctx context.Context, w *Words, o Options, to io.Writer) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = 2e9
	}
	out, err := sections.NewWriter(to, magic, version)
	if err != nil {
		return err
	}
	a := w.alphabet()
	m := &meta{kind: o.Kind, words: w.Len(), chars: len(a.chars), longest: w.longest(), bytes: w.Bytes()}
	if err := out.Section("alphabet", a.chars); err != nil {
		return err
	}
	switch o.Kind {
	case XBW, XBWPlain, XBWPaper:
		err = buildXBW(ctx, w, m, &o, out)
	case STT:
		err = buildSTT(ctx, w, m, &o, out)
	case Hash:
		err = buildHash(ctx, w, m, out)
	case Double:
		err = buildDouble(ctx, w, m, out)
	case Front:
		err = buildFront(ctx, w, m, out)
	default:
		err = fmt.Errorf("dict: unknown kind %v", o.Kind)
	}
	if err != nil {
		return fmt.Errorf("build %v dictionary: %w", o.Kind, err)
	}
	if err := out.Section("meta", sections.Bytes(m.numbers())); err != nil {
		return err
	}
	return out.Close()
}

// BuildFile is like Build, into a file that appears only when it is complete.
func BuildFile(ctx context.Context, w *Words, o Options, path string) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	return atomicfile.WriteFile(path, func(f *atomicfile.File) error { return Build(ctx, w, o, f) })
}

// File is an open dictionary.
type File struct {
	Dict
	meta *meta
	file *sections.File
}

// Open maps a dictionary and verifies its checksums, which reads the file once.
func Open(path string) (*File, error) {
	f, err := sections.Open(path, magic, version)
	if err != nil {
		return nil, err
	}
	var d *File
	err = Guarded(func() (err error) {
		if err := f.Verify(); err != nil {
			return err
		}
		d, err = open(f)
		return err
	})
	if err == nil {
		return d, nil
	}
	f.Close()
	return nil, fmt.Errorf("%s: %w", path, err)
}

// Parse is like Open, for a dictionary in memory. The address of data must be a multiple of 8.
func Parse(data []byte) (*File, error) {
	f, err := sections.Parse(data, magic, version)
	if err != nil {
		return nil, err
	}
	if err := f.Verify(); err != nil {
		return nil, err
	}
	return open(f)
}

func open(f *sections.File) (*File, error) {
	r := reader{file: f}
	numbers := view[uint64](&r, "meta", 10)
	chars := view[uint8](&r, "alphabet", -1)
	if r.err != nil {
		return nil, r.err
	}
	m, err := readMeta(numbers)
	if err != nil {
		return nil, err
	}
	if len(chars) != m.chars || len(chars) > 256 {
		return nil, fmt.Errorf("corrupted: an alphabet of %d characters, want %d", len(chars), m.chars)
	}
	a := newAlphabet(chars)
	d := &File{meta: m, file: f}
	switch m.kind {
	case XBW, XBWPlain, XBWPaper:
		d.Dict, err = openXBW(f, m, a)
	case STT:
		d.Dict, err = openSTT(f, m, a)
	case Hash:
		d.Dict, err = openHash(f, m)
	case Double:
		d.Dict, err = openDouble(f, m, a)
	case Front:
		d.Dict, err = openFront(f, m, a)
	}
	return d, err
}

// Guarded calls fn and returns its error. If fn reads a dictionary whose file was truncated after
// it was opened, Guarded returns an error where the program would otherwise crash. Only ID and
// Word, which return no error, need it.
func Guarded(fn func() error) error { return mmap.Safely(fn) }

// Check verifies the checksums, and that each word is found by its number and each number by its
// word.
func (d *File) Check(ctx context.Context) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	return Guarded(func() error {
		if err := d.file.Verify(); err != nil {
			return err
		}
		var word []byte
		for id := range uint32(d.Len()) {
			word = d.Word(word[:0], id)
			if got, ok := d.ID(word); !ok || got != id {
				return fmt.Errorf("corrupted: word %d, %q, is found as %d, %t", id, word, got, ok)
			}
			if id%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
}

// Close unmaps the file. The dictionary must not be used afterwards.
func (d *File) Close() error { return d.file.Close() }

// Stats describes a dictionary.
type Stats struct {
	Kind       string    `json:"kind"`                 // name of the kind, as ParseKind accepts it
	Words      int       `json:"words"`                // number of words
	Characters int64     `json:"characters"`           // bytes of all words
	Longest    int       `json:"longest"`              // bytes of the longest word
	Alphabet   int       `json:"alphabet"`             // different bytes in the words, at most 256
	Nodes      int       `json:"nodes,omitempty"`      // nodes of the trie as stored, 0 if none
	TrieNodes  int       `json:"trie_nodes,omitempty"` // nodes if no tails were cut off
	Bytes      int64     `json:"bytes"`                // size of all Sections
	BitsPerKey float64   `json:"bits_per_key"`         // 8*Bytes/Words; 0 without words
	STTBytes   int64     `json:"stt_bytes,omitempty"`  // size of the whole trie as an stt
	Sections   []Section `json:"sections"`             // in the order of the file
}

// Section is a part of a dictionary's file.
type Section struct {
	Name  string `json:"name"`  // such as "alphabet"; see the package comment
	Bytes int64  `json:"bytes"` // size of its content in the file
}

// Stats describes the dictionary.
func (d *File) Stats() Stats {
	m := d.meta
	s := Stats{
		Kind: m.kind.String(), Words: m.words, Characters: m.bytes, Longest: m.longest, Alphabet: m.chars,
		Nodes: m.nodes, TrieNodes: m.whole, STTBytes: sttBytes(m.whole, m.chars),
	}
	for _, i := range d.file.Sections() {
		s.Sections = append(s.Sections, Section{i.Name, i.Bytes})
		s.Bytes += i.Bytes
	}
	if m.words > 0 {
		s.BitsPerKey = float64(8*s.Bytes) / float64(m.words)
	}
	return s
}

// Len returns the number of words; their numbers are 0 to Len()-1.
func (d *File) Len() int { return d.meta.words }

// Kind returns the kind of the dictionary.
func (d *File) Kind() Kind { return d.meta.kind }

// OnTheFly returns a view of the dictionary that decodes blocks of bit vectors by computation
// instead of by a table. The papers name both ways and use the table. ok is false for kinds without
// such blocks. Closing d closes both.
func (d *File) OnTheFly() (other *File, ok bool) {
	x, ok := d.Dict.(*xbw)
	if !ok || x.rrr == nil {
		return nil, false
	}
	bits, trie, file := *x.rrr, *x, *d
	bits.compute = true
	trie.rrr, trie.down, file.Dict = &bits, &bits, &trie
	return &file, true
}

// reader collects sections and keeps the first error.
type reader struct {
	file *sections.File
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("corrupted: "+format, args...)
	}
}

// view returns a section of n numbers, or of any number if n < 0.
func view[T sections.Number](r *reader, name string, n int) []T {
	b, err := r.file.Section(name)
	if err == nil {
		var v []T
		if v, err = sections.View[T](b); err == nil && n >= 0 && len(v) != n {
			err = fmt.Errorf("corrupted: section %q has %d numbers, want %d", name, len(v), n)
		}
		if err == nil {
			return v
		}
	}
	if r.err == nil {
		r.err = err
	}
	return nil
}

func (r *reader) tails(a *alphabet) *tails {
	return newTails(view[uint64](r, "tail-words", -1), view[uint32](r, "tail-starts", -1), a)
}

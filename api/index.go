package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/vecfile"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Storing says what an index keeps of documents besides their words.
type Storing struct {
	StoreText bool `ask:"store_text" help:"keep the text, for snippets"`
	Positions bool `ask:"positions" help:"keep the positions of words, for phrases"`
}

// Fielding says which fields an index has, and what the IDs of files are.
type Fielding struct {
	Schema string `ask:"schema" file:"" group:"Corpus" help:"JSON file that lists fields with types, instead of fields"`
	IDRoot string `ask:"id_root" file:"" group:"Corpus" help:"folder to which the IDs of files are relative (default the one that the index remembers; for a new index the folder that is named, or the deepest that holds all files)"`
	Cutting
}

// Beside names a file with the vectors of the documents.
type Beside struct {
	Vectors     string `ask:"vectors" file:"" filled:"" group:"Vectors" help:"FILE with vectors of the documents, .npy or .fvecs: a row for each, in their order, or for each ID of vector_ids"`
	VectorIDs   string `ask:"vector_ids" file:"" filled:"" group:"Vectors" help:"FILE with the ID of the document of each row of vectors, one per line"`
	VectorField string `ask:"vector_field" group:"Vectors" help:"the field that vectors are for; it may be left out if there is only one"`
}

// BesideFile is an open file with the vectors of the documents.
type BesideFile interface {
	text.Beside
	Close() error
}

// Open opens the file, or returns nil if none is named.
func (q *Beside) Open() (BesideFile, error) {
	if q.Vectors == "" {
		switch {
		case q.VectorIDs != "":
			return nil, wrongf("vector_ids", "it needs vectors, the file with their rows")
		case q.VectorField != "":
			return nil, wrongf("vector_field", "it needs vectors, the file with their rows")
		}
		return nil, nil
	}
	b, err := vecfile.OpenBeside(q.Vectors, q.VectorField, q.VectorIDs)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Building says how an index is made.
type Building struct {
	Out string `ask:"out" short:"o" python:"path" help:"folder for the index"`
	Storing
	AllowDuplicateIDs bool `ask:"allow_duplicate_ids" help:"accept documents that have the same ID"`
	Reorder           bool `ask:"reorder" help:"number documents so that those with the same words are neighbours, if that makes the postings smaller: the index of a real text becomes a few per cent smaller, the build takes up to half as long again, two to three times with stored text or positions; stored text may grow, and queries are no faster: see docs/performance.md"`
}

// Build asks for an index of documents.
type Build struct {
	Building
	Beside
	Fielding
	SynonymFile
	Reading
}

// Adding says how documents are added to an index.
type Adding struct {
	Storing `not:"http python: the index exists, and keeps the options that it was made with"`
	NoMerge bool `ask:"no_merge" not:"http: the server merges when it is idle; python: segments are merged when it is due" help:"do not merge segments"`
	Refreshing
	Job bool `ask:"job" not:"command python: they wait" help:"keep the documents in a file, answer with a job, and add them then"`
}

// Refreshing says when a server makes a change visible.
type Refreshing struct {
	Refresh string `ask:"refresh" default:"false" one:"false,wait,true" not:"command python: a change is visible when the call ends" help:"wait for the next commit, or commit at once (true), so that searches find the change when the answer comes"`
}

// Add asks to add documents to an index, or to replace those with the same IDs.
type Add struct {
	Adding
	NewIndex `not:"http python: the index exists, and keeps the options that it was made with"`
	IDRoot   string `ask:"id_root" file:"" group:"Corpus" not:"http: documents have IDs" help:"folder to which the IDs of files are relative (default the one that the index remembers)"`
	Beside   `not:"http: documents have their vectors, as arrays"`
	Files    `not:"http: the body has one JSON object per line, with the fields of the index"`
}

// NewIndex says how documents are split into words and fields, if they are added to a new index.
type NewIndex struct {
	Analyzer  string `ask:"analyzer" group:"Corpus" default:"unicode" some:"analyzers" help:"of a new index: how text is split into words, by an analyzer or a chain of steps"`
	Stopwords string `ask:"stopwords" file:"" group:"Corpus" help:"of a new index: drop the words in this file, one per line"`
	Schema    string `ask:"schema" file:"" group:"Corpus" help:"of a new index: JSON file that lists fields with types"`
	SynonymFile
	Cutting
}

// Delete asks to delete documents by their IDs, or by a query.
type Delete struct {
	Query string `ask:"q" also:"query" flag:"query" python:"query" needed:"" help:"delete all documents that match this query of a search; * matches all"`
	IDs   string `ask:"ids" not:"http: DELETE /v1/documents/ID deletes one" help:"file with one ID per line"`
	Refreshing
}

// Merge asks to merge segments of about the same size.
type Merge struct{}

// Compact asks for one segment without deleted documents.
type Compact struct {
	Out string `ask:"out" short:"o" not:"http: the server names no folders" help:"folder for an index without segments; by default the index itself becomes one segment"`
}

// Stats asks what is in an index, and how large its parts are.
type Stats struct{}

// Show asks what an index stores of a document.
type Show struct {
	ID         string   `ask:"id" path:"id" python:"docs" flag:"" needed:"" help:"the ID of the document"`
	Show       []string `ask:"show" python:"names" not:"http root mcp: all is shown" help:"fields to show (default all that are stored)"`
	Start      int      `ask:"start" range:"0.." not:"command http root python: the whole text is shown" help:"where to begin, in bytes; for long documents"`
	Around     int      `ask:"around" default:"-1" range:"-1.." not:"root: it reads no texts; python: Index.stored shows all" help:"show only the part of the text around this offset in bytes, with the headings above (-1: all)"`
	Bytes      int      `ask:"bytes" default:"20000" range:"1..200000" not:"root: it reads no texts; python: Index.stored shows all" help:"how much of the text to show around an offset; a letter is never split"`
	Tokens     int      `ask:"tokens" range:"0.." not:"command http root python: bytes says how much" help:"show at most about so many tokens of a language model, four bytes each (0: as bytes says)"`
	Neighbours int      `ask:"neighbours" range:"0..100" not:"root: it reads no texts; python: Index.stored shows all" help:"show a passage with so many before and after it"`
}

const (
	onlyReads = "mcp: assistants only read; gpu: there is little to compute"
	noTidying = "page: it is for operators"
	noWriting = "root: it changes no index: change the whole one, and divide that into shards again"
)

// The questions about an index.
var (
	StoringQuestion    = part[Storing]("storing", "what an index keeps")
	FieldingQuestion   = part[Fielding]("fielding", "which fields an index has")
	SynonymsQuestion   = part[SynonymFile]("synonyms", "which synonyms an index has")
	BuildingQuestion   = part[Building]("building", "how an index is made")
	BesideQuestion     = part[Beside]("beside", "which vectors documents have")
	RefreshingQuestion = part[Refreshing]("refreshing", "when a server makes a change visible")
	AddingQuestion     = part[Adding]("adding", "how documents are added")

	BuildQuestion = answers[index.Stats](declare[Build]("index", "index documents for search",
		"mcp: assistants only read; page: it makes empty ones, to which documents are added",
		"http root: PUT /v1/indexes/NAME makes an empty one, to which documents are added").in("python: Index.build"))
	AddQuestion = answers[Changed](declare[Add]("index add", "add documents to an index, or replace those with the same IDs",
		onlyReads, noWriting).in("http: POST /v1/documents; python: Index.add"))
	DeleteQuestion = answers[Changed](declare[Delete]("index delete", "delete documents from an index by their IDs or by a query",
		onlyReads, noWriting).in("http: DELETE /v1/documents; python: Index.delete"))
	MergeQuestion = answers[Changed](declare[Merge]("index merge", "merge segments of an index where there are many of about the same size",
		onlyReads, noTidying, noWriting).in("http: POST /v1/merge; python: Index.merge"))
	CompactQuestion = answers[Changed](declare[Compact]("index compact", "make one segment of an index, without deleted documents",
		onlyReads, noTidying, noWriting).in("http: POST /v1/compact; python: Index.compact"))
	StatsQuestion = answers[index.Stats](declare[Stats]("index stats", "describe an index: what is in it, how large its parts are",
		"mcp: the server's instructions describe the index; gpu: there is nothing to compute").
		in("http: /v1/status; python: Index.stats"))
	ShowQuestion = answers[*Document](declare[Show]("show", "show the stored fields or the text of documents",
		"gpu: there is nothing to compute").
		in("http: /v1/documents/{id}; python: Index.stored; mcp: document"))
)

// Changed says what a change did, and what the index has after it.
type Changed struct {
	Index      string `json:"index"`      // its folder
	Added      int    `json:"added"`      // documents
	Replaced   int    `json:"replaced"`   // documents with the same IDs as added ones
	Deleted    int    `json:"deleted"`    // documents
	Merged     int    `json:"merged"`     // segments
	Documents  int    `json:"documents"`  // without deleted ones
	Segments   int    `json:"segments"`   // of the index
	Generation uint64 `json:"generation"` // counts the commits
}

// Describe fills in what the index in a folder has.
func (c *Changed) Describe(dir string) error {
	r, err := segments.Open(dir)
	if err != nil {
		return err
	}
	c.Index, c.Documents, c.Segments, c.Generation = dir, r.Docs(), len(r.Segments()), r.Generation()
	return r.Close()
}

// Change opens the index in a folder for writing, calls do, and commits. If merge is set, it then
// merges segments as the policy asks for and commits again. If only that fails, it is a note, since
// the changes of do are complete; if it is interrupted, the error says so.
func (c *Changed) Change(ctx context.Context, dir string, o segments.Options, merge bool,
	note func(string), do func(w *segments.Writer) error) (err error) {
	if err := given.Context(ctx); err != nil {
		return err
	}
	w, err := segments.NewWriter(dir, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := do(w); err != nil {
		return err
	}
	if !merge {
		return w.Commit()
	}
	c.Merged, err = w.CommitAndMerge(ctx)
	if failed := new(segments.MergeError); errors.As(err, &failed) && ctx.Err() == nil {
		note(err.Error() + "; segments.Writer.Merge tries again")
		return nil
	}
	return err
}

// Do deletes the documents with these IDs, or those that match the query, and returns the IDs that
// no document has. It notes how the query was understood.
func (q *Delete) Do(ctx context.Context, dir string, ids []string, o segments.Options,
	note func(string)) (c Changed, unknown []string, err error) {
	if err := given.Context(ctx); err != nil {
		return c, nil, err
	}
	switch {
	case q.Query != "" && len(ids) > 0:
		return c, nil, wrongf("q", "give it or IDs, not both")
	case q.Query != "" && strings.TrimSpace(q.Query) == "":
		return c, nil, wrongf("q", "the query is empty; * matches all documents")
	}
	if r, err := segments.Open(dir); err != nil { // a writer would create it
		return c, nil, err
	} else if err := r.Close(); err != nil {
		return c, nil, err
	}
	err = c.Change(ctx, dir, o, true, note, func(w *segments.Writer) (err error) {
		if q.Query != "" {
			c.Deleted, err = deleteMatching(ctx, w, dir, q.Query, note)
			return err
		}
		for _, id := range ids {
			n, err := w.Delete(id)
			if err != nil {
				return err
			}
			if c.Deleted += n; n == 0 {
				unknown = append(unknown, id)
			}
		}
		return nil
	})
	if err == nil {
		err = c.Describe(dir)
	}
	return c, unknown, err
}

// deleteMatching deletes the documents of the newest generation that match a query. As w is the
// only writer, nobody commits another generation meanwhile.
func deleteMatching(ctx context.Context, w *segments.Writer, dir, words string, note func(string)) (n int, err error) {
	s, err := search.Open(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var r search.Request
	if err := new(Search).Ask(AboutIndex(s), &r, words); err != nil {
		return 0, err
	}
	found, err := s.Match(ctx, r)
	if err != nil {
		return 0, err
	}
	for _, text := range DeleteNotes(words, r.Query, query.Options{Fields: s.Fields()}) {
		note(text)
	}
	return w.DeleteDocs(s.Index(), found.Sets)
}

// Do merges segments of the index in a folder.
func (q *Merge) Do(ctx context.Context, dir string, o segments.Options) (c Changed, err error) {
	if err := given.Context(ctx); err != nil {
		return c, err
	}
	return mergeWith(ctx, dir, o, (*segments.Writer).Merge)
}

// Do makes one segment of the index in a folder, or an index without segments in another.
func (q *Compact) Do(ctx context.Context, dir string, o segments.Options) (c Changed, err error) {
	if err := given.Context(ctx); err != nil {
		return c, err
	}
	if q.Out != "" {
		err = q.copyTo(ctx, dir, o.Memory, &c)
		return c, err
	}
	return mergeWith(ctx, dir, o, (*segments.Writer).Compact)
}

// copyTo writes the index in a folder as one without segments.
func (q *Compact) copyTo(ctx context.Context, dir string, memory int64, c *Changed) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	r, err := segments.Open(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	c.Merged = len(r.Segments())
	if err := MergeTo(ctx, r, q.Out, memory); err != nil {
		return err
	}
	return c.Describe(q.Out)
}

// MergeTo writes the documents of a generation as an index without segments.
func MergeTo(ctx context.Context, g *segments.Reader, out string, memory int64) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	var sources []index.Source
	for _, s := range g.Segments() {
		sources = append(sources, index.Source{Reader: s.Reader, Live: s.Live})
	}
	if len(sources) == 0 {
		return &Error{Err: fmt.Errorf("%s has no documents", g.Dir())}
	}
	return index.Merge(ctx, out, sources, index.MergeOptions{Memory: memory, Root: g.Root()})
}

func mergeWith(ctx context.Context, dir string, o segments.Options,
	merge func(*segments.Writer, context.Context) (int, error)) (c Changed, err error) {
	if err := c.Describe(dir); err != nil { // a writer would create it
		return c, err
	}
	err = c.Change(ctx, dir, o, false, nil, func(w *segments.Writer) (err error) {
		c.Merged, err = merge(w, ctx)
		return err
	})
	if err != nil {
		return c, err
	}
	return c, c.Describe(dir)
}

// Document is what an index stores of a document.
type Document struct {
	ID     string  `json:"id"`             // in the corpus
	Doc    int     `json:"doc"`            // number in the whole index, from 0
	Length uint32  `json:"length"`         // in words
	Text   *string `json:"text,omitempty"` // nil unless the index stores it
	// TextField is the field that Text is, if it is a single one: headings and passages have their
	// places in it.
	TextField string `json:"text_field,omitempty"`
	// Fields are the stored fields that have a value.
	Fields map[string]any `json:"fields,omitempty"`
	// SameID is the number of documents with this ID, of which this is the first; 0 for a single
	// one.
	SameID int `json:"same_id,omitempty"`
	// Passage says where it is in its document, if it is a passage.
	Passage *Passage `json:"passage,omitempty"`
	// Part says which part of a text Text is, if it is not all of it.
	Part *TextPart `json:"part,omitempty"`
	// Lines are the same fields as text, in the requested order.
	Lines []FieldLine `json:"-"`
}

// Do looks a document up; nil means that there is none. Without names of fields all are shown, and
// the text.
func (q *Show) Do(r *segments.Reader) (*Document, error) {
	doc, found, err := r.FindDoc(q.ID)
	if err != nil {
		return nil, err
	}
	s := r.Schema()
	cut := s != nil && s.Passages != nil
	switch {
	case !found && cut:
		return q.showWhole(r)
	case !found:
		return nil, nil
	case q.Around >= 0 && cut: // the offsets of passages are those of their documents
		whole := *q
		whole.ID, _, _ = text.SplitPassageID(q.ID)
		return whole.showWhole(r)
	}
	d := &Document{ID: q.ID, Doc: doc}
	if d.Length, err = r.Length(doc); err != nil {
		return nil, err
	}
	if n, err := r.CountID(q.ID); err != nil {
		return nil, err
	} else if n > 1 {
		d.SameID = n
	}
	if stored := s != nil && s.Has(fields.IsStored); stored || len(q.Show) > 0 {
		show, err := s.Shown(q.Show)
		if err != nil {
			return nil, wrong("show", err)
		}
		values, err := r.Stored(doc)
		if err != nil {
			return nil, err
		}
		d.Fields, d.Lines = Stored(s, show, values)
		if cut {
			if d.Passage, err = passageOf(s, q.ID, values); err != nil {
				return nil, err
			}
		}
	}
	if q.Neighbours > 0 {
		return d, q.neighbours(r, d)
	}
	if r.HasText() && len(q.Show) == 0 {
		body, headings, err := d.bodyOf(r)
		if err != nil {
			return nil, err
		}
		text := string(body)
		d.Text = &text
		if q.Around >= 0 {
			return d, q.around(d, headings)
		}
	}
	if q.Around >= 0 {
		return nil, wrongf("around", "no text of the document is stored, or fields are asked for")
	}
	return d, nil
}

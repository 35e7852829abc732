package index

import (
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/text"
)

// Stats describes an index.
type Stats struct {
	Analyzer  string `json:"analyzer"`  // name of the analyzer that made the words
	Documents int64  `json:"documents"` // documents, including deleted ones (see Deleted)
	Terms     int64  `json:"terms"`     // distinct words
	Postings  int64  `json:"postings"`  // pairs of a word and a document that contains it
	// FullPostings is the number of postings before pruning; 0 if the index is not pruned.
	FullPostings int64 `json:"full_postings,omitempty"`

	Tokens     int64   `json:"tokens"`      // words of all documents, with repetitions
	MeanLength float64 `json:"mean_length"` // tokens per document; 0 without documents
	StoredText bool    `json:"stored_text"` // the text of the documents is stored
	Bytes      int64   `json:"bytes"`       // size of all files
	// BytesPerPosting counts the blocks of postings, the skip data, the maps of levels and the
	// copies of lists of weights.
	BytesPerPosting float64 `json:"bytes_per_posting"`
	// Parts divides Bytes by purpose, the postings first.
	Parts []Part `json:"parts"`
	// Fields are the fields of the schema, if there is one.
	Fields []fields.Field `json:"fields,omitempty"`
	// Segments is the number of segments (see package segments); 0 if the index was made by package
	// index alone.
	Segments int `json:"segments,omitempty"`
	// Deleted counts the documents that were deleted but are still part of the statistics.
	Deleted int64 `json:"deleted,omitempty"`
	// Generation is the number of commits so far; 0 if the index was made by package index alone.
	Generation uint64 `json:"generation,omitempty"`
	// Root is the folder to which the IDs of files are relative, if the index remembers one.
	Root *text.Root `json:"root,omitempty"`
	// Shard describes the shard, if the index is one.
	Shard *ShardStats `json:"shard,omitempty"`
}

// ShardStats describes a shard.
type ShardStats struct {
	Number         int   `json:"number"`          // from 0 on
	Of             int   `json:"of"`              // number of shards of the whole index
	FirstDocument  int64 `json:"first_document"`  // number, in the whole, of its first document
	WholeDocuments int64 `json:"whole_documents"` // documents of the whole index
}

// Part is a part of an index, such as its postings, and its size.
type Part struct {
	Name  string `json:"name"`  // such as "postings", "dictionary" or "stored text"
	Bytes int64  `json:"bytes"` // size in the files
}

// partOfSection maps files and their sections to the names of parts; "" stands for all other
// sections.
var partOfSection = map[string]map[string]string{
	termsFile:    {"": "dictionary"},
	postingsFile: {"": "postings"},
	skipsFile:    {"": "skips and bounds"},
	docsFile: {"": "document IDs", "lengths": "document lengths", "classes": "document lengths",
		"class-lengths": "document lengths"},
	textFile:    {"": "stored text"},
	levelsFile:  {"": "levels"},
	impactsFile: {"": "impacts"},
	schemaFile:  {"": "schema"},
	columnsFile: {"": "columns"},
	vectorsFile: {"": "vectors"},
	storedFile:  {"": "stored fields"},

	positionsFile: {"": "positions"},
}

// Stats returns the counts and sizes of the index.
func (r *Reader) Stats() Stats {
	s := Stats{
		Analyzer:   r.analyzer,
		Documents:  int64(r.meta.docs),
		Terms:      int64(r.meta.terms),
		Postings:   int64(r.meta.postings),
		Tokens:     int64(r.meta.tokens),
		StoredText: r.HasText(),

		FullPostings: int64(r.meta.fullPostings),
	}
	if p := r.meta.shard; p.Of > 0 {
		s.Shard = &ShardStats{p.Number, p.Of, int64(p.Base), int64(p.Docs)}
	}
	if s.Documents > 0 {
		s.MeanLength = float64(s.Tokens) / float64(s.Documents)
	}
	sizes := map[string]int64{}
	for file, names := range partOfSection {
		f := r.files[file]
		if f == nil {
			continue
		}
		for _, section := range f.Sections() {
			part, ok := names[section.Name]
			if !ok {
				part = names[""]
			}
			sizes[part] += section.Bytes
		}
	}
	known := int64(0)
	for _, name := range []string{"postings", "skips and bounds", "levels", "impacts", "positions",
		"dictionary", "document lengths", "document IDs", "stored text", "stored fields", "columns", "vectors",
		"schema"} {
		if size, ok := sizes[name]; ok {
			s.Parts = append(s.Parts, Part{name, size})
			known += size
		}
	}
	if r.fields != nil {
		s.Fields = r.fields.schema.Fields
		for i, sub := range r.fields.texts {
			s.Parts = append(s.Parts, Part{"text of " + r.fields.names[i], sub.bytes})
			known += sub.bytes
		}
	}
	s.Bytes = r.bytes
	s.Parts = append(s.Parts, Part{"headers and checksums", s.Bytes - known})
	if s.Postings > 0 {
		s.BytesPerPosting = float64(sizes["postings"]+sizes["skips and bounds"]+sizes["levels"]+sizes["impacts"]) / float64(s.Postings)
	}
	return s
}

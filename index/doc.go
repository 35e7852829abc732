// Package index builds and reads inverted indexes on disk. It answers the question: where does a
// word occur?
//
// An index holds documents and words. Documents are numbered from 0 in corpus order (Reorder
// changes that order); each has an external ID and a length in words. Words are numbered from 0 in
// byte order. Each word has a list of postings, one (document, frequency) pair for each document
// that contains it, in ascending order of documents. The length of the list is the word's document
// frequency, DF; the sum of its frequencies is the collection frequency, CF.
//
// For example, the documents "a rose is a rose" and "a daisy" give
//
//	a      DF 2, CF 3: (0, 2) (1, 1)
//	daisy  DF 1, CF 1: (1, 1)
//	is     DF 1, CF 1: (0, 1)
//	rose   DF 1, CF 2: (0, 2)
//
// with document lengths 5 and 2.
//
// # Using it
//
// Build indexes a corpus. Create returns a Writer for callers that have sorted words already, and
// Import reads a CIFF file. Merge, Reorder, Prune and WriteShard make a new index from existing
// ones. Open maps an index into memory and returns a Reader; a Cursor walks one list:
//
//	r, err := index.Open("news.index")
//	t, err := r.Lookup([]byte("rose"))
//	var c index.Cursor
//	err = r.Open(t, &c)
//	for d := c.Doc(); d != index.End; d = c.Next() {
//		fmt.Println(d, c.TF(), r.Lengths()[d])
//	}
//	err = c.Err()
//
// Most programs only build an index here and query it with package search. Package segments adds
// documents to an index and deletes them.
//
// # How lists are stored
//
// A list is cut into blocks of 128 postings. A block is bit-packed with as few bits as its largest
// gap and frequency need, or stored as a bitmap if its documents are close together. The skip data
// of a block hold its last document and a Bound: how good its postings can be, for any score that
// rises with the frequency and falls with the document length. A search uses both to skip blocks.
// The file format is described in reader.go.
//
// # Guarantees and limits
//
// The same documents and options give the same bytes, whatever the number of threads, the memory
// bound or the engine. An index appears under its name only when it is complete. A Reader may be
// used by several goroutines, a Cursor by one. Damaged files give errors, never a panic. An index
// holds fewer than 2^31 documents.
//
// Experimental: it may change with any version; package collocate says what may not.
package index

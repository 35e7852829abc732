// Package index answers where a word occurs: an inverted index on disk.
//
// An index holds N documents, numbered from 0 in corpus order (or, after Reorder, so that those
// with the same words are neighbours), each with an external ID and a length in words; and words,
// numbered from 0 in byte order, each with a list of postings (document, frequency), documents
// ascending. The length of a list is the word's document frequency DF, the sum of its frequencies
// CF.
//
// For example, the documents "a rose is a rose" and "a daisy" make
//
//	a      DF 2, CF 3: (0, 2) (1, 1)
//	daisy  DF 1, CF 1: (1, 1)
//	is     DF 1, CF 1: (0, 1)
//	rose   DF 1, CF 2: (0, 2)
//
// with lengths 5 and 2. Lists are stored in blocks of 128 postings, packed into as few bits as the
// largest gap and frequency of the block need, or, where documents are near each other, as a bitmap
// of them. Beside each block stands what a search needs in order to skip it: its last document, and
// a Bound on how good its postings can be for any score that rises with the frequency and falls
// with the length.
//
// A Writer makes an index from sorted words, Build from a corpus, Import from a CIFF file; Reorder
// makes a smaller one from another index. A Reader maps it; a Cursor walks a list:
//
//	r, err := index.Open("news.index")
//	t, err := r.Lookup([]byte("rose"))
//	var c index.Cursor
//	err = r.Open(t, &c)
//	for d := c.Doc(); d != index.End; d = c.Next() {
//		fmt.Println(d, c.TF(), r.Lengths()[d])
//	}
//	err = c.Err()
package index

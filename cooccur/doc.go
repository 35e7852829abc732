// Package cooccur counts the words of a corpus, the vocabulary V, and how often they occur near
// each other, the co-occurrence matrix M.
//
// MakeFile makes the vocabulary and the matrix of a corpus and writes the matrix to a file, in
// GloVe's format or another. Open reads a file of our own format, .cooc, and returns a Reader,
// which finds the neighbours of a word:
//
//	words, opt := cooccur.VocabularyOptions{MinCount: 5}, cooccur.Options{Window: 10}
//	_, _, err := cooccur.MakeFile(ctx, "news.cooc", corpus, words, opt)
//	r, err := cooccur.Open("news.cooc")
//	id, ok := r.Lookup("membrane")
//	list, err := r.Neighbours(id, 10, cooccur.PMI, 5)
//	value, pmi, err := r.Pair(id, list[0].ID, cooccur.PMI)
//
// CountWords makes only the vocabulary, Matrix the matrix over a vocabulary, and Make both at once.
// They pass the rows of a matrix to a Sink; Create returns one that writes a file.
//
// # Definitions
//
// V lists the distinct words of a corpus with their numbers of occurrences, in descending order. A
// text.Analyzer splits documents into words; by default words are separated by blanks, exactly as
// in Stanford GloVe.
//
// M has a row and a column for each word of V. Take a document and remove the words that are not in
// V. Let w and u be words at different positions p and q, whose distance d = |p-q| is at most the
// window n. Then u is a neighbour of w, and M[w][u] grows by 1 (Count) or by 1/d (Distance). With
// side Both, q may be left or right of p, and M is symmetric; with Left or Right it must be on that
// side. Windows do not cross documents, nor the borders in them (text.Document.Breaks) between
// fields or the values of a list; V and the count of documents do not depend on these. With side
// Both, a word that is its own neighbour adds twice to its cell, once for each of the two
// positions.
//
// # Example
//
// The document "a b a" with window 2, both sides, weighted by distance:
//
//	positions    a0 b1 a2
//	neighbours   a0: b1 at distance 1, a2 at 2; b1: a0 and a2 at 1; a2: b1 at 1, a0 at 2
//	M[a][a] = 1/2 (a2 near a0) + 1/2 (a0 near a2)   = 1
//	M[a][b] = 1 (b1 near a0) + 1 (b1 near a2)       = 2
//	M[b][a] = 1 (a0 near b1) + 1 (a2 near b1)       = 2
//
// # Exactness
//
// Sums are kept as integers, in small units, until the end. So every engine, every number of
// threads and every memory bound gives the same bits. A value is the exact sum, rounded once, for
// counts and for windows of up to 18 words weighted by distance. With larger windows each weight is
// the float64 nearest to 1/d, off by at most 1e-13 of it beyond a distance of 1024.
//
// GloVe adds floats and rounds each time, so the last digits of its sums depend on its memory
// setting. On small corpora they agree with ours to a relative error of 1e-15, on whole books to
// between 4e-14 and 5.5e-12. Two more differences are intentional. If nothing overflows its dense
// table, as with small corpora, GloVe's cooccur writes the first record (usually the most frequent
// word with itself) with twice the value. If there are no pairs, it writes a record of zeros. We do
// neither.
//
// # Reading the source
//
// For V: scan.go finds words, wordkey.go represents them, lexicon.go counts them, vocab.go holds
// the vocabulary, and vocabsort.go orders it. For M: sequential.go follows the definition;
// multicore.go is the fast engine, with its parts in blocks.go, gather.go, accumulator.go, run.go
// and merge.go. The comment of the type GPU describes how a GPU makes both. output.go and the files
// that it names write M, and csr.go reads it back.
//
// Experimental: it may change with any version; package collocate says what may not.
package cooccur

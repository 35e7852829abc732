// Package cooccur counts the words of a corpus and which words keep company: the
// vocabulary V and the co-occurrence matrix M.
//
// # Definitions
//
// V lists the distinct words of a corpus with the number of their occurrences, by
// falling count. Words are what a [text.Analyzer] makes of documents; by default
// what stands between blanks, exactly as Stanford GloVe has it.
//
// M has a row and a column for each word of V. Take a document, remove the words
// that are not in V, and let w and u be words at the places p and q, p != q, with
// d = |p-q| not above the window n. Then u is a neighbour of w, and M[w][u] grows
// by 1 ([Count]) or by 1/d ([Distance]). With [Both] sides q may be left or right
// of p, and M is symmetric; with [Left] or [Right] it must be on that side.
// Windows do not cross documents. A word that is its own neighbour adds twice to
// its cell with both sides, once for each of its two places.
//
// # Example
//
// The document "a b a" with window 2, both sides, weighted by distance:
//
//	places       a0 b1 a2
//	a0 meets b1 at distance 1 and a2 at 2; b1 meets a0 and a2 at 1
//	M[a][a] = 1/2 (a0 sees a2) + 1/2 (a2 sees a0)   = 1
//	M[a][b] = 1 (a0 sees b1) + 1 (a2 sees b1)       = 2
//	M[b][a] = 1 (b1 sees a0) + 1 (b1 sees a2)       = 2
//
// # Exactness
//
// Sums are whole numbers of small units until the end, so that every engine, any
// number of threads and any bound on memory give the same bits. See the comment
// of units for what the last bit of a value means.
//
// GloVe adds up floats and rounds each time, so that its sums depend on its memory setting in their
// last digits: on small corpora they agree with ours to 1e-15 of the value, on whole books to
// between 4e-14 and 5.5e-12. Two more things differ on purpose. Where nothing overflows GloVe's
// dense table, as with small corpora, its cooccur writes the first record, mostly the most frequent
// word with itself, with twice the value; and without any pair it writes a record of zeros. Ours
// has neither.
//
// # Reading the source
//
// scan.go finds words, wordkey.go is how they are kept, lexicon.go counts them;
// vocab.go is V, and vocabsort.go its order. sequential.go is M as the definition
// has it, multicore.go M made fast; blocks.go, gather.go, accumulator.go, run.go and
// merge.go are its parts. gpu.go says how a GPU makes both; the kernels
// are in kernels. output.go and the files it names write M, csr.go reads it back.
package cooccur

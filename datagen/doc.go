// Package datagen makes data to try things on: text, queries and points, of any
// size and reproducible: the same options and seed give the same bytes, whatever
// the number of threads.
//
// Text draws words independently from a law of Zipf and Mandelbrot (see Law) over
// made-up words (see Word), and lengths of documents from a lognormal distribution:
// exp(mu + sigma*z) words, z normal. The defaults match the test data of the term
// weighting paper, sampled from ClueWeb09-B: 100 MB are 17.9 million words in 24
// thousand documents, with 11 million different pairs of a word and a document and
// 450 thousand different words. With Lines it writes sentences like those of the 1
// Billion Word Benchmark.
//
// Queries picks words by the length of their postings lists, in the four classes of
// the retrieval thesis, or as a log of a search engine would hold them.
//
// Points scatters points of several features over a rectangle: evenly, in clusters,
// and with planted co-location patterns of known prevalence.
//
// A small example: ten words,
//
//	datagen.Text(ctx, os.Stdout, datagen.TextOptions{Tokens: 10})
//
// prints a line of ten words and a newline. This package knows nothing of how
// its output is read.
package datagen

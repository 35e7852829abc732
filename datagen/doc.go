// Package datagen generates test data of any size: Text writes documents, Queries writes queries,
// Vectors weighted tokens, and Points points. The same options and seed give the same bytes,
// whatever the number of threads.
//
// Text draws made-up words (see Word) independently from a Zipf-Mandelbrot law (see Law), and
// document lengths from a lognormal distribution: exp(mu + sigma*z) words, where z is normal. The
// defaults match the test data of the term weighting paper, sampled from ClueWeb09-B. There 100 MB
// are 17.9 million words in 24 thousand documents, with 11 million distinct (word, document) pairs
// and 450 thousand distinct words. With LongWords, the lengths of words vary as in that paper (see
// LongWord). With Lines it writes sentences like those of the 1 Billion Word Benchmark.
//
// Queries chooses words by the length of their postings lists, in the four classes of the retrieval
// thesis, or imitates the query log of a search engine.
//
// Vectors makes vectors of weighted tokens in the shape of those of learned sparse retrieval.
//
// Points places points of several features in a rectangle: uniformly, in clusters, and with planted
// co-location patterns of known prevalence.
//
// For example,
//
//	datagen.Text(ctx, os.Stdout, datagen.TextOptions{Tokens: 10})
//
// prints one line of ten words.
//
// Experimental: it may change with any version; package collocate says what may not.
package datagen

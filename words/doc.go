// Package words answers what company a word keeps, and what sets a corpus apart: associations of
// words, concordances, keywords, n-grams, word lists and dispersion.
//
// # Associations
//
// Two words u and v co-occur where v stands within the span of u: up to Window words to its left or
// right in the same document (Evert's surface co-occurrence). The counts come from a matrix of
// package cooccur, the frequencies from its vocabulary, never from the margins of the matrix:
//
//	O   number of co-occurrences: pairs of a place of u and a place of v, each once
//	f1  how often u occurs in the corpus, f2 how often v does
//	N   words of the corpus in which windows were formed
//	S   words in a span: 2 x window with both sides, else the window
//	E   what chance would give: f1 f2 S / N
//
// The contingency table has O11 = O, the row R1 = S f1, the column C1 = f2, and N. A pair of a word
// with itself is counted once as well, so its cell and E are halved. See [Measure] for what is made
// of these numbers.
//
// Example: in "a b c a b", window 1, both sides, a and b occur twice each and stand side by side
// twice. So O = 2, N = 5, S = 2, E = 2*2*2/5 = 1.6, MI = log2(2/1.6) = 0.32, Dice = 2*2/(2+2) = 1.
//
// # Dispersion
//
// A pair that one document repeats says little about the language. [Dispersion] tells in how many
// documents something occurs and how evenly: Gries' DP and DPnorm, Juilland's D.
//
// # Reading the source
//
// counts.go and measure.go are the measures, significance.go p-values and their correction,
// dispersion.go evenness; associate.go ranks the cells of a matrix, spread.go reads the corpus
// again for the documents of pairs, indexspread.go counts a word in parts of an index.
// concordance.go with query.go, keywords.go, ngrams.go and wordlist.go are the other questions;
// network.go and plot.go draw.
package words

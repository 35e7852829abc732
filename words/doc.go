// Package words analyses the words of a corpus, as corpus linguists do: associations
// (collocations), concordances, keywords, n-grams, word lists and dispersion.
//
// CollocationsOf finds the associations of a corpus; Collocations and Neighbours find those of a
// matrix that package cooccur made. Concord and ConcordIndex show a query in context, Keywords
// compares two corpora, and Ngrams and List count. Results do not depend on the engine or the
// number of threads:
//
//	list, _, err := words.CollocationsOf(ctx, corpus, words.CorpusOptions{Of: "whale"})
//	for _, p := range list.Pairs {
//		fmt.Println(p.Word1, p.Word2, p.Count, p.Scores[0])
//	}
//
// # Associations
//
// Two words u and v co-occur if v is within the span of u: up to Window words to its left or right
// in the same field of a document (Evert's surface co-occurrence). N-grams, phrases and the
// contexts of concordances do not cross fields either: see text.Document.Breaks. Counts come from a
// matrix of package cooccur, frequencies from its vocabulary. The measures of package cooccur use
// the margins of the matrix instead of frequencies.
//
//	O   number of co-occurrences: the occurrences of v in the span of each occurrence of u
//	f1  occurrences of u in the corpus, and f2 those of v
//	N   words of the corpus in which windows were formed
//	S   words in a span: 2 x window with both sides, else the window
//	E   co-occurrences expected by chance: f1 f2 S / N
//
// The contingency table has O11 = O, the row sum R1 = S f1, the column sum C1 = f2, and the total
// N. A word may be in its own span: in "very very" each is in the span of the other, so O = 2 with
// both sides, and 1 with one side. Both sides together always have the counts of left and right.
// See Measure for the formulas.
//
// Example: in "a b c a b", window 1, both sides, a and b occur twice each and are adjacent twice.
// So O = 2, N = 5, S = 2, E = 2*2*2/5 = 1.6, MI = log2(2/1.6) = 0.32, Dice = 2*2/(2+2) = 1.
//
// # Dispersion
//
// A pair that a single document repeats says little about the language. Dispersion is the number of
// documents in which a word or pair occurs, and how evenly: Gries' DP and DPnorm, and Juilland's D.
//
// # Reading the source
//
// counts.go and measure.go have the measures, significance.go p-values and their correction,
// dispersion.go DP and D. The cells of a matrix are ranked in associate.go. Documents of pairs are
// counted in spread.go, which reads the corpus again, and a word in parts of an index in
// indexspread.go. Each of concordance.go with query.go, keywords.go, ngrams.go and wordlist.go has
// an analysis; network.go and plot.go draw.
//
// Experimental: it may change with any version; package collocate says what may not.
package words

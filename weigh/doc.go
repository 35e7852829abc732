// Package weigh turns documents into weights: how much every word says about
// every document that holds it.
//
// N documents are given, each a list of words. For a word t and a document d that
// holds it, tf is how often it does, L_d the number of all words of d, L_ave
// the mean of these, and df the number of documents that hold t. The weight is
// BM25 of these numbers (package bm25), in the papers' variant
//
//	w(t,d) = ln(N/df) * (k1+1)*tf / (k1*((1-b) + b*L_d/L_ave) + tf)
//
// The result is w for every pair (t, d) that occurs, sorted by t, in byte
// order, then d, in corpus order. Example, k1 = 1.2 and b = 0.75: the documents
// "a rose is a rose" and "a thorn" have L_ave = 3.5 and the weights
//
//	a      0.000 0.000    is    0.590 in the first
//	rose   0.851 in the first   thorn 0.841 in the second
//
// The papers' Japanese predecessor of 2016 has another idf. Its equation survives in part, as
// "log N ... 0.5 (k1+1) tf": most likely Robertson's ln((N-df+0.5)/(df+0.5)), which is negative for
// words in more than half of the documents. Its measurements are the same, so it is not offered;
// bm25's variant lucene7 is the one without negative weights.
//
// # Methods
//
// All give the same bits; they are the ways the papers compare.
//
//	sequential  the definition, with maps, on one core
//	mapreduce   documents are mapped to pairs (word, document), combined in hash
//	            tables by word, reduced word by word, on all cores (MRP)
//	primitives  the eight steps, in data-parallel primitives, words compared as
//	            strings (PP)
//	dictionary  the same with numbers instead of words: a dictionary first (PPD)
//	invert      each worker counts into a table and sorts runs, which are merged:
//	            see Invert. The fastest, the only one in bounded memory, what auto
//	            means, and how indexes are built
//
// # On a GPU
//
// Options.Engine takes a GPU; engine.Auto takes one if the corpus is large enough to pay
// for opening it. The papers' three methods are there as they describe them, step by
// step: mapreduce with a thread a document and a thread a word (MRM), primitives and
// dictionary in their eight steps. Auto is our own. One kernel finds the words, looks
// each up in a hash table of words and so writes the text as numbers
// (internal/gpu/words). A block counts each document in shared memory, and the pairs
// (word, document, tf), packed into 64 bits each, are sorted by word, once and stably.
// The words in use are sorted. Weights are computed with the CPU's operations in the
// CPU's order, logarithm included, so all bits are the same.
//
// Our way and dictionary number words before they sort anything. So a text that is in
// memory which the device can read, as measured by Weigher, is cut into pieces of
// whole documents: the pairs of a piece are made, and sent back without their weights,
// while the next ones are on their way to the device. What is left when the last one is there are
// the weights, which need each word's df, and the order of the words. Primitives
// compares words as strings and can do nothing of that before all text is there.
//
// Analyzers run on the CPU; the device gets words with a separator behind each. A
// corpus that does not fit the device, or Options.Memory with its result, comes in chunks of
// whole documents; their pairs are put into a file and merged as Invert's runs are, and
// the weights computed then. Options.Profile times the steps.
//
// # Unknown words
//
// With a dictionary, words that it lacks are added (as if there were no
// dictionary), dropped (they have no weights), or merged into one word, the
// empty one, whose tf in a document is the number of all unknown words there.
// They count in the documents' lengths in any case, so the weights of known
// words are the same in all three.
package weigh

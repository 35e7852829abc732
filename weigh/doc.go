// Package weigh computes the BM25 weight of every word in every document of a corpus.
//
// Weigh returns the Weights; Terms and Parts iterate over them, and Write and WriteFile write them
// as TSV, Parquet, NPZ or in a binary format that OpenFile maps:
//
//	w, err := weigh.Weigh(ctx, corpus, weigh.Options{Analyzer: analyzer})
//	defer w.Close()
//	for t, err := range w.Terms(ctx) {
//		fmt.Printf("%s %d %v\n", t.Word, t.Docs, t.Weights)
//	}
//
// Invert stops before the weights: it returns the sorted (word, document, frequency) triples from
// which package index builds its lists.
//
// Given are N documents, each a list of words. L_d is the number of words of document d, and L_ave
// the mean of these numbers. df is the number of documents that contain a word t, and tf the number
// of its occurrences in one of them, d. The weight is BM25 of these numbers (see package bm25), in
// the variant of T. Wakatsuki, A. Keyaki and J. Miyazaki, A Case for Term Weighting using a
// Dictionary on GPUs (2017):
//
//	w(t,d) = ln(N/df) * (k1+1)*tf / (k1*((1-b) + b*L_d/L_ave) + tf)
//
// The result is w for every pair (t, d) that occurs, sorted by t in byte order, then by d in corpus
// order. For example, with k1 = 1.2 and b = 0.75, the documents "a rose is a rose" and "a thorn"
// have L_ave = 3.5 and the weights
//
//	a      0.000 0.000    is    0.590 in the first
//	rose   0.851 in the first   thorn 0.841 in the second
//
// That paper's predecessor of 2016, in Japanese, has another idf. Its equation survives only in
// part, as "log N ... 0.5 (k1+1) tf". Most likely it is Robertson's ln((N-df+0.5)/(df+0.5)), which
// is negative for words in more than half of the documents. It takes the same time to compute, so
// it is not offered here. The variant terrier of package bm25, for searching, has it in base 2 and
// with 0 instead of negative weights; lucene7 is another form without negative weights.
//
// # Methods
//
// All methods give the same bits. Except for invert, they are those that both papers compare.
//
//	sequential  the definition, with maps, on one core
//	mapreduce   documents are mapped to pairs (word, document), combined in hash
//	            tables by word, partitioned by hash, and reduced word by word, on
//	            all cores (MRP)
//	primitives  the eight steps, in data-parallel primitives, words compared as
//	            strings (PP)
//	dictionary  the same with numbers instead of words: a dictionary first (PPD),
//	            as a rule one that was built beforehand, Options.Dict; the words
//	            that it lacks are numbered after it
//	invert      each worker counts into a table and sorts runs, which are merged:
//	            see Invert. The fastest, the only one in bounded memory, what auto
//	            means, and how indexes are built
//
// # On a GPU
//
// Options.Engine selects a GPU; engine.Auto uses one if the corpus is large enough to make up for
// opening it. The papers' three methods are implemented as described, step by step: mapreduce with
// one thread per document and one per word (MRM), primitives and dictionary in their eight steps.
// Method Auto is our own. One kernel finds the words and looks each up in a hash table, which turns
// the text into numbers (internal/gpu/words). One block counts each document in shared memory. The
// triples (word, document, tf), packed into 64 bits, are sorted by word, once and stably, and the
// distinct words are sorted as well. Weights are computed with the same operations in the same
// order as on the CPU, logarithm included, so all bits are the same.
//
// Auto and dictionary number words before they sort anything. Therefore a text in pinned memory, as
// Weigher measures it, can be cut into pieces of whole documents. The pairs of a piece are made and
// copied back, without weights, while the next pieces are copied to the device. After the last
// piece two things are left to compute: the weights, which need each word's df, and the order of
// the words. Primitives compares words as strings and has to wait for the whole text.
//
// Analyzers run on the CPU; the device gets words with a separator after each. A corpus that does
// not fit the device, or whose result exceeds Options.Memory, is processed in chunks of whole
// documents. Their pairs are written to a file and merged like the runs of Invert, and the weights
// are computed then. Options.Profile measures the steps.
//
// # Unknown words
//
// With Options.Dict, Options.Unknown says what becomes of words that are not in the dictionary.
// They are added, as if there were no dictionary; dropped, so that they have no weights; or merged
// into one, the empty word. Its tf in a document is the number of all unknown words there. Unknown
// words always count in the documents' lengths, so the weights of known words are the same in all
// three cases.
//
// Experimental: it may change with any version; package collocate says what may not.
package weigh

// Package search finds the k best documents for a query in an index, exactly.
//
// A [Searcher] answers a [Request] on an open index:
//
//	s, err := search.Open("news.index")
//	result, err := s.Search(ctx, search.Request{Text: "solar eclipse", K: 10})
//	for _, hit := range result.Hits {
//		id, err := s.ID(hit.Doc)
//		fmt.Println(id, hit.Score)
//	}
//
// Text is plain words. For phrases, AND and NOT, filters, fields, ranges and patterns, package
// query parses a query or builds it as a tree:
//
//	q, err := query.Parse(`+"solar eclipse" -lunar #id:(d1 d2)`, query.Options{})
//	result, err := s.Search(ctx, search.Request{Query: q})
//
// # Definitions
//
// A query of words is a list of distinct words, each with a weight: the number of times the query
// contains it. The score of a document is the sum of the [Model]'s scores for the query words in
// the document. They are added in float32, in the order in which the words first appear in the
// query. No model gives a negative score. Package query defines what a tree matches and how it
// scores.
//
// In mode [Or] a document matches if it contains any of the words, in mode [And] if it contains all
// of them; a word that is not in the index is in no document. Matching documents are ordered by
// decreasing score, then by increasing document number. The first k of them are the result.
//
// All algorithms give this result, to the last bit of the scores, on one core, on many and on a
// GPU. They differ in how much of the lists they read:
//
//	exhaustive  document at a time, every posting: the definition made executable
//	taat        term at a time into an array of sums
//	maxscore    Turtle and Flood: candidates only from lists that can make a document win
//	wand        Broder et al.: skip to the first document whose words together could win
//	bmw         Ding and Suel: WAND with a bound for every block of postings
//	vbmw        Mallia et al.: BMW where neighbouring blocks of no higher bound count as one
//	bmm         block-max MaxScore in windows of documents, scores in batches, as Lucene does
//
// In mode And the last five are one algorithm: the shortest list leads, and blocks that cannot
// contribute to the result are skipped. bmm, mode And and tiles have several strategies;
// Stats.Strategy names those used, and [Strategy] lists them all.
//
// # Cores and a GPU
//
// [Searcher.Search] answers one request, on one core unless its field Parallel says otherwise: see
// [Parallel]. [Searcher.SearchBatch] and [MapBatch] answer many on all cores. The former yields
// results that may be kept; the latter calls a function on each result, on the core that found it.
//
// Once [Searcher.OpenGPU] has loaded the index onto a GPU, requests and batches that name
// [engine.GPU] are answered there. [Tiles] is the device's own algorithm: it adds up score bounds
// in tiles of documents and scores exactly those that can still enter the result. WAND and MaxScore
// run there as R. Gaioso parallelised them ("Paralelização de algoritmos de busca de documentos
// mais relevantes na Web utilizando GPUs", thesis, UFSCar 2019), over partitions of the lists; the
// cores can partition lists in the same ways. Two of these partitions and one policy for sharing
// the threshold are approximate: they are never used by default, and Stats.Parallel reports them.
// Answers from a pruned index (package index, Prune) are approximate too: Stats.Pruned reports it.
//
// [MapAll] chooses between cores and a GPU.
//
// # Example
//
// Three documents: 0 "a b", 1 "a a c", 2 "b c c". With BM25 (k1 1.2, b 0.75) N is 3 and the mean
// length 8/3; every word has df 2 and idf ln(3/2) = 0.405. The query "c b c" contains c with weight
// 2 and b with weight 1. Document 2 scores 2*0.405*2.2*2/(1.3125+2) = 1.0772 for c and
// 0.405*2.2/(1.3125+1) = 0.3857 for b, 1.4629 in total, and ranks first.
//
// # Synonyms
//
// A query's words may have synonyms: those of the index, which a chain of package text declares, or
// Request.Synonyms instead. The longest phrases that have any are replaced first, from left to
// right.
//
//   - A word and its synonyms of one word are scored as one word: its term frequency is the sum of
//     theirs, its document frequency that of the most common one. This is Lucene's SynonymQuery.
//   - A synonym of several words is a phrase, which adds its own score, as in an Or. Without
//     positions, it is all of its words.
//   - Several words that have a synonym are searched as they are, and the synonym adds its score.
//     Where all words are required, either all of them or the synonym is.
//   - A phrase is any of the phrases that synonyms make of it, each with its own score.
//
// Near, patterns and values have no synonyms. BM25F, Expand and Proximity need plain words, and
// leave those of the index out.
//
// # Bounds
//
// Algorithms skip a document only if the score bounds of its words prove that it cannot enter the
// result. A bound holds for every posting of a list or block (see package index: pairs of term
// frequency and length that dominate all postings). Bounds are added in float64. The threshold with
// which they are compared is lowered by a margin that exceeds any rounding error: a sum of n
// float32 numbers differs from the true sum by a factor of at most (1+2^-24)^(n-1). One or two
// words need no margin, since rounding is monotonic.
//
// For BM25 with k1 = 1.2 and b = 0.75 the index also stores the best posting of every block, and
// the 10th, 100th and 1,000th best scores of every list. With that model a block's bound is
// attained, and a search in mode Or starts from a threshold that k documents are known to reach.
//
// # Processors
//
// Assembly routines unpack, score, filter and intersect blocks, many postings at a time: with
// AVX-512, AVX2 or NEON, whichever the processor supports when the program starts. On other
// processors, and with the build tag purego, plain Go computes the same bits: it performs the same
// operations on each posting in the same order. The environment variable COLLOCATE_SIMD overrides
// the choice (avx512, avx2, neon or none).
package search

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
// A query of words is a list of different words, each with a weight: how often the query has it.
// The score of a document is the sum, over the query's words that it has, of what the [Model] gives
// for (word, document), added in float32 in the order in which the words first appear in the query.
// No model gives a negative number. Package query defines what a tree matches and how it scores.
//
// In mode [Or] a document is an answer if it has any of the words, in mode [And] if it has all of
// them; a word that the index does not know is in no document. Answers are ordered by falling
// score, those of equal score by rising document number. The first k of them are the result.
//
// All algorithms give this result, to the last bit of the scores, on one core, on many and on a
// GPU. They differ in how much they look at:
//
//	exhaustive  document at a time, every posting: the definition made executable
//	taat        term at a time into an array of sums
//	maxscore    Turtle and Flood: candidates only from lists that can make a document win
//	wand        Broder et al.: skip to the first document whose words together could win
//	bmw         Ding and Suel: WAND with a bound for every block of postings
//	vbmw        Mallia et al.: BMW where neighbouring blocks of no higher bound count as one
//	bmm         block-max MaxScore in windows of documents, scores in batches, as Lucene does
//
// In mode And the last five are one algorithm: the shortest list leads, and blocks that cannot win
// are skipped. bmm and mode And have several strategies; Stats.Strategy is the one taken.
//
// # Cores and a GPU
//
// [Searcher.Search] answers one request, on one core unless its field Parallel says otherwise: see
// [Parallel]. [Searcher.SearchBatch] and [MapBatch] answer many on all cores: the first yields
// results that may be kept, the second makes something of each on the core that found it.
//
// Once [Searcher.OpenGPU] has brought the index to a GPU, requests and batches that name
// [engine.GPU] are answered there. [Tiles] is the algorithm of the device: it adds up bounds of
// scores in tiles of documents and scores exactly what can still win. WAND and MaxScore run there
// as R. Gaioso made them parallel ("Paralelização de algoritmos de busca de documentos mais
// relevantes na Web utilizando GPUs", thesis, UFSCar 2019), over partitions of the lists; cores can
// cut lists in the same ways. Two of these partitions and one policy of sharing the score to beat
// are approximate: they must be asked for, and Stats.Parallel says so. So are answers from a pruned
// index (package index, Prune): Stats.Pruned says so.
//
// [MapAll] chooses between cores and a GPU.
//
// # Example
//
// Three documents: 0 "a b", 1 "a a c", 2 "b c c". With BM25 (k1 1.2, b 0.75) N is 3 and the mean
// length 8/3; every word has df 2 and idf ln(3/2) = 0.405. The query "c b c" has the words c with
// weight 2 and b with weight 1. Document 2 scores 2*0.405*2.2*2/(1.3125+2) = 1.0772 for c and
// 0.405*2.2/(1.3125+1) = 0.3857 for b, together 1.4629, and comes first.
//
// # Bounds
//
// Algorithms skip a document only if the bounds of its words' scores prove that it cannot enter the
// result. A bound holds for every posting of a list or block (see package index: pairs of term
// frequency and length that dominate all postings). Bounds are added in float64 and compared with
// the threshold lowered by a margin that exceeds all rounding: a sum of n float32 numbers differs
// from the true sum by a factor of at most (1+2^-24)^(n-1). With one or two words no margin is
// needed: rounding keeps order.
//
// For BM25 with k1 = 1.2 and b = 0.75 the index also knows the best posting of every block itself,
// and the 10th, 100th and 1,000th best of every list. With that model a block's bound is a score
// that is reached, and a search with Or starts from a score that k documents are known to have.
//
// # Processors
//
// Blocks are unpacked, scored, sifted and intersected many postings at a time by assembly: with
// AVX-512, AVX2 or NEON, whichever the processor has when the program starts. Everywhere else, and
// with the build tag purego, plain Go does the same, to the same bits: the operations on each
// posting are the same and in the same order. The environment variable COLLOCATE_SIMD chooses by
// hand (avx512, avx2, neon or none).
package search

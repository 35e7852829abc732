// Package fielded answers the question: which documents are best if fields have different weights?
//
// An [Engine] holds the segments of an index with their text fields; [Engine.Search] answers a
// request and [Engine.Explain] breaks down a score. A query has a list for each word, with a part
// for each field.
//
// It scores with BM25F in Robertson's simple form: a document is scored as if each of its fields
// were repeated weight times. For a word and a document,
//
//	T = sum over fields of weight*tf      L = sum over fields of weight*length
//	k = k1*((1-b) + b*L/mean of L)        score = idf*(k1+1) / (1 + k/T)
//
// so that saturation and length normalisation apply once, to the sums. The document frequency of a
// word is its largest over the fields, as in Lucene's CombinedFieldQuery. The analyzer of each
// field is applied to the query text, and the tokens that begin at the same byte are one query
// word. It may have a different form in each field, and none in a field whose analyzer drops it.
//
// Evaluation is document at a time, over the lists that each word has in the fields. A score
// increases with T/k, and
//
//	T/k <= sum over fields of weight*tf / (k1*((1-b) + b*weight*length/mean))
//
// since each denominator on the right leaves out the lengths of the other fields. The right side is
// bounded by the pairs of each field's block (index.Bound), so lists and blocks that cannot beat
// the threshold are skipped, as in MaxScore and BMW.
//
// Invariants:
//   - Steps are in float32, sums in the order of the schema and of the query: with one field of
//     weight 1 all scores are those of BM25 over that field's index, to the bit.
//   - Skipping is exact: the answers are those of the definition.
package fielded

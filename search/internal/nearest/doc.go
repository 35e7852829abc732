// Package nearest answers the question: which documents have the vectors most similar to that of a
// query, exactly?
//
// A first pass goes through the codes of all admitted documents, a quarter of the bytes of float32.
// Package dense proves how far the similarity can be from what the codes say. A document whose
// upper bound reaches the k-th best lower bound is a candidate; the similarity of what is left of
// the candidates in the end is computed as package dense defines it. So the answers have the same
// bits on one core and on many, with any vector instructions, in one segment or several. Ties are
// broken by document number, the lower first.
//
// # The test of the first pass
//
// With the numbers of package dense (scale s, rest r and norm N of a document; scale t, rest p and
// norm Q of the query, D ≥ |t·d|; g for the roundings of the sum), let A = t·s·(d·c) and T be the
// similarity to reach. A document can reach T only if
//
//	dot        A + D·r + (p + g·Q)·N ≥ T
//	cosine     A + D·r + (p + g·Q - T·Q)·N ≥ 0
//	euclidean  2A + 2D·r + 2p·N - N² ≥ Q² - U, where |q - x|² ≤ U if the similarity is T
//
// All are of the form α·s·(d·c) + β·r + N·(γ + δ·N) ≥ θ, which the kernels test for 64 documents at
// a time, in float32. Its eight roundings change the left side by less than 2^-21 of the sum of the
// absolute values of its terms, where |A| ≤ D·(N + r). So β, γ and δ are raised, and θ lowered, by
// 2^-20 of these values; see test in bounds.go.
//
// # Batches
//
// Blocks of 64 documents are transposed so that a lane belongs to a document, and multiplied with
// all queries of the batch, six at a time, before the next block: as in a matrix product, codes are
// read from memory once for the whole batch. That needs VNNI instructions; without them a query at
// a time goes through the block in the first-level cache.
//
// Not for what a field of vectors is (dense), or for combining scores (search).
package nearest

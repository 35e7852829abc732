// Package ongpu answers the question of package nearest on a GPU, with the same bits.
//
// # The floor
//
// A pass for one query reads the codes of all documents once. For 8.8M documents of 768 dimensions
// these are 6.8 GB, 1.5 ms at 4.4 TB/s; vectors of float16 would take 3.1 ms. A batch of 1,000
// queries multiplies 6.8·10^12 codes, 10 ms at the rate that tensor cores reach with whole numbers
// of 8 bits, while reading the codes takes no longer than for one query. Writing the products, as a
// matrix product and a selection of the best do, would move 18 to 35 GB more. So a product is
// tested where it was computed, and only documents that pass are written.
//
// # The method
//
// Products of codes are sums of whole numbers, exact in any order, so tensor cores compute the same
// as the cores, and the test and its proof are those of package nearest. What remains is to know a
// good threshold before the pass:
//
//  1. near_one or near_matrix go through a sample, tiles of 256 documents that are evenly spread,
//     and keep all of it. near_bounds computes bounds for the similarities, near_select the k-th
//     best lower bound. It is reached by k documents, whatever the sample is.
//  2. If the sample is small for that k, the same again with a larger one, of which only documents
//     that pass the test are kept.
//  3. The pass through all documents, then bounds and the k-th best lower bound again.
//  4. near_sums computes the similarity of those whose upper bound reaches that one, from their
//     float32, float16 or int8 numbers: 16 lanes add as package dense defines it. near_select finds
//     the k-th best similarity and near_gather what reaches it.
//
// Documents outside a filter, deleted ones and those without a vector are left out of every step by
// a bitmap. If the vectors themselves do not fit beside their codes, the cores do step 4 from the
// documents that step 3 left. If more documents pass than there is room for, the pass is made again
// with the better threshold that those kept give; what does not fit then is for the cores.
//
// near_one reads a row once and is limited by memory. In near_matrix a block of 512 threads
// multiplies 256 documents with 128 queries: a step of 64 codes brings 24 KB into shared memory for
// 2 million products. It needs compute capability 8.0; older devices make a pass for each query.
//
// Not for the proof of bounds (nearest), or for words on a GPU (device).
package ongpu

// Package impactdevice answers the question: which documents have the highest dot products with
// weighted tokens, on a GPU?
//
// An [Index] is an index of the analyzer impact on a device. [Register] puts this package before
// the device of other indexes (package device), so that search opens the one that an index needs.
//
// # The floor
//
// A query of SPLADE's shape has 43 tokens with lists of 4% of the documents, so it adds up 15
// million postings of 8.8 million documents. They take some 3.3 bytes each, 50 MB, which an H200
// reads in 11 microseconds. Adding to shared memory is the other bound: if a multiprocessor adds
// nine places per cycle, that is 8 microseconds for all of them. Both are below the 50 of 20,000
// queries a second, so inverted lists that are read as they are will do, and no forward index is
// needed.
//
// # How a query is answered
//
// The lists are those that the index has for the cores (index.ImpactList), in tiles of 4,096
// documents, copied as they are; the sums of a tile take 16 KB of shared memory. Kernels are in
// kernels/impacts.cu:
//
//  1. impacts_sample adds up every 32nd tile or so, and counts the sums in bins. Its last block
//     takes from these the sum that somewhat more than k documents should reach, the cut.
//  2. impacts_score goes through all tiles. Short parts are added up. The highest weights in each
//     block of 32 documents are added to the best of these sums, and other parts are only read in
//     blocks that can reach the cut. What reaches it is written down.
//  3. impacts_pick sorts it.
//
// If fewer than k documents reach the cut, or more than there is room for, the sample was
// misleading: the query is asked again with a sample of all tiles, whose cut is proved. The queries
// of a launch go through a tile together, so that its lists are read once from memory.
//
// Lists without tiles, short ones and those with weights above 255, have a document and a weight of
// 16 bits per posting, and where each group of tiles begins.
//
// # What the cores answer
//
// Other models than impact, all words required, weights that are no whole numbers, sums from 2^24
// on, more than 16,384 answers, query trees, counts and pages, and too many equal sums. Documents
// that were deleted, or that a request does not admit, are tested on the device.
//
// # Memory
//
// If the lists do not fit, those of the queries in progress are there. A launch that needs others
// evicts all if there is no room; a query whose lists do not fit together is for the cores.
package impactdevice

// Package dict numbers words: which number is this word, and which word is this
// number? A dictionary holds a fixed set of n words, any bytes, and gives them the numbers
// 0 to n-1. It lies in one file that is mapped into memory, not loaded.
//
// The kinds, each with what it is good for:
//
//	stt        a trie as a table next[node][character]; for small vocabularies
//	xbw        a succinct trie in compressed bit vectors (RRR); small where characters
//	           are few, and the one for GPUs
//	xbw-plain  the same trie in plain bit vectors; larger and faster
//	xbw-paper  xbw over the whole trie, as published: no tails (see below)
//	hash       a hash table beside the list of words; the fastest on rare words
//	double     a double-array trie; one small cell a character
//	front      front-coded words in Huffman codes; the smallest, several times slower
//
// Numbers differ between kinds: stt, hash, double and front number words in byte
// order, the xbw kinds in the order of their nodes.
//
// Bits a word and nanoseconds a look-up, all words equally often, on two shared cores: of 500,000
// words of eLife between blanks, with 178 characters, and of 5 million generated ones of 26
// letters. An xbw has a bit vector for each character, so many characters make it large.
//
//	           real words       generated
//	xbw        101 bits   730   28 bits  1812
//	xbw-plain  179        564
//	xbw-paper  314       1040   53       2349
//	hash       235        269
//	double     168        586
//	front       23       1981   19       2858
//
// marisa-trie (C++, PyPI) took 25.1 bits for the real words, and some 1450 ns beyond what Python's
// own dict takes in the same loop.
//
// # XBW
//
// A trie has one node for each prefix of a word. Read each prefix backwards, sort,
// and number the nodes in that order; the root, the empty prefix, is 0. Then the
// nodes that are reached by character c are neighbours, and in the same order as
// their parents. So one bit vector for each character is the whole trie: bit x of
// B_c says whether node x has a child by c, and if so,
//
//	child(x, c) = C[c] + rank(B_c, x)
//
// where C[c] is the first node reached by c and rank counts the ones before x.
// Going up works as well, with select, the inverse of rank.
//
// The words aba, ba, bb, cb and cc have ten prefixes. Backwards and sorted:
//
//	0 ""   1 a   2 ab(ba)  3 aba(aba)  4 b   5 ba(ab)  6 bb(bb)  7 bc(cb)  8 c   9 cc(cc)
//
// with the prefix in brackets. B_b = 1100100010: the nodes "", a, b and c have a
// child by b. C[b] = 4. From the root by b: 4 + 0 = 4. From 8, c, by b: 4 + 3 = 7, cb.
//
// # Tails
//
// Most nodes of a large trie only spell the rest of a single word. The kinds xbw,
// xbw-plain and double cut each word where no other word shares its beginning; the rest,
// its tail, is kept as a string. Nodes at which a word was cut are leaves, the others rows,
// and only rows take bits of the vectors: of the 23.5 million nodes of 5
// million generated words 1.6 million are left, and 53 bits a word become 28.
//
// # On a GPU
//
// IDs looks many words up at once. Tables and the xbw kinds can be brought to a device
// for that (File.OpenGPU). RRR records are read there as one vector each and blocks
// decoded by a table in shared memory; the bits of xbw-plain, and all others but B_c, lie
// as 96 bits beside the number of ones before them, so a rank takes one access. A
// sample of the words fills a cache first, in which frequent words of up to eight bytes
// are found by one access. Numbers are the same as on the CPU.
//
// # Files
//
// A dictionary is a sections file of kind "COLODIC\n", version 1. Section
// "meta" is ten uint64: kind (as numbered in Kind), words, nodes, rows, leaves,
// characters in the alphabet, length of the longest word, bytes of all words,
// nodes of the whole trie, and length of the heads of an xbw. Section "alphabet" lists the
// characters in use, ascending; the i-th has code i+1 (code i in C, B and next). The
// others depend on the kind and are described where they are made: stt.go, xbw.go, rrr.go,
// bits.go, tails.go, hash.go, double.go, front.go.
package dict

// Package dict maps words to numbers and back. A dictionary holds a fixed set of n words, which may
// contain any bytes, and gives them the numbers 0 to n-1. It is one file, which is mapped into
// memory.
//
// ReadWords, or Words.Add, collects the words; BuildFile writes a dictionary; Open maps it. ID and
// Word look up single words, IDs many at once:
//
//	words, err := dict.ReadWords(file)
//	err = dict.BuildFile(ctx, words, dict.Options{Kind: dict.Hash}, "words.dict")
//	d, err := dict.Open("words.dict")
//	id, ok := d.ID([]byte("rose"))
//	word := d.Word(nil, id)
//
// A dictionary does not change. Several goroutines may use one, and numbers do not depend on the
// engine or the number of threads.
//
// There are several kinds, each with its strengths:
//
//	stt        a trie as a table next[node][character]; for small vocabularies
//	xbw        a succinct trie in compressed bit vectors (RRR); small if the alphabet is
//	           small, and the one for GPUs
//	xbw-plain  the same trie in plain bit vectors; larger and faster
//	xbw-paper  xbw over the whole trie, as published: no tails (see below)
//	hash       a hash table beside the list of words; the fastest on rare words
//	double     a double-array trie; one small cell per character
//	front      front-coded words in Huffman codes; the smallest, several times slower
//
// Numbers differ between kinds: stt, hash, double and front number words in byte order, the xbw
// kinds in the order of their trie's nodes.
//
// The table shows bits per word and nanoseconds per look-up, with all words equally frequent, on
// two shared cores. Real words are 500,000 words of eLife, separated by blanks, with 178 different
// characters. Generated words are 5 million words of 26 letters. An xbw has a bit vector for each
// character, so a large alphabet makes it large.
//
//	           real words       generated
//	xbw        101 bits   730   28 bits  1812
//	xbw-plain  179        564
//	xbw-paper  314       1040   53       2349
//	hash       235        269
//	double     168        586
//	front       23       1981   19       2858
//
// For comparison, marisa-trie (C++, from PyPI) took 25.1 bits per real word, and about 1450 ns more
// per look-up than Python's own dict in the same loop.
//
// # XBW
//
// A trie has one node for each prefix of a word. Read each prefix backwards, sort, and number the
// nodes in that order; the root, the empty prefix, is 0. Then the nodes that are reached by
// character c have consecutive numbers, in the order of their parents. So one bit vector for each
// character represents the whole trie: bit x of B_c says whether node x has a child by c, and if
// so,
//
//	child(x, c) = C[c] + rank(B_c, x)
//
// where C[c] is the first node reached by c and rank counts the ones before bit x. The parent of a
// node follows from select, the inverse of rank.
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
// Most nodes of a large trie only spell the rest of a single word. The kinds xbw, xbw-plain and
// double cut each word after its shortest unique prefix; the rest, its tail, is kept as a string.
// Nodes at which a word was cut are leaves. The others are rows, and only rows take bits of the
// vectors. Of the 23.5 million nodes of 5 million generated words 1.6 million are left, and 53 bits
// per word become 28.
//
// # On a GPU
//
// IDs looks up many words at once, on CPU cores or, for the kind stt and the xbw kinds, on a GPU
// (File.OpenGPU). There an RRR record is read by one vector load, and its block is decoded by a
// table in shared memory. The bits of xbw-plain are stored as 96 bits beside the number of ones
// before them, so that a rank takes one memory access. A sample of the words fills a cache first,
// in which frequent words of up to eight bytes are found with one access. Numbers are the same as
// on the CPU.
//
// # Files
//
// A dictionary is a container of package internal/sections, kind "COLODIC\n", version 1. Section
// "meta" has ten uint64: kind (as numbered in Kind), words, nodes, rows, leaves, characters in the
// alphabet, length of the longest word, bytes of all words, nodes of the whole trie, and length of
// the heads of an xbw. Section "alphabet" lists the characters in use, ascending; the i-th, from 0,
// has code i+1 (i in C, B and next). The other sections depend on the kind: see stt.go, xbw.go,
// rrr.go, bits.go, tails.go, hash.go, double.go and front.go.
//
// Experimental: it may change with any version; package collocate says what may not.
package dict

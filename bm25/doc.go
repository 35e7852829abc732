// Package bm25 says how much a word tells about a document: the BM25 formula,
// once, for search, for the weights of whole collections and for the GPU.
//
// A collection has N documents with T tokens; a document has L tokens, on average
// T/N. A word that occurs in df documents, and tf times in one of them, weighs
// there
//
//	w(t,d) = idf * (k1+1)*tf / (K + tf)    K = k1*((1-b) + b*L*N/T)    idf = ln(N/df)
//
// That is the variant Papers. The others change the idf and a constant:
//
//	papers, atire  ln(N/df)                    (k1+1)*tf / (K+tf)
//	lucene         ln(1 + (N-df+½)/(df+½))           tf / (K+tf)
//	lucene7        ln(1 + (N-df+½)/(df+½))    (k1+1)*tf / (K+tf)
//	bm25+          ln((N+1)/df)               (k1+1)*tf / (K+tf) + δ          δ = 1
//	bm25l          ln((N+1)/(df+½))           (k1+1)*(c+δ) / (k1+c+δ)         δ = ½, c = k1*tf/K
//	terrier        log2((N-df+½)/(df+½))      (k1+1)*tf / (K+tf)              k3 = 8
//	lucene-lossy   ln(1 + (N-df+½)/(df+½))           tf / (K+tf)              L in one byte
//
// No variant gives a negative weight: df is at most N. A word of every document weighs 0 in Papers,
// and one of at least half of them in Terrier, where Robertson and Spärck Jones' weight is not
// positive. With a k3, a word that a query has q times counts (k3+1)*q/(k3+q) times. Lucene itself
// keeps of L what [LossyLength] says, which lucene-lossy is for.
//
// # The same bits everywhere
//
// Constants of the collection and of the word are computed in float64 and rounded
// once. Then, for each (word, document), these float32 steps in this order, each
// rounded by itself and never fused:
//
//	k = A + B*float32(L)            A = k1*(1-b), B = k1*b*N/T
//	x = k * (1/float32(tf))
//	w = Weight / (1 + x)            Weight = idf*(k1+1)*q, q = how often the query has the word
//	w = w + Plus                    only bm25+: Plus = idf*δ*q
//
// and for bm25l, with A = 1-b and B = b*N/T,
//
//	k = A + B*float32(L)
//	c = float32(tf)/k + δ
//	w = Weight / (1 + k1/c)
//
// Logarithms are this package's [Log], which has the same bits on all machines.
//
// # Bounds
//
// Every step above is a correctly rounded operation on non-negative numbers, and
// rounding keeps order: if u <= v then round(u) <= round(v). The steps are
// arranged so that tf and L enter each of them at one place only. So, in float32
// and not only in the reals, the weight never falls when tf grows and never rises when
// L grows. The weight at (largest tf, smallest L) of a block of postings is
// therefore at least that of every posting in it, exactly, without any allowance for
// rounding, and so is the largest weight over pairs (tf, L) that dominate all
// postings of the block. (The usual tf/(K+tf) has tf in two places and loses this.)
//
// # Example
//
// N = 2 documents of 3 and 1 tokens (T = 4), a word with df = 1 and tf = 2 in the
// first: idf = ln 2 = 0.693, K = 1.2*(0.25 + 0.75*3/2) = 1.65, and the weight is
// 0.693 * 2.2*2/(1.65+2) = 0.8356.
package bm25

// Package bm25 implements the BM25 formula and its variants: how much a word says about a document.
// Search, the weights of whole collections and the GPU kernels all use it.
//
// Params.Scorer fixes the collection, Scorer.Term the word, and Term.Score returns the weight in a
// document:
//
//	s, err := bm25.Params{Variant: bm25.Lucene}.Scorer(docs, tokens)
//	t := s.Term(df, 1)
//	w := t.Score(tf, length)
//
// A collection has N documents with T tokens; a document has L tokens, T/N on average. A word that
// occurs in df documents has in a document in which it occurs tf times the weight
//
//	w(t,d) = idf * (k1+1)*tf / (K + tf)    K = k1*((1-b) + b*L*N/T)    idf = ln(N/df)
//
// That is the variant Papers, of T. Wakatsuki, A. Keyaki and J. Miyazaki, A Case for Term Weighting
// using a Dictionary on GPUs (2017). The others change the idf and a constant:
//
//	papers, atire  ln(N/df)                    (k1+1)*tf / (K+tf)
//	lucene         ln(1 + (N-df+½)/(df+½))           tf / (K+tf)
//	lucene7        ln(1 + (N-df+½)/(df+½))    (k1+1)*tf / (K+tf)
//	bm25+          ln((N+1)/df)               (k1+1)*tf / (K+tf) + δ          δ = 1
//	bm25l          ln((N+1)/(df+½))           (k1+1)*(c+δ) / (k1+c+δ)         δ = ½, c = k1*tf/K
//	terrier        log2((N-df+½)/(df+½))      (k1+1)*tf / (K+tf)              k3 = 8
//	lucene-lossy   ln(1 + (N-df+½)/(df+½))           tf / (K+tf)              L in one byte
//
// No variant gives a negative weight. A word that occurs in every document weighs 0 in Papers; in
// Terrier, so does a word in at least half of them, where Robertson and Spärck Jones' weight is not
// positive. With k3, a word that occurs q times in the query counts (k3+1)*q/(k3+q) times. Lucene
// itself stores lengths in one byte (see LossyLength); lucene-lossy does the same.
//
// # The same bits everywhere
//
// Constants of the collection and of the word are computed in float64 and rounded once. For each
// (word, document) these float32 steps follow, in this order, each rounded separately and never
// fused:
//
//	k = A + B*float32(L)            A = k1*(1-b), B = k1*b*N/T
//	x = k * (1/float32(tf))
//	w = Weight / (1 + x)            Weight = idf*(k1+1)*q, q = occurrences in the query
//	w = w + Plus                    only bm25+: Plus = idf*δ*q
//
// and for bm25l, with A = 1-b and B = b*N/T,
//
//	k = A + B*float32(L)
//	c = float32(tf)/k + δ
//	w = Weight / (1 + k1/c)
//
// Logarithms are computed by Log, which gives the same bits on all machines.
//
// # Bounds
//
// Every step above is a correctly rounded operation on non-negative numbers, and rounding is
// monotonic: if u <= v then round(u) <= round(v). In each step, tf and L occur at most once. So in
// float32, and not only in the reals, the weight never falls when tf grows and never rises when L
// grows. (The usual tf/(K+tf) has tf in two places and loses this.)
//
// Therefore the weight at (largest tf, smallest L) of a block of postings is an upper bound on that
// of every posting in it, without any allowance for rounding. So is the largest weight over pairs
// (tf, L) that dominate all postings of the block.
//
// # Example
//
// N = 2 documents of 3 and 1 tokens (T = 4), and a word with df = 1 and tf = 2 in the first: idf =
// ln 2 = 0.693, K = 1.2*(0.25 + 0.75*3/2) = 1.65, and the weight is 0.693 * 2.2*2/(1.65+2) =
// 0.8356.
//
// Experimental: it may change with any version; package collocate says what may not.
package bm25

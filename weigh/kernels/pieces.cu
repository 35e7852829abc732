// Converts sorted pairs to the result for the host. Pairs come in pieces, each for a
// range of documents. The pairs of a piece are consecutive and sorted by word number.
// Word numbers are the same in all pieces; pairs are numbered consecutively over all
// pieces.
#include "bm25.cuh"
#include "packing.cuh"

constexpr u32 kThreads = 256;

INLINE u64 thread_number() { return (u64)blockIdx.x * kThreads + threadIdx.x; }

// Computes the lengths of a piece's documents from their ends: each has a 0 after its
// words.
KERNEL __launch_bounds__(kThreads) weigh_lengths_of_ends(const u32* __restrict__ ends, u32* __restrict__ lengths, u64 docs) {
  u64 d = thread_number();
  if (d < docs) lengths[d] = ends[d] - (d ? ends[d - 1] + 1 : 0);
}

// Computes the lengths of a piece's documents from their first words.
KERNEL __launch_bounds__(kThreads) weigh_lengths_of_begins(const u64* __restrict__ begins, u32* __restrict__ lengths, u64 docs) {
  u64 d = thread_number();
  if (d < docs) lengths[d] = (u32)(begins[d + 1] - begins[d]);
}

// Finds the first of each word's pairs among the n pairs of a piece, and the end of the
// last word's. `first` gets its number among all pairs, `wide` its number in the piece,
// and the number of the word's pairs is added to df. All three may be null.
KERNEL __launch_bounds__(kThreads)
weigh_firsts(const u64* __restrict__ pairs, u64 n, u32 from, u64 words, u32 term_shift, u32* __restrict__ first, u64* __restrict__ wide,
             u32* __restrict__ df) {
  __shared__ u64 begins[kThreads + 1];
  auto begin = [&](u64 word, u64 low, u64 high) {
    while (low < high) {
      u64 mid = (low + high) / 2;
      if (__ldg(pairs + mid) >> term_shift < word) low = mid + 1; else high = mid;
    }
    return low;
  };
  // First find the range of the block's words, so that the other searches are short.
  u64 w0 = (u64)blockIdx.x * kThreads;
  if (threadIdx.x < 2) begins[threadIdx.x * kThreads] = begin(w0 + threadIdx.x * kThreads, 0, n);
  __syncthreads();
  u64 w = w0 + threadIdx.x;
  u64 at = threadIdx.x ? begin(w, begins[0], begins[kThreads]) : begins[0];
  if (threadIdx.x) begins[threadIdx.x] = at;
  __syncthreads();
  if (w > words) return;
  if (first) first[w] = from + (u32)at;
  if (wide) wide[w] = at;
  if (df && w < words) df[w] += (u32)(begins[threadIdx.x + 1] - at);
}

// Computes the part of the formula that is the same in all documents of a word.
KERNEL __launch_bounds__(kThreads)
weigh_terms_of_df(const u32* __restrict__ df, TermWeight* __restrict__ terms, u64 n, double docs, double k1, float a, float b, u32 variant) {
  u64 t = thread_number();
  if (t < n) terms[t] = df[t] ? term_weight(Scorer{docs, k1, a, b, variant}, df[t]) : TermWeight{0, 0};
}

// Computes the weights of a piece's pairs. term[i] is the word of pair i; if term is
// null, it is taken from the pair.
KERNEL __launch_bounds__(kThreads)
weigh_scores(const u64* __restrict__ pairs, const u32* __restrict__ term, u64 n, const TermWeight* __restrict__ terms,
             const u32* __restrict__ lengths, float* __restrict__ weights, u32 doc_shift, u32 term_shift, double k1, float a, float b,
             u32 variant) {
  u64 i = thread_number();
  if (i >= n) return;
  Packing p{doc_shift, term_shift};
  u64 pair = pairs[i];
  TermWeight t = terms[term ? term[i] : p.term(pair)];
  weights[i] = score(Scorer{0, k1, a, b, variant}, t, p.tf(pair), __ldg(lengths + p.doc(pair)));
}

// Lists the df of the words with the given numbers, in their order.
KERNEL __launch_bounds__(kThreads)
weigh_df_in_order(const u32* __restrict__ df, const u32* __restrict__ numbers, u32* __restrict__ out, u64 n) {
  u64 t = thread_number();
  if (t < n) out[t] = df[numbers[t]];
}

// The result for the host, in few bytes, because the link to the host takes longest. A
// document takes two bytes: the gap to the word's previous document in the piece, or to
// the document before the piece. A frequency takes one byte. A gap over 65535 or a
// frequency over 254 is stored as 0 and listed: pair << 32 | document, or
// pair << 32 | frequency.
struct Shrunk {
  u16* gaps;
  u8* small;
  u64* jumps;
  u64* large;
  u64* counts;  // lengths of jumps and of large

  INLINE void put(u64 i, u32 before, u32 doc, u32 tf) const {
    u32 gap = doc - before;
    if (gap > 0xffff) {
      gap = 0;
      jumps[atomicAdd(counts, 1ull)] = i << 32 | doc;
    }
    gaps[i] = (u16)gap;
    small[i] = tf < 255 ? (u8)tf : 0;
    if (tf >= 255) large[atomicAdd(counts + 1, 1ull)] = i << 32 | tf;
  }
};

// Shrinks the n pairs of a piece. Its first pair has number `from`. Document d of the
// piece is document numbers[d] of the corpus, or base + d if numbers is null.
KERNEL __launch_bounds__(kThreads)
weigh_shrink_piece(const u64* __restrict__ pairs, u64 n, u64 from, u32 base, const u32* __restrict__ numbers, u16* gaps, u8* small,
                   u64* jumps, u64* large, u64* counts, u32 doc_shift, u32 term_shift) {
  u64 i = thread_number();
  if (i >= n) return;
  Packing p{doc_shift, term_shift};
  Shrunk out{gaps, small, jumps, large, counts};
  auto number = [&](u64 pair) { return numbers ? __ldg(numbers + p.doc(pair)) : base + p.doc(pair); };
  u64 pair = pairs[i], before = i ? pairs[i - 1] : 0;
  bool first = i == 0 || p.term(before) != p.term(pair);
  out.put(from + i, first ? base - 1 : number(before), number(pair), p.tf(pair));
}

// Shrinks the pairs [from, to) of a text in one piece, given as lists of documents and
// frequencies. Before the call, small[i] is 1 if pair i is the first of a word.
KERNEL __launch_bounds__(kThreads)
weigh_shrink(const u32* __restrict__ docs, const u32* __restrict__ tfs, u16* gaps, u8* small, u64* jumps, u64* large, u64* counts, u64 from,
             u64 to) {
  u64 at = from + thread_number() * 4;
  if (at >= to) return;
  Shrunk out{gaps, small, jumps, large, counts};
  u32 before = at ? docs[at - 1] : 0;
  for (u64 i = at; i < at + 4 && i < to; i++) {
    u32 d = docs[i];
    out.put(i, small[i] ? ~0u : before, d, tfs[i]);
    before = d;
  }
}

// Sets small[first[t]] to 1 for each word. All other entries must be 0.
KERNEL __launch_bounds__(kThreads) weigh_mark_firsts(const u64* __restrict__ first, u8* __restrict__ small, u64 terms) {
  u64 t = thread_number();
  if (t < terms) small[first[t]] = 1;
}

// Writes a few numbers to host memory. A copy would have to wait for the copies of
// results.
KERNEL __launch_bounds__(kThreads) weigh_tell(const u64* __restrict__ from, volatile u64* to, u64 n) {
  if (threadIdx.x < n) to[threadIdx.x] = from[threadIdx.x];
}

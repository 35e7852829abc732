// From pairs that are sorted by word to what goes to the host. Pairs come in pieces, a
// range of documents each: pairs of a piece lie together, in all pieces by the same
// numbers of words, and are numbered through all pieces.
#include "bm25.cuh"
#include "packing.cuh"

constexpr u32 kThreads = 256;

INLINE u64 thread_number() { return (u64)blockIdx.x * kThreads + threadIdx.x; }

// How many words the documents of a piece have: from the places where they end, each
// with a 0 behind its words, or from those where they begin.
KERNEL __launch_bounds__(kThreads) weigh_lengths_of_ends(const u32* __restrict__ ends, u32* __restrict__ lengths, u64 docs) {
  u64 d = thread_number();
  if (d < docs) lengths[d] = ends[d] - (d ? ends[d - 1] + 1 : 0);
}

KERNEL __launch_bounds__(kThreads) weigh_lengths_of_begins(const u64* __restrict__ begins, u32* __restrict__ lengths, u64 docs) {
  u64 d = thread_number();
  if (d < docs) lengths[d] = (u32)(begins[d + 1] - begins[d]);
}

// Where the pairs of each word begin among the n of a piece, and the end behind the
// last: in `first` with the number of the piece's first pair added, in `wide` without,
// both if they are there. df, if it is there, grows by the word's pairs.
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
  // The ends of the block's words first: between them there is little to search.
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

// The part of the formula that a word has.
KERNEL __launch_bounds__(kThreads)
weigh_terms_of_df(const u32* __restrict__ df, TermWeight* __restrict__ terms, u64 n, double docs, double k1, float a, float b, u32 variant) {
  u64 t = thread_number();
  if (t < n) terms[t] = df[t] ? term_weight(Scorer{docs, k1, a, b, variant}, df[t]) : TermWeight{0, 0};
}

// The weights of a piece's pairs. term, if it is there, says whose each is.
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

// How often the words from the numbers on are in documents, in that order.
KERNEL __launch_bounds__(kThreads)
weigh_df_in_order(const u32* __restrict__ df, const u32* __restrict__ numbers, u32* __restrict__ out, u64 n) {
  u64 t = thread_number();
  if (t < n) out[t] = df[numbers[t]];
}

// The result for the host, in fewer bytes: the link is what takes longest. A document
// is two bytes, how much its number is above that of the word's document before it in
// the piece, or the first one's above the document before the piece; 0 if that does not
// fit. A frequency is a byte, 0 if it is 255 or more. What does not fit is listed: the
// pair's number << 32 | document, or frequency.
struct Shrunk {
  u16* gaps;
  u8* small;
  u64* jumps;
  u64* large;
  u64* counts;  // of these two

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

// The n pairs of a piece, the first of which is pair `from`. Document d of the piece is
// numbers[d] of the corpus, or base + d.
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

// The same for pairs [from, to) of one piece, as lists, where small[i] says which are a
// word's first.
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

// small[first[t]] becomes 1, all others are 0.
KERNEL __launch_bounds__(kThreads) weigh_mark_firsts(const u64* __restrict__ first, u8* __restrict__ small, u64 terms) {
  u64 t = thread_number();
  if (t < terms) small[first[t]] = 1;
}

// A few words for the host, which sees them in its own memory: a copy would queue up
// behind the large ones.
KERNEL __launch_bounds__(kThreads) weigh_tell(const u64* __restrict__ from, volatile u64* to, u64 n) {
  if (threadIdx.x < n) to[threadIdx.x] = from[threadIdx.x];
}

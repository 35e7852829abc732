// The papers' MapReduce, for comparison: a thread per document maps and a thread per
// word reduces, without load balancing.
#include "bm25.cuh"

constexpr u32 kThreads = 128;

INLINE u64 thread_number() { return (u64)blockIdx.x * kThreads + threadIdx.x; }
INLINE bool separates(u32 b) { return b == ' ' || b == '\n'; }

// Map, first round: counts the words of each document. Document d begins at starts[d]
// and ends before starts[d+1], the last one at the end of the text.
KERNEL __launch_bounds__(kThreads)
weigh_map_count(const u8* __restrict__ text, u64 bytes, const u32* __restrict__ starts, u32* __restrict__ counts, u64 docs) {
  u64 d = thread_number();
  if (d >= docs) return;
  u64 end = d + 1 < docs ? starts[d + 1] : bytes;
  u32 n = 0;
  bool before = true;
  for (u64 at = starts[d]; at < end; at++) {
    bool sep = separates(text[at]);
    n += !sep && before;
    before = sep;
  }
  counts[d] = n;
}

// Map, second round: emits (word, document). The document is stored at index start/2 of
// places, where start is that of the word.
KERNEL __launch_bounds__(kThreads)
weigh_map_emit(const u8* __restrict__ text, u64 bytes, const u32* __restrict__ starts, const u64* __restrict__ offsets,
               u64* __restrict__ refs, u32* __restrict__ places, u64 docs) {
  u64 d = thread_number();
  if (d >= docs) return;
  u64 end = d + 1 < docs ? starts[d + 1] : bytes;
  u64 to = offsets[d];
  for (u64 at = starts[d]; at < end;) {
    if (separates(text[at])) {
      at++;
      continue;
    }
    u64 from = at;
    while (at < end && !separates(text[at])) at++;
    refs[to++] = from << 24 | (at - from);
    places[from / 2] = (u32)d;
  }
}

// Reduce, first round: counts the documents of each word. The occurrences of word t are
// [first[t], first[t+1]).
KERNEL __launch_bounds__(kThreads)
weigh_reduce_count(const u32* __restrict__ docs, const u64* __restrict__ first, u32* __restrict__ dfs, u64 terms) {
  u64 t = thread_number();
  if (t >= terms) return;
  u32 df = 0;
  for (u64 i = first[t]; i < first[t + 1]; i++) df += i == first[t] || docs[i] != docs[i - 1];
  dfs[t] = df;
}

// Reduce, second round: computes the weights.
KERNEL __launch_bounds__(kThreads)
weigh_reduce_emit(const u32* __restrict__ docs, const u64* __restrict__ first, const u32* __restrict__ dfs, const u64* __restrict__ offsets,
                  const u32* __restrict__ lengths, const u32* __restrict__ numbers, u32* __restrict__ out_docs, u32* __restrict__ out_tfs,
                  float* __restrict__ out_weights, u64 terms, double n, double k1, float a, float b, u32 variant) {
  u64 t = thread_number();
  if (t >= terms) return;
  Scorer c{n, k1, a, b, variant};
  TermWeight w = term_weight(c, dfs[t]);
  u64 to = offsets[t];
  for (u64 i = first[t]; i < first[t + 1];) {
    u32 d = docs[i];
    u64 from = i;
    while (i < first[t + 1] && docs[i] == d) i++;
    u32 tf = (u32)(i - from);
    out_docs[to] = numbers ? numbers[d] : d;
    out_tfs[to] = tf;
    out_weights[to] = score(c, w, tf, lengths[d]);
    to++;
  }
}

// The eight steps, except for what the primitives do.
#include "warp.cuh"
#include "bm25.cuh"

constexpr u32 kThreads = 256;

INLINE u64 thread_number() { return (u64)blockIdx.x * kThreads + threadIdx.x; }
INLINE bool separates(u32 b) { return b == ' ' || b == '\n'; }

// A reference to a word is its offset in the text << 24 | its length.
INLINE u64 offset_of(u64 ref) { return ref >> 24; }

// Step 1: flags the bytes at which words begin. If documents != 0, only the first words
// of documents count, which follow a newline. The first `skip` bytes belong to another
// piece and are ignored. Each thread processes 16 bytes.
KERNEL __launch_bounds__(kThreads) weigh_begins(const u8* __restrict__ text, u8* __restrict__ flags, u64 n, u32 skip, u32 documents) {
  u64 at = thread_number() * 16;
  if (at >= n) return;
  u32 before = at ? text[at - 1] : '\n';
  if (at >= skip && at + 16 <= n && (u64)text % 16 == 0) {
    uint4 v = *(const uint4*)(text + at);
    u32 words[4] = {v.x, v.y, v.z, v.w};
    u32 out[4];
#pragma unroll
    for (u32 w = 0; w < 4; w++) {
      out[w] = 0;
#pragma unroll
      for (u32 j = 0; j < 4; j++) {
        u32 b = (words[w] >> (8 * j)) & 255;
        bool begins = !separates(b) && (documents ? before == '\n' : separates(before));
        out[w] |= (u32)begins << (8 * j);
        before = b;
      }
    }
    *(uint4*)(flags + at) = make_uint4(out[0], out[1], out[2], out[3]);
  } else {
    u64 end = min_of(at + 16, n);
    for (; at < end; at++) {
      u32 b = text[at];
      flags[at] = at >= skip && !separates(b) && (documents ? before == '\n' : separates(before));
      before = b;
    }
  }
}

// Makes references to the words, and flags those that begin a document. The text is a
// part of a larger one, in which it begins at base.
KERNEL __launch_bounds__(kThreads)
weigh_refs(const u8* __restrict__ text, u64 bytes, u64 base, const u32* __restrict__ starts, u64* __restrict__ refs, u32* __restrict__ firsts,
           u64 n) {
  u64 i = thread_number();
  if (i >= n) return;
  // Go back from the start of the next word over the separators, mostly a single one.
  u64 start = starts[i], end = i + 1 < n ? starts[i + 1] : bytes;
  while (end > start && separates(text[end - 1])) end--;
  refs[i] = (base + start) << 24 | (end - start);
  firsts[i] = start == 0 || text[start - 1] == '\n';
}

// Stores the document of each word at index start/2 of places: two words never begin in
// the same two bytes. Documents are counted from 1 in the input, from 0 in the output.
KERNEL __launch_bounds__(kThreads)
weigh_place(const u32* __restrict__ starts, const u32* __restrict__ docs, u32* __restrict__ places, u64 n) {
  u64 i = thread_number();
  if (i < n) places[starts[i] / 2] = docs[i] - 1;
}

// Reads the document of each reference from places.
KERNEL __launch_bounds__(kThreads)
weigh_docs(const u64* __restrict__ refs, const u32* __restrict__ places, u32* __restrict__ docs, u64 n) {
  u64 i = thread_number();
  if (i < n) docs[i] = places[offset_of(refs[i]) / 2];
}

// Step 5: flags the first occurrence of each pair. heads[i] is 1 if word i differs from
// the previous one.
KERNEL __launch_bounds__(kThreads)
weigh_pair_heads(const u8* __restrict__ heads, const u32* __restrict__ docs, u8* __restrict__ flags, u64 n) {
  u64 i = thread_number();
  if (i < n) flags[i] = i == 0 || heads[i] || docs[i] != docs[i - 1];
}

// Step 6: flags the first pair of each word.
KERNEL __launch_bounds__(kThreads)
weigh_term_heads(const u32* __restrict__ pairs, const u8* __restrict__ heads, u8* __restrict__ flags, u64 n) {
  u64 i = thread_number();
  if (i < n) flags[i] = i == 0 || heads[pairs[i]];
}

// Converts n offsets to 64 bits and appends `end`.
KERNEL __launch_bounds__(kThreads) weigh_widen(const u32* __restrict__ in, u64* __restrict__ out, u64 n, u64 end) {
  u64 i = thread_number();
  if (i < n) out[i] = in[i];
  if (i == n) out[i] = end;
}

// Step 8, once per word: computes the part of the formula that is the same in all
// documents. first[t] is the first pair of word t.
KERNEL __launch_bounds__(kThreads)
weigh_terms(const u64* __restrict__ first, TermWeight* __restrict__ terms, u64 n, double docs, double k1, float a, float b, u32 variant) {
  u64 t = thread_number();
  if (t < n) terms[t] = term_weight(Scorer{docs, k1, a, b, variant}, first[t + 1] - first[t]);
}

// Step 8, once per pair: computes the weight. Pair i begins at occurrence pairs[i] and
// belongs to word term[i]. Document d has begins[d+1] - begins[d] words and the number
// numbers[d], or d if numbers is null.
KERNEL __launch_bounds__(kThreads)
weigh_pairs(const u32* __restrict__ pairs, const u32* __restrict__ docs, const u32* __restrict__ term, u64 n, u64 words,
            const TermWeight* __restrict__ terms, const u64* __restrict__ begins, const u32* __restrict__ numbers,
            u32* __restrict__ out_docs, u32* __restrict__ out_tfs, float* __restrict__ out_weights, double k1, float a, float b, u32 variant) {
  u64 i = thread_number();
  if (i >= n) return;
  u32 from = pairs[i];
  u32 tf = (i + 1 < n ? pairs[i + 1] : (u32)words) - from;
  u32 d = docs[from];
  u32 length = (u32)(begins[d + 1] - begins[d]);
  out_docs[i] = numbers ? numbers[d] : d;
  out_tfs[i] = tf;
  out_weights[i] = score(Scorer{0, k1, a, b, variant}, terms[term[i]], tf, length);
}

// The next three kernels copy the distinct words for the host. First, a reference to one
// occurrence of each word.
KERNEL __launch_bounds__(kThreads)
weigh_word_refs(const u64* __restrict__ refs, const u32* __restrict__ pairs, const u64* __restrict__ first, u64* __restrict__ out, u64 n) {
  u64 t = thread_number();
  if (t < n) out[t] = refs[pairs ? pairs[first[t]] : first[t]];
}

// Second, the length of each word.
KERNEL __launch_bounds__(kThreads) weigh_word_lengths(const u64* __restrict__ refs, u32* __restrict__ lengths, u64 n) {
  u64 t = thread_number();
  if (t < n) lengths[t] = (u32)refs[t] & 0xffffff;
}

// Third, the bytes of each word. ends[t] is the sum of the lengths up to word t.
KERNEL __launch_bounds__(kThreads)
weigh_word_bytes(const u8* __restrict__ text, const u64* __restrict__ refs, const u64* __restrict__ ends, u8* __restrict__ out, u64 n) {
  u64 t = thread_number();
  if (t >= n) return;
  u32 len = (u32)refs[t] & 0xffffff;
  const u8* from = text + offset_of(refs[t]);
  u8* to = out + ends[t] - len;
  for (u32 i = 0; i < len; i++) to[i] = from[i];
}

// How a thread block looks up many words: first in a small cache. The words that are not there are
// compacted, so that all threads of a warp look up one in the dictionary.
#pragma once
#include "warp.cuh"

constexpr u32 kThreads = 512;
constexpr u32 kItems = 4;
constexpr u32 kTile = kThreads * kItems;
constexpr u32 kNone = 0xffffffffu;  // the number of words that are not there

// A reference: the offset in the text above 24 bits of length.
INLINE u64 offset_of(u64 ref) { return ref >> 24; }
INLINE u32 length_of(u64 ref) { return (u32)ref & 0xffffffu; }

struct Text {
  const u8* data;
  u64 bytes;

  // Up to eight bytes from `at` on, the first one lowest, with zeros after len bytes. It takes at
  // most two loads, except next to the ends of the text.
  INLINE u64 load(u64 at, u32 len) const {
    len = min_of(len, 8u);
    const u8* p = data + at;
    u32 shift = ((u32)(u64)p & 7) * 8;
    const u64* a = (const u64*)((u64)p & ~7ull);
    u64 v = 0;
    if ((const u8*)a >= data && (const u8*)(a + 2) <= data + bytes) {
      v = __ldg(a) >> shift;
      if (shift + 8 * len > 64) v |= __ldg(a + 1) << (64 - shift);
      if (len < 8) v &= (1ull << (8 * len)) - 1;
    } else {
      for (u32 i = 0; i < len; i++)
        if (at + i < bytes) v |= (u64)p[i] << (8 * i);
    }
    return v;
  }
};

// A word, read eight bytes at a time.
struct Word {
  Text text;
  u64 at;
  u32 len;
  u64 now;  // the eight bytes with the one that was read last

  INLINE Word(const Text& t, u64 ref) : text(t), at(offset_of(ref)), len(length_of(ref)) { now = text.load(at, len); }

  // Byte i. Bytes must be read in order.
  INLINE u32 byte(u32 i) {
    if (i > 0 && i % 8 == 0) now = text.load(at + i, len - i);
    return (u32)(now >> (8 * (i % 8))) & 255;
  }
};

// The cache has buckets of two slots, 32 bytes, the unit of memory reads. A slot has a word of at
// most eight bytes, padded with zeros, and its number. Words that end with a zero byte are not
// cached, because padding would make them ambiguous. A word of 0 is an empty slot.
struct Slot {
  u64 word;
  u32 id, pad;
};

INLINE u32 bucket_of(u64 word, u32 buckets) {
  u64 h = word * 0x9e3779b97f4a7c15ull;
  h ^= h >> 32;
  return (u32)((h * 0xd6e8feb86659fd93ull) >> 32) & (buckets - 1);
}

INLINE bool cacheable(u64 word, u32 len) { return len > 0 && len <= 8 && (word >> (8 * (len - 1))) != 0; }

INLINE void remember(Slot* cache, u32 buckets, u64 word, u32 id) {
  Slot* s = cache + 2 * bucket_of(word, buckets);
  for (u32 j = 0; j < 2; j++) {
    u64 there = *(volatile u64*)&s[j].word;
    if (there == 0) there = atomicCAS(&s[j].word, 0ull, word);
    if (there == word) return;
    if (there == 0) {
      s[j].id = id;
      return;
    }
  }
}

INLINE bool recall(const Slot* cache, u32 buckets, u64 word, u32& id) {
  const ulonglong2* s = (const ulonglong2*)(cache + 2 * bucket_of(word, buckets));
  ulonglong2 a = __ldg(s);
  if (a.x == word) {
    id = (u32)a.y;
    return true;
  }
  ulonglong2 b = __ldg(s + 1);
  if (b.x == word) {
    id = (u32)b.y;
    return true;
  }
  return false;
}

// Looks up words [0, n) in dictionary d. There is a cache if buckets > 0. Then a launch with
// stride > 1 looks up only every stride-th tile, to fill the cache; one with stride 1 uses it.
template <class Dict>
INLINE void look_up(const Dict& d, const Text& text, const u64* __restrict__ refs, u32* __restrict__ ids, u64 n, Slot* cache,
                    u32 buckets, u32 stride) {
  __shared__ u16 misses[kTile];
  __shared__ u32 missed;
  for (u64 tile = (u64)blockIdx.x * stride; tile * kTile < n; tile += (u64)gridDim.x * stride) {
    u64 first = tile * kTile;
    u32 count = (u32)min_of((u64)kTile, n - first);
    if (buckets == 0 || stride > 1) {
      for (u32 i = threadIdx.x; i < count; i += kThreads) {
        Word w(text, refs[first + i]);
        u64 head = w.now;
        u32 id = d.find(w);
        if (stride == 1) ids[first + i] = id;
        else if (cacheable(head, w.len)) remember(cache, buckets, head, id);
      }
      continue;
    }
    if (threadIdx.x == 0) missed = 0;
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < kItems; j++) {
      u32 i = threadIdx.x + j * kThreads;
      bool miss = false;
      if (i < count) {
        u64 ref = refs[first + i];
        u64 head = text.load(offset_of(ref), length_of(ref));
        u32 id;
        if (cacheable(head, length_of(ref)) && recall(cache, buckets, head, id)) ids[first + i] = id;
        else miss = true;
      }
      u32 votes = __ballot_sync(kFull, miss);
      u32 base = 0;
      if (lane_id() == 0 && votes) base = atomicAdd(&missed, (u32)__popc(votes));
      base = __shfl_sync(kFull, base, 0);
      if (miss) misses[base + __popc(votes & lanes_below())] = (u16)i;
    }
    __syncthreads();
    for (u32 k = threadIdx.x; k < missed; k += kThreads) {
      u32 i = misses[k];
      Word w(text, refs[first + i]);
      ids[first + i] = d.find(w);
    }
    __syncthreads();
  }
}

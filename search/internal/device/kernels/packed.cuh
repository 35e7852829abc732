// Lists as the index stores them, for thesis.cuh. From its pos on, a list has the last document of
// each block of 128 postings, the offset of each block in bytes, and the blocks (see postings.go
// and bitmap.go in package index). The host decoded them once, so they are not damaged.
#pragma once
#include "thesisheads.cuh"

constexpr u32 kBlock = 128;
constexpr u32 kDense = 255;  // first byte of a block that has a bitmap

// n bits of little-endian memory, up to 32.
INLINE u32 bits_at(const u32* words, u64 bit, u32 n) {
  const u32* p = words + bit / 32;
  return (u32)((p[0] | (u64)p[1] << 32) >> bit % 32) & (u32)((1ull << n) - 1);
}

// A block, the same in all lanes.
struct Block {
  const u32* data;  // the list's blocks
  u32 n, first;     // postings; the first document that it may have
  u32 bitmap;       // words of 4 bytes; 0: it has gaps
  u32 w, d, v, e;   // bits and patches of gaps, and of frequencies
  u32 gaps, tfs, patches;

  INLINE Block(const u32* data, u32 at, u32 n, u32 first) : data(data), n(n), first(first), bitmap(0) {
    u32 a = byte(at), b = byte(at + 1);
    w = a % 32, d = a / 32, v = b % 32, e = b / 32;
    gaps = at + 2, tfs = gaps + (n * w + 7) / 8;
    if (a == kDense) bitmap = 2 * byte(at + 2), d = 0, gaps = at + 3, tfs = gaps + 4 * bitmap;
    patches = tfs + (n * v + 7) / 8;
  }

  INLINE u32 byte(u32 at) const { return bits_at(data, 8ull * at, 8); }

  // The i-th of the numbers of w bits that begin at byte `from`. A full block has them in four
  // lanes of words, a shorter one has one after the other.
  INLINE u32 number(u32 from, u32 w, u32 i) const {
    if (w == 0) return 0;
    if (n < kBlock) return bits_at(data, 8ull * from + i * w, w);
    u32 bit = i / 4 * w, at = from + bit / 32 * 16 + i % 4 * 4, shift = bit % 32;
    u64 x = bits_at(data, 8ull * at, 32);
    if (shift + w > 32) x |= (u64)bits_at(data, 8ull * at + 128, 32) << 32;
    return (u32)(x >> shift) & ((1u << w) - 1);
  }

  // Applies those of `count` patches that are of number i, and returns the end of the patches.
  INLINE u32 patch(u32 from, u32 count, u32 w, u32 i, u32& x) const {
#pragma unroll 1
    for (; count > 0; count--) {
      u32 of = byte(from++), high = 0, shift = 0, b;
#pragma unroll 1
      do {
        b = byte(from++);
        high |= b % 128 << shift;
        shift += 7;
      } while (b >= 128);
      if (of == i) x += high << w;
    }
    return from;
  }

  // Calls put(i, document) for each posting i, in any lane.
  template <class Put> INLINE void docs(Put put) const {
    if (bitmap > 0) {
#pragma unroll 1
      for (u32 from = 0, found = 0; from < bitmap; from += kWarp) {
        u32 i = from + lane_id(), word = i < bitmap ? bits_at(data, 8ull * (gaps + 4 * i), 32) : 0;
        u32 upto = found + warp_inclusive((u32)__popc(word)), at = upto - __popc(word);
        found = __shfl_sync(kFull, upto, kWarp - 1);
#pragma unroll 1
        for (; word != 0; word &= word - 1) put(at++, first / 64 * 64 + 32 * i + __ffs(word) - 1);
      }
      return;
    }
    u32 before = first - 1;
#pragma unroll 1
    for (u32 i = lane_id(); i < kBlock; i += kWarp) {
      u32 gap = i < n ? number(gaps, w, i) + 1 : 0;
      patch(patches, d, w, i, gap);
      u32 doc = before + warp_inclusive(gap);
      if (i < n) put(i, doc);
      before = __shfl_sync(kFull, doc, kWarp - 1);
    }
  }

  // Calls put(i, frequency) for each posting i, in any lane.
  template <class Put> INLINE void frequencies(Put put) const {
    u32 none = 0, from = patch(patches, d, w, kBlock, none);
#pragma unroll 1
    for (u32 i = lane_id(); i < n; i += kWarp) {
      u32 tf = number(tfs, v, i) + 1;
      patch(from, e, v, i, tf);
      put(i, tf);
    }
  }
};

// A compressed list.
struct PackedList {
  const u32* last;  // of each block
  u32 df, blocks;

  INLINE PackedList(const u32* words, const Term& t) : last(words + t.pos), df(t.df), blocks((t.df + kBlock - 1) / kBlock) {}

  INLINE Block block(u32 b) const {
    return Block(last + 2 * blocks, last[blocks + b], min_of(df - b * kBlock, kBlock), b > 0 ? last[b - 1] + 1 : 0);
  }
};

struct Packed {
  const u32* words;
  const u8* unused_tfs;
  const u32* unused_extra;
  const u32* lengths;

  // As in Plain. The last document of a block needs no decoding.
  INLINE u32 doc_at(const Term* terms, u32 n, u32 i, u32) const {
    u32 found = 0;
#pragma unroll 1
    for (u32 t = 0; t < n; t++) {
      PackedList l(words, terms[t]);
      u32 at = __shfl_sync(kFull, i, t), doc = 0;
      if (at < l.df && (at % kBlock == kBlock - 1 || at == l.df - 1)) {
        doc = l.last[at / kBlock];
      } else if (at < l.df) {
        l.block(at / kBlock).docs([&](u32 k, u32 d) {
          if (k == at % kBlock) doc = d;
        });
        doc = warp_sum(doc);
      }
      if (lane_id() == t) found = doc;
    }
    return found;
  }

  // As in Plain: a search among the last documents of blocks, of which one is decoded.
  INLINE u32 advance(const Term* terms, u32 n, u32 from, u32, u32 x) const {
    u32 found = 0;
#pragma unroll 1
    for (u32 t = 0; t < n; t++) {
      PackedList l(words, terms[t]);
      u32 begin = __shfl_sync(kFull, from, t), b = stride(l.last, begin / kBlock, l.blocks, x), at = l.df;
      if (b < l.blocks) {
        u32 before = 0;
        l.block(b).docs([&](u32, u32 doc) { before += doc < x; });
        at = max_of(begin, b * kBlock + warp_sum(before));
      }
      if (lane_id() == t) found = at;
    }
    return found;
  }

  // Calls f(list, block, number of the block's first posting within [from, to)) for all blocks with
  // these postings; in wider blocks of threads, each for one warp.
  template <bool Wide, class F> INLINE static void each(const u32* words, const Term* terms, u32 n, u32 from, u32 to, F f) {
    u32 turn = 0;
#pragma unroll 1
    for (u32 j = 0; j < n; j++) {
      PackedList l(words, terms[j]);
      u32 begin = __shfl_sync(kFull, from, j), end = __shfl_sync(kFull, to, j);
#pragma unroll 1
      for (u32 b = begin / kBlock; b * kBlock < end && begin < end; b++)
        if (!Wide || turn++ % (blockDim.x / kWarp) == warp_id()) f(j, l.block(b), b * kBlock - begin);
    }
  }

  template <bool Wide> INLINE void load_docs(const Term* terms, u32 n, const Slice& s, u32 from, u32 to) const {
    to = min_of(to, from + s.room);
    u32 have = to - from;
    each<Wide>(words, terms, n, from, to, [&](u32 j, const Block& b, u32 first) {
      u32 end = __shfl_sync(kFull, have, j);
      b.docs([&](u32 i, u32 doc) {  // i + first wraps around before the first posting
        if (i + first < end) s.docs[j * (s.room + 1) + i + first] = doc;
      });
    });
  }

  template <bool Wide> INLINE void load_scores(const Term* terms, u32 n, u32 model, const Slice& s, u8*, u32 from, u32 have) const {
    each<Wide>(words, terms, n, from, from + have, [&](u32 j, const Block& b, u32 first) {
      u32 end = __shfl_sync(kFull, have, j);
      b.frequencies([&](u32 i, u32 tf) {
        if (i + first < end) s.scores[j * s.room + i + first] = __uint_as_float(tf);
      });
    });
    sync_all<Wide>();
#pragma unroll 1
    for (u32 j = 0; j < n; j++) {
      u32 end = __shfl_sync(kFull, have, j);
      const u32* docs = s.docs_of(j);
#pragma unroll 1
      for (u32 i = Wide ? threadIdx.x : lane_id(); i < end; i += Wide ? blockDim.x : kWarp)
        s.scores[j * s.room + i] = score_of(model, terms[j], __float_as_uint(s.scores[j * s.room + i]), lengths[docs[i]]);
    }
  }
};

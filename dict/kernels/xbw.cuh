// Tries in XBW form: child(x, c) = C[c] + rank(B_c, x).
#pragma once
#include "lookup.cuh"

// Bits with interleaved ranks: a record of 16 bytes, which one load reads, is the number of ones
// before it and 96 bits, lowest first.
constexpr u32 kRecordBits = 96;

struct Bits {
  const uint4* records;

  INLINE u32 rank(u32 i, bool& one) const {
    uint4 v = __ldg(records + i / kRecordBits);
    u32 r = i % kRecordBits;
    u32 word = r < 32 ? v.y : r < 64 ? v.z : v.w;
    u32 n = v.x;
    if (r >= 32) n += __popc(v.y);
    if (r >= 64) n += __popc(v.z);
    one = (word >> (r & 31)) & 1;
    return n + __popc(word & ((1u << (r & 31)) - 1));
  }
};

// Vectors of such bits, one for each character.
struct PlainVectors {
  Bits bits;
  u32 per;  // records of a vector

  INLINE bool down(u32 c, u32 i, u32& rank) const {
    bool one;
    rank = Bits{bits.records + (u64)c * per}.rank(i, one);
    return one;
  }
};

// The same in RRR: a superblock of 16 blocks of 15 bits is a record of 16 bytes, which one load
// reads: the number of ones before it, where its offsets begin, and 16 classes of 4 bits. A block
// is decoded by a table of 64 KB in shared memory, or by computation.
constexpr u32 kBlockBits = 15;
constexpr u32 kSuperBits = 240;

// Blocks by class and offset.
struct DecodeTable {
  const u16* blocks;  // in shared memory

  // The index of a class's first block: a sum of binomial coefficients of 15.
  static INLINE u32 first_of(u32 k) {
    // 0 1 16 121 576 1941 4944 9949 16384; from there on 32768 less those in reverse order.
    u32 m = k < 8 ? k : 16 - k;
    u32 f = m == 0 ? 0 : m == 1 ? 1 : m == 2 ? 16 : m == 3 ? 121 : m == 4 ? 576 : m == 5 ? 1941 : m == 6 ? 4944 : m == 7 ? 9949 : 16384;
    return k < 8 ? f : 32768 - f;
  }

  INLINE u32 block(u32 k, u32 offset) const { return blocks[(first_of(k) + offset) & 32767]; }
};

template <class Decoder> struct RrrVectors {
  const uint4* records;
  const u32* offsets;
  Decoder decoder;
  u32 per;            // superblocks of a vector
  u32 offset_words;

  // Widths of the offsets of classes 0 to 7, a byte each; classes k and 15-k have the same.
  static constexpr u32 kWidthsLow = 0x09070400u, kWidthsHigh = 0x0d0d0c0bu;

  // In eight fields of four bits, replaces a class k above 7 by 15-k.
  static INLINE u32 fold(u32 x) {
    u32 high = x & 0x88888888u;
    return x ^ ((high << 1) - (high >> 3));
  }

  // The sum of the widths of eight folded classes, as four partial sums of a byte each.
  static INLINE u32 widths(u32 folded) {
    return __byte_perm(kWidthsLow, kWidthsHigh, folded) + __byte_perm(kWidthsLow, kWidthsHigh, folded >> 16);
  }

  INLINE bool down(u32 c, u32 i, u32& rank) const {
    u32 super = i / kSuperBits;
    uint4 r = __ldg(records + (u64)c * per + super);
    u32 in = i - super * kSuperBits;
    u32 blk = in / kBlockBits;
    u32 bit = in - blk * kBlockBits;
    u64 classes = (u64)r.w << 32 | r.z;
    u32 class_ = (u32)(classes >> (4 * blk)) & 15;
    if (class_ == 0) return false;
    u64 before = classes & ((1ull << (4 * blk)) - 1);
    // Add the nibbles in bytes, and the bytes by a product: the sum is at most 240.
    u64 pairs = (before & 0x0f0f0f0f0f0f0f0full) + ((before >> 4) & 0x0f0f0f0f0f0f0f0full);
    u32 four = (u32)pairs + (u32)(pairs >> 32);
    u32 ones = r.x + ((four * 0x01010101u) >> 24);
    u32 sums = widths(fold((u32)before)) + widths(fold((u32)(before >> 32)));
    u32 at = r.y + ((sums * 0x01010101u) >> 24);
    u32 low = fold(class_) & 7;
    u32 width = __byte_perm(kWidthsLow, kWidthsHigh, low) & 255;
    if (at / 32 + 1 >= offset_words) return false;  // a corrupt file
    u32 v = __funnelshift_r(__ldg(offsets + at / 32), __ldg(offsets + at / 32 + 1), at & 31);
    u32 block = decoder.block(class_, v & ((1u << width) - 1));
    rank = ones + __popc(block & ((1u << bit) - 1));
    return (block >> bit) & 1;
  }
};

// The tails of words: see tails.go. Characters are codes of `width` bits, `per` in a 64-bit word,
// and 0 ends a string; starts has the start of every 16th string.
struct Tails {
  const u64* words;
  const u32* starts;
  u32 count, strings;  // lengths of words and of starts
  u32 width, per;

  INLINE bool equal(u32 i, Word& w, u32 from, const u16* codes) const {
    if (i / 16 >= strings) return false;
    u32 start = __ldg(starts + i / 16);
    u32 word = start / per, at = start % per;
    if (word >= count) return false;
    u64 v = __ldg(words + word);
    u32 skip = i % 16;
    if (skip) {
      u64 used = per * width < 64 ? (1ull << (per * width)) - 1 : ~0ull;
      u64 low = 0;  // all bits of each character but the highest
      for (u32 k = 0; k < per; k++) low |= ((1ull << (width - 1)) - 1) << (k * width);
      u64 hide = (1ull << (at * width)) - 1;  // no character before the start counts as an end
      for (;;) {
        u64 x = v | hide;
        u64 ends = ~(((x & low) + low) | x | low) & used;
        u32 n = __popcll(ends);
        if (n >= skip) {
          for (u32 k = 1; k < skip; k++) ends &= ends - 1;
          at = (u32)(__ffsll(ends) - 1) / width + 1;
          break;
        }
        skip -= n;
        hide = 0;
        if (++word >= count) return false;
        v = __ldg(words + word);
      }
      if (at == per) {
        at = 0;
        if (++word >= count) return false;
        v = __ldg(words + word);
      }
    }
    v >>= at * width;
    u32 mask = (1u << width) - 1;
    for (u32 k = from;; k++) {
      u32 code = 0;
      if (k < w.len) {
        code = codes[w.byte(k)];
        if (code == 0) return false;
      }
      if (((u32)v & mask) != code) return false;
      if (k >= w.len) return true;
      if (++at == per) {
        at = 0;
        if (++word >= count) return false;
        v = __ldg(words + word);
      } else {
        v >>= width;
      }
    }
  }
};

template <class Vectors> struct Xbw {
  Vectors vectors;
  const u16* codes;  // in shared memory
  const u32* first;  // C, in shared memory
  Bits inner;        // without records, every node is a row
  Bits terminal;
  u32 nodes, rows, leaves, chars;
  Tails tails;
  const u32* heads;
  u32 head_chars, head_count;

  // The node after the first head_chars characters, which sets i; otherwise the root.
  INLINE u32 head(Word& w, u32& i) const {
    if (head_chars == 0 || w.len < head_chars) return 0;
    u32 at = 0;
    for (u32 k = 0; k < head_chars; k++) {
      u32 c = codes[w.byte(k)];
      if (c == 0) return 0;
      at = at * chars + c - 1;
    }
    u32 x = at < head_count ? __ldg(heads + at) : 0;
    if (x == 0) return 0;
    i = head_chars;
    return x - 1;
  }

  INLINE u32 find(Word& w) const {
    u32 i = 0;
    u32 x = head(w, i);
    for (;; i++) {
      if (x >= nodes) return kNone;  // a corrupt file
      u32 row = x;
      if (inner.records) {
        bool is_row;
        row = inner.rank(x, is_row);
        if (!is_row) {
          u32 leaf = x - row;
          return leaf < leaves && tails.equal(leaf, w, i, codes) ? leaf : kNone;
        }
      }
      if (row >= rows) return kNone;
      if (i == w.len) {
        bool ends;
        u32 n = terminal.rank(row, ends);
        return ends ? leaves + n : kNone;
      }
      u32 c = codes[w.byte(i)];
      if (c == 0) return kNone;
      u32 r;
      if (!vectors.down(c - 1, row, r)) return kNone;
      x = first[c - 1] + r;
    }
  }
};

// The parameters of all kernels, what they keep in shared memory besides the decoding table, and
// the dictionary.
#define XBW_PARAMS                                                                                                    \
  const u8 *text, u64 bytes, const u64 *refs, u32 *ids, u64 n, Slot *cache, u32 buckets, u32 stride, const u16 *codes, \
      const u32 *first, u32 chars, const uint4 *inner, const uint4 *terminal, u32 nodes, u32 rows, u32 leaves, const u64 *tail_words, \
      u32 tail_count, const u32 *tail_starts, u32 tail_strings, u32 tail_width, const u32 *heads, u32 head_chars, u32 head_count, \
      const uint4 *records, u32 per
#define XBW_SHARED(THREADS)                                                          \
  __shared__ u16 code[256];                                                          \
  __shared__ u32 c_first[256];                                                       \
  for (u32 i = threadIdx.x; i < 256; i += THREADS) {                                 \
    code[i] = codes[i];                                                              \
    c_first[i] = i < chars ? first[i] : 0;                                           \
  }
#define XBW(VECTORS)                                                                                           \
  Xbw<decltype(VECTORS)> {                                                                                     \
    VECTORS, code, c_first, Bits{inner}, Bits{terminal}, nodes, rows, leaves, chars,                                  \
        Tails{tail_words, tail_starts, tail_count, tail_strings, tail_width, 64 / tail_width}, heads, head_chars, head_count \
  }

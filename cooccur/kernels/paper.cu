// The paper's engine: one thread per segment of about 1,024 bytes, one hash table for words and one
// for pairs. Both use open addressing with linear probing; slots are claimed by compare-and-swap
// and counted by atomic adds. Unlike in the paper, words and pairs are compared whole, and the host
// empties tables before they fill up.
#include "dictionary.cuh"
#include "hash.cuh"
#include "warp.cuh"

constexpr u32 kThreads = 1024;
constexpr u32 kSegment = 1024;
constexpr u32 kMaxWindow = 64;
constexpr u32 kCut = 999;

enum { kWhitespace, kASCII, kSeparated };
enum Side { kBoth, kLeft, kRight };

// Indexes into the state; see paper_gpu.go. The first four are those of a sequence of words.
enum { kLength, kMissed, kDocuments, kHuge, kPairs, kPassed };

struct Paper {
  const u8* text;
  u64 n;
  u32 kind;
  Dictionary words;
  u64* counts;     // of words; null if the vocabulary is known
  u64* keys;       // of pairs: the numbers of the two words; null if only words are counted
  u64* sums;
  u64 slots;
  const u64* units;
  u32 window;
  u32 side;
};

// Returns the number of the word that begins at `at`, and moves `at` to its end.
INLINE u32 next_word(const Paper& p, u64& at, u32& huge) {
  u32 ascii = p.kind == kASCII;
  u64 start = at, k[2] = {0, 0};
  while (at < p.n) {
    u8 c = p.text[at];
    if (ascii) {
      c |= 0x20;
      if ((u32)(c - 'a') >= 26) break;
    } else if (c == ' ' || c == '\n' || c == '\t') {
      break;
    }
    u64 j = at - start;
    if (j < 8)
      k[0] |= (u64)c << (8 * j);
    else if (j < kInline)
      k[1] |= (u64)c << (8 * (j - 8));
    at++;
  }
  u64 length = at - start;
  if (length <= kInline) return number_of(p.words, k[0], k[1] | length << 56);
  const u8* word = p.text + start;
  if (p.kind == kWhitespace && length >= kCut) {
    u8 a = word[kCut - 1], b = word[kCut - 2], c = word[kCut - 3];
    length = kCut;
    if (a >= 0xc0)
      length = kCut - 1;
    else if (a >= 0x80 && (b & 0xe0) == 0xe0)
      length = kCut - 2;
    else if (a >= 0x80 && (c & 0xf8) == 0xf0)
      length = kCut - 3;
  }
  if (length >= 1u << kRefLength) {
    huge = 1;
    return kNone;
  }
  u8 small = ascii ? 0x20 : 0;
  return number_of_long(p.words, [=](u32 i) { return (u8)(word[i] | small); }, (u32)length);
}

// Adds units to a pair. Returns 1 if the pair is new.
INLINE u32 add_pair(const Paper& p, u32 left, u32 right, u64 units) {
  bool swap = p.side == kLeft || (p.side == kBoth && right < left);
  u64 key = swap ? (u64)right << 32 | left : (u64)left << 32 | right;
  u64 at = mix(key) & (p.slots - 1);
  for (;;) {
    u64 there = *(volatile u64*)(p.keys + at);
    if (there == kEmpty) there = atomicCAS(p.keys + at, kEmpty, key);
    if (there == kEmpty || there == key) {
      atomicAdd(p.sums + at, units);
      return there == kEmpty;
    }
    at = (at + 1) & (p.slots - 1);
  }
}

INLINE void count_segments(const Paper& p, u64* state) {
  u64 from = ((u64)blockIdx.x * kThreads + threadIdx.x) * kSegment;
  u64 to = min_of(from + kSegment, p.n);
  u32 recent[kMaxWindow];
  u32 items = 0, documents = 0, pairs = 0, huge = 0, missed = 0;
  u64 at = from;
  if (from > 0 && from < p.n && p.text[from - 1] != '\n') {
    while (at < to && p.text[at] != '\n') at++;  // another thread has that line
    at++;
  }
  while (at < to) {
    u32 seen = 0;
    for (;;) {
      if (at >= p.n) break;
      u8 c = p.text[at];
      if (c == '\n') {
        at++;
        documents++;
        items++;
        break;
      }
      bool inside = p.kind == kASCII ? (u32)((c | 0x20) - 'a') < 26 : c != ' ' && c != '\t';
      if (!inside) {
        at++;
        continue;
      }
      u32 number = next_word(p, at, huge);
      items++;
      if (number == kNone) {
        missed++;
        continue;  // not in the vocabulary: it takes no place in the window
      }
      if (p.counts) atomicAdd(p.counts + number, 1ull);
      if (p.keys) {
        u32 near = min_of(seen, p.window);
        for (u32 d = 1; d <= near; d++) pairs += add_pair(p, recent[(seen - d) % kMaxWindow], number, p.units[d]);
      }
      recent[seen % kMaxWindow] = number;
      seen++;
    }
  }
  items = warp_sum(items);
  documents = warp_sum(documents);
  pairs = warp_sum(pairs);
  missed = warp_sum(missed);
  huge = warp_sum(huge);
  if (lane_id() == 0) {
    if (items) atomicAdd(state + kLength, (u64)items);
    if (documents) atomicAdd(state + kDocuments, (u64)documents);
    if (pairs) atomicAdd(state + kPairs, (u64)pairs);
    if (missed) atomicAdd(state + (p.words.find ? kPassed : kMissed), (u64)missed);
    if (huge) atomicAdd(state + kHuge, (u64)huge);
  }
}

KERNEL __launch_bounds__(kThreads)
paper_count(const u8* __restrict__ text, u64 n, u32 kind, u64* words, u32 first, u32 tables, u32 find, u32* used, u32 limit, u8* arena,
            u64 arena_size, u64* arena_used, u64* counts, u64* keys, u64* sums, u64 slots, const u64* __restrict__ units, u32 window,
            u32 side, u64* state) {
  count_segments(Paper{text, n, kind, Dictionary{words, first, tables, find, used, limit, arena, arena_size, arena_used}, counts, keys, sums,
                       slots, units, window, side},
                 state);
}

// Moves the pairs of the table to a list, with IDs in place of numbers, and empties the table.
KERNEL __launch_bounds__(kThreads)
paper_list(u64* keys, u64* sums, u64 slots, const u32* __restrict__ ids, u32 side, u32 col_bits, u64* out_keys, u64* out_sums, u64* count) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  u64 key = i < slots ? keys[i] : kEmpty, sum = 0;
  if (key != kEmpty) {
    sum = sums[i];
    keys[i] = kEmpty;
    sums[i] = 0;
    u64 row = ids[key >> 32] - 1, col = ids[(u32)key] - 1;
    if (side == kBoth && col < row) {
      u64 t = row;
      row = col;
      col = t;
    }
    key = row << col_bits | col;
  }
  u32 votes = __ballot_sync(kFull, key != kEmpty);
  u64 base = 0;
  if (lane_id() == 0 && votes) base = atomicAdd(count, (u64)__popc(votes));
  base = __shfl_sync(kFull, base, 0) + __popc(votes & lanes_below());
  if (key == kEmpty) return;
  out_keys[base] = key;
  out_sums[base] = sum;
}

// How often each word is in each document, counted in shared memory: a sequence has
// its documents one after the other, so nothing needs to be sorted for that. Items
// of the sequence are a word's number + 1, or 0 for the end of a document.
#include "warp.cuh"
#include "bm25.cuh"

INLINE u64 thread_number(u32 threads) { return (u64)blockIdx.x * threads + threadIdx.x; }

// Flags where documents end.
constexpr u32 kEndThreads = 256;
KERNEL __launch_bounds__(kEndThreads) weigh_ends(const u32* __restrict__ items, u8* __restrict__ flags, u64 n) {
  u64 at = thread_number(kEndThreads) * 4;
  if (at + 4 <= n) {
    u32 v[4];
    load_vec(items + at, v);
    *(u32*)(flags + at) = (u32)(v[0] == 0) | (u32)(v[1] == 0) << 8 | (u32)(v[2] == 0) << 16 | (u32)(v[3] == 0) << 24;
  } else {
    for (; at < n; at++) flags[at] = items[at] == 0;
  }
}

// Document d has the items [begin, end) before the 0 at its end.
INLINE u32 begin_of(const u32* ends, u32 d) { return d ? ends[d - 1] + 1 : 0; }

// The classes of documents by their number of words: list c, of docs numbers each,
// gets those of class c that have at most most[c] and more than the class before; the
// last class has no bound. counts[c] is how many there are, counts[kClasses] the words
// of the last class, before[i] those of the last class's documents before its i-th.
// Lists are in no order.
constexpr u32 kClasses = 4;
KERNEL __launch_bounds__(kEndThreads)
weigh_classes(const u32* __restrict__ ends, u64 docs, u32 none, u32 most0, u32 most1, u32 most2, u32* __restrict__ lists, u64* counts,
              u64* __restrict__ before) {
  u64 d = thread_number(kEndThreads);
  u32 n = d < docs ? ends[d] - begin_of(ends, (u32)d) : 0;
  u32 c = n <= none ? kClasses : n <= most0 ? 0 : n <= most1 ? 1 : n <= most2 ? 2 : 3;
#pragma unroll
  for (u32 k = 0; k < kClasses; k++) {
    u32 votes = __ballot_sync(kFull, c == k);
    u64 at = 0;
    if (lane_id() == 0 && votes) at = atomicAdd(counts + k, (u64)__popc(votes));
    at = __shfl_sync(kFull, at, 0) + __popc(votes & lanes_below());
    if (c == k) {
      lists[k * docs + at] = (u32)d;
      if (k == kClasses - 1) before[at] = atomicAdd(counts + kClasses, (u64)n);
    }
  }
}

// A pair is one number, the word's place in byte order highest, then the document,
// then how often: so one sort of 64-bit keys by their highest bits brings pairs of a
// word together, in the documents' order.
struct Packing {
  u32 doc_shift, term_shift;

  INLINE u64 pack(u32 term, u32 doc, u32 tf) const { return (u64)term << term_shift | (u64)doc << doc_shift | tf; }
  INLINE u32 term(u64 pair) const { return (u32)(pair >> term_shift); }
  INLINE u32 doc(u64 pair) const { return (u32)((pair & ((1ull << term_shift) - 1)) >> doc_shift); }
  INLINE u32 tf(u64 pair) const { return (u32)(pair & ((1ull << doc_shift) - 1)); }
};

// What a document's pairs go to: the places of its items. Those that get no pair
// are flagged 0.
struct Out {
  u64* pairs;
  u8* flags;
  const u32* places;  // of words, by number
  Packing packing;

  INLINE void put(u64 at, u32 place, u32 doc, u32 tf) const {
    pairs[at] = packing.pack(place, doc, tf);
    flags[at] = 1;
  }
};

// How many loads from global memory a thread has under way: counting waits for little
// else.
constexpr u32 kAhead = 4;

// Slots of the table of a document of n words: a third stays free even if all differ,
// and more is only more to clear and to read.
INLINE u32 slots_for(u32 n) { return n + n / 2 + 1; }

INLINE u32 hash_of(u32 key) { return key * 0x9e3779b1u; }

// Adds a word to a table of `slots` slots, any number.
INLINE void add(u32* keys, u32* counts, u32 slots, u32 key) {
  u32 at = __umulhi(hash_of(key), slots);
  for (;;) {
    u32 there = *(volatile u32*)(keys + at);
    if (there == 0) there = atomicCAS(keys + at, 0u, key);
    if (there == 0 || there == key) break;
    if (++at == slots) at = 0;
  }
  atomicAdd(counts + at, 1u);
}

// Few words: a warp a document.
constexpr u32 kSmallThreads = 256;
constexpr u32 kSmallWords = 96;
constexpr u32 kSmallSlots = 192;

KERNEL __launch_bounds__(kSmallThreads)
weigh_count_small(const u32* __restrict__ items, const u32* __restrict__ ends, const u32* __restrict__ places, u64 docs, u64* pairs,
                  u8* flags, u32 doc_shift, u32 term_shift) {
  __shared__ u32 all_keys[kSmallThreads / kWarp][kSmallSlots];
  __shared__ u32 all_counts[kSmallThreads / kWarp][kSmallSlots];
  u64 d = thread_number(kSmallThreads) / kWarp;
  if (d >= docs) return;
  u32 begin = begin_of(ends, (u32)d), n = ends[d] - begin;
  if (n > kSmallWords) return;
  u32* keys = all_keys[warp_id()];
  u32* counts = all_counts[warp_id()];
  u32 slots = 2 * n;
  for (u32 i = lane_id(); i < slots; i += kWarp) keys[i] = 0, counts[i] = 0;
  __syncwarp();
  for (u32 i = lane_id(); i < n; i += kWarp) add(keys, counts, slots, items[begin + i]);
  __syncwarp();
  Out out{pairs, flags, places, Packing{doc_shift, term_shift}};
  u32 total = 0;
  for (u32 base = 0; base < slots; base += kWarp) {
    u32 i = base + lane_id();
    u32 key = i < slots ? keys[i] : 0;
    u32 votes = __ballot_sync(kFull, key != 0);
    if (key) out.put(begin + total + __popc(votes & lanes_below()), places[key - 1], (u32)d, counts[i]);
    total += __popc(votes);
  }
  for (u32 i = total + lane_id(); i <= n; i += kWarp) flags[begin + i] = 0;
}

// A block a document, with a table in shared or in global memory.
template <u32 Threads>
INLINE void count_document(const u32* items, u32 begin, u32 n, u32 d, u32* keys, u32* counts, u32 slots, const Out& out) {
  __shared__ u32 total;
  if (threadIdx.x == 0) total = 0;
  for (u32 i = threadIdx.x; i < slots; i += Threads) keys[i] = 0, counts[i] = 0;
  __syncthreads();
  for (u32 i = threadIdx.x; i < n; i += kAhead * Threads) {
    u32 item[kAhead];
#pragma unroll
    for (u32 j = 0; j < kAhead; j++) item[j] = i + j * Threads < n ? __ldg(items + begin + i + j * Threads) : 0;
#pragma unroll
    for (u32 j = 0; j < kAhead; j++)
      if (item[j]) add(keys, counts, slots, item[j]);
  }
  __syncthreads();
  for (u32 base = 0; base < slots; base += kAhead * Threads) {
    u32 place[kAhead], tf[kAhead];
#pragma unroll
    for (u32 j = 0; j < kAhead; j++) {
      u32 i = base + j * Threads + threadIdx.x;
      u32 key = i < slots ? keys[i] : 0;
      tf[j] = key ? counts[i] : 0;
      place[j] = key ? __ldg(out.places + key - 1) : 0;
    }
#pragma unroll
    for (u32 j = 0; j < kAhead; j++) {
      u32 votes = __ballot_sync(kFull, tf[j] != 0);
      u32 at = 0;
      if (lane_id() == 0 && votes) at = atomicAdd(&total, (u32)__popc(votes));
      at = __shfl_sync(kFull, at, 0) + __popc(votes & lanes_below());
      if (tf[j]) out.put((u64)begin + at, place[j], d, tf[j]);
    }
  }
  __syncthreads();
  for (u32 i = total + threadIdx.x; i <= n; i += Threads) out.flags[begin + i] = 0;
}

// list has the documents of a class.
#define COUNT_PARAMS                                                                                                             \
  const u32 *__restrict__ items, const u32 *__restrict__ ends, const u32 *__restrict__ places, const u32 *__restrict__ list, u64 *pairs, \
      u8 *flags, u32 doc_shift, u32 term_shift
#define COUNT_DOCUMENT                      \
  u32 d = list[blockIdx.x];                 \
  u32 begin = begin_of(ends, d), n = ends[d] - begin; \
  Out out{pairs, flags, places, Packing{doc_shift, term_shift}};
#define COUNT_SHARED(NAME, THREADS, SLOTS)                                                     \
  KERNEL __launch_bounds__(THREADS) NAME(COUNT_PARAMS) {                                       \
    __shared__ u32 keys[SLOTS];                                                                \
    __shared__ u32 counts[SLOTS];                                                              \
    COUNT_DOCUMENT                                                                             \
    count_document<THREADS>(items, begin, n, d, keys, counts, min_of((u32)SLOTS, slots_for(n)), out); \
  }

COUNT_SHARED(weigh_count_middle, 128, 2048)
COUNT_SHARED(weigh_count_large, 512, 6000)  // 48 KB, with the counter

// Many words: all the shared memory that a block may have.
constexpr u32 kWideThreads = 1024;
KERNEL __launch_bounds__(kWideThreads) weigh_count_wide(COUNT_PARAMS, u32 slots) {
  extern __shared__ u32 table[];
  COUNT_DOCUMENT
  slots = min_of(slots, slots_for(n));
  count_document<kWideThreads>(items, begin, n, d, table, table + slots, slots, out);
}

// Very many words: the table is in global memory, two slots a word, behind those of
// the documents before it in the list.
constexpr u32 kHugeThreads = 1024;
KERNEL __launch_bounds__(kHugeThreads) weigh_count_huge(COUNT_PARAMS, const u64* __restrict__ before, u32* tables) {
  COUNT_DOCUMENT
  u32* keys = tables + 4 * before[blockIdx.x];
  count_document<kHugeThreads>(items, begin, n, d, keys, keys + 2 * (u64)n, 2 * n, out);
}

// Where the pairs of each word begin, and the end behind the last. All words have
// some.
KERNEL __launch_bounds__(kEndThreads)
weigh_firsts(const u64* __restrict__ pairs, u64 n, u64* __restrict__ first, u64 terms, u32 term_shift) {
  u64 i = thread_number(kEndThreads);
  if (i >= n) return;
  u32 t = (u32)(pairs[i] >> term_shift);
  if (i == 0 || (u32)(pairs[i - 1] >> term_shift) != t) first[t] = i;
  if (i == 0) first[terms] = n;
}

// The weights of sorted pairs. numbers, if there are any, are those of the documents
// in the corpus.
KERNEL __launch_bounds__(kEndThreads)
weigh_scores(const u64* __restrict__ pairs, u64 n, const TermWeight* __restrict__ terms, const u32* __restrict__ ends,
             const u32* __restrict__ numbers, u32* __restrict__ out_docs, u32* __restrict__ out_tfs, float* __restrict__ out_weights,
             u32 doc_shift, u32 term_shift, double k1, float a, float b, u32 variant) {
  u64 at = thread_number(kEndThreads);
  if (at >= n) return;
  Packing p{doc_shift, term_shift};
  u64 pair = pairs[at];
  u32 d = p.doc(pair), tf = p.tf(pair);
  u32 length = __ldg(ends + d) - (d ? __ldg(ends + d - 1) + 1 : 0);
  out_docs[at] = numbers ? __ldg(numbers + d) : d;
  out_tfs[at] = tf;
  out_weights[at] = score(Scorer{0, k1, a, b, variant}, terms[p.term(pair)], tf, length);
}

// The pairs as document << 32 | tf.
KERNEL __launch_bounds__(kEndThreads)
weigh_posts(const u64* __restrict__ pairs, u64 n, const u32* __restrict__ numbers, u64* __restrict__ posts, u32 doc_shift, u32 term_shift) {
  u64 at = thread_number(kEndThreads);
  if (at >= n) return;
  Packing p{doc_shift, term_shift};
  u64 pair = pairs[at];
  u32 d = p.doc(pair);
  posts[at] = (u64)(numbers ? __ldg(numbers + d) : d) << 32 | p.tf(pair);
}

// The result for the host, in fewer bytes: the link is what takes longest. A document
// is two bytes, how much its number is above that of the word's document before; 0
// where that is not so or does not fit. A frequency is a byte, 0 if it is 255 or more.
// The first documents of words are listed, and what does not fit: the pair's number
// << 32 | document, or frequency.

// small[first[t]] becomes 1, all others are 0.
KERNEL __launch_bounds__(kEndThreads)
weigh_mark_firsts(const u64* __restrict__ first, u8* __restrict__ small, u64 terms) {
  u64 t = thread_number(kEndThreads);
  if (t < terms) small[first[t]] = 1;
}

KERNEL __launch_bounds__(kEndThreads)
weigh_first_docs(const u64* __restrict__ first, const u32* __restrict__ docs, u32* __restrict__ first_docs, u64 terms) {
  u64 t = thread_number(kEndThreads);
  if (t < terms) first_docs[t] = docs[first[t]];
}

// Pairs [from, to), four to a thread.
KERNEL __launch_bounds__(kEndThreads)
weigh_shrink(const u32* __restrict__ docs, const u32* __restrict__ tfs, u16* __restrict__ gaps, u8* small, u64* __restrict__ jumps,
             u64* __restrict__ large, u64* counts, u64 from, u64 to) {
  u64 at = from + thread_number(kEndThreads) * 4;
  if (at >= to) return;
  u32 before = at ? docs[at - 1] : 0;
  for (u64 i = at; i < at + 4 && i < to; i++) {
    u32 d = docs[i], tf = tfs[i];
    u32 gap = d - before;
    if (small[i]) {
      gap = 0;  // a word's first
    } else if (gap > 0xffff) {
      gap = 0;
      jumps[atomicAdd(counts, 1ull)] = i << 32 | d;
    }
    gaps[i] = (u16)gap;
    small[i] = tf < 255 ? (u8)tf : 0;
    if (tf >= 255) large[atomicAdd(counts + 1, 1ull)] = i << 32 | tf;
    before = d;
  }
}

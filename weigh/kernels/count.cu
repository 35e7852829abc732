// Counts each word in each document, in shared memory. The documents of a sequence are
// consecutive, so nothing needs to be sorted for that. An item of the sequence is a
// word's number + 1, or 0 for the end of a document.
#include "warp.cuh"
#include "packing.cuh"

INLINE u64 thread_number(u32 threads) { return (u64)blockIdx.x * threads + threadIdx.x; }

// Flags the items that are ends of documents.
constexpr u32 kEndThreads = 256;
KERNEL __launch_bounds__(kEndThreads) weigh_ends(const u32* __restrict__ items, u8* __restrict__ flags, u64 n) {
  u64 at = thread_number(kEndThreads) * 4;
  if (at + 4 <= n) {
    u32 v[4];
    if ((u64)items % 16 == 0) {
      load_vec(items + at, v);
    } else {
#pragma unroll
      for (u32 j = 0; j < 4; j++) v[j] = items[at + j];
    }
    *(u32*)(flags + at) = (u32)(v[0] == 0) | (u32)(v[1] == 0) << 8 | (u32)(v[2] == 0) << 16 | (u32)(v[3] == 0) << 24;
  } else {
    for (; at < n; at++) flags[at] = items[at] == 0;
  }
}

// Document d has the items [begin, end) before the 0 at its end.
INLINE u32 begin_of(const u32* ends, u32 d) { return d ? ends[d - 1] + 1 : 0; }

// Divides documents into classes by their number of words. Documents of class c have at
// most most[c] words and more than those of class c-1; the last class has no bound.
// Documents with at most `none` words are in no class. List c, with room for `docs`
// numbers, gets the documents of class c, in no order. counts[c] is their number,
// counts[kClasses] the number of words in the last class. before[i] is where the table
// of the last class's i-th document begins, in words.
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

// The output of a document: pairs are stored at the places of its items. Places without
// a pair are flagged 0.
struct Out {
  u64* pairs;
  u8* flags;
  const u32* places;  // by word number: the word's rank in byte order; null means the number
  Packing packing;

  INLINE u32 place(u32 item) const { return places ? __ldg(places + item - 1) : item - 1; }
  INLINE void put(u64 at, u32 place, u32 doc, u32 tf) const {
    pairs[at] = packing.pack(place, doc, tf);
    flags[at] = 1;
  }
  INLINE void skip(u64 at) const {
    pairs[at] = 0;  // read by the selection, which drops it
    flags[at] = 0;
  }
};

// The number of loads from global memory that a thread has in flight. Counting waits
// for little else.
constexpr u32 kAhead = 4;

// The number of slots for a document of n words. A third stays free even if all words
// differ. More slots would only take longer to clear and to read.
INLINE u32 slots_for(u32 n) { return n + n / 2 + 1; }

INLINE u32 hash_of(u32 key) { return key * 0x9e3779b1u; }

// Adds a word to a table of `slots` slots, which need not be a power of two.
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

// Documents of few words: a warp per document.
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
    if (key) out.put(begin + total + __popc(votes & lanes_below()), out.place(key), (u32)d, counts[i]);
    total += __popc(votes);
  }
  for (u32 i = total + lane_id(); i <= n; i += kWarp) out.skip(begin + i);
}

// A block per document, with a table in shared or in global memory.
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
      place[j] = key ? out.place(key) : 0;
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
  for (u32 i = total + threadIdx.x; i <= n; i += Threads) out.skip((u64)begin + i);
}

// The parameter list has the documents of a class.
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

// Documents of many words: a block uses all the shared memory that it may have.
constexpr u32 kWideThreads = 1024;
KERNEL __launch_bounds__(kWideThreads) weigh_count_wide(COUNT_PARAMS, u32 slots) {
  extern __shared__ u32 table[];
  COUNT_DOCUMENT
  slots = min_of(slots, slots_for(n));
  count_document<kWideThreads>(items, begin, n, d, table, table + slots, slots, out);
}

// Documents of very many words: the table is in global memory, with two slots per word.
// before[i] is the number of words of the tables before that of block i.
constexpr u32 kHugeThreads = 1024;
KERNEL __launch_bounds__(kHugeThreads) weigh_count_huge(COUNT_PARAMS, const u64* __restrict__ before, u32* tables) {
  COUNT_DOCUMENT
  u32* keys = tables + 4 * before[blockIdx.x];
  count_document<kHugeThreads>(items, begin, n, d, keys, keys + 2 * (u64)n, 2 * n, out);
}

// Converts pairs to document << 32 | tf.
KERNEL __launch_bounds__(kEndThreads)
weigh_posts(const u64* __restrict__ pairs, u64 n, const u32* __restrict__ numbers, u64* __restrict__ posts, u32 doc_shift, u32 term_shift) {
  u64 at = thread_number(kEndThreads);
  if (at >= n) return;
  Packing p{doc_shift, term_shift};
  u64 pair = pairs[at];
  u32 d = p.doc(pair);
  posts[at] = (u64)(numbers ? __ldg(numbers + d) : d) << 32 | p.tf(pair);
}

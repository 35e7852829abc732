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

// Flags the documents that have more than `over` and at most `most` words, and
// writes how many each has.
KERNEL __launch_bounds__(kEndThreads)
weigh_class(const u32* __restrict__ ends, u8* __restrict__ flags, u32* __restrict__ lengths, u64 docs, u32 over, u32 most) {
  u64 d = thread_number(kEndThreads);
  if (d >= docs) return;
  u32 n = ends[d] - begin_of(ends, (u32)d);
  flags[d] = n > over && n <= most;
  if (lengths) lengths[d] = n;
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
    count_document<THREADS>(items, begin, n, d, keys, counts, min_of((u32)SLOTS, 2 * n), out); \
  }

COUNT_SHARED(weigh_count_middle, 128, 2048)
COUNT_SHARED(weigh_count_large, 512, 6000)  // 48 KB, with the counter

// Many words: all the shared memory that a block may have.
constexpr u32 kWideThreads = 1024;
KERNEL __launch_bounds__(kWideThreads) weigh_count_wide(COUNT_PARAMS, u32 slots) {
  extern __shared__ u32 table[];
  COUNT_DOCUMENT
  slots = min_of(slots, 2 * n);
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

KERNEL __launch_bounds__(kEndThreads)
weigh_gather_u32(const u32* __restrict__ in, const u32* __restrict__ at, u32* __restrict__ out, u64 n) {
  u64 i = thread_number(kEndThreads);
  if (i < n) out[i] = in[at[i]];
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

// Frequencies for the host, a byte each: nearly all are small. Where one is 255 or
// more there is a 0, and its place, counted from base, << 32 | frequency in a list.
KERNEL __launch_bounds__(kEndThreads)
weigh_small(const u32* __restrict__ tfs, u8* __restrict__ small, u64* __restrict__ large, u64* count, u64 base, u64 n) {
  u64 at = thread_number(kEndThreads) * 4;
  u32 packed = 0;
  for (u32 j = 0; j < 4 && at + j < n; j++) {
    u32 tf = tfs[at + j];
    if (tf < 255) packed |= tf << (8 * j);
    else large[atomicAdd(count, 1ull)] = (base + at + j) << 32 | tf;
  }
  if (at + 4 <= n) {
    *(u32*)(small + at) = packed;
  } else {
    for (u32 j = 0; at + j < n; j++) small[at + j] = (u8)(packed >> (8 * j));
  }
}

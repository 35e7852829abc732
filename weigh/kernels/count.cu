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

// What a document's pairs go to: the places of its items. Those that get no pair
// are flagged 0.
struct Out {
  u32* terms;
  u64* posts;  // document << 32 | tf
  u8* flags;

  INLINE void put(u64 at, u32 term, u32 doc, u32 tf) const {
    terms[at] = term;
    posts[at] = (u64)doc << 32 | tf;
    flags[at] = 1;
  }
};

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
weigh_count_small(const u32* __restrict__ items, const u32* __restrict__ ends, const u32* __restrict__ places, const u32* __restrict__ numbers,
                  u64 docs, u32* terms, u64* posts, u8* flags) {
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
  for (u32 i = lane_id(); i < n; i += kWarp) add(keys, counts, slots, places[items[begin + i] - 1] + 1);
  __syncwarp();
  Out out{terms, posts, flags};
  u32 number = numbers ? numbers[d] : (u32)d;
  u32 total = 0;
  for (u32 base = 0; base < slots; base += kWarp) {
    u32 i = base + lane_id();
    u32 key = i < slots ? keys[i] : 0;
    u32 votes = __ballot_sync(kFull, key != 0);
    if (key) out.put(begin + total + __popc(votes & lanes_below()), key - 1, number, counts[i]);
    total += __popc(votes);
  }
  for (u32 i = total + lane_id(); i <= n; i += kWarp) flags[begin + i] = 0;
}

// A block a document, with a table in shared or in global memory.
template <u32 Threads>
INLINE void count_document(const u32* items, const u32* places, u32 begin, u32 n, u32 number, u32* keys, u32* counts, u32 slots, const Out& out) {
  __shared__ u32 total;
  if (threadIdx.x == 0) total = 0;
  for (u32 i = threadIdx.x; i < slots; i += Threads) keys[i] = 0, counts[i] = 0;
  __syncthreads();
  for (u32 i = threadIdx.x; i < n; i += Threads) add(keys, counts, slots, places[items[begin + i] - 1] + 1);
  __syncthreads();
  for (u32 base = 0; base < slots; base += Threads) {
    u32 i = base + threadIdx.x;
    u32 key = i < slots ? keys[i] : 0;
    u32 votes = __ballot_sync(kFull, key != 0);
    u32 at = 0;
    if (lane_id() == 0 && votes) at = atomicAdd(&total, (u32)__popc(votes));
    at = __shfl_sync(kFull, at, 0) + __popc(votes & lanes_below());
    if (key) out.put((u64)begin + at, key - 1, number, counts[i]);
  }
  __syncthreads();
  for (u32 i = total + threadIdx.x; i <= n; i += Threads) out.flags[begin + i] = 0;
}

// list has the documents of a class.
#define COUNT_SHARED(NAME, THREADS, SLOTS)                                                                                \
  KERNEL __launch_bounds__(THREADS)                                                                                       \
  NAME(const u32* __restrict__ items, const u32* __restrict__ ends, const u32* __restrict__ places, const u32* __restrict__ numbers, \
       const u32* __restrict__ list, u32* terms, u64* posts, u8* flags) {                                                  \
    __shared__ u32 keys[SLOTS];                                                                                           \
    __shared__ u32 counts[SLOTS];                                                                                         \
    u32 d = list[blockIdx.x];                                                                                             \
    u32 begin = begin_of(ends, d), n = ends[d] - begin;                                                                   \
    count_document<THREADS>(items, places, begin, n, numbers ? numbers[d] : d, keys, counts, min_of((u32)SLOTS, 2 * n),    \
                            Out{terms, posts, flags});                                                                    \
  }

COUNT_SHARED(weigh_count_middle, 128, 2048)
COUNT_SHARED(weigh_count_large, 512, 6000)  // 48 KB, with the counter

// Many words: all the shared memory that a block may have.
constexpr u32 kWideThreads = 1024;
KERNEL __launch_bounds__(kWideThreads)
weigh_count_wide(const u32* __restrict__ items, const u32* __restrict__ ends, const u32* __restrict__ places, const u32* __restrict__ numbers,
                 const u32* __restrict__ list, u32 slots, u32* terms, u64* posts, u8* flags) {
  extern __shared__ u32 table[];
  u32 d = list[blockIdx.x];
  u32 begin = begin_of(ends, d), n = ends[d] - begin;
  slots = min_of(slots, 2 * n);
  count_document<kWideThreads>(items, places, begin, n, numbers ? numbers[d] : d, table, table + slots, slots, Out{terms, posts, flags});
}

// Very many words: the table is in global memory, two slots a word, behind those of
// the documents before it in the list.
constexpr u32 kHugeThreads = 1024;
KERNEL __launch_bounds__(kHugeThreads)
weigh_count_huge(const u32* __restrict__ items, const u32* __restrict__ ends, const u32* __restrict__ places, const u32* __restrict__ numbers,
                 const u32* __restrict__ list, const u64* __restrict__ before, u32* tables, u32* terms, u64* posts, u8* flags) {
  u32 d = list[blockIdx.x];
  u32 begin = begin_of(ends, d), n = ends[d] - begin;
  u32* keys = tables + 4 * before[blockIdx.x];
  count_document<kHugeThreads>(items, places, begin, n, numbers ? numbers[d] : d, keys, keys + 2 * (u64)n, 2 * n, Out{terms, posts, flags});
}

KERNEL __launch_bounds__(kEndThreads)
weigh_gather_u32(const u32* __restrict__ in, const u32* __restrict__ at, u32* __restrict__ out, u64 n) {
  u64 i = thread_number(kEndThreads);
  if (i < n) out[i] = in[at[i]];
}

// The weights of sorted pairs, four to a thread. numbers, if there are any, are
// those of the documents in the corpus.
KERNEL __launch_bounds__(kEndThreads)
weigh_posts(const u32* __restrict__ term, const u64* __restrict__ posts, u64 n, const TermWeight* __restrict__ terms,
            const u32* __restrict__ ends, const u32* __restrict__ numbers, u32* __restrict__ out_docs, u32* __restrict__ out_tfs,
            float* __restrict__ out_weights, double k1, float a, float b, u32 variant) {
  u64 at = thread_number(kEndThreads);
  u64 step = (u64)gridDim.x * kEndThreads;
  for (; at < n; at += step) {
    u64 post = posts[at];
    u32 d = (u32)(post >> 32), tf = (u32)post;
    u32 length = __ldg(ends + d) - (d ? __ldg(ends + d - 1) + 1 : 0);
    out_docs[at] = numbers ? numbers[d] : d;
    out_tfs[at] = tf;
    out_weights[at] = score(Scorer{0, k1, a, b, variant}, terms[term[at]], tf, length);
  }
}

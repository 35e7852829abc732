// Counting and listing the words of a dictionary.
#include "dictionary.cuh"
#include "hash.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kCache = 2048;

// Adds 1 to the count of each item's word. A few words make up most of a text, and atomic additions
// to one address in L2 run one after the other. So each block counts in a small table in shared
// memory and adds that up at the end; words whose slot is taken are counted in global memory.
INLINE void count_words(const u32* items, u64 n, u64* counts) {
  __shared__ u32 cached[kCache];
  __shared__ u32 sums[kCache];
  for (u32 i = threadIdx.x; i < kCache; i += blockDim.x) cached[i] = 0, sums[i] = 0;
  __syncthreads();
  u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    u32 item = items[i];
    if (item == 0 || item == kNone) continue;
    u32 at = (item * 0x9e3779b1u) >> 21;
    u32 there = *(volatile u32*)(cached + at);
    if (there == 0) there = atomicCAS(cached + at, 0u, item);
    if (there == 0 || there == item)
      atomicAdd(sums + at, 1u);
    else
      atomicAdd(counts + (item - 1), 1ull);
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < kCache; i += blockDim.x)
    if (sums[i]) atomicAdd(counts + (cached[i] - 1), (u64)sums[i]);
}

KERNEL __launch_bounds__(kThreads) words_count(const u32* __restrict__ items, u64 n, u64* counts) {
  count_words(items, n, counts);
}

// Counts what was appended to a sequence since the last call. The last block to finish records the
// position.
constexpr u32 kLength = 0, kCounted = 7;  // fields of a sequence's state; see sequence.go
constexpr u32 kAddedThreads = 1024;

KERNEL __launch_bounds__(kAddedThreads) words_count_added(const u32* __restrict__ items, u64* state, u64* counts, u32* done) {
  u64 from = state[kCounted], to = state[kLength];
  count_words(items + from, to - from, counts);
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(done, 1u) == gridDim.x - 1) {
      state[kCounted] = to;
      *done = 0;
    }
  }
}

// Marks all slots as empty.
KERNEL __launch_bounds__(kThreads) words_clear(u64* keys, u64 slots) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= slots) return;
  keys[2 * i] = kUnknown;
  keys[2 * i + 1] = 0;
}

// Flags the slots that hold a word.
KERNEL __launch_bounds__(kThreads) words_used(const u64* __restrict__ keys, u64 slots, u8* flags) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i < slots) flags[i] = keys[2 * i + 1] != 0 && keys[2 * i] != kUnknown;
}

// Gathers the keys and counts of the given numbers.
KERNEL __launch_bounds__(kThreads)
words_gather(const u64* __restrict__ keys, const u64* __restrict__ counts, const u32* __restrict__ numbers, u64 n,
             u64* __restrict__ out_keys, u64* __restrict__ out_counts) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  u32 w = numbers[i];
  out_keys[2 * i] = keys[2 * (u64)w];
  out_keys[2 * i + 1] = keys[2 * (u64)w + 1];
  out_counts[i] = counts[w];
}

// Finds or inserts words of the host: word i is text[ends[i-1], ends[i]). out[i] gets its number,
// or kNone if it does not fit.
KERNEL __launch_bounds__(kThreads)
words_put(const u8* __restrict__ text, const u64* __restrict__ ends, u64 n, u64* keys, u32 first, u32 tables, u32* used, u32 limit,
          u8* arena, u64 arena_size, u64* arena_used, u32* out, u64* missed) {
  Dictionary d{keys, first, tables, 0, used, limit, arena, arena_size, arena_used};
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  u64 start = i ? ends[i - 1] : 0;
  u32 length = (u32)(ends[i] - start);
  const u8* word = text + start;
  u32 number;
  if (length <= kInline) {
    u64 k[2] = {0, (u64)length << 56};
    for (u32 j = 0; j < length; j++) k[j / 8] |= (u64)word[j] << (8 * (j % 8));
    number = number_of(d, k[0], k[1]);
  } else {
    number = number_of_long(d, [=](u32 j) { return word[j]; }, length);
  }
  out[i] = number;
  if (number == kNone) atomicAdd(missed, 1ull);
}

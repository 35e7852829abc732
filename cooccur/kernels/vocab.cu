// Sorting the words of a dictionary into the order of a vocabulary.
#include "device.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kLong = 0xff;      // in the top byte of a long word's key
constexpr u32 kRefLength = 24;

INLINE u64 swap_bytes(u64 x) {
  u32 lo = __byte_perm((u32)x, 0, 0x0123), hi = __byte_perm((u32)(x >> 32), 0, 0x0123);
  return (u64)lo << 32 | hi;
}

// Stores the first 16 bytes of each word as two numbers that compare as the words do; flip is 0x80
// in each byte for GloVe's signed bytes. falling is most less the count, and order each word's
// index.
KERNEL __launch_bounds__(kThreads)
vocab_prefixes(const u64* __restrict__ keys, const u8* __restrict__ arena, const u64* __restrict__ counts, u64 n, u64 flip, u64 most,
               u64* __restrict__ head, u64* __restrict__ tail, u64* __restrict__ falling, u32* __restrict__ order) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  u64 a = keys[2 * i], b = keys[2 * i + 1];
  if (b >> 56 == kLong) {
    const u8* w = arena + (a >> kRefLength);
    a = b = 0;
    for (u32 j = 0; j < 8; j++) {
      a |= (u64)w[j] << (8 * j);
      b |= (u64)w[8 + j] << (8 * j);
    }
  } else {
    b &= ~0ull >> 8;
  }
  head[i] = swap_bytes(a) ^ flip;
  tail[i] = swap_bytes(b) ^ flip;
  falling[i] = most - counts[i];
  order[i] = (u32)i;
}

KERNEL __launch_bounds__(kThreads)
vocab_gather(const u64* __restrict__ from, const u32* __restrict__ order, u64 n, u64* __restrict__ out) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i < n) out[i] = from[order[i]];
}

// Marks and counts words with the same count and first 16 bytes as the one before. The host
// compares them whole.
KERNEL __launch_bounds__(kThreads)
vocab_ties(const u64* __restrict__ head, const u64* __restrict__ tail, const u64* __restrict__ falling, const u32* __restrict__ order,
           u64 n, u8* __restrict__ tie, u64* count) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  bool same = false;
  if (i > 0) {
    u32 x = order[i - 1], y = order[i];
    same = falling[x] == falling[y] && head[x] == head[y] && tail[x] == tail[y];
  }
  tie[i] = same;
  if (same) atomicAdd(count, 1ull);
}

// Writes numbers in the dictionary, keys and counts of the words in order.
KERNEL __launch_bounds__(kThreads)
vocab_order(const u32* __restrict__ numbers, const u64* __restrict__ keys, const u64* __restrict__ counts, const u32* __restrict__ order,
            u64 n, u32* __restrict__ out_numbers, u64* __restrict__ out_keys, u64* __restrict__ out_counts) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  u32 w = order[i];
  out_numbers[i] = numbers[w];
  out_keys[2 * i] = keys[2 * (u64)w];
  out_keys[2 * i + 1] = keys[2 * (u64)w + 1];
  out_counts[i] = counts[w];
}

// Stores the ID + 1 for the number of each word of the vocabulary. The caller has set all others to
// kNone.
KERNEL __launch_bounds__(kThreads) vocab_ids(const u32* __restrict__ numbers, u64 n, u32* __restrict__ ids) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i < n) ids[numbers[i]] = (u32)i + 1;
}

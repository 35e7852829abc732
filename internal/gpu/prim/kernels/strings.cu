// Stable merge sort of strings in a text. An item is the first eight bytes of a string, which
// decide most comparisons, and its reference. The text is read only for strings that agree in those
// bytes.
#include "warp.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kItems = 4;
constexpr u32 kTile = kThreads * kItems;

// A reference: the offset in the text, above 24 bits of length.
constexpr u32 kLengthBits = 24;
INLINE u64 offset_of(u64 ref) { return ref >> kLengthBits; }
INLINE u32 length_of(u64 ref) { return (u32)ref & ((1u << kLengthBits) - 1); }

struct Item {
  u64 head;  // the first eight bytes, big-endian, padded with zeroes
  u64 ref;
};

INLINE u64 head_of(const u8* text, u64 ref) {
  u64 h = 0;
  u32 n = min_of(length_of(ref), 8u);
  for (u32 i = 0; i < n; i++) h |= (u64)text[offset_of(ref) + i] << (56 - 8 * i);
  return h;
}

// Whether a comes before b; a prefix of a string comes before the string.
INLINE bool before(const u8* text, const Item& a, const Item& b) {
  if (a.head != b.head) return a.head < b.head;
  u32 la = length_of(a.ref), lb = length_of(b.ref);
  u32 n = min_of(la, lb);
  const u8* x = text + offset_of(a.ref);
  const u8* y = text + offset_of(b.ref);
  for (u32 i = 8; i < n; i++)
    if (x[i] != y[i]) return x[i] < y[i];
  return la < lb;
}

// Merge path: how many of the first `diagonal` items of the merged order come from a, whose items
// come first among equals.
INLINE u32 merge_path(const u8* text, const Item* a, u32 na, const Item* b, u32 nb, u32 diagonal) {
  u32 low = diagonal > nb ? diagonal - nb : 0, high = min_of(diagonal, na);
  while (low < high) {
    u32 mid = (low + high) / 2;
    if (before(text, b[diagonal - 1 - mid], a[mid])) high = mid; else low = mid + 1;
  }
  return low;
}

// Merges the runs a and b, both in shared memory. The thread takes the items of the merged order
// from `diagonal` on.
INLINE void merge(const u8* text, const Item* a, u32 na, const Item* b, u32 nb, u32 diagonal, Item* out) {
  diagonal = min_of(diagonal, na + nb);
  u32 i = merge_path(text, a, na, b, nb, diagonal), j = diagonal - i;
#pragma unroll
  for (u32 k = 0; k < kItems; k++) {
    bool from_a = i < na && (j >= nb || !before(text, b[j], a[i]));
    if (from_a) out[k] = a[i++];
    else if (j < nb) out[k] = b[j++];
  }
}

// Sorts tiles: the items of a thread by insertion, then by merging runs of doubling length.
KERNEL __launch_bounds__(kThreads)
strings_tiles(const u8* __restrict__ text, const u64* __restrict__ refs, Item* out, u64 n) {
  __shared__ Item sh[kTile];
  u64 first = (u64)blockIdx.x * kTile;
  u32 count = (u32)min_of((u64)kTile, n - first);
  for (u32 i = threadIdx.x; i < count; i += kThreads) {
    u64 ref = refs[first + i];
    sh[i] = Item{head_of(text, ref), ref};
  }
  __syncthreads();
  u32 at = threadIdx.x * kItems;
  for (u32 i = at + 1; i < min_of(at + kItems, count); i++) {
    Item x = sh[i];
    u32 j = i;
    for (; j > at && before(text, x, sh[j - 1]); j--) sh[j] = sh[j - 1];
    sh[j] = x;
  }
  __syncthreads();
  for (u32 run = kItems; run < kTile; run *= 2) {
    u32 start = at & ~(2 * run - 1);
    u32 a = min_of(start, count), b = min_of(start + run, count), end = min_of(start + 2 * run, count);
    Item mine[kItems];
    merge(text, sh + a, b - a, sh + b, end - b, at - start, mine);
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < kItems; k++)
      if (at + k < count) sh[at + k] = mine[k];
    __syncthreads();
  }
  for (u32 i = threadIdx.x; i < count; i += kThreads) out[first + i] = sh[i];
}

// Merges neighbouring runs of length `run`. A block makes a tile of the output: it finds the part
// of each run that it needs and merges them in shared memory.
KERNEL __launch_bounds__(kThreads)
strings_merge(const u8* __restrict__ text, const Item* __restrict__ in, Item* __restrict__ out, u64 n, u64 run) {
  __shared__ Item sh[kTile];
  __shared__ u32 cut[2];
  u64 first = (u64)blockIdx.x * kTile;
  u64 start = first / (2 * run) * (2 * run);
  u64 middle = min_of(start + run, n), end = min_of(start + 2 * run, n);
  const Item* a = in + start;
  const Item* b = in + middle;
  u32 na = (u32)(middle - start), nb = (u32)(end - middle);
  u32 d0 = (u32)(first - start), d1 = (u32)(min_of(first + kTile, end) - start);
  if (threadIdx.x == 0) cut[0] = merge_path(text, a, na, b, nb, d0);
  if (threadIdx.x == kWarp) cut[1] = merge_path(text, a, na, b, nb, d1);
  __syncthreads();
  u32 a0 = cut[0], a1 = cut[1], b0 = d0 - a0, b1 = d1 - a1;
  for (u32 i = threadIdx.x; i < a1 - a0; i += kThreads) sh[i] = a[a0 + i];
  for (u32 i = threadIdx.x; i < b1 - b0; i += kThreads) sh[a1 - a0 + i] = b[b0 + i];
  __syncthreads();
  Item mine[kItems];
  u32 at = threadIdx.x * kItems;
  merge(text, sh, a1 - a0, sh + (a1 - a0), b1 - b0, at, mine);
  __syncthreads();
#pragma unroll
  for (u32 k = 0; k < kItems; k++)
    if (at + k < d1 - d0) sh[at + k] = mine[k];
  __syncthreads();
  for (u32 i = threadIdx.x; i < d1 - d0; i += kThreads) out[first + i] = sh[i];
}

// The sorted references, and whether each string differs from the one before.
KERNEL __launch_bounds__(kThreads)
strings_finish(const u8* __restrict__ text, const Item* __restrict__ in, u64* refs, u8* heads, u64 n) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  Item x = in[i];
  refs[i] = x.ref;
  heads[i] = i == 0 || before(text, in[i - 1], x);
}

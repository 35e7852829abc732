// Stream compaction in one pass: the values whose flag is set, in order. Each
// tile gathers its survivors in shared memory, learns by look-back where they
// go, and writes them as one contiguous run.
#include "lookback.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kWarps = kThreads / kWarp;
constexpr u32 kItems = 16;
constexpr u32 kRow = 4;  // items of a lane that lie side by side
constexpr u32 kRows = kItems / kRow;
constexpr u32 kTile = kThreads * kItems;

// Four flags at a time, as 0 or 1 in each byte.
INLINE u32 load_flags(const u8* flags, u64 at, u64 n) {
  u32 f = 0;
  if (at + kRow <= n) {
    f = *(const u32*)(flags + at);
  } else {
    for (u32 j = 0; j < kRow; j++)
      if (at + j < n) f |= (u32)flags[at + j] << (8 * j);
  }
  // Any bit of a byte counts: gather it in the lowest.
  f |= f >> 4;
  f |= f >> 2;
  f |= f >> 1;
  return f & 0x01010101u;
}

// Where a tile's survivors go. Rows are scanned together: each has at most 128
// survivors, a byte of a packed sum. Returns the number of survivors.
struct Placed {
  u32 local[kRows];  // of the first survivor of each of the lane's rows
  u32 count;         // of the tile
  u64 first;         // of the tile's first, in the whole output
};

INLINE Placed place(const u32 (&flags)[kRows], u64* states) {
  __shared__ u32 warp_counts[kWarps];
  __shared__ u64 prefix;
  u32 packed = 0;
#pragma unroll
  for (u32 r = 0; r < kRows; r++) packed |= __popc(flags[r]) << (8 * r);
  // A row of 32 lanes times 4 may hold 128 survivors, and four rows fit a word;
  // the sums of all lanes never carry into the next byte.
  u32 upto = warp_inclusive(packed);
  u32 totals = __shfl_sync(kFull, upto, kWarp - 1);
  u32 before = upto - packed;
  Placed p;
  u32 run = 0;
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    p.local[r] = run + ((before >> (8 * r)) & 255);
    run += (totals >> (8 * r)) & 255;
  }
  if (lane_id() == 0) warp_counts[warp_id()] = run;
  __syncthreads();
  u32 mine = 0;
  p.count = 0;
#pragma unroll
  for (u32 w = 0; w < kWarps; w++) {
    u32 c = warp_counts[w];
    if (w < warp_id()) mine += c;
    p.count += c;
  }
  if (warp_id() == 0) {
    u64 b = look_back(states, blockIdx.x, p.count);
    if (lane_id() == 0) prefix = b;
  }
  __syncthreads();
  p.first = prefix;
#pragma unroll
  for (u32 r = 0; r < kRows; r++) p.local[r] += mine;
  return p;
}

// Value must be loaded by the caller for flagged items only through get(i).
template <class T, class Get>
INLINE void select(const u8* flags, T* out, u64* count, u64* states, u64 n, Get get) {
  __shared__ T kept[kTile];
  u64 first = (u64)blockIdx.x * kTile + warp_id() * (kWarp * kItems) + lane_id() * kRow;
  u32 f[kRows];
  T v[kRows][kRow];
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    u64 at = first + r * (kWarp * kRow);
    f[r] = load_flags(flags, at, n);
    get(at, n, v[r]);
  }
  Placed p = place(f, states);
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    u32 to = p.local[r];
#pragma unroll
    for (u32 j = 0; j < kRow; j++)
      if ((f[r] >> (8 * j)) & 1) kept[to++] = v[r][j];
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < p.count; i += kThreads) out[p.first + i] = kept[i];
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *count = p.first + p.count;
}

template <class T> struct FromMemory {
  const T* in;
  INLINE void operator()(u64 at, u64 n, T* v) const {
    if (at + kRow <= n) {
#pragma unroll
      for (u32 j = 0; j < kRow; j += Vec<T>::n) load_vec(in + at + j, v + j);
    } else {
#pragma unroll
      for (u32 j = 0; j < kRow; j++) v[j] = at + j < n ? in[at + j] : 0;
    }
  }
};

struct FromIndex {
  INLINE void operator()(u64 at, u64, u32* v) const {
#pragma unroll
    for (u32 j = 0; j < kRow; j++) v[j] = (u32)at + j;
  }
};

KERNEL __launch_bounds__(kThreads)
select_u32(const u32* __restrict__ in, const u8* __restrict__ flags, u32* out, u64* count, u64* states, u64 n) {
  select<u32>(flags, out, count, states, n, FromMemory<u32>{in});
}

KERNEL __launch_bounds__(kThreads)
select_u64(const u64* __restrict__ in, const u8* __restrict__ flags, u64* out, u64* count, u64* states, u64 n) {
  select<u64>(flags, out, count, states, n, FromMemory<u64>{in});
}

// The numbers of the flagged items.
KERNEL __launch_bounds__(kThreads)
select_index(const u8* __restrict__ flags, u32* out, u64* count, u64* states, u64 n) {
  select<u32>(flags, out, count, states, n, FromIndex{});
}

// Stream compaction in one pass: the values whose flag is set, in order. Each
// tile gathers its survivors in shared memory, learns by look-back where they
// go, and writes them as one contiguous run.
#include "lookback.cuh"
#include "rows.cuh"

// Where values come from: memory,
template <class T> struct FromMemory {
  typedef T Kept;
  static constexpr u32 kRow = 4;  // items side by side in a lane
  static constexpr u32 kHeld = 4;
  const T* in;
  INLINE bool wide() const { return aligned(in); }
  template <u32 Rows> INLINE void load(u64 first, u64 n, bool whole, T (&v)[Rows][kHeld]) const {
    load_rows(in, first, n, whole, v);
  }
  INLINE T kept(const T (&v)[kHeld], u32, u32 j) const { return v[j]; }
  INLINE T value(T kept, u64) const { return kept; }
};

// or the items' own numbers, so that only flags are read, 16 at a time; until
// they are written, numbers count from the tile's beginning.
struct FromNumber {
  typedef u16 Kept;
  static constexpr u32 kRow = 16;
  static constexpr u32 kHeld = 1;
  INLINE bool wide() const { return true; }
  template <u32 Rows> INLINE void load(u64, u64, bool, u32 (&)[Rows][kHeld]) const {}
  INLINE u16 kept(const u32 (&)[kHeld], u32 place, u32 j) const { return (u16)(place + j); }
  INLINE u32 value(u16 kept, u64 tile) const { return (u32)tile + kept; }
};

// Flags are a byte each, of which any bit counts; they are moved four to a word.
INLINE u32 load_four(const u8* p) {
  u32 v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}

// One bit for each of the four.
INLINE u32 pack(u32 f) {
  f |= f >> 4;
  f |= f >> 2;
  f |= f >> 1;
  return ((f & 0x01010101u) * 0x01020408u) >> 24;
}

template <u32 Rows, u32 N> INLINE void load_flags(const u8* flags, u64 first, u64 n, bool whole, u32 (&f)[Rows][N / 4]) {
#pragma unroll
  for (u32 r = 0; r < Rows; r++) {
    u64 at = first + r * (kWarp * N);
    if (!whole) {
#pragma unroll
      for (u32 k = 0; k < N / 4; k++) {
        f[r][k] = 0;
        for (u32 j = 0; j < 4; j++)
          if (at + 4 * k + j < n) f[r][k] |= (u32)flags[at + 4 * k + j] << (8 * j);
      }
    } else if constexpr (N == 4) {
      f[r][0] = load_four(flags + at);
    } else {
#pragma unroll
      for (u32 k = 0; k < N / 4; k += 4) load_ahead((const u32*)(flags + at) + k, f[r] + k);
    }
  }
}

// states has a word a tile.
template <class T, u32 Threads, u32 Items, class From>
INLINE void select(From from, const u8* flags, T* out, u64* count, u64* states, u64 n) {
  constexpr u32 kRow = From::kRow;
  constexpr u32 kRows = Items / kRow;
  constexpr u32 kTile = Threads * Items;
  __shared__ typename From::Kept kept[kTile];
  __shared__ u32 warp_counts[Threads / kWarp];
  __shared__ u64 prefix;

  u64 tile = (u64)blockIdx.x * kTile;
  u32 place = warp_id() * (kWarp * Items) + lane_id() * kRow;  // in the tile
  bool whole = tile + kTile <= n && aligned(flags) && from.wide();
  u32 f[kRows][kRow / 4];
  load_flags<kRows, kRow>(flags, tile + place, n, whole, f);
  T v[kRows][From::kHeld];
  from.load(tile + place, n, whole, v);

  Marks<kRows, kRow> marks;
  marks.clear();
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    u32 bits = 0;
#pragma unroll
    for (u32 k = 0; k < kRow / 4; k++) bits |= pack(f[r][k]) << (4 * k);
    marks.set(r, bits);
  }
  u32 local[kRows];
  u32 sum = marks.count(local);
  if (lane_id() == 0) warp_counts[warp_id()] = sum;
  __syncthreads();
  u32 all;
  u32 mine = sum_before(warp_counts, all);
  if (lane_id() == 0 && warp_id() == 0) announce(states, blockIdx.x, all);
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    u32 to = mine + local[r];
#pragma unroll
    for (u32 j = 0; j < kRow; j++)
      if (marks.has(r, j)) kept[to++] = from.kept(v[r], place + r * (kWarp * kRow), j);
  }
  if (warp_id() == 0) {
    u64 p = resolve(states, blockIdx.x, all);
    if (lane_id() == 0) prefix = p;
  }
  __syncthreads();
  // The first round of writes is short, so that each warp's begin at a line.
  T* to = out + prefix;
  u32 skip = (u32)((u64)to / sizeof(T)) % kWarp;
  for (u32 i = threadIdx.x; i < all + skip; i += Threads)
    if (i >= skip) to[i - skip] = from.value(kept[i - skip], tile);
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *count = prefix + all;
}

KERNEL __launch_bounds__(256, 4) select_u32(const u32* in, const u8* flags, u32* out, u64* count, u64* states, u64 n) {
  select<u32, 256, 40>(FromMemory<u32>{in}, flags, out, count, states, n);
}
KERNEL __launch_bounds__(128) select_u64(const u64* in, const u8* flags, u64* out, u64* count, u64* states, u64 n) {
  select<u64, 128, 24>(FromMemory<u64>{in}, flags, out, count, states, n);
}
KERNEL __launch_bounds__(128) select_index(const u8* flags, u32* out, u64* count, u64* states, u64 n) {
  select<u32, 128, 64>(FromNumber{}, flags, out, count, states, n);
}

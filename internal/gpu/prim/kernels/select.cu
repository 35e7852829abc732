// Stream compaction in one pass: the values whose flag is set, in order. Each
// tile gathers its survivors in shared memory, learns by look-back where they
// go, and writes them as one contiguous run. As in scan.cu, blocks stay, and the
// next tile is read while a tile's place is awaited.
#include "lookback.cuh"

// Flags of Row items that lie side by side, four to a word.
template <u32 Row> INLINE void load_flags(const u8* flags, u64 at, u64 n, bool whole, u32* f) {
  constexpr u32 kWords = Row / 4;
  if (!whole) {
#pragma unroll
    for (u32 k = 0; k < kWords; k++) {
      f[k] = 0;
      for (u32 j = 0; j < 4; j++)
        if (at + 4 * k + j < n) f[k] |= (u32)flags[at + 4 * k + j] << (8 * j);
    }
  } else if (kWords == 1) {
    f[0] = load_ahead((const u32*)(flags + at));
  } else {
#pragma unroll
    for (u32 k = 0; k < kWords; k += 4) load_ahead((const u32*)(flags + at) + k, f + k);
  }
}

// Any bit of a byte counts: gather it in the lowest.
INLINE u32 as_bits(u32 f) {
  f |= f >> 4;
  f |= f >> 2;
  f |= f >> 1;
  return f & 0x01010101u;
}

// Where values come from: memory, four side by side in a lane,
template <class T> struct FromMemory {
  static constexpr u32 kRow = 4;
  static constexpr u32 kHeld = 4;
  const T* in;
  INLINE void load(u64 at, u64 n, bool whole, T (&v)[kHeld]) const {
    if (whole) {
#pragma unroll
      for (u32 j = 0; j < kRow; j += Vec<T>::n) load_ahead(in + at + j, v + j);
    } else {
#pragma unroll
      for (u32 j = 0; j < kRow; j++) v[j] = at + j < n ? in[at + j] : 0;
    }
  }
  INLINE T value(const T (&v)[kHeld], u64, u32 j) const { return v[j]; }
};

// or the items' own numbers, so that only flags are read, 16 at a time.
struct FromNumber {
  static constexpr u32 kRow = 16;
  static constexpr u32 kHeld = 1;
  INLINE void load(u64, u64, bool, u32 (&)[kHeld]) const {}
  INLINE u32 value(const u32 (&)[kHeld], u64 at, u32 j) const { return (u32)at + j; }
};

// words holds the ticket, then a word a tile for the look-back.
template <class T, u32 Threads, u32 Items, class From>
INLINE void select(From from, const u8* flags, T* out, u64* count, u64* words, u64 n) {
  constexpr u32 kWarps = Threads / kWarp;
  constexpr u32 kRow = From::kRow;
  constexpr u32 kRows = Items / kRow;
  constexpr u32 kTile = Threads * Items;
  __shared__ T kept[kTile];
  __shared__ u32 warp_counts[kWarps];
  __shared__ u64 prefix;
  __shared__ u32 ticket;

  u32* tickets = (u32*)words;
  u64* states = words + 1;
  u32 tiles = (u32)((n + kTile - 1) / kTile);
  T v[kRows][From::kHeld];
  u32 f[kRows][kRow / 4];
  u64 lane_first = warp_id() * (kWarp * Items) + lane_id() * kRow;
  auto load = [&](u32 t) {
    bool whole = (u64)(t + 1) * kTile <= n;
    u64 first = (u64)t * kTile + lane_first;
#pragma unroll
    for (u32 r = 0; r < kRows; r++) load_flags<kRow>(flags, first + r * (kWarp * kRow), n, whole, f[r]);
#pragma unroll
    for (u32 r = 0; r < kRows; r++) from.load(first + r * (kWarp * kRow), n, whole, v[r]);
  };

  if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);
  __syncthreads();
  u32 tile = ticket;
  __syncthreads();
  if (tile < tiles) load(tile);
  while (tile < tiles) {
    if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);
    // Places of the lane's rows among the warp's survivors. The counts of several
    // rows share a word, in fields that the sum over all lanes cannot overflow.
    constexpr u32 kField = kRow * kWarp <= 128 ? 8 : 16;
    constexpr u32 kFields = 32 / kField;
    constexpr u32 kMask = (1u << kField) - 1;
    u32 local[kRows];
    u32 run = 0;
#pragma unroll
    for (u32 g = 0; g < kRows; g += kFields) {
      u32 packed = 0;
#pragma unroll
      for (u32 r = g; r < g + kFields && r < kRows; r++) {
        u32 c = 0;
#pragma unroll
        for (u32 k = 0; k < kRow / 4; k++) {
          f[r][k] = as_bits(f[r][k]);
          c += __popc(f[r][k]);
        }
        packed |= c << (kField * (r - g));
      }
      u32 upto = warp_inclusive(packed);
      u32 totals = __shfl_sync(kFull, upto, kWarp - 1);
#pragma unroll
      for (u32 r = g; r < g + kFields && r < kRows; r++) {
        local[r] = run + (((upto - packed) >> (kField * (r - g))) & kMask);
        run += (totals >> (kField * (r - g))) & kMask;
      }
    }
    if (lane_id() == 0) warp_counts[warp_id()] = run;
    __syncthreads();
    u32 mine = 0, all = 0;
#pragma unroll
    for (u32 w = 0; w < kWarps; w++) {
      u32 c = warp_counts[w];
      if (w < warp_id()) mine += c;
      all += c;
    }
    if (threadIdx.x == 0) announce(states, tile, all);
    u64 first = (u64)tile * kTile + lane_first;
#pragma unroll
    for (u32 r = 0; r < kRows; r++) {
      u32 to = mine + local[r];
#pragma unroll
      for (u32 j = 0; j < kRow; j++)
        if ((f[r][j / 4] >> (8 * (j % 4))) & 1) kept[to++] = from.value(v[r], first + r * (kWarp * kRow), j);
    }
    u32 following = ticket;
    if (following < tiles) load(following);
    if (warp_id() == 0) {
      u64 p = resolve(states, tile, all);
      if (lane_id() == 0) prefix = p;
    }
    __syncthreads();
    // The first round of writes is short, so that each warp's begin at a line.
    T* to = out + prefix;
    u32 skip = (u32)((u64)to / sizeof(T)) % kWarp;
    for (u32 i = threadIdx.x; i < all + skip; i += Threads)
      if (i >= skip) to[i - skip] = kept[i - skip];
    if (tile == tiles - 1 && threadIdx.x == 0) *count = prefix + all;
    tile = following;
  }
}

KERNEL __launch_bounds__(256) select_u32(const u32* in, const u8* flags, u32* out, u64* count, u64* words, u64 n) {
  select<u32, 256, 16>(FromMemory<u32>{in}, flags, out, count, words, n);
}
KERNEL __launch_bounds__(256) select_u64(const u64* in, const u8* flags, u64* out, u64* count, u64* words, u64 n) {
  select<u64, 256, 8>(FromMemory<u64>{in}, flags, out, count, words, n);
}
KERNEL __launch_bounds__(256) select_index(const u8* flags, u32* out, u64* count, u64* words, u64 n) {
  select<u32, 256, 32>(FromNumber{}, flags, out, count, words, n);
}

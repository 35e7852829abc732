// Stream compaction in one pass: the values whose flag is set, in order. Each tile gathers its
// selected values in shared memory, learns their position by look-back and writes them as one
// contiguous run.
#include "lookback.cuh"
#include "rows.cuh"

// Values are read once and written once (.cs), which leaves the cache to the flags.
INLINE void load_once(const u32* p, u32* to) {
  asm volatile("ld.global.cs.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "l"(p));
}
INLINE void load_once(const u64* p, u64* to) {
  asm volatile("ld.global.cs.v2.u64 {%0,%1}, [%2];" : "=l"(to[0]), "=l"(to[1]) : "l"(p));
}
INLINE void store_once(u32* p, const u32* v) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
}
INLINE void store_once(u64* p, const u64* v) {
  asm volatile("st.global.cs.v2.u64 [%0], {%1,%2};" ::"l"(p), "l"(v[0]), "l"(v[1]) : "memory");
}

// A source of values: an array in memory.
template <class T> struct FromMemory {
  typedef T Kept;
  static constexpr u32 kRow = 4;  // adjacent items of a lane
  static constexpr u32 kHeld = 4;
  const T* in;
  INLINE bool wide() const { return aligned(in); }
  template <u32 Rows> INLINE void load(u64 first, u64 n, bool whole, T (&v)[Rows][kHeld]) const {
    if (!whole) {
      load_rows(in, first, n, false, v);
      return;
    }
#pragma unroll
    for (u32 r = 0; r < Rows; r++)
#pragma unroll
      for (u32 j = 0; j < kHeld; j += Vec<T>::n) load_once(in + first + r * (kWarp * kHeld) + j, v[r] + j);
  }
  INLINE T kept(const T (&v)[kHeld], u32, u32 j) const { return v[j]; }
  INLINE T value(T kept, u64) const { return kept; }
};

// A source of values: the items' indices. Only flags are read, 16 at a time, and shared memory
// holds indices relative to the tile.
struct FromNumber {
  typedef u16 Kept;
  static constexpr u32 kRow = 16;
  static constexpr u32 kHeld = 1;
  INLINE bool wide() const { return true; }
  template <u32 Rows> INLINE void load(u64, u64, bool, u32 (&)[Rows][kHeld]) const {}
  INLINE u16 kept(const u32 (&)[kHeld], u32 place, u32 j) const { return (u16)(place + j); }
  INLINE u32 value(u16 kept, u64 tile) const { return (u32)tile + kept; }
};

// A flag is a byte, set if it is not zero; four are loaded as a word.
INLINE u32 load_four(const u8* p) {
  u32 v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}

// The highest bit of each byte, set if the byte is not zero.
INLINE u32 set_bytes(u32 f) { return (((f & 0x7f7f7f7fu) + 0x7f7f7f7fu) | f) & 0x80808080u; }

// One bit for each of the four flags.
INLINE u32 pack(u32 f) { return (set_bytes(f) * 0x00204081u) >> 28; }

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

constexpr u32 kLine = 128;  // bytes of a cache line

template <u32 Threads, u32 Tile> INLINE void prefetch_flags(const u8* flags, u64 first, u64 n) {
  for (u32 i = threadIdx.x * kLine; i < Tile; i += Threads * kLine)
    if (first + i < n) asm volatile("prefetch.global.L2 [%0];" ::"l"(flags + first + i));
}

// The number of a tile's flags that are set: each lane of a warp returns the warp's part.
template <u32 Threads, u32 Tile> INLINE u32 count_flags(const u8* flags, u64 first, u64 n) {
  u32 sum = 0;
  if (first + Tile <= n && aligned(flags)) {
#pragma unroll
    for (u32 i = threadIdx.x * 16; i < Tile; i += Threads * 16) {
      u32 f[4];
      load_vec((const u32*)(flags + first + i), f);
      for (u32 k = 0; k < 4; k++) sum += __popc(set_bytes(f[k]));
    }
  } else {
    for (u32 i = threadIdx.x; i < Tile && first + i < n; i += Threads) sum += flags[first + i] != 0;
  }
  return warp_sum(sum);
}

// The sum of all tiles before this one. Another block announces the tile's own sum. Called by a
// whole warp; the tile is not the first.
INLINE u64 resolve_announced(u64* states, u32 tile) {
  u64 upto = 0, own = 0;
  for (i32 at = (i32)tile - (i32)lane_id();; at -= kWarp) {
    u64 word = kStatePrefix;
    if (at >= 0) {
      do {
        word = *(volatile u64*)(states + at);
      } while (word < kStateSum);
    }
    __syncwarp();
    if (at == (i32)tile) own = word & kStateValue;
    u32 whole = __ballot_sync(kFull, word >= kStatePrefix);
    u32 last = whole ? __ffs(whole) - 1 : kWarp - 1;
    upto += lane_id() <= last ? word & kStateValue : 0ull;
    if (whole) break;
  }
  upto = warp_sum(upto);
  if (lane_id() == 0) publish(states, tile, kStatePrefix, upto);
  return upto - own;  // in lane 0
}

// states has a word per tile. With Ahead, a tile's flags are counted and the count announced by the
// block `ahead` tiles before it. So a block knows the position of its output while its values are
// still being loaded, and its flags are then in the cache. Only the first blocks count for
// themselves.
template <class T, u32 Threads, u32 Items, bool Ahead, class From>
INLINE void select(From from, const u8* flags, T* out, u64* count, u32 ahead, u64* states, u64 n) {
  constexpr u32 kRow = From::kRow;
  constexpr u32 kRows = Items / kRow;
  constexpr u32 kTile = Threads * Items;
  __shared__ __align__(16) typename From::Kept kept[kTile + kWarp];
  __shared__ u32 warp_counts[Threads / kWarp];
  __shared__ u32 later_counts[Threads / kWarp];
  __shared__ u64 prefix;

  u64 tile = (u64)blockIdx.x * kTile;
  u32 place = warp_id() * (kWarp * Items) + lane_id() * kRow;  // in the tile
  bool whole = tile + kTile <= n && aligned(flags) && from.wide();
  u32 f[kRows][kRow / 4];
  load_flags<kRows, kRow>(flags, tile + place, n, whole, f);
  u32 later = blockIdx.x + ahead;
  if (Ahead && later < gridDim.x) prefetch_flags<Threads, kTile>(flags, (u64)later * kTile, n);
  T v[kRows][From::kHeld];
  from.load(tile + place, n, whole, v);
  bool first = !Ahead || blockIdx.x < ahead;
  if (!first && warp_id() == 0) {
    u64 p = resolve_announced(states, blockIdx.x);
    if (lane_id() == 0) prefix = p;
  }

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
  u32 skip = 0;
  if constexpr (!Ahead) {
    if (lane_id() == 0 && warp_id() == 0) announce(states, blockIdx.x, all);
  } else {
    if (first) {
      if (warp_id() == 0) {
        u64 p = look_back(states, blockIdx.x, all);
        if (lane_id() == 0) prefix = p;
      }
      __syncthreads();
    }
    // Selected values have the same alignment in shared memory as in the output, so that 16 bytes
    // can be moved at once.
    skip = (u32)((u64)(out + prefix) / sizeof(T)) % kWarp;
  }
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    u32 to = skip + mine + local[r];
#pragma unroll
    for (u32 j = 0; j < kRow; j++)
      if (marks.has(r, j)) kept[to++] = from.kept(v[r], place + r * (kWarp * kRow), j);
  }
  if (!Ahead && warp_id() == 0) {
    u64 p = resolve(states, blockIdx.x, all);
    if (lane_id() == 0) prefix = p;
  }
  if (Ahead && later < gridDim.x) {
    u32 c = count_flags<Threads, kTile>(flags, (u64)later * kTile, n);
    if (lane_id() == 0) later_counts[warp_id()] = c;
  }
  __syncthreads();
  if (Ahead && later < gridDim.x && threadIdx.x == 0) {
    u32 c;
    sum_before(later_counts, c);
    announce(states, later, c);
  }
  if constexpr (Ahead) {
    T* to = out + prefix - skip;
    constexpr u32 kVec = Vec<T>::n;
    for (u32 i = threadIdx.x * kVec; i < all + skip; i += Threads * kVec) {
      if (i >= skip && i + kVec <= all + skip) {
        T w[kVec];
        load_vec(kept + i, w);
        store_once(to + i, w);
      } else {
        for (u32 j = i; j < i + kVec; j++)
          if (j >= skip && j < all + skip) to[j] = kept[j];
      }
    }
  } else {
    // The first round of writes is shorter, so that later ones begin at cache lines.
    T* to = out + prefix;
    skip = (u32)((u64)to / sizeof(T)) % kWarp;
    for (u32 i = threadIdx.x; i < all + skip; i += Threads)
      if (i >= skip) to[i - skip] = from.value(kept[i - skip], tile);
  }
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *count = prefix + all;
}

KERNEL __launch_bounds__(256, 4) select_u32(const u32* in, const u8* flags, u32* out, u64* count,
                                           u32 ahead, u64* states, u64 n) {
  select<u32, 256, 32, true>(FromMemory<u32>{in}, flags, out, count, ahead, states, n);
}
KERNEL __launch_bounds__(128) select_u64(const u64* in, const u8* flags, u64* out, u64* count,
                                           u32 ahead, u64* states, u64 n) {
  select<u64, 128, 24, true>(FromMemory<u64>{in}, flags, out, count, ahead, states, n);
}
KERNEL __launch_bounds__(128) select_index(const u8* flags, u32* out, u64* count, u32 ahead, u64* states, u64 n) {
  select<u32, 128, 64, false>(FromNumber{}, flags, out, count, ahead, states, n);
}

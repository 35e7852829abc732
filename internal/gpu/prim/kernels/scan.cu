// Prefix sums in one pass over memory: every value is read once and written
// once. A warp takes a contiguous piece in rows of 16 bytes a lane, so that all
// accesses are whole cache lines and no transposition is needed: the rows' sums
// are scanned across the lanes, all rows at the same time.
//
// What limits such a scan is the number of bytes under way: tiles finish in
// order, so the slowest load holds up all tiles behind it. Blocks therefore stay
// and take one tile after the other by ticket. A tile whose prefix is awaited
// rests in shared memory while the next one flows into the registers.
#include "lookback.cuh"

// Reads a tile; what lies behind the end is 0.
template <class In, u32 Threads, u32 Rows, u32 N>
INLINE void load_tile(const In* in, u32 tile, u64 n, In (&v)[Rows][N]) {
  constexpr u32 kTile = Threads * Rows * N;
  u64 first = (u64)tile * kTile + warp_id() * (kWarp * Rows * N) + lane_id() * N;
  bool whole = (u64)(tile + 1) * kTile <= n;
#pragma unroll
  for (u32 r = 0; r < Rows; r++) {
    u64 at = first + r * (kWarp * N);
    if (whole) {
      load_ahead(in + at, v[r]);
    } else {
#pragma unroll
      for (u32 j = 0; j < N; j++) v[r][j] = at + j < n ? in[at + j] : 0;
    }
  }
}

// The sum of all values of the warp; before[r] is that of those before the lane's
// row r.
template <class In, class Out, u32 Rows, u32 N> INLINE Out warp_rows(const In (&v)[Rows][N], Out (&before)[Rows]) {
  Out sum = 0;
#pragma unroll
  for (u32 r = 0; r < Rows; r++) {
    Out row = 0;
#pragma unroll
    for (u32 j = 0; j < N; j++) row += v[r][j];
    Out upto = warp_inclusive(row);
    before[r] = sum + upto - row;
    sum += __shfl_sync(kFull, upto, kWarp - 1);
  }
  return sum;
}

// Writes one row; run is the sum of all that lies before it.
template <class In, class Out, u32 N, bool Inclusive>
INLINE void store_row(const In (&v)[N], Out run, Out* out, u64 at, u64 n, bool whole) {
  Out o[N];
#pragma unroll
  for (u32 j = 0; j < N; j++) {
    if (Inclusive) run += v[j];
    o[j] = run;
    if (!Inclusive) run += v[j];
  }
  if (whole) {
#pragma unroll
    for (u32 j = 0; j < N; j += Vec<Out>::n) store_vec(out + at + j, o + j);
  } else {
#pragma unroll
    for (u32 j = 0; j < N; j++)
      if (at + j < n) out[at + j] = o[j];
  }
}

// In and Out may differ in width: counts of 32 bits become offsets of 64. words
// holds the ticket, then a word a tile for the look-back.
template <class In, class Out, u32 Threads, u32 Items, bool Inclusive>
INLINE void scan(const In* in, Out* out, u64* words, u64 n) {
  constexpr u32 kWarps = Threads / kWarp;
  constexpr u32 kVec = Vec<In>::n;
  constexpr u32 kRows = Items / kVec;
  constexpr u32 kTile = Threads * Items;
  __shared__ __align__(16) In waiting[kRows][Threads][kVec];
  __shared__ Out warp_sums[kWarps];
  __shared__ u64 prefix;
  __shared__ u32 ticket;

  u32* tickets = (u32*)words;
  u64* states = words + 1;
  u32 tiles = (u32)((n + kTile - 1) / kTile);
  if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);
  __syncthreads();
  u32 tile = ticket;
  __syncthreads();
  In v[kRows][kVec];
  if (tile < tiles) load_tile<In, Threads>(in, tile, n, v);
  while (tile < tiles) {
    if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);
    Out before[kRows];
    Out sum = warp_rows(v, before);
#pragma unroll
    for (u32 r = 0; r < kRows; r++) store_vec(waiting[r][threadIdx.x], v[r]);
    if (lane_id() == 0) warp_sums[warp_id()] = sum;
    __syncthreads();
    Out mine = 0, all = 0;
#pragma unroll
    for (u32 w = 0; w < kWarps; w++) {
      Out s = warp_sums[w];
      if (w < warp_id()) mine += s;
      all += s;
    }
    if (threadIdx.x == 0) announce(states, tile, all);
    u32 following = ticket;
    if (following < tiles) load_tile<In, Threads>(in, following, n, v);
    if (warp_id() == 0) {
      u64 p = resolve(states, tile, all);
      if (lane_id() == 0) prefix = p;
    }
    __syncthreads();
    mine += (Out)prefix;
    bool whole = (u64)(tile + 1) * kTile <= n;
    u64 first = (u64)tile * kTile + warp_id() * (kWarp * Items) + lane_id() * kVec;
#pragma unroll
    for (u32 r = 0; r < kRows; r++) {
      In row[kVec];
      load_vec(waiting[r][threadIdx.x], row);
      store_row<In, Out, kVec, Inclusive>(row, mine + before[r], out, first + r * (kWarp * kVec), n, whole);
    }
    tile = following;
  }
}

#define SCAN(NAME, IN, OUT, THREADS, ITEMS)                                                              \
  KERNEL __launch_bounds__(THREADS) scan_inclusive_##NAME(const IN* in, OUT* out, u64* words, u64 n) {   \
    scan<IN, OUT, THREADS, ITEMS, true>(in, out, words, n);                                              \
  }                                                                                                      \
  KERNEL __launch_bounds__(THREADS) scan_exclusive_##NAME(const IN* in, OUT* out, u64* words, u64 n) {   \
    scan<IN, OUT, THREADS, ITEMS, false>(in, out, words, n);                                             \
  }

SCAN(u32, u32, u32, 256, 32)
SCAN(u32_u64, u32, u64, 256, 16)
SCAN(u64, u64, u64, 256, 16)

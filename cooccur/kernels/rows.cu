// From sums of pairs to the rows of the matrix.
#include "warp.cuh"

constexpr u32 kThreads = 256;
constexpr u64 kNoKey = ~0ull;

// Lists the cells of the dense matrix that are not zero, in any order, and clears
// them. planes is 0 for counts of 32 bits, 2 for sums of two words, else 1.
KERNEL __launch_bounds__(kThreads)
rows_dense(u64* dense, u32 head, u32 planes, u32 col_bits, u64* keys, u64* sums, u64* highs, u64* count) {
  u64 cells = (u64)head * head;
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  u64 low = 0, high = 0;
  if (i < cells && planes == 0) {
    u32* counts = (u32*)dense;
    low = counts[i];
    if (low) counts[i] = 0;
  } else if (i < cells) {
    low = dense[i];
    if (low) dense[i] = 0;
    if (planes > 1) {
      high = dense[cells + i];
      if (high) dense[cells + i] = 0;
    }
  }
  bool some = (low | high) != 0;
  u32 votes = __ballot_sync(kFull, some);
  u64 base = 0;
  if (lane_id() == 0 && votes) base = atomicAdd(count, (u64)__popc(votes));
  base = __shfl_sync(kFull, base, 0) + __popc(votes & lanes_below());
  if (!some) return;
  keys[base] = (i / head) << col_bits | (i % head);
  sums[base] = low;
  if (planes > 1) highs[base] = high;
}

// With both sides a pair stands in two rows: entry i is written again at n + i,
// the other way round. A word with itself meets itself twice, in one cell.
KERNEL __launch_bounds__(kThreads) rows_mirror(u64* keys, u64* sums, u64* highs, u64 n, u32 col_bits) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  u64 key = keys[i], sum = sums[i];
  u64 row = key >> col_bits, col = key & ((1ull << col_bits) - 1);
  bool self = row == col;
  keys[n + i] = self ? kNoKey : col << col_bits | row;
  sums[n + i] = sum;
  if (self) sums[i] = 2 * sum;
  if (highs) {
    u64 high = highs[i];
    highs[n + i] = high;
    if (self) highs[i] = 2 * high;
  }
}

// Where each row begins among sorted keys; entries behind the last row have
// kNoKey. starts has a word more than there are rows.
KERNEL __launch_bounds__(kThreads)
rows_starts(const u64* __restrict__ keys, u64 n, u32 col_bits, u64 rows, u64* __restrict__ starts) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i > n) return;
  u64 row = i < n ? keys[i] >> col_bits : rows;
  u64 from = i > 0 ? (keys[i - 1] >> col_bits) + 1 : 0;
  if (row > rows) row = rows;
  for (u64 r = from; r <= row; r++) starts[r] = i;
}

// The two words of a sum whose low and high 31 bits were added apart.
INLINE void join(u64 sum, u64 high, u64& lo, u64& hi) {
  lo = sum + (high << 31);
  hi = (high >> 33) + (lo < sum);
}

// Columns and values: sums of units divided once, as on the CPU.
KERNEL __launch_bounds__(kThreads)
rows_values(const u64* __restrict__ keys, const u64* __restrict__ sums, const u64* __restrict__ highs, u64 n, u32 col_bits, double one,
            u32* __restrict__ cols, double* __restrict__ values) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  cols[i] = (u32)(keys[i] & ((1ull << col_bits) - 1));
  if (!highs) {
    values[i] = __ddiv_rn(__ull2double_rn(sums[i]), one);
    return;
  }
  u64 lo, hi;
  join(sums[i], highs[i], lo, hi);
  // The 64 leading bits, with a last bit for what is cut off, are rounded once;
  // the rest is a power of two.
  u32 shift = 64;
  if (hi) {
    shift = __clzll(hi);
    u64 top = shift ? hi << shift | lo >> (64 - shift) : hi;
    if (lo << shift) top |= 1;
    lo = top;
  }
  i32 exponent = 64 - (i32)shift - 62;
  values[i] = __dmul_rn(__ull2double_rn(lo), __longlong_as_double((i64)(1023 + exponent) << 52));
}

// The largest sum of one word.
KERNEL __launch_bounds__(kThreads) rows_most(const u64* __restrict__ sums, u64 n, u64* most) {
  u64 step = (u64)gridDim.x * kThreads, mine = 0;
  for (u64 i = (u64)blockIdx.x * kThreads + threadIdx.x; i < n; i += step) mine = max_of(mine, sums[i]);
  for (u32 d = kWarp / 2; d > 0; d /= 2) mine = max_of(mine, (u64)__shfl_xor_sync(kFull, mine, d));
  if (lane_id() == 0) atomicMax(most, mine);
}

// Columns and sums that fit 32 bits: the host divides.
KERNEL __launch_bounds__(kThreads)
rows_small(const u64* __restrict__ keys, const u64* __restrict__ sums, u64 n, u32 col_bits, u32* __restrict__ cols, u32* __restrict__ out) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  cols[i] = (u32)(keys[i] & ((1ull << col_bits) - 1));
  out[i] = (u32)sums[i];
}

// The same as sums, to be added up with others.
KERNEL __launch_bounds__(kThreads)
rows_sums(const u64* __restrict__ keys, const u64* __restrict__ sums, const u64* __restrict__ highs, u64 n, u32 col_bits,
          u32* __restrict__ cols, u64* __restrict__ los, u64* __restrict__ his) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  cols[i] = (u32)(keys[i] & ((1ull << col_bits) - 1));
  u64 lo = sums[i], hi = 0;
  if (highs) {
    join(sums[i], highs[i], lo, hi);
    his[i] = hi;
  }
  los[i] = lo;
}

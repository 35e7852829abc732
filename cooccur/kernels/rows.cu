// From sums of pairs to the rows of the matrix.
#include "warp.cuh"

constexpr u32 kThreads = 256;
constexpr u64 kNoKey = ~0ull;

// Lists the nonzero cells of the dense matrix in any order, and clears them. planes is 0 for counts
// of 32 bits, 1 for sums of 64 bits, and 2 for sums in two parts.
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

// Counts the nonzero cells of each row of the dense matrix, one block per row. counts has head + 1
// numbers, of which the last is 0.
KERNEL __launch_bounds__(kThreads) rows_dense_count(const u64* __restrict__ dense, u32 head, u32 planes, u32* counts) {
  __shared__ u32 warps[kThreads / kWarp];
  u64 cells = (u64)head * head, first = (u64)blockIdx.x * head;
  u32 mine = 0;
  for (u32 c = threadIdx.x; c < head; c += kThreads) {
    if (planes == 0)
      mine += ((const u32*)dense)[first + c] != 0;
    else
      mine += (dense[first + c] | (planes > 1 ? dense[cells + first + c] : 0)) != 0;
  }
  mine = warp_sum(mine);
  if (lane_id() == 0) warps[warp_id()] = mine;
  __syncthreads();
  if (threadIdx.x) return;
  u32 all = 0;
  for (u32 w = 0; w < kThreads / kWarp; w++) all += warps[w];
  counts[blockIdx.x] = all;
  if (blockIdx.x == 0) counts[head] = 0;
}

// Writes the nonzero cells to their places among all sums, and clears them, one block per row.
// Before row r there are starts[r] sums of the dense matrix and others[r] other sums. Within a row,
// those of the dense matrix come first.
KERNEL __launch_bounds__(kThreads)
rows_dense_fill(u64* dense, u32 head, u32 planes, u32 col_bits, const u64* __restrict__ starts, const u64* __restrict__ others,
                u64* __restrict__ keys, u64* __restrict__ sums, u64* __restrict__ highs) {
  __shared__ u32 warps[kThreads / kWarp];
  u64 cells = (u64)head * head, row = blockIdx.x, first = row * head;
  u64 to = starts[row] + others[row];
  for (u32 from = 0; from < head; from += kThreads) {
    u32 c = from + threadIdx.x;
    u64 low = 0, high = 0;
    if (c < head && planes == 0) {
      u32* counts = (u32*)dense;
      low = counts[first + c];
      if (low) counts[first + c] = 0;
    } else if (c < head) {
      low = dense[first + c];
      if (low) dense[first + c] = 0;
      if (planes > 1) {
        high = dense[cells + first + c];
        if (high) dense[cells + first + c] = 0;
      }
    }
    bool some = (low | high) != 0;
    u32 votes = __ballot_sync(kFull, some);
    if (lane_id() == 0) warps[warp_id()] = __popc(votes);
    __syncthreads();
    u32 before = 0, all = 0;
    for (u32 w = 0; w < kThreads / kWarp; w++) {
      u32 n = warps[w];
      if (w < warp_id()) before += n;
      all += n;
    }
    if (some) {
      u64 at = to + before + __popc(votes & lanes_below());
      keys[at] = row << col_bits | c;
      sums[at] = low;
      if (planes > 1) highs[at] = high;
    }
    to += all;
    __syncthreads();
  }
}

// Writes the other sums to their places: after those of the dense matrix in their row and in all
// rows before.
KERNEL __launch_bounds__(kThreads)
rows_place(const u64* __restrict__ keys, const u64* __restrict__ sums, const u64* __restrict__ highs, u64 n, u32 col_bits, u32 head,
           const u64* __restrict__ starts, u64* __restrict__ out_keys, u64* __restrict__ out_sums, u64* __restrict__ out_highs) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  u64 key = keys[i], row = key >> col_bits;
  u64 at = i + starts[row < head ? row + 1 : head];
  out_keys[at] = key;
  out_sums[at] = sums[i];
  if (highs) out_highs[at] = highs[i];
}

// Counts the entries with a column below rows in each of the first rows, one thread per row. counts
// has rows + 1 numbers, of which the last is 0.
KERNEL __launch_bounds__(kThreads)
rows_near(const u64* __restrict__ keys, const u64* __restrict__ starts, u32 col_bits, u32 rows, u32* counts) {
  u32 row = blockIdx.x * kThreads + threadIdx.x;
  if (row == rows) counts[rows] = 0;
  if (row >= rows) return;
  u64 lo = starts[row], hi = starts[row + 1], border = (u64)row << col_bits | rows;
  while (lo < hi) {
    u64 mid = (lo + hi) / 2;
    if (keys[mid] < border)
      lo = mid + 1;
    else
      hi = mid;
  }
  counts[row] = (u32)(lo - starts[row]);
}

// If both sides count, a pair is in two rows: every sum is written again with row and column
// exchanged. A pair of a word with itself has only one cell, whose sum is doubled.
//
// The near[rows] entries with a column below rows, that is with a frequent word, come first.
// near[r] is the number of them in all rows before r. A launch writes these or, if far is set, the
// others.
KERNEL __launch_bounds__(kThreads)
rows_mirror(const u64* __restrict__ keys, u64* sums, u64* highs, u64 n, u32 col_bits, u32 rows, u32 far,
            const u64* __restrict__ starts, const u64* __restrict__ near, u64* __restrict__ out_keys, u64* __restrict__ out_sums, u64* __restrict__ out_highs) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  u64 key = keys[i];
  u64 row = key >> col_bits, col = key & ((1ull << col_bits) - 1);
  if ((col >= rows) != (far != 0)) return;
  u64 sum = sums[i];
  u64 at = col < rows ? near[row] + (i - starts[row]) : i + near[rows] - near[row < rows ? row + 1 : rows];
  bool self = row == col;
  out_keys[at] = self ? kNoKey : col << col_bits | row;
  out_sums[at] = sum;
  if (self) sums[i] = 2 * sum;
  if (highs) {
    u64 high = highs[i];
    out_highs[at] = high;
    if (self) highs[i] = 2 * high;
  }
}

// Finds where each row begins among sorted keys. Entries after the last row have kNoKey. starts has
// rows + 1 numbers.
KERNEL __launch_bounds__(kThreads)
rows_starts(const u64* __restrict__ keys, u64 n, u32 col_bits, u64 rows, u64* __restrict__ starts) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i > n) return;
  u64 row = i < n ? keys[i] >> col_bits : rows;
  u64 from = i > 0 ? (keys[i - 1] >> col_bits) + 1 : 0;
  if (row > rows) row = rows;
  for (u64 r = from; r <= row; r++) starts[r] = i;
}

// Joins a sum whose low and high 31 bits were added separately to 128 bits.
INLINE void join(u64 sum, u64 high, u64& lo, u64& hi) {
  lo = sum + (high << 31);
  hi = (high >> 33) + (lo < sum);
}

// Rows come from two sorted lists: first the mirrored sums, whose columns are smaller, then the
// others. The place of an entry is its index in its own list plus the number of entries of the
// other list before it, others[row], plus a shift that the caller computes. Without others it is
// the index.
INLINE u64 place_of(u64 i, u64 key, u32 col_bits, const u64* others, u64 shift) {
  return others ? i + shift + others[key >> col_bits] : i;
}

// Writes columns and values. Sums of units are divided once, as on the CPU.
KERNEL __launch_bounds__(kThreads)
rows_values(const u64* __restrict__ keys, const u64* __restrict__ sums, const u64* __restrict__ highs, u64 n, u32 col_bits, const u64* __restrict__ others,
            u64 shift, double one, u32* __restrict__ cols, double* __restrict__ values) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  u64 at = place_of(i, keys[i], col_bits, others, shift);
  cols[at] = (u32)(keys[i] & ((1ull << col_bits) - 1));
  if (!highs) {
    values[at] = __ddiv_rn(__ull2double_rn(sums[i]), one);
    return;
  }
  u64 lo, hi;
  join(sums[i], highs[i], lo, hi);
  // The 64 leading bits, of which the last is set if any lower bit is, are rounded once. The
  // multiplication by a power of two is exact.
  u32 zeroes = 64;
  if (hi) {
    zeroes = __clzll(hi);
    u64 top = zeroes ? hi << zeroes | lo >> (64 - zeroes) : hi;
    if (lo << zeroes) top |= 1;
    lo = top;
  }
  i32 exponent = 64 - (i32)zeroes - 62;
  values[at] = __dmul_rn(__ull2double_rn(lo), __longlong_as_double((i64)(1023 + exponent) << 52));
}

// Finds the largest sum of 64 bits.
KERNEL __launch_bounds__(kThreads) rows_most(const u64* __restrict__ sums, u64 n, u64* most) {
  u64 step = (u64)gridDim.x * kThreads, mine = 0;
  for (u64 i = (u64)blockIdx.x * kThreads + threadIdx.x; i < n; i += step) mine = max_of(mine, sums[i]);
  for (u32 d = kWarp / 2; d > 0; d /= 2) mine = max_of(mine, (u64)__shfl_xor_sync(kFull, mine, d));
  if (lane_id() == 0) atomicMax(most, mine);
}

// Writes columns and sums that fit in 32 bits. The host divides them.
KERNEL __launch_bounds__(kThreads)
rows_small(const u64* __restrict__ keys, const u64* __restrict__ sums, u64 n, u32 col_bits, const u64* __restrict__ others, u64 shift,
           u32* __restrict__ cols, u32* __restrict__ out) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  u64 at = place_of(i, keys[i], col_bits, others, shift);
  cols[at] = (u32)(keys[i] & ((1ull << col_bits) - 1));
  out[at] = (u32)sums[i];
}

// Writes columns and whole sums, which are added to others later.
KERNEL __launch_bounds__(kThreads)
rows_sums(const u64* __restrict__ keys, const u64* __restrict__ sums, const u64* __restrict__ highs, u64 n, u32 col_bits, const u64* __restrict__ others,
          u64 shift, u32* __restrict__ cols, u64* __restrict__ los, u64* __restrict__ his) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  u64 at = place_of(i, keys[i], col_bits, others, shift);
  cols[at] = (u32)(keys[i] & ((1ull << col_bits) - 1));
  u64 lo = sums[i], hi = 0;
  if (highs) {
    join(sums[i], highs[i], lo, hi);
    his[at] = hi;
  }
  los[at] = lo;
}

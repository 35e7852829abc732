// The k largest keys of each block's share, in a heap that one warp maintains. This is how the
// thesis selects; topk.cu is faster.
#include "heap.cuh"

constexpr u32 kLargest = 1024;

KERNEL __launch_bounds__(kWarp) heap_top(const u64* __restrict__ keys, u64 n, u64* out, u32* sizes, u32 k) {
  __shared__ u64 nodes[kLargest + 1];
  WarpHeap heap{nodes, k, 0};
  u64 share = (n + gridDim.x - 1) / gridDim.x;
  u64 from = blockIdx.x * share, to = min_of(n, from + share);
  for (u64 base = from; base < to; base += kWarp) {
    u64 at = base + lane_id();
    u64 key = at < to ? keys[at] : 0;
    u32 better = __ballot_sync(kFull, at < to && (heap.size < k || key > heap.root()));
    while (better) {
      u32 l = __ffs(better) - 1;
      better &= better - 1;
      heap.add(__shfl_sync(kFull, key, l));
    }
  }
  for (u32 i = lane_id(); i < heap.size; i += kWarp) out[(u64)blockIdx.x * k + i] = nodes[i + 1];
  if (lane_id() == 0) sizes[blockIdx.x] = heap.size;
}

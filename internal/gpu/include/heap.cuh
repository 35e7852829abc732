// A min-heap kept by one warp, as the thesis on parallel retrieval describes it:
// lane i owns the node at height i on the path of an insertion, and all lanes
// move their values at once. It holds the k largest keys seen so far; its root
// is the threshold that a new key must beat.
#pragma once
#include "warp.cuh"

// nodes has room for k+1 keys in shared memory; node 1 is the root.
struct WarpHeap {
  u64* nodes;
  u32 k;
  u32 size;

  INLINE u64 root() const { return nodes[1]; }

  // Adds a key, the same in all lanes. A full heap lets its smallest key go, or
  // refuses the new one if that is not larger.
  INLINE void add(u64 key) {
    if (size < k) {
      insert(key);
    } else if (key > root()) {
      replace(key);
    }
  }

  // The path from the root to a new leaf ascends; the key goes where it belongs
  // on it, and what is larger moves one node down.
  INLINE void insert(u64 key) {
    u32 leaf = ++size;
    u32 depth = 31 - __clz(leaf);
    u32 node = lane_id() <= depth ? leaf >> (depth - lane_id()) : 0;
    u64 here = lane_id() < depth ? nodes[node] : ~0ull;  // the leaf holds nothing yet
    u64 above = __shfl_up_sync(kFull, here, 1);
    bool first = lane_id() == 0 || above <= key;
    __syncwarp();
    if (lane_id() <= depth && (lane_id() == depth || here > key)) nodes[node] = first ? key : above;
    __syncwarp();
  }

  // The root goes. The path follows the smaller child down to a leaf; what is
  // smaller than the key moves one node up.
  INLINE void replace(u64 key) {
    u32 mine = 0, depth = 0;
    for (u32 node = 1;; depth++) {
      if (lane_id() == depth) mine = node;
      u32 child = 2 * node;
      if (child > size) break;
      if (child < size && nodes[child + 1] < nodes[child]) child++;
      node = child;
    }
    u64 here = lane_id() <= depth ? nodes[mine] : ~0ull;
    u64 below = __shfl_down_sync(kFull, here, 1);
    if (lane_id() >= depth) below = ~0ull;
    __syncwarp();
    if (lane_id() <= depth) {
      // Nodes: the root's old key is gone, so node i holds one of: the key below
      // it (if smaller than the new one), the new key, or what it holds already.
      if (below <= key && lane_id() < depth) {
        nodes[mine] = below;
      } else if (lane_id() == 0 || here <= key) {
        nodes[mine] = key;
      }
    }
    __syncwarp();
  }
};

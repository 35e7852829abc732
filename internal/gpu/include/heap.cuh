// A min-heap that one warp maintains, as in the thesis on parallel retrieval: lane i has the node
// at depth i on the path of an insertion, and all lanes move their keys at once. It holds the k
// largest keys seen so far. Its root is the threshold that a new key must exceed.
#pragma once
#include "warp.cuh"

// nodes has room for k+1 keys in shared memory; node 1 is the root.
struct WarpHeap {
  u64* nodes;
  u32 k;
  u32 size;

  INLINE u64 root() const { return nodes[1]; }

  // Adds a key, the same in all lanes. A full heap drops its smallest key, or the new one if that
  // is not larger.
  INLINE void add(u64 key) {
    if (size < k) {
      insert(key);
    } else if (key > root()) {
      replace(key);
    }
  }

  // Keys ascend on the path from the root to the new leaf. The key is inserted in order, and larger
  // ones move one node down.
  INLINE void insert(u64 key) {
    u32 leaf = ++size;
    u32 depth = 31 - __clz(leaf);
    u32 node = lane_id() <= depth ? leaf >> (depth - lane_id()) : 0;
    u64 here = lane_id() < depth ? nodes[node] : ~0ull;  // the leaf has no key yet
    u64 above = __shfl_up_sync(kFull, here, 1);
    bool first = lane_id() == 0 || above <= key;
    __syncwarp();
    if (lane_id() <= depth && (lane_id() == depth || here > key)) nodes[node] = first ? key : above;
    __syncwarp();
  }

  // Replaces the root. The path follows the smaller child down to a leaf; keys smaller than the new
  // one move one node up.
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
      // A node gets the key of the node below it on the path, if that is not larger than the new
      // key; otherwise the new key, if the node's own key moved up; otherwise it keeps its key.
      if (below <= key && lane_id() < depth) {
        nodes[mine] = below;
      } else if (lane_id() == 0 || here <= key) {
        nodes[mine] = key;
      }
    }
    __syncwarp();
  }
};

// Sorted lists of answers, merged by warps. An answer is (score, ~document), so a larger key is a better one; 0 is none.
#pragma once
#include "warp.cuh"

// The power of two, 32 at least, that n keys are sorted in.
INLINE u32 room_for(u32 n) {
  u32 room = kWarp;
  while (room < n) room *= 2;
  return room;
}

// One step of a bitonic network: keys at a distance change places, falling where up has no bit of the place.
INLINE void exchange(u64* keys, u32 size, u32 distance, u32 up) {
  for (u32 i = lane_id(); i < size / 2; i += kWarp) {
    u32 a = 2 * i - (i & (distance - 1)), b = a + distance;
    u64 x = keys[a], y = keys[b];
    if ((x < y) == ((a & up) == 0)) keys[a] = y, keys[b] = x;
  }
  __syncwarp();
}

// Sorts so many keys, a power of two, falling. One warp.
INLINE void sort_keys(u64* keys, u32 size) {
  for (u32 run = 2; run <= size; run *= 2)
    for (u32 d = run / 2; d > 0; d /= 2) exchange(keys, size, d, run);
}

// A warp's best answers, falling, and what it needs to take others in.
struct Merger {
  u64* best;   // room, and as many for another list
  u32* table;  // 2 room: places in best, by a hash of the document
  u32 room, k;

  INLINE u64* other() const { return best + room; }
  INLINE u64 worst() const { return best[k - 1]; }

  INLINE void begin() {
    for (u32 i = lane_id(); i < room; i += kWarp) best[i] = 0;
    __syncwarp();
  }

  INLINE void load(u64* to, const u64* __restrict__ from) {
    for (u32 i = lane_id(); i < room; i += kWarp) to[i] = i < k ? from[i] : 0;
    __syncwarp();
  }

  // Where to look for a document, and the place after.
  INLINE u32 slot(u64 key) const { return ((u32)key * 2654435769u >> 16) & (2 * room - 1); }
  INLINE u32 after(u32 s) const { return (s + 1) & (2 * room - 1); }

  INLINE void clear() {
    for (u32 i = lane_id(); i < 2 * room; i += kWarp) table[i] = 0;
    __syncwarp();
  }

  // The place of a document in list, from 1, or 0.
  INLINE u32 find(const u64* list, u64 key) const {
    u32 s = slot(key);
    while (table[s] != 0 && (u32)list[table[s] - 1] != (u32)key) s = after(s);
    return table[s];
  }

  INLINE void note(u64 key, u32 place) {
    for (u32 s = slot(key); atomicCAS(&table[s], 0u, place) != 0;) s = after(s);
  }

  // Closes the gaps that zeros are.
  INLINE void close(u64* list) {
    u32 n = 0;
    for (u32 i = lane_id(); i < room; i += kWarp) {
      u64 key = list[i];
      u32 votes = __ballot_sync(kFull, key != 0);
      __syncwarp();
      if (key != 0) list[n + __popc(votes & lanes_below())] = key;
      n += __popc(votes);
      __syncwarp();
    }
    for (u32 i = n + lane_id(); i < room; i += kWarp) list[i] = 0;
    __syncwarp();
  }

  // Of a document's answers in a list, keeps the first.
  INLINE void unique(u64* list) {
    clear();
    bool gaps = false;
    for (u32 i = lane_id(); i < room; i += kWarp) {
      u64 key = list[i];
      u32 same = __match_any_sync(kFull, (u32)key);
      bool again = key != 0 && ((same & lanes_below()) != 0 || find(list, key) != 0);
      __syncwarp();
      if (again) list[i] = 0;
      if (key != 0 && !again) note(key, i + 1);
      gaps = gaps || again;
      __syncwarp();
    }
    if (__any_sync(kFull, gaps)) close(list);
  }

  // Keeps the best of both lists. If a document can be in both, its better answer counts.
  INLINE void merge(u64* from, bool distinct) {
    if (from[0] <= worst()) return;
    __syncwarp();
    if (distinct) {
      clear();
      for (u32 i = lane_id(); i < room; i += kWarp)
        if (best[i] != 0) note(best[i], i + 1);
      __syncwarp();
      bool gaps = false;
      for (u32 i = lane_id(); i < room; i += kWarp) {
        u64 key = from[i];
        u32 at = key != 0 ? find(best, key) : 0;
        bool lower = at != 0 && key <= best[at - 1];
        __syncwarp();
        if (at != 0) *(lower ? &from[i] : &best[at - 1]) = 0;
        gaps = gaps || at != 0;
        __syncwarp();
      }
      if (__any_sync(kFull, gaps)) close(best), close(from);
    }
    // The larger of each with its counterpart from the other's end are the room best, first falling, then rising.
    for (u32 i = lane_id(); i < room; i += kWarp) best[i] = max_of(best[i], from[room - 1 - i]);
    __syncwarp();
    for (u32 d = room / 2; d > 0; d /= 2) exchange(best, room, d, room);
  }
};

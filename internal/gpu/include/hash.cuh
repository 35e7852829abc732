// Open-addressing hash tables of 64-bit keys with 64-bit sums. The key of all
// ones marks an empty slot and cannot be stored.
#pragma once
#include "device.cuh"

constexpr u64 kEmpty = ~0ull;

// The finaliser of MurmurHash3: every bit of the key affects every bit of the result.
INLINE u64 mix(u64 h) {
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdull;
  h ^= h >> 33;
  h *= 0xc4ceb9fe1a85ec53ull;
  h ^= h >> 33;
  return h;
}

// Insert or add as in the paper: linear probing, slots claimed by compare-and-swap, sums increased
// by atomic additions. slots is a power of two. Returns false if the table is full of other keys.
INLINE bool table_add(u64* keys, u64* sums, u64 slots, u64 key, u64 add) {
  u64 at = mix(key) & (slots - 1);
  for (u64 probes = 0; probes < slots; probes++) {
    u64 there = *(volatile u64*)(keys + at);
    if (there == kEmpty) there = atomicCAS(keys + at, kEmpty, key);
    if (there == kEmpty || there == key) {
      atomicAdd(sums + at, add);
      return true;
    }
    at = (at + 1) & (slots - 1);
  }
  return false;
}

// The same with buckets of four keys, the 32 bytes of a memory sector: most probe sequences stay in
// one sector.
constexpr u32 kBucket = 4;

INLINE bool bucket_add(u64* keys, u64* sums, u64 slots, u64 key, u64 add) {
  u64 at = mix(key) & (slots - 1) & ~(u64)(kBucket - 1);
  for (u64 probes = 0; probes < slots; probes += kBucket) {
    ulonglong2 a = __ldcg((const ulonglong2*)(keys + at));
    ulonglong2 b = __ldcg((const ulonglong2*)(keys + at + 2));
    u64 there[kBucket] = {a.x, a.y, b.x, b.y};
#pragma unroll
    for (u32 j = 0; j < kBucket; j++) {
      u64 t = there[j];
      if (t == kEmpty) t = atomicCAS(keys + at + j, kEmpty, key);
      if (t == kEmpty || t == key) {
        atomicAdd(sums + at + j, add);
        return true;
      }
    }
    at = (at + kBucket) & (slots - 1);
  }
  return false;
}

// The slot of a key, or `slots` if the key is not in the table.
INLINE u64 table_find(const u64* keys, u64 slots, u64 key) {
  u64 at = mix(key) & (slots - 1);
  for (u64 probes = 0; probes < slots; probes++) {
    u64 there = keys[at];
    if (there == key) return at;
    if (there == kEmpty) return slots;
    at = (at + 1) & (slots - 1);
  }
  return slots;
}

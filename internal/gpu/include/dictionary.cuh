// A dictionary of words in device memory: open addressing, linear probing, in
// tables that double in size. A slot is two 64-bit halves, the key of a word:
//
//   first   the first eight bytes of the word; for a long word where it lies in
//           the arena (offset << 24 | length)
//   second  the bytes from the ninth on, the length in the top byte; for a long
//           word 0xff there, and 56 bits of its hash
//
// A slot is claimed by compare-and-swap of the second half (0: free), then of the first (eight
// blanks: not yet known; no word holds a blank). A thread that loses the first half to another word
// continues with the next slot, so no thread waits. Each half changes only once. A stale copy in
// the L1 cache looks free, but the compare-and-swap sees the current value.
#pragma once
#include "device.cuh"

constexpr u64 kUnknown = 0x2020202020202020ull;
constexpr u32 kInline = 15;           // bytes of a word that is not long
constexpr u32 kRefLength = 24;        // bits of a length in the arena
constexpr u32 kNone = 0xffffffffu;    // no number: the word is not in the dictionary, or did not fit

struct Dictionary {
  u64* keys;       // two halves per slot
  u32 first;       // slots of the first table, a power of two; the next has twice as many
  u32 tables;
  u32 find;        // look up only
  u32* used;       // words in the last table
  u32 limit;       // largest number of words in the last table
  u8* arena;
  u64 arena_size;
  u64* arena_used;
};

INLINE u64 key_hash(u64 k0, u64 k1) {
  u64 a = k0 ^ 0x9e3779b97f4a7c15ull, b = k1 ^ 0xd6e8feb86659fd93ull;
  return __umul64hi(a, b) ^ (a * b);
}

INLINE void load_slot(const u64* p, u64& k0, u64& k1) {
  asm volatile("ld.global.v2.u64 {%0,%1}, [%2];" : "=l"(k0), "=l"(k1) : "l"(p));
}

// Probes the slots where a word may be. same(k0) says whether a slot whose second half is k1 holds
// the word. claim(slot) tries to store the word in a slot whose first half is not set, and returns
// what the first half is afterwards.
template <class Same, class Claim> INLINE u32 walk(const Dictionary& d, u64 hash, u64 k1, Same same, Claim claim) {
  u32 base = 0, slots = d.first;
  for (u32 t = 0; t < d.tables; t++, base += slots, slots *= 2) {
    bool last = t + 1 == d.tables && !d.find;
    u32 at = (u32)hash & (slots - 1);
    for (u32 probes = 0; probes < slots; probes++, at = (at + 1) & (slots - 1)) {
      u64* slot = d.keys + 2 * (u64)(base + at);
      u64 there0, there1;
      load_slot(slot, there0, there1);
      if (there1 == 0) {
        if (!last) break;
        if (*(volatile u32*)d.used >= d.limit) return kNone;
        there1 = atomicCAS(slot + 1, 0ull, k1);
        if (there1 == 0) there1 = k1;
        there0 = kUnknown;
      }
      if (there1 != k1) continue;
      if (there0 == kUnknown) {
        if (d.find) continue;
        there0 = claim(slot);
        if (there0 == kUnknown) return kNone;  // the arena is full
      }
      if (same(there0)) return base + at;
    }
  }
  return kNone;
}

// The number of a word of up to kInline bytes.
INLINE u32 number_of(const Dictionary& d, u64 k0, u64 k1) {
  return walk(
      d, key_hash(k0, k1), k1, [&](u64 there) { return there == k0; },
      [&](u64* slot) {
        u64 old = atomicCAS(slot, kUnknown, k0);
        if (old != kUnknown) return old;
        atomicAdd(d.used, 1u);
        return k0;
      });
}

// The number of a longer word, whose bytes are byte(0..n-1). Every thread that finds a slot without
// a first half writes a copy of the word to the arena; the first to be stored in the slot counts.
// Reads of the arena bypass the L1 cache, which may hold stale lines.
template <class Byte> INLINE u32 number_of_long(const Dictionary& d, Byte byte, u32 n) {
  u64 hash = n * 0x9e3779b97f4a7c15ull;
  for (u32 i = 0; i < n; i++) {
    hash = (hash ^ byte(i)) * 0xff51afd7ed558ccdull;
    hash ^= hash >> 32;
  }
  u64 k1 = 0xffull << 56 | (hash >> 8);
  return walk(
      d, hash, k1,
      [&](u64 there) {
        if ((there & ((1u << kRefLength) - 1)) != n) return false;
        const volatile u8* w = d.arena + (there >> kRefLength);
        for (u32 i = 0; i < n; i++)
          if (w[i] != byte(i)) return false;
        return true;
      },
      [&](u64* slot) {
        u64 at = atomicAdd(d.arena_used, (u64)n);
        if (at + n > d.arena_size) return kUnknown;
        volatile u8* w = d.arena + at;
        for (u32 i = 0; i < n; i++) w[i] = byte(i);
        __threadfence();
        u64 mine = at << kRefLength | n;
        u64 old = atomicCAS(slot, kUnknown, mine);
        if (old != kUnknown) return old;
        atomicAdd(d.used, 1u);
        return mine;
      });
}

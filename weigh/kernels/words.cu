// Sorts the words of the hash table in device memory (internal/gpu/words) and finds
// their ranks in byte order.
#include "device.cuh"

constexpr u32 kThreads = 256;
constexpr u64 kUnknown = 0x2020202020202020ull;  // as in dictionary.cuh: no word stored yet

INLINE u64 thread_number() { return (u64)blockIdx.x * kThreads + threadIdx.x; }

KERNEL __launch_bounds__(kThreads) weigh_slots_used(const u64* __restrict__ keys, u8* __restrict__ flags, u64 slots) {
  u64 i = thread_number();
  if (i < slots) flags[i] = keys[2 * i + 1] != 0 && keys[2 * i] != kUnknown;
}

// A slot has 16 bytes. For a short word these are its bytes, with its length in the top
// byte. For a long word the top byte is 0xff, and the first half is the offset of its
// bytes in the arena << 24 | its length.
KERNEL __launch_bounds__(kThreads)
weigh_slot_lengths(const u64* __restrict__ keys, const u32* __restrict__ slots, u32* __restrict__ lengths, u64 n) {
  u64 i = thread_number();
  if (i >= n) return;
  u64 s = slots[i];
  u32 top = (u32)(keys[2 * s + 1] >> 56);
  lengths[i] = top == 0xff ? (u32)keys[2 * s] & 0xffffff : top;
}

// Concatenates all words, word i at offsets[i], and makes references to them.
KERNEL __launch_bounds__(kThreads)
weigh_slot_bytes(const u64* __restrict__ keys, const u8* __restrict__ arena, const u32* __restrict__ slots, const u64* __restrict__ offsets,
                 const u32* __restrict__ lengths, u8* __restrict__ text, u64* __restrict__ refs, u64 n) {
  u64 i = thread_number();
  if (i >= n) return;
  u64 s = slots[i];
  u64 k0 = keys[2 * s], k1 = keys[2 * s + 1];
  u32 length = lengths[i];
  u8* to = text + offsets[i];
  refs[i] = offsets[i] << 24 | length;
  if (k1 >> 56 == 0xff) {
    const u8* from = arena + (k0 >> 24);
    for (u32 j = 0; j < length; j++) to[j] = from[j];
  } else {
    for (u32 j = 0; j < length; j++) {
      to[j] = (u8)k0;
      k0 >>= 8;
      if (j == 7) k0 = k1;
    }
  }
}

// Stores the rank of each slot's word among the sorted words, and the slot of each
// sorted word. A word is identified by the offset of its reference.
KERNEL __launch_bounds__(kThreads)
weigh_slot_places(const u64* __restrict__ sorted, const u64* __restrict__ offsets, const u32* __restrict__ slots, u32* __restrict__ places,
                  u32* __restrict__ numbers, u64 n) {
  u64 i = thread_number();
  if (i >= n) return;
  u64 offset = sorted[i] >> 24;
  u64 low = 0, high = n - 1;
  while (low < high) {
    u64 mid = (low + high) / 2;
    if (offsets[mid] < offset) low = mid + 1; else high = mid;
  }
  if (places) places[slots[low]] = (u32)i;
  numbers[i] = slots[low];
}

// A trie as a state transition table: a load for each character.
#pragma once
#include "lookup.cuh"

struct Stt {
  const u16* codes;  // in shared memory: codes of characters, from 1; 0 for none
  const i32* next;
  const i32* number;
  u32 chars, nodes;

  INLINE u32 find(Word& w) const {
    u32 x = 0;
    for (u32 i = 0; i < w.len; i++) {
      u32 c = codes[w.byte(i)];
      if (c == 0) return kNone;
      x = (u32)__ldg(next + (u64)x * chars + c - 1);
      if (x >= nodes) return kNone;
    }
    return nodes ? (u32)__ldg(number + x) : kNone;  // -1 is kNone
  }
};

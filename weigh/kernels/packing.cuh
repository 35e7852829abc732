#pragma once
#include "device.cuh"

// A pair is one number, the word's place in byte order highest, then the document,
// then how often: so one sort of 64-bit keys by their highest bits brings pairs of a
// word together, in the documents' order.
struct Packing {
  u32 doc_shift, term_shift;

  INLINE u64 pack(u32 term, u32 doc, u32 tf) const { return (u64)term << term_shift | (u64)doc << doc_shift | tf; }
  INLINE u32 term(u64 pair) const { return (u32)(pair >> term_shift); }
  INLINE u32 doc(u64 pair) const { return (u32)((pair & ((1ull << term_shift) - 1)) >> doc_shift); }
  INLINE u32 tf(u64 pair) const { return (u32)(pair & ((1ull << doc_shift) - 1)); }
};

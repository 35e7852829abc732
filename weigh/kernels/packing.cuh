#pragma once
#include "device.cuh"

// A pair is one number of 64 bits: from the highest bits down, the word's number or rank
// in byte order, the document, and the frequency. A stable sort by the highest bits then
// groups the pairs by word, and keeps the order of documents.
struct Packing {
  u32 doc_shift, term_shift;

  INLINE u64 pack(u32 term, u32 doc, u32 tf) const { return (u64)term << term_shift | (u64)doc << doc_shift | tf; }
  INLINE u32 term(u64 pair) const { return (u32)(pair >> term_shift); }
  INLINE u32 doc(u64 pair) const { return (u32)((pair & ((1ull << term_shift) - 1)) >> doc_shift); }
  INLINE u32 tf(u64 pair) const { return (u32)(pair & ((1ull << doc_shift) - 1)); }
};

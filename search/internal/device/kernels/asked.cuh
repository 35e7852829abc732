// A batch as the host writes it: for each query little more than the numbers of its words. The
// weights of words are on the device. A word that is weighted by another model, or by a
// multiplicity that is not a power of two, comes with the batch. 4,096 web queries take 0.14 MB;
// with the weights of all their words they took 1 MB.
#pragma once
#include "scoring.cuh"

// The number of bits of a word's number. The bits above are the number of times that its weight is
// doubled.
constexpr u32 kTwiceBits = 30;
constexpr u32 kAll = 16;        // in a query's kind, beside the model: all words are required

// Laid out as gpuAsked in lane_plan.go.
struct Asked {
  u32 first, out;   // index of its first word; index of its answers
  u16 k;
  u8 terms, kind;   // words; the model and kAll of a long query, the deciding word of a short one
};

// Laid out as laneHead in lane_plan.go.
struct Head {
  u32 longs, few, some;  // queries: long ones, those answered by a warp, those answered by a block
  u32 room;              // for long queries, and for the others
  u32 item, window;      // cost of an item; about how many postings are read together
  u32 thick;             // postings of two lists that are worth the kernel for pairs
  u32 level;             // a query has at most 2^level items
  u32 share;             // keys of each query
  u32 known;             // words on the device; higher numbers are words that come with the batch
  u32 sober;             // no cut is guessed
  u32 adding;            // cost of adding up a posting, in 64ths of the unit
  u64 sign, spare2;
};

// The plan of a batch is one block of memory.
struct ManyPlan {
  const Head* head;
  // Long queries first. After the space for these come the queries of a warp; the queries of a
  // block are stored from the end down.
  const Asked* queries;
  const u32* words;
  INLINE ManyPlan(const u8* p) {
    head = (const Head*)p;
    queries = (const Asked*)(head + 1);
    words = (const u32*)(queries + 2 * head->room);
  }
};

INLINE u32 id_of(u32 word) { return word & ((1u << kTwiceBits) - 1); }

// Doubles the weight of a word that the query repeats. The bits are those of adding it twice, since
// doubling rounds nothing. The word's highest score, which a batch keeps in inverse, doubles as
// well.
INLINE void double_term(Term& t, u32 word) {
  for (u32 twice = word >> kTwiceBits; twice; twice--) t.weight += t.weight, t.plus += t.plus, t.inverse += t.inverse;
}

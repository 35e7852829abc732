// A batch as the host writes it: of a query hardly more than the numbers of its words. What is to be known of a word is on the device; if it counts by another model or
// as often as no doubling gives, it comes with the batch. 4,096 queries of the web are 0.14 MB, with all that is known of their words they were one.
#pragma once
#include "scoring.cuh"

constexpr u32 kTwiceBits = 30;  // of a word's number: the rest says how often what it counts is doubled
constexpr u32 kAll = 16;        // in a query's kind, beside the model: all words are wanted

// As gpuAsked in gpu_places.go.
struct Asked {
  u32 first, out;   // of its words; of its answers
  u16 k;
  u8 terms, kind;   // how many words; of a long query the model and kAll, of a short one the word that decides
};

// As manyHead.
struct Head {
  u32 longs, few, some;  // queries: long ones; those that a warp answers, and those that a block does
  u32 room;              // for long queries, and for the others
  u32 item, window;      // what an item costs, and how many postings are read together, about
  u32 thick;             // postings of two lists that are worth a way of their own
  u32 level;             // a query has at most 2^level items
  u32 share;             // of the keys, that each query has
  u32 known;             // words that the device knows: numbers from there on are of words that came along
  u32 sober;             // nothing is guessed
  u32 adding;            // what adding a posting up costs, in 64ths of the unit
  u64 sign, spare2;
};

// The plan of a batch is one piece of memory.
struct ManyPlan {
  const Head* head;
  const Asked* queries;  // long ones from the first place on; those of a warp behind the room for them, those of a block from the last place on
  const u32* words;
  INLINE ManyPlan(const u8* p) {
    head = (const Head*)p;
    queries = (const Asked*)(head + 1);
    words = (const u32*)(queries + 2 * head->room);
  }
};

INLINE u32 id_of(u32 word) { return word & ((1u << kTwiceBits) - 1); }

// Doubles what a word counts that is in the query more than once: the same bits as counting it so often, for nothing is rounded. With it doubles what no score of the
// word exceeds, which in a batch is in inverse.
INLINE void double_term(Term& t, u32 word) {
  for (u32 twice = word >> kTwiceBits; twice; twice--) t.weight += t.weight, t.plus += t.plus, t.inverse += t.inverse;
}

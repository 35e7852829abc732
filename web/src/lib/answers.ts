// Made from the Go types of answers: UPDATE=1 go test ./serve -run Declared

import type { Stats } from './api'

export type Value = string | number | Value[] | { lat: number; lon: number }

export interface Answer {
  expanded?: {
    weight: number // Factor of its scores, above 0.
    word: string // As the analyzer of the index made it.
  }[] // Expanded lists the words that were searched for, if the query was expanded.
  facets?: FacetCounts[] // The requested counts of field values over all matching documents.
  from?: number // Number of hits left out before the first.
  hits: Hit[] // Best first.
  k: number // Number of hits requested; there may be fewer.
  micros?: number // The duration of the search in microseconds; 0 means that it was not measured.
  mode: string // "or": any of the words will do; "and": all must occur.
  more?: boolean // Whether there are further hits.
  next?: string // The value of the parameter after for the page that follows; "" if there are no further hits.
  notes?: string[] // Notes point out parts of the query that may not mean what was intended, or that no document has.
  offset?: number // Older name of From.
  parsed?: string // The parsed query, if it is more than words.
  query: string // Text of the query, before it is analyzed.
  shards?: Coverage
  stats?: Stats
  total?: number // Number of matching documents, if requested.
}

export interface Change {
  added: number // The number of documents that were added, or replaced those with the same IDs.
  deleted: number // Number of documents that were deleted.
  durable: boolean // True if the change is on disk and visible to searches. Otherwise it will be soon.
  errors?: {
    error: string // What is wrong with it.
    id?: string // Of the document, if it has one.
    line: number // Counted from 1.
  }[] // The first hundred of them.
  failed: number // Number of lines that are no document.
  ignored?: string[] // Fields of documents that the index does not have.
  index_generation?: number // That of the index with the change, if it is durable.
  merged?: number // The number of segments that were merged.
  notes?: string[] // What may not be as intended.
}

export interface Coverage {
  answered: number // Number of shards that answered.
  documents: number // Number in the shards that answered.
  missing?: string[] // The other shards, with the reason.
  of: number // Number of all shards of the index.
  of_documents: number // Number in all shards.
}

export interface Document {
  doc: number // Number in the whole index, from 0.
  fields?: Record<string, Value> // The stored fields that have a value.
  id: string // In the corpus.
  length: number // In words.
  same_id?: number // The number of documents with this ID, of which this is the first; 0 for a single one.
  text?: string // Nil unless the index stores it.
}

export interface Explanation {
  documents?: number // N, the number of documents in all segments or shards of the index, whether or not a filter allows them. It is 0 for Boolean.
  length: number // Of the document, in words.
  mean_length?: number // The mean length of these documents in words. It is 0 for Boolean, and for BM25F, which uses weighted lengths of fields.
  model: string // The scoring model with its parameters.
  score: number // Sum of the scores of Words, or of the leaves of Tree.
  tree?: Part
  words: {
    df: number // Number of documents that contain it; 0 if none does.
    fields?: number[] // The term frequencies in the fields of BM25F, in the schema's order.
    idf?: number // The inverse document frequency, for the models BM25 and BM25F.
    score: number // Its part of the sum; 0 if the document does not contain it.
    tf: number // Number of occurrences in this document.
    weight: number // Factor of its score: how often the query has it, or as given.
    word: string // The word as the analyzer of the index made it.
  }[] | null // In query order; empty if there is a Tree.
}

export interface FacetCounts {
  distinct: number // The number of distinct values, returned or not.
  field: string // Name of the field, as in the request.
  values: {
    docs: number // Number of matching documents that have it.
    query: string // Query finds the documents that have it, in the language of package query.
    value: string // As text; a range as [10 TO 20}, without 20.
  }[] // The most frequent values, in decreasing order of frequency, then in increasing order of value.
}

export interface Hit {
  doc: number // Number in the whole index, from 0.
  explain?: Explanation
  fields?: Record<string, Value> // Those requested stored fields that have a value.
  id: string // The document's ID in the corpus.
  rank: number // Counted from 1.
  score: number // By the model; higher is better.
  snippet?: Snippet
}

export interface Part {
  documents: number // Number of documents that it matches.
  matches: boolean // Whether it matches this document.
  parts?: Part[] // The parts of a group, in query order.
  query: string // The part, in the language.
  role?: string // Must, not or filter; "" for should.
  score: number // What it adds to the document's score.
  tf?: number // Number of occurrences in this document.
  weight?: number // Of a word, phrase or pattern that scores.
}

export interface Snippet {
  after: boolean // Whether the document has words after Text.
  before: boolean // Whether the document has words before Text.
  marks: {
    end: number
    start: number
  }[] | null // Positions of the query words in Text.
  text: string // White space is collapsed to single blanks.
}

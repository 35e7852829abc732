// Made from the Go types of answers: UPDATE=1 go test ./serve -run Declared

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
  index_generation?: number // That of the index with the change, if it is durable. In a bucket, --generation takes it.
  merged?: number // The number of segments that were merged.
  notes?: string[] // What may not be as intended.
}

export interface Company {
  by: string // The measure that the list is sorted by.
  count: number // Occurrences in the matrix's corpus.
  docs: number // The number of documents of the index that contain it. The index may have another analyzer than the matrix, such as a stemmer: the word is analyzed as a query.
  links?: {
    from: number // Place of one of them, counted from 0.
    score: number // By the first measure.
    to: number // Place of the other.
  }[] // Between the neighbours, if requested.
  neighbours: {
    bonferroni?: number // P-value after Bonferroni's correction.
    count: number // How often it occurs in the matrix's corpus.
    docs?: number // Documents, or parts, that have both.
    dp_norm?: number // How evenly these are distributed; 0 is even.
    id: number // Its number in the matrix.
    p?: number // P-value of the log-likelihood ratio.
    q?: number // False discovery rate.
    score: number // By the first measure.
    scores?: Record<string, number> // By all measures, if there are several.
    value: number // How often the two co-occur, or the cell of a weighted matrix.
    word: string // The word.
  }[] // The strongest first.
  notes?: string[] // What may not be as intended.
  rank: number // By count, counted from 1.
  total: number // Associated words that met the minimum counts.
  word: string // As it is in the matrix.
}

export interface Concordance {
  all: boolean // True if everything was searched. If it is false, there were enough lines before the end of the index, and Total and Documents are lower bounds.
  documents: number // Number of documents with a match.
  lines: {
    document: string // The ID of the document.
    left: string // Left, Match and Right are text of the document, with single blanks for white space. up to ConcordanceOptions.Window words before the match.
    match: string // The words that the query matches, as they are written there.
    place: number // Number of the match's first word there, from 0.
    right: string // Up to ConcordanceOptions.Window words after the match.
  }[] // At most ConcordanceOptions.Top, after From others; never nil.
  total: number // The number of matches in what was searched, including those that are not shown.
  unknown?: {
    similar?: string[] // Words with a similar spelling, the nearest and most frequent first.
    word: string // The one that was looked for.
  }[] // Unknown lists words of the query that do not occur in the corpus, if there is no match.
}

export interface Coverage {
  answered: number // Number of shards that answered.
  documents: number // Number in the shards that answered.
  missing?: string[] // The other shards, with the reason.
  of: number // Number of all shards of the index.
  of_documents: number // Number in all shards.
}

export interface Curve {
  bandwidth?: number // That of the null model's density that all features share; 0 if it was found uniform, or the null model has none.
  curves: {
    a: string // One feature.
    at: number // The distance of the largest deviation.
    attract: boolean // Whether it is upwards.
    b: string // The other.
    p_interval?: number[] // PInterval has the least and the largest p-value that ties of extreme ranks allow.
    p_value: number | null // Tests all distances at once; nil without rounds.
    points: {
      distance: number // Largest distance of pairs of points.
      index_expected?: number // Mean of the index over the rounds.
      index_high?: number // Of the band.
      index_low?: number // Of the band.
      k: number | null // Ripley's cross K function.
      k_inhomogeneous?: number // K of varying intensities.
      l: number | null // Sqrt(K/pi).
      l_expected?: number // Mean of L over the rounds.
      l_high?: number // Of the band.
      l_low?: number // Of the band.
      pair_correlation: number | null // 1 is chance.
      pair_correlation_inhomogeneous?: number // The same for pairs.
      participating_a: number // Points of A with one of B within the distance.
      participating_b: number // Points of B with one of A within the distance.
      participation_index: number | null // Of the pair.
    }[] // By distance.
    q_value: number | null // Corrected for all pairs.
    total_a: number // Points of A.
    total_b: number // Points of B.
    z: number | null // The deviation in standard deviations; nil without rounds.
  }[] // The strongest first, unless features were named.
  notes?: string[] // On what was estimated or left out.
  null: string // The null model.
  rounds: number // Of the null model.
  study_area?: number // The size of the study area, in the square of the unit: edges were corrected there, and the null model moved points in it.
  unit: string // Of distances; "" if it is not known.
  within?: string // How long apart pairs of points are at most.
}

export interface Dispersion {
  bars: number[] // Occurrences in each part.
  count: number // Number of occurrences in the corpus.
  d: number // Juilland's: 1 less the coefficient of variation of the relative frequencies, divided by the square root of the number of parts less 1. 1 is even, 0 is all in one part.
  docs?: number // Of an index, documents that have it.
  dp: number // Gries' deviation of proportions: half the sum of |share of the occurrences - share of the words| over all parts. 0 is even, near 1 is all in one small part.
  dp_norm: number // DP divided by its maximum, 1 less the share of the smallest part (Lijffijt and Gries 2012): 0 to 1, and 0 if there is only one part.
  parts: number // Number of all parts.
  places?: number[] // Of a corpus: 0 is its beginning, 1 its end.
  query: string // As it was given.
  range: number // Parts in which it occurs.
  word?: string // Of an index, as its analyzer made it.
  words: number // Of the corpus, or of the index.
}

export interface Document {
  doc: number // Number in the whole index, from 0.
  fields?: Record<string, Value> // The stored fields that have a value.
  id: string // In the corpus.
  length: number // In words.
  part?: {
    end: number // Where it ends.
    heading?: string // Heading has the headings above the part, the outermost first, with " > " between them: those of a Markdown file, or those that the document's field headings has.
    size: number // Of the whole text.
    start: number // In bytes.
  } // Part says which part of a text Text is, if it is not all of it.
  passage?: {
    document: string // ID of the whole document.
    end: number // Where it ends.
    heading?: string // Heading has the headings above the passage, the outermost first, with " > " between them.
    number: number // Of the passage in it, from 1.
    of: number // Number of its passages.
    start: number // Start and End are where the passage is in the stored text of the document, or in the field that was cut, in bytes.
  } // Passage says where it is in its document, if it is a passage.
  same_id?: number // The number of documents with this ID, of which this is the first; 0 for a single one.
  text?: string // Nil unless the index stores it.
  text_field?: string // The field that Text is, if it is a single one: headings and passages have their places in it.
}

export interface Explanation {
  boosts?: {
    boost: string // Its name.
    score: number // Of the document after this boost.
    value: number // Of this document, before it is weighted.
  }[] // Those of the request, in order. Score is then that after the last of them.
  documents?: number // N, the number of documents in all segments or shards of the index, whether or not a filter allows them. It is 0 for Boolean.
  length: number // Of the document, in words.
  mean_length?: number // The mean length of these documents in words. It is 0 for Boolean, and for BM25F, which uses weighted lengths of fields.
  model: string // The scoring model with its parameters.
  score: number // Sum of the scores of Words, or of the leaves of Tree.
  tree?: Part
  vector?: {
    field: string // With the vectors.
    fusion?: string // How both were combined; "" without words.
    metric: string // By which they are compared.
    missing?: boolean // The document has no vector.
    number?: number // Of the vector in the document, from 1, if the field takes several.
    rank?: number // Among the best by vectors, for rrf.
    similarity: number // 0 if the vector is missing.
    weight: number // Of the similarity in the sum, shares included.
    word_weight: number // Of the words.
    words: number // Score of the query's words.
    words_rank?: number // Among the best by words, for rrf.
  } // The part of the request's vector. Score is then that of both, and Words or Tree have the scores before they are weighted.
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
  before?: number // The score by the model, if a reranker gave another.
  doc: number // Number in the whole index, from 0.
  explain?: Explanation
  fields?: Record<string, Value> // Those requested stored fields that have a value.
  id: string // The document's ID in the corpus.
  more_snippets?: Snippet[] // Further ones, best first, if several were requested.
  passage?: {
    document: string // ID of the whole document.
    end: number // Where it ends.
    heading?: string // Heading has the headings above the passage, the outermost first, with " > " between them.
    number: number // Of the passage in it, from 1.
    of: number // Number of its passages.
    start: number // Start and End are where the passage is in the stored text of the document, or in the field that was cut, in bytes.
  } // Passage says where the hit is in its document, if the index has passages.
  rank: number // Counted from 1.
  score: number // By the model, or by the reranker; higher is better.
  snippet?: Snippet
}

export interface Index {
  deletable?: boolean
  documents: number
  error?: string // Why it is not ready.
  generation: number // Number of indexes served under the name, counting this one.
  index?: IndexSize
  name: string
  pending?: number // Changes that are not yet durable.
  ready: boolean
  writable?: boolean // Writable and Deletable are true if the client may change the documents, or delete the index.
}

export interface IndexSize {
  analyzer: string // Name of the analyzer that made the words.
  bytes: number // Size of all files.
  bytes_per_posting: number // BytesPerPosting counts the blocks of postings, the skip data, the maps of levels and the copies of lists of weights.
  deleted?: number // Deleted counts the documents that were deleted but are still part of the statistics.
  documents: number // Documents, including deleted ones (see Deleted).
  fields?: {
    analyzer?: string // The name of the analyzer of a text field, or a chain; "" means that of the index. That of a sparse field is impact, or impact:SCALE to multiply and round weights.
    dim?: number // The number of dimensions of a vector field, 1 to MaxDim.
    from?: string[] // From names the columns or JSON fields that hold the values; if it is empty, they are in the one called Name. A point may come from two, latitude and longitude.
    many?: boolean // Many allows documents with several vectors, of which the most similar one counts.
    metric?: string // Metric says how vectors of the field are compared; the zero value is Cosine.
    missing?: string // A text that means no value, such as NA.
    name: string // What queries and hits call the field: 1 to 64 bytes, of letters, digits, _, - and ., beginning with a letter or _. Names of a schema must differ in more than case.
    optional?: boolean // Optional allows documents without a vector; otherwise one is an error.
    precision?: string // That of the stored vectors; the zero value is Float32.
    split?: string // A separator that divides a value into several keywords.
    type: string // Type tells how values are interpreted and what they are used for; the zero value is Text.
    unstored?: boolean // Unstored fields are not stored and cannot be shown.
    weight?: number // The weight of a text field in BM25F; 0 means 1.
  }[] // The fields of the schema, if there is one.
  full_postings?: number // The number of postings before pruning; 0 if the index is not pruned.
  generation?: number // The number of commits so far; 0 if the index was made by package index alone.
  mean_length: number // Tokens per document; 0 without documents.
  parts: {
    bytes: number // Size in the files.
    name: string // Such as "postings", "dictionary" or "stored text".
  }[] // Parts divides Bytes by purpose, the postings first.
  postings: number // Pairs of a word and a document that contains it.
  root?: {
    folder: string // An absolute path. The names of files in IDs are paths relative to it, with slashes. It is "" as long as no ID was made from the name of a file: the first files choose it.
    whole?: boolean // Whole says that files were read as one document each.
  } // The folder to which the IDs of files are relative, if the index remembers one.
  segments?: number // The number of segments (see package segments); 0 if the index was made by package index alone.
  shard?: {
    first_document: number // Number, in the whole, of its first document.
    number: number // From 0 on.
    of: number // Number of shards of the whole index.
    whole_documents: number // Documents of the whole index.
  } // Shard describes the shard, if the index is one.
  stored_text: boolean // The text of the documents is stored.
  terms: number // Distinct words.
  tokens: number // Words of all documents, with repetitions.
}

export interface Instances {
  feature: number[] // Indexes into Features.
  features: string[] // Of the pattern.
  instances: number[][]
  more: boolean // There are more instances.
  row: number[] // Row of each point in the input, counted from 1.
  x: number[]
  y: number[]
}

export interface Job {
  answer?: Value // To a question about texts or places, as GET has it.
  change?: Change
  created: string
  done: number // Number of distances, percent of the documents.
  error?: string
  id: string
  index?: string // That is changed.
  kind: string // Patterns, documents, merge, compact, or a question about texts or places.
  runs?: Patterns[] // One per distance that is done.
  stage?: string // Of the distance being mined.
  state: string // Waiting, running, done, failed or cancelled.
  total: number
}

export interface Keywords {
  against?: string // The query for the other documents.
  by: string // The measure.
  compared: number // Distinct words that occur often enough.
  docs: number // Documents of an index that are compared.
  keywords: {
    diff: number // KeyDiff, in per cent.
    f1: number // Occurrences in the first corpus.
    f2: number // Occurrences in the second.
    g2: number // KeyG2; below 0 if the word is rarer in the first corpus.
    log_ratio: number // KeyLogRatio; 1 is twice as frequent, -1 half.
    lrc: number // KeyLRC at 95% confidence; 0 if not significant.
    p: number // P-value of G2.
    q: number // Benjamini and Hochberg's false discovery rate.
    word: string // The key of Frequencies.Counts.
  }[] // The highest first.
  matching: number // Documents that match the query.
  notes?: string[] // Say which documents were left out.
  query: string // Of documents of an index.
  reference_docs: number // The number of documents that they were compared with.
  reference_matching?: number // The number of documents that match the other query.
  reference_words: number // Words of the others.
  words: number // Words of these documents, or of the corpus.
}

export interface Local {
  from: string
  p_value: (number | null)[]
  rounds: number
  to: string
  total: number // Number of points of from; if there are more than limit, every n-th is listed.
  value: (number | null)[]
  x: number[]
  y: number[]
}

export interface Near {
  similar: {
    cosine: number // -1 to 1; 1 is the same direction, 0 if a vector is all zeros.
    word: string // As in Vectors.Words.
  }[] // The most similar first.
  word: string // As it was given.
}

export interface Pair {
  near: string // Feature of their neighbours.
  of: string // Feature of the points.
  p_value?: number // Two-sided; nil without rounds.
  participating: number // Points of Of that have a neighbour of Near.
  points: number // Points of Of that have neighbours.
  q_value?: number // Corrected for all pairs that were asked for.
  quotient: number | null // Nil if there are none.
  total: number // All points of Of.
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

export interface Pattern {
  expected_index?: number // The mean index under the null model. It is nil, as are the next three, before AddSignificance.
  features: string[] // The names of the pattern's features, in ascending order.
  instances?: {
    feature: string // Name of the point's feature.
    row: number // Number of the point in the input, from 1.
    x: number // Coordinate as in the input, or longitude in degrees.
    y: number // Coordinate as in the input, or latitude in degrees.
  }[][] // Sets of points that form the pattern, set by AddInstances. Each has one point for each feature, in the order of Features.
  p_value?: number // The share of rounds of the null model, the observed one included, that reach the index.
  participation: Record<string, {
    points: number // Points of the feature that occur in an instance.
    total: number // All points of the feature.
  }> // Participation says for each feature, by name, how many of its points take part.
  participation_index: number // The participation index: the least ratio in Participation, from 0 to 1.
  q_value?: number // PValue corrected for all patterns, and regions, that could have been found.
  ratio?: number // Index divided by Expected; nil if Expected is 0.
}

export interface Patterns {
  bandwidth?: number // See StudyArea.
  distance?: number // 0: any with KNN, otherwise the same position.
  engine?: string // Where the patterns were found; the command leaves it out, as all give the same.
  micros?: number // The duration in microseconds; 0 means that it was not measured.
  notes?: string[] // On what was guessed or left out.
  null?: string // Null model of the tests.
  patterns?: Pattern[] // In the order of the result.
  region?: string // Part of the map; "" means all of it.
  rounds?: number // Of the null model.
  rules?: {
    conditional_probability: number // Holding / Instances.
    holding: number // Instances of If that extend to Then.
    if: string[] // Names of the features of the condition.
    instances: number // Instances of If.
    participation_index: number // Index of If and Then together.
    then: string[] // Names of the features that follow.
  }[] // Set by AddRules.
  runs?: Report[] // One for each distance and region, if there are several.
  study_area?: number // Where the null model moved points, in the square of the unit; 0 if it moved none. Bandwidth is that of the density that all features share; 0 if it was found uniform, or the null model has none. Fitted sets both.
  total: number // Number of patterns found, of which the best may be listed.
  unit?: string // Unit of the distance, if it is known.
}

export interface Places {
  bounds: [number, number, number, number] // Minimum of x and y, maximum of x and y.
  crs: string // Reference system, if known.
  features: {
    name: string
    points: number
  }[]
  flags: string // Of `collocate places`, to read the same points.
  geographic: boolean // Positions are longitudes and latitudes.
  name: string
  points: number
  unit: string // Of distances, if known.
}

export interface Plane {
  points: {
    cosine: number // -1 to 1; 1 is the same direction, 0 if a vector is all zeros.
    word: string // As in Vectors.Words.
    x: number // Coordinate on the first principal component; see Vectors.Around.
    y: number // Coordinate on the second.
  }[] // The words: first the given one, then those most similar to it.
  shares: [number, number] // The shares of the words' variance that the two axes show, each between 0 and 1.
}

export interface Points {
  feature: number[] // Indexes into the list of features.
  features: string[]
  time?: number[] // Seconds since 1970 of each, if the points have times.
  total: number
  x: number[]
  y: number[]
}

export interface Report {
  bandwidth?: number // See StudyArea.
  distance?: number // 0: any with KNN, otherwise the same position.
  null?: string // Null model of the tests.
  patterns: Pattern[] // In the order of the result.
  region?: string // Part of the map; "" means all of it.
  rounds?: number // Of the null model.
  rules?: {
    conditional_probability: number // Holding / Instances.
    holding: number // Instances of If that extend to Then.
    if: string[] // Names of the features of the condition.
    instances: number // Instances of If.
    participation_index: number // Index of If and Then together.
    then: string[] // Names of the features that follow.
  }[] // Set by AddRules.
  study_area?: number // Where the null model moved points, in the square of the unit; 0 if it moved none. Bandwidth is that of the density that all features share; 0 if it was found uniform, or the null model has none. Fitted sets both.
  unit?: string // Unit of the distance, if it is known.
}

export interface Snippet {
  after: boolean // Whether the document has words after Text.
  before: boolean // Whether the document has words before Text.
  end: number // Where it ends.
  heading?: string // Heading has the headings above First, the outermost first, with " > " between them, if they are known. Package api fills it.
  marks: {
    end: number // Offset behind the last byte.
    start: number // Offset of the first byte.
  }[] | null // Positions of the words and phrases in Text.
  start: number // Start and End are where Text is in the stored text of the document, in bytes.
  text: string // White space is collapsed to single blanks, unless lines are kept.
}

export interface Stats {
  algorithm?: string // The one requested, or chosen by Auto. It is Auto itself, which JSON omits, if a strategy for trees was used that is none of the algorithms.
  blocks?: number
  decoded?: number
  entered: number // Entered counts documents that entered the k best, even if later evicted.
  gpu?: {
    candidates: number // The number of documents whose bound exceeded the threshold at the time.
    fallback?: string // The reason why the CPU answered instead; "" if the device did.
    items: number // The number of work items whose postings were added up.
    rescored: number // The number of candidates that were scored exactly.
    time_ns?: number // The time on the device, if it was measured.
  } // GPU says what the device did; nil if it did nothing.
  parallel?: {
    exact: boolean // The result equals that of one core.
    partition: string // How the lists were partitioned.
    partitions: number // Number of partitions.
    policy: string // How the workers shared the threshold.
    size: number // Of a partition: postings, or documents.
    threads: number // Number of workers.
  } // Parallel says how the work was spread over cores; nil if it was not.
  postings: number
  pruned?: boolean // Pruned says that the index is pruned, so that better documents may be missing.
  scored?: number // Scored counts the postings that were scored, Decoded the postings of the blocks that contain any of them, and Skipped the other blocks. A strategy that retries, or returns to a block, counts it each time: Scored and Decoded may exceed Postings, and Skipped is at least 0. Strategies for trees count neither these nor Blocks: see Counted.
  skipped?: number
  strategy?: string // The strategy that the algorithm used; all of them, if segments, shards or workers used different ones.
  thresholds?: {
    doc: number // Number of the document that the search had reached.
    entered: number // Documents that had entered the k best so far.
    score: number // The threshold from then on.
  }[] // The threshold over time, if Request.Trace is set: some 20 to 100 points.
  words: number // The number of distinct query words that score and that the index has, Postings the total length of their lists, and Blocks the number of blocks in which these are stored. A word that a tree searches for in two fields has two lists and counts twice.
}

export interface Status {
  arch: string
  cores: number
  creatable?: boolean // True if the client may make indexes.
  device?: {
    free_bytes: number
    total_bytes: number
  }
  encoder?: boolean // True if the server has an encoder, which makes vectors of queries.
  engine: string
  generation: number // Number of indexes served under the name, counting this one.
  go: string
  heap_bytes: number
  index?: IndexSize
  indexes: Index[]
  latency: {
    p50_micros: number
    p90_micros: number
    p99_micros: number
    searches: number
    seconds: number
  }
  limits: {
    k: number
    millis: number
    queries: number
    words: number
  }
  matrix?: {
    counts: boolean // True if the cells are counts, which allow tests of significance.
    entries: number
    name: string
    words: number
  }
  model: string
  models: string[] // Names of those by which a search can be ranked.
  name: string
  os: string
  points?: Places
  ready: boolean
  running: number
  shards?: {
    number?: number // Not known before one of its servers has answered.
    p95_micros?: number
    replicas: {
      error?: string
      url: string
    }[]
  }[]
  threads: number
  uptime_seconds: number
  vectors?: {
    dimensions: number
    name: string
    words: number
  }
  version: string
  waiting: number
}

export interface StudyArea {
  area: number // In the square of the unit of distances.
  estimated: boolean // From the points, as none was given.
  rings: [number, number][][] // Borders of parts and of holes, as x and y.
  share: number // Of an estimated area in the rectangle around the points.
}

export interface Summary {
  busiest_position: [number, number] // The position with MostAtOne points, as x and y, or one of several such.
  crs: string // Name of the reference system, or "unknown".
  depth: number // South to north, or along y, in the unit of distances.
  distance_high: number // The median distance to the eighth nearest position, rounded up to two digits. With more, most points have many neighbours of any kind.
  distance_low: number // The median distance to the nearest other position, rounded up to two digits. With less, most points have no neighbour.
  distance_suggested: number // The median distance to the fourth nearest position, rounded up to two digits.
  duplicates: number // The number of points that repeat an earlier one in position and feature.
  extent: [number, number, number, number] // Least x, least y, largest x, largest y.
  features: {
    feature: string // The feature, as in Set.Features.
    points: number // Number of points that have it.
  }[] // Most points first, then by name.
  most_at_one_position: number // The largest number of points at one position.
  nearest_quartiles: number[] | null // Nearest has the quartiles of the distance to the nearest other position. It is nil if there is only one position; Near is then nil, too, and Low, High and Suggested are 0.
  neighbours: {
    distance: number // In Summary.Unit.
    mean: number // Mean number of other points within Distance.
    median: number // Median of that number.
  }[] | null // Near has the numbers of neighbours within Low, Suggested, High and twice High.
  points: number // Number of points.
  positions: number // The number of different positions.
  sampled: number // The number of points that distances and neighbours were computed from.
  time_span?: [number, number] // TimeSpan has the first and the last time, in seconds since 1970; zeros, and no field in JSON, without times.
  times?: number // The number of different times; 0 without any.
  unit: string // Unit of distances; "" means unknown.
  warnings: string[] // Sentences about what may be wrong with the points; empty if nothing is.
  width: number // West to east, or along x, in the unit of distances.
}

export interface Version {
  arch: string
  go: string
  os: string
  version: string
}

export interface Word {
  count: number // Occurrences in the matrix's corpus.
  docs: number // The number of documents of the index that contain it. The index may have another analyzer than the matrix, such as a stemmer: the word is analyzed as a query.
  rank: number // By count, counted from 1.
  word: string // As it is in the matrix.
}

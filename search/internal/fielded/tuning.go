package fielded

// Tuning constants of this package. They affect only speed, never results.

// minPart is the minimum number of documents per core. Two cores take 0.69, 0.62, 0.58, 0.55, 0.53
// and 0.53 of the time of one for 4,096 to 131,072 documents (BenchmarkSpread, geometric mean of
// four queries, quiet cores). Even queries of 17 to 30 microseconds gain.
var minPart = 1 << 12 // tests and benchmarks change it

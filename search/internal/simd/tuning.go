package simd

// Tuning constants of this package. They affect only speed, never results.

// fewPairs is the largest product of starts and places for which all pairs are compared, in loops
// without unpredictable branches.
const fewPairs = 64

// Package searchtest has what the tests of the search packages share: an oracle on plain slices,
// random indexes and words, and real collections.
package searchtest

// Package searchtest has what the tests of the search packages share: an index as plain slices with
// search by the definition, random indexes and words, and the real collections.
package searchtest

// Package filters answers the question: what is kept of filters that are asked again?
//
// Many questions differ in their words and share a filter, such as a language or a span of years. A
// [Cache] keeps the documents of a filter from its second use on, as one set for each segment of
// the index. [Lists] keeps the lists of words within a filter, or within sets that a request
// brings, in the same memory. Both belong to one generation of an index and are never told of
// changes: a newer generation has new ones.
//
// It is not for parts of a query that score.
package filters

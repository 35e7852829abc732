// Package filters answers the question: what is kept of filters that are asked again?
//
// Many questions differ in their words and share a filter, such as a language or a span of years. A
// [Cache] keeps the documents of a filter from its second use on, as one set for each segment of
// the index. It belongs to one generation of an index and is never told of changes: a newer
// generation has a new one.
//
// It is not for parts of a query that score, nor for what a request brings as sets.
package filters

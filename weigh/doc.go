// Package weigh turns documents into weights: how much every word says about
// every document that holds it.
//
// Invert is the way from a corpus to its words: for each word, in byte order, the
// documents that hold it and how often. It is how indexes are built, too.
package weigh

// Package mcptools offers indexes, a matrix of words, word vectors and a set of points to programs
// that speak the Model Context Protocol, such as assistants and editors. Each job is a tool with a
// schema, and only tools that have data are offered.
//
//	describe        the documents of an index: fields, values, ranges, examples
//	search          documents for a query, with snippets, their offsets and stored fields
//	document        the stored text of a document, or a part of it
//	concordance     words in context, from the stored text
//	collocations    pairs of words, and so on: a tool for each question about words in package api
//	company         the words that are most strongly associated with a word
//	similar         words with similar vectors; analogy
//	places          kinds of places that are often together
//	places_summary  what points there are, and at which distances to look
//
// Of several indexes a call names one. Documents are also resources, listed in pages from the
// index. Messages come over standard input and output (Lines), or over HTTP without sessions
// (Server.Handler), which package serve mounts.
//
// No tool changes anything. An invalid call is answered with a tool error that has the message of
// the command.
package mcptools

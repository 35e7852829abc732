// Package mcptools offers an index, a matrix of words, word vectors and a set of points to programs
// that speak the Model Context Protocol, such as assistants and editors. Each job is a tool with a
// schema, and only tools that have data are offered.
//
//	search          documents for a query, with snippets and stored fields
//	document        the stored text of a document
//	concordance     words in context, from the stored text
//	collocations    pairs of words, and so on: a tool for each question about words in package api
//	company         the words that are most strongly associated with a word
//	similar         words with similar vectors; analogy
//	places          kinds of places that are often together
//	places_summary  what points there are, and at which distances to look
//
// No tool changes anything. An invalid call is answered with a tool error that has the message of
// the command.
package mcptools

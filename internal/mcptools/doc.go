// Package mcptools offers an index, a matrix of words and a set of points to programs that speak
// the Model Context Protocol, such as assistants and editors: each job is a tool with a schema, and
// only the tools are there for which there is something to ask.
//
//	search          documents for a query, with snippets and stored fields
//	document        the stored text of a document
//	concordance     words in their contexts, from the stored text
//	company         the words that are most strongly associated with a word
//	places          kinds of places that are often together
//	places_summary  what points there are, and at which distances to look
//
// Nothing is changed by any of them. What is wrong with a call is a tool's error, with the message
// of the command.
package mcptools

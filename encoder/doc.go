// Package encoder gets vectors for texts from a program outside: an HTTP server that speaks the
// format of OpenAI's embeddings, as most servers of models do, or a command.
//
// A server gets a POST with
//
//	{"model": "...", "input": ["a text", "another"], "encoding_format": "float"}
//
// and answers with one vector for each text, in any order:
//
//	{"data": [{"index": 0, "embedding": [0.25, -1.5]}, {"index": 1, "embedding": [1, 0]}]}
//
// A command is started once. It reads such requests from standard input, one a line, and writes an
// answer for each, one a line. An answer may also be the bare list of vectors, in order:
//
//	[[0.25, -1.5], [1, 0]]
//
// Vectors are checked: there is one for each text, and all have the same number of finite numbers.
// Answers are bounded, late ones are given up, and what a server refuses for the moment (429, 502,
// 503, 504) is asked again. Nothing of an answer that is wrong is used.
//
// A Reranker has a second look at texts in the same way: see OpenReranker.
//
// Experimental: it may change with any version; package collocate says what may not.
package encoder

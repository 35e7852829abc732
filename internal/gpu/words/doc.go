// Package words turns text into numbers on the device: it finds the words, keeps
// each distinct word once in a dictionary, and writes a sequence of word numbers,
// document by document. Jobs that count words build on that sequence.
//
// # Text
//
// Text is bytes in which every newline ends a document, and nothing else does. The caller prepares
// it: newlines inside a document become blanks, which all kinds of words treat alike. Carriage
// returns are removed for [Whitespace] (see [Kind.Squeeze]), and the last document gets a newline
// too. A document may continue in the next text, if this one ends with a blank.
//
// # The sequence
//
// The sequence has the number of each word + 1, in the order of the text, and a 0 for the end of
// each document. If a has the number 7 and b the number 3, the text "b a b\na\n" gives
//
//	4 8 4 0 8 0
//
// A number is a word's slot in the dictionary, below [Dictionary.Numbers]. Numbers are not dense,
// not ordered and differ from run to run, but a word keeps its number. The result of a job must not
// depend on them.
//
// # Dictionary
//
// The dictionary is an open-addressing table in device memory. A slot holds a word of up to 15
// bytes as two 64-bit halves, which are claimed one after the other by compare-and-swap. So words
// are compared by their bytes, never by a hash alone, and no thread waits for another. Longer words
// have a hash in one half, and in the other the position of their bytes in an arena.
//
// When the dictionary is three quarters full, new words no longer fit, and the sequence's [State]
// says so. The dictionary then grows by a table of twice the size, and the same text is tokenised
// again. Words keep their numbers.
//
// # Use
//
//	dict, err := words.NewDictionary(s, 1<<22)
//	defer dict.Free()
//	// capacity is in items; a text has at most as many items as bytes.
//	seq, err := words.NewSequence(s, capacity)
//	defer seq.Free()
//	// Append queues one kernel, and grows the dictionary and repeats if words do not fit.
//	state, err := dict.Append(ctx, s, words.ASCII, text, seq)
//	err = dict.Count(s, seq.Items(from, to)) // dict.Counts()[number] += occurrences
//	list, err := dict.List(ctx, s)           // the words, with numbers and counts, on the host
//
// Append waits for the device, to see whether all words fit. In a pipeline, [Dictionary.Queue],
// [Sequence.CopyState] and [Dictionary.Recover] do so later. If words of a text do not fit, that
// text and all texts queued after it leave the sequence unchanged. They are queued again after the
// dictionary has grown. [Dictionary.CountAdded] counts words text by text.
package words

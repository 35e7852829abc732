// Package words turns text into numbers on the device: it finds the words, keeps
// each distinct word once in a dictionary, and writes a sequence of word numbers,
// document by document. Jobs that count words build on that sequence.
//
// # Text
//
// Text is bytes in which every newline ends a document, and nothing else does.
// Whoever uploads it sees to that: inside a document newlines become blanks (all
// our kinds of words treat them alike), carriage returns are taken out for
// [Whitespace] (see [Kind.Squeeze]), and the last document gets a newline too. A
// document may go on in the next text, if this one ends with a blank.
//
// # The sequence
//
// The sequence has the number of each word + 1, in the order of the text, and a 0
// for the end of each document. The text "b a b\na\n" and a dictionary in which a
// has the number 7 and b the number 3 give
//
//	4 8 4 0 8 0
//
// A number is a word's slot in the dictionary, from 0 up to [Dictionary.Numbers]: not
// dense, not in any order, and not the same from run to run, but fixed once given.
// What a job makes of them must not depend on them.
//
// # Dictionary
//
// The dictionary is an open-addressing table in device memory. A slot holds the
// word itself, up to 15 bytes, as two 64-bit halves that are claimed one after the
// other by compare-and-swap: so words are compared by their bytes, never by a hash
// alone, and nobody ever waits for anybody. Longer words have a hash in one half
// and in the other the place of their bytes in an arena.
//
// When it is three quarters full no more words get in; the sequence's [State]
// tells, the dictionary grows by a table of twice the size, and the same text is
// tokenised again. Old words keep their numbers.
//
// # Use
//
//	dict, err := words.NewDictionary(s, 1<<22)
//	defer dict.Free()
//	// capacity is in items; a text makes at most its number of bytes.
//	seq, err := words.NewSequence(s, capacity)
//	defer seq.Free()
//	// Append queues one kernel; it grows and repeats if need be.
//	state, err := dict.Append(ctx, s, words.ASCII, text, seq)
//	err = dict.Count(s, seq.Items(from, to)) // dict.Counts()[number] += occurrences
//	list, err := dict.List(ctx, s)           // the words, with numbers and counts, on the host
//
// Append waits for the device at its end, to see whether all words were found.
// [Dictionary.Queue], [Sequence.CopyState] and [Dictionary.Recover] let a pipeline
// ask later: a text that missed words, and all texts queued after it, leave the
// sequence as it was, and are queued again once there is room. [Dictionary.CountAdded]
// counts as texts come.
package words

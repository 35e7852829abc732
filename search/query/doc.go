// Package query defines queries as small trees, built in code or parsed from text.
//
// It needs no index. Package search analyzes the words of a tree, opens their lists and evaluates
// it.
//
// # Language
//
//	solar eclipse              any of the words; those with more of them score higher
//	+solar eclipse -lunar      must have solar, may have eclipse, must not have lunar
//	solar AND eclipse          both; AND binds more tightly than OR, OR than a blank
//	solar AND NOT lunar        solar without lunar
//	solar && !lunar || comet   the same operators in signs
//	solar OR NOT lunar         solar without lunar, as NOT excludes, like -lunar; solar OR
//	                           (* NOT lunar) also finds all that is not lunar
//	(solar OR lunar) AND eclipse
//	"solar eclipse"            the words in this order, next to each other
//	"solar eclipse"~2          the same; displacements of the words differ by at most 2
//	solar NEAR/5 eclipse       at most 5 words apart, in any order
//	solar BEFORE/5 eclipse     at most 5 words apart, in this order
//	eclips*  ecl?pse  *ipse    words that begin so, or that fit the pattern; also *clip*
//	eclipes~  eclipes~1        words that differ by at most 2, or 1, typing errors
//	                           (both match words as the index has them, which may be stems, and
//	                           after the name of a keyword field its values: code:ab?1)
//	eclipse^2                  counts twice; after a word, a phrase or a group
//	tags:news^2                adds 2 to the score of documents with that value, if tags is not a
//	                           text field; also year:[2020 TO *]^2; only at the top of a query
//	title:eclipse              in a field; also title:"solar eclipse", title:(solar eclipse)
//	year:[2020 TO 2024]        a range with its ends; {2020 TO 2024} without; * is no end
//	year:>=2020                one end
//	place:[52.3,13 TO 52.7,14] a box, south-west to north-east, as latitude,longitude
//	id:(d1 d2)                 documents by ID
//	#lang:en                   must match, and adds nothing to the score: a filter
//	year:*  title:*            documents that have a value, or a word, in the field; _exists_:year
//	                           says the same
//	*                          all documents; also *:*
//
// # Grammar
//
//	query  = list
//	list   = or { or }
//	or     = and { ( "OR" | "||" ) and }
//	and    = clause { ( "AND" | "&&" ) clause }
//	clause = [ "+" | "-" | "!" | "#" | "NOT" ] boost
//	boost  = near [ "^" number ]
//	near   = part { ( "NEAR/" | "BEFORE/" ) number word }
//	part   = [ field ":" ] ( "(" list ")" | phrase | range | comparison | word )
//	phrase = `"` characters `"` [ "~" number ]
//	range  = ( "[" | "{" ) end "TO" end ( "]" | "}" )
//
// A word is any run of characters up to a blank. Plain words never need quotes: operator characters
// have a meaning only where the table above shows them. The prefix operators +, -, ! and # must
// come directly before a word, phrase or group, so e-mail, C++ and 3/4 are words. A question mark
// is a wildcard only if the word goes on after it. A star at the beginning of a word is a wildcard
// unless another star follows: **this** is a word. A parenthesis opens a group only at the
// beginning of a word; a parenthesis that opens inside a word closes there. AND, OR and NOT are
// operators in capitals only. A name before a colon is a field if Options say so. A backslash
// escapes the next character.
//
// # Meaning
//
// [Or] matches documents that match every [Must] and [Filter] among its parts, none of the [Not]
// ones, and, if there is no Must, at least one of the others. [And] matches those that match all
// parts, and none of the Not ones. If there are only Not and Filter parts, nothing else is
// required. The score of a document is the sum of the scores of its words, phrases and patterns, in
// the order of the tree. Parts that do not match, and parts under Not or Filter, add nothing.
//
// A group of one part means that part: (-sun) excludes sun as -sun does, (#sun) requires it, and
// (+sun) is sun. In a filter ([ParseFilter]) all parts of a group must match, too: tags:(news sky)
// wants both values, and tags:(news OR sky) any of them.
package query

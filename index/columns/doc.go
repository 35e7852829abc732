// Package columns answers what value a field of a document has: keywords, numbers, dates and
// points, a column for each field, to filter, count and sort by.
//
// # The format
//
// The columns of an index are one paged container of package sections, the file "columns". The n-th
// column, by the order of the schema's fields that have one, has sections whose names begin with n
// and a dash. "head" says what it is, in eight uint64: its kind, then numbers that depend on it.
//
// A section of packed numbers has them at the given number of bits each, 0 to 56 or 64, one after
// the other from the lowest bit of each byte on, and 8 zero bytes.
//
//	kind 1, keywords, at most one a document: the number of different values, bits
//	  words   the values in byte order, front coded in blocks of 16: for each a uvarint, how many
//	          bytes it shares with the one before (0 for the first of a block), a uvarint, how many
//	          others follow, and these
//	  starts  uint64: where each block begins, and the end
//	  ords    packed, for each document: the number of its value from 1 on, or 0
//	kind 2, keywords, several a document: different values, bits, values in all, bits of ends
//	  words, starts as before
//	  ends    packed, for each document: how many values it and those before it have
//	  ords    packed: the values' numbers from 0 on, of each document rising
//	kind 3, whole numbers and dates: the smallest, the unit, bits
//	  values  packed, for each document: how many units above the smallest; 0 without a value
//	kind 4, other numbers
//	  values  float64 for each document; 0 without a value
//	kind 5, points: smallest latitude, unit, bits, smallest longitude, unit, bits
//	  lats, lons  packed, as in kind 3, in units of 1e-7 degrees
//
// Kinds 3, 4 and 5 have a section "has" with a bit for each document that has a value, in uint64,
// unless all have one; then it is empty. Dates are milliseconds since 1970 in UTC. The unit is the
// greatest one of which all differences are multiples, 1 if there are none: days are small numbers.
//
// For example, three documents with the years 1999, none and 2009 are, of kind 3, smallest 1999,
// unit 10 and 1 bit: values 04, has 05. With the tags "b", "a" and "b", and none, they are of kind
// 2 with 2 values, 1 bit, 3 values in all, 2 bits of ends: words 00 01 a 00 01 b, starts 0 and 6,
// ends 1, 3, 3 (3d), ords 1, 0, 1 (05).
package columns

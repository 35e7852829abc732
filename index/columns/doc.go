// Package columns stores the values of document fields by column: keywords, numbers, dates and
// points. It answers which value a document has, and which documents have a value.
//
// index.Reader.Column returns a Column. Equal, Range, Prefix, Box and Any return the set of
// documents that match. Facets and Counts count the keywords of a set of documents. Number, Date,
// Point and Ords return the value of one document, for example to sort by it:
//
//	year, err := r.Column("year")
//	later, err := year.Range(columns.Limit{Value: "1950"}, columns.Limit{})
//	tag, err := r.Column("tag")
//	facets, distinct, err := tag.Facets(later, 10)
//
// A document without a value matches no filter. Columns are immutable, and several goroutines may
// read them at once. Package index makes them with a Builder, which needs all values of a column in
// memory until it is written.
//
// # The format
//
// The columns of an index are one file, "columns", a paged container of package sections. Columns
// are numbered in the order of the schema's fields that have one; the names of the sections of
// column n begin with n and a dash. The section "head" describes the column in eight uint64: its
// kind, then numbers that depend on the kind.
//
// A section of packed numbers stores them with a fixed number of bits each, 0 to 56 or 64, starting
// at the lowest bit of each byte, and ends with 8 zero bytes.
//
//	kind 1, keywords, at most one per document: the number of distinct values, bits
//	  words   the values in byte order, front coded in blocks of 16: for each, as uvarints, the
//	          length of the prefix that it shares with the previous one (0 for the first of a
//	          block) and the length of the suffix; then the suffix
//	  starts  uint64: the offset of each block, and the end
//	  ords    packed, for each document: the number of its value from 1, or 0
//	kind 2, keywords, several per document: distinct values, bits, values in all, bits of ends
//	  words, starts as before
//	  ends    packed, for each document: the number of values up to and including it
//	  ords    packed: the values' numbers from 0, ascending within each document
//	kind 3, integers and dates: the smallest, the unit, bits
//	  values  packed, for each document: its distance from the smallest in units; 0 without a value
//	kind 4, other numbers
//	  values  float64 for each document; 0 without a value
//	kind 5, points: smallest latitude, unit, bits, smallest longitude, unit, bits
//	  lats, lons  packed, as in kind 3, in units of 1e-7 degrees
//
// Kinds 3, 4 and 5 have a section "has", a bitmap in uint64 of the documents that have a value. It
// is empty if all have one. Dates are milliseconds since 1970 in UTC. The unit is the greatest
// common divisor of all differences, or 1 if there are none, so that dates without a time of day
// are small numbers.
//
// For example, take three documents with the years 1999, none and 2009. Their column is of kind 3
// with smallest value 1999, unit 10 and 1 bit: values 04, has 05. Let their tags be "b", then "a"
// and "b", then none. That column is of kind 2 with 2 different values, 1 bit, 3 values in all and
// 2 bits of ends: words 00 01 a 00 01 b, starts 0 and 6, ends 1, 3, 3 (3d), ords 1, 0, 1 (05).
//
// Experimental: it may change with any version; package collocate says what may not.
package columns

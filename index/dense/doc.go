// Package dense stores the vectors of documents by field, and answers which documents have a
// vector, what it is, and between which bounds its similarity to another one lies.
//
// index.Reader.Vectors returns a Column. Vectors are immutable, and several goroutines may read
// them at once. Package index makes them with a Builder, which keeps them in a temporary file until
// they are written.
//
// # Similarity
//
// The sum of n products is computed in float32 as follows, on every machine. Lane l of 16 adds the
// products of the numbers l, l+16, l+32, ..., in this order, to 0; each product is rounded before
// it is added. Then lanes are added in pairs: lane l and lane l+8 for l below 8, then l and l+4,
// l and l+2, and the last two. Sums of squared differences are computed likewise. So with q·x and
// |q - x|² being such sums, and |x| the norm that package fields defines, the similarity is
//
//	cosine     q·x / (|q||x|), in float64, rounded to float32
//	dot        q·x
//	euclidean  1 / (1 + |q - x|²), in float64, rounded to float32
//
// A document with several vectors has the similarity of the most similar one.
//
// # Bounds
//
// Beside each vector x there are codes: whole numbers c from -127 to 127 and a scale s, so that s·c
// is about x. Let r be |x - s·c|. A query q gets codes d, a scale t and a rest p = |q - t·d| in the
// same way. Then, with exact numbers,
//
//	q·x = (t·d + (q - t·d))·x = t·d·x + (q - t·d)·x,
//	t·d·x = t·d·(s·c) + t·d·(x - s·c)
//
// so that |q·x - t·s·(d·c)| ≤ |t·d| r + p |x|, by the inequality of Cauchy and Schwarz. d·c is a
// sum of whole numbers, which is exact. Package search adds to r what roundings of the sum above
// may amount to: the sum of n products in 16 lanes rounds each product once and each partial sum at
// most n/16 + 4 times, so it differs from q·x by at most g|q||x| + n·2^-149, where g = (n/16 + 6) ·
// 2^-24 · 1.01. The numbers that are stored are rounded up.
//
// # The format
//
// The vectors of an index are one file, "vectors", a paged container of package sections. Fields
// are numbered in the order of the vector fields of the schema; the names of the sections of field
// n begin with n and a dash. There is one row for each document; that of a document without a
// vector is zero. If the field is Many, there is one row for each vector instead, those of a
// document one after the other.
//
//	head    8 uint64: dimensions, metric, precision, documents, rows if the field is Many, then
//	        zeros
//	rows    for each row its numbers, as float32, float16 or int8, then zeros up to a multiple of
//	        64 bytes
//	codes   for each row its codes, as int8, then zeros up to a multiple of 64; empty if the
//	        precision is int8, whose rows are their own codes
//	scales  float32 for each row: s
//	rests   float32: r, rounded up
//	norms   float32: |x|
//	has     a bitmap in uint64 of the documents that have a vector; empty if all have one
//	starts  only if the field is Many: uint32 for each document, its first row, then the number of
//	        rows
//
// The scale is the largest absolute number of x, divided by 127 in float32; 1 if the precision is
// int8; 0 for a zero vector, whose codes are 0. A code is x/s in float32, rounded to the nearest
// whole number, halves to even, and cut to 127.
//
// For example, take two documents in a field of 2 dimensions, metric dot, precision float32, of
// which the first has the vector (1, -0.5) and the second none. Then the head is 2, 1, 0, 2, 0, 0,
// 0, 0; rows are 00 00 80 3f 00 00 00 bf and 56 zero bytes, then 64 zero bytes; codes 7f c0 (127
// and -64) and 62 zero bytes, then 64 zero bytes; scales 1/127 (3c010204) and 0; rests 0.003937007
// (3b810201) and 0; norms 1.118034 (3f8f1bbd) and 0; has 1.
//
// If the field is Many, take three documents of which the second has that vector twice, and the
// others none. Then the head is 2, 1, 0, 3, 2, 0, 0, 0; there are two rows, equal to the first one
// above, with their codes, scales, rests and norms; has is 2; and starts are 0, 0, 2, 2.
//
// Experimental: it may change with any version; package collocate says what may not.
package dense

// Package cluster answers the question: what if it does not fit one machine?
//
// Batch jobs run on an engine that others have made, Spark or Slurm, which splits the input, brings
// records with the same key together, and tries again what failed. This package is the workers: a
// process that reads standard input and writes standard output, and knows nothing of the engine.
//
// # Records
//
// Workers speak lines of three fields with tabs between them:
//
//	KIND <tab> KEY <tab> PAYLOAD <newline>
//
// KIND is a letter, KEY a whole number of 64 bits by which records are brought together, PAYLOAD
// text without tabs or newlines. So a table with the columns STRING, BIGINT and STRING holds them.
//
//	v  some words of a vocabulary with their counts; KEY is the bucket of the words' hash, PAYLOAD
//	   the base64 of: for each word, in byte order, its length, its bytes and its count
//	c  some cells of a block of rows of a co-occurrence matrix; KEY is the block, PAYLOAD the base64
//	   of: for each cell, by rising row and column, the cells between it and the one before, and its
//	   sum in units. The first 64 rows are a block each; of the others, 64 blocks are between a
//	   power of two and the next
//	p  some classes of points with their numbers, as v; a class is a feature, and for each set that
//	   its points take part in how many features that has and their distances from one another
//	f  a file or folder that a map left; KEY is the part of the corpus, PAYLOAD the base64 of the
//	   JSON of a [Part]
//	s  records of a bucket of keys, which a stage left in a file; KEY is the bucket, PAYLOAD the
//	   base64 of a JSON object with the file's name, the range of its bytes (from, bytes), how many
//	   records that has, and its CRC-32C (sum). [Spill] describes the file
//	e  the end of a stream; KEY is -1, PAYLOAD the JSON of an [End]
//
// Numbers within payloads are uvarints; base64 is the standard one without padding. The text "b a
// b" gives, for a vocabulary, one record for each of the buckets of its words, and
//
//	e	-1	{"job":"vocab","stage":"map","task":"…","records":2,"sum":"…","documents":1,"words":3}
//
// # Stages
//
// Stage map reads documents and combines what it finds within its memory: each key comes once.
// Stage reduce reads records by rising key and adds up those with the same key, which is again a
// stream of records by rising key. It hands records of kind e on. Merge does the same with several
// streams, from maps or from reduces, and makes the result that one machine makes, byte for byte.
//
// Stages vocab and cooccur may leave their records in files of a folder that all machines see, and
// write records s. Buckets of keys follow one another, so whoever brings together the records of a
// bucket has all of some keys. Reduce then leaves a file, too.
//
// Jobs weigh and index do not bring records together. A map writes the counts of its part to a
// file, or an index, in a folder that all machines see, and one record that names it. A task that
// fails or is done twice leaves a file that no record names. Job places maps tiles: see coloc.Tile.
//
// # Nothing is lost
//
// Engines turn fields that they cannot read into nulls, and lose or repeat records if they are
// misconfigured, without a word. So each stage ends its stream with how many records it wrote and
// their checksum (the sum, modulo 2^64, of the CRC-64 of each line), and what it read. Merge
// compares: what it reads with what the last stage wrote, what reduces read with what maps wrote,
// that no task comes twice, that all parts are there if maps know how many there are, and that all
// words of the vocabulary were seen.
package cluster

// Package cluster runs jobs whose input does not fit one machine.
//
// Jobs run on an existing engine, Spark or Slurm, which splits the input, groups records by key and
// retries failed tasks. This package provides the workers: processes that read standard input and
// write standard output, and know nothing of the engine. It also writes the programs that the
// engines run: Script for Spark, Array for Slurm.
//
// A job has up to three stages. MapWords, MapPairs, MapParts and MapPlaces process a part of the
// input. Reduce adds up records with the same key. MergeWords, MergePairs, MergeParts and
// MergePlaces combine all streams into the result. That result is byte for byte the one that a
// single machine computes, however the input is split.
//
// # Records
//
// Workers exchange lines of three fields, separated by tabs:
//
//	KIND <tab> KEY <tab> PAYLOAD <newline>
//
// KIND is a letter, KEY a 64-bit integer by which records are grouped, and PAYLOAD text without
// tabs or newlines. So they fit a table with the column types STRING, BIGINT and STRING.
//
//	v  some words of a vocabulary with their counts; KEY is the bucket of the words' hash, PAYLOAD
//	   the base64 of: for each word, in byte order, its length, its bytes and its count
//	c  some cells of a block of rows of a co-occurrence matrix; KEY is the block, PAYLOAD the base64
//	   of: for each cell, in ascending order of rows and columns, the number of cells between it
//	   and the one before, and its sum in units. Each of the first 64 rows is a block; after
//	   that, there are 64 blocks between a power of two and the next
//	p  some classes of points with their numbers, as v; a class is a feature, and for each set that
//	   its points take part in how many features that has and their distances from one another
//	f  a file or folder that a map wrote; KEY is the part of the corpus, PAYLOAD the base64 of the
//	   JSON of a [Part]
//	s  records of a bucket of keys, which a stage wrote to a file; KEY is the bucket, PAYLOAD the
//	   base64 of a JSON object with the file's name, the range of its bytes (from, bytes), how many
//	   records that has, and its CRC-32C (sum). [Spill] describes the file
//	e  the end of a stream; KEY is -1, PAYLOAD the JSON of an [End]
//
// Numbers within payloads are uvarints; base64 is the standard encoding without padding. The text
// "b a b" gives, for a vocabulary, one record for each bucket that its words fall into, and
//
//	e	-1	{"job":"vocab","stage":"map","task":"…","records":2,"sum":"…","documents":1,"words":3}
//
// # Stages
//
// Stage map reads documents and combines records within its memory, so that each key is written
// once. Stage reduce reads records in ascending order of keys and adds up those with the same key;
// its output is again in ascending order. It passes records of kind e on unchanged. Stage merge
// does the same with several streams, from maps or from reduces, and makes the result.
//
// The jobs vocab and cooccur can keep their records in files of a shared folder, and exchange only
// records of kind s, which name ranges of these files. A bucket is a range of keys, so grouping the
// records of a bucket groups all records of its keys. Reduce then writes a file, too.
//
// The jobs weigh and index do not group records. A map writes the counts of its part, or an index
// of it, to a shared folder, and one record that names it. A task that fails or runs twice leaves a
// file that no record names. The job places maps tiles; see coloc.Tile.
//
// # Lost and repeated records are detected
//
// A misconfigured engine may turn fields into nulls, or lose or repeat records, without an error.
// Therefore each stage ends its stream with the number of records it wrote, their checksum (the
// sum, modulo 2^64, of the CRC-64 of each line), and what it read. Merge checks that it reads what
// the last stage wrote, that reduces read what maps wrote, and that no task occurs twice. It also
// checks that no part is missing, if maps know how many there are, and that all words of the
// vocabulary were seen.
//
// Experimental: it may change with any version; package collocate says what may not.
package cluster

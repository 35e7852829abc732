// Package text answers what the documents of a corpus and their words are.
//
// # Documents
//
// A Corpus is a list of files, folders and standard input. Each file is plain or
// compressed (gzip, zstd, bzip2; seen by content, not by name) and holds documents
// in one of these formats, named in Options or detected:
//
//	lines  one document a line                        ID file:line
//	file   one document a file                        ID file
//	blank  documents with blank lines between them    ID file:number
//	jsonl  one JSON object a line                     ID from a field
//	json   JSON objects over several lines, or one list of objects
//	trec   <DOC><DOCNO>ID</DOCNO> text </DOC>
//	smart  .I ID, then sections .T, .W, ...
//	tsv    ID<TAB>text a line, or a header that names columns, then records
//	csv    a header that names columns, then records  ID from a column
//
// A Parquet table, seen by its content, is read as if each row were an object of jsonl: columns of
// strings, numbers, booleans, dates and times, lists of these, and structs of these for points.
//
// In JSON and tables the text is that of the field contents, or else of all of title, headline,
// headings, abstract, text, body, content, passage, paragraph, segment and article that are there,
// in this order. The ID is the first of id, _id, pid, passage_id, docno, docid, doc_id and
// document_id that is there, or else file:number. The names count in any case. Options.Fields and
// IDField name others, which a table must have, and some record of JSON. A table without a header
// has its columns named by number, from 1 on. Records of JSON with and without contents in one file
// are a mistake unless Fields are named. Options.Schema names fields with types instead: see
// package fields. Options.Note is told of fields that were left out, and of records without an ID.
//
// So a file news.txt with
//
//	Cats sleep.
//	Dogs bark.
//
// read as lines gives the documents news.txt:1 "Cats sleep." and news.txt:2 "Dogs
// bark.". IDs are as unique as the corpus makes them; the place of a document in
// the corpus, (Batch.Seq, index in Batch.Docs), always is.
//
// Nothing is lost or changed on the way:
//
//   - Bytes stay as they are, control characters and a stray NUL too, unless Options.Encoding says
//     what else they mean. With UTF8 what is not UTF-8 is an error. Only a byte order mark (EF BB
//     BF) at a file's begin is taken off. Refused is UTF-16, seen by its mark, if it is not named,
//     and what is no text: PDFs, archives, our own files, CIFF, and what has two or more NULs in
//     its first 64 KB, if these are a quarter of it or, from 512 bytes on, more than one in 1,000
//     bytes.
//   - Lines end with LF or CR LF, the last one also without. Both are taken off; a CR
//     elsewhere stays.
//   - An empty line is an empty document in lines, a separator in blank (as is a line
//     of blanks and tabs), and skipped in JSON, tsv and csv. An empty file is an
//     empty document in file and none in the others.
//   - Documents may be of any length that fits memory; Analyzers take those below 4 GiB.
//
// JSON text fields may be strings, numbers, lists of these, or null, which is as if the field were
// not there; a record without any text field is a mistake, one with empty text is an empty
// document. Of fields with the same name the last one counts. Half surrogate pairs become U+FFFD.
// CSV is that of RFC 4180, with commas, or with semicolons, tabs or bars if the header makes sense
// with these only. TSV with a header is the same with tabs, but quotes inside a field are plain;
// without one, quotes and further tabs are text. In TREC text tags are known in any case and with
// attributes; each counts as one blank. Entities (&amp; &#233;) become what they stand for. DOCNO
// and DOCHDR are no text. SMART text is that of the sections T and W.
//
// Folders are walked in byte order of the paths below them, links followed, names
// that begin with a dot left out, and those of Options.Except; a loop of links is an
// error. Of a folder in BEIR's layout (corpus.jsonl beside queries.jsonl or qrels) only the
// corpus is read. Files that would share a name are told apart by their paths.
//
// The format is detected for each file by its begin: {" is jsonl, or json if the object does not
// end with its line; [{ is json, <DOC> trec, ".I " smart. The names .csv, .tsv, .jsonl and .ndjson,
// also before .gz, .zst or .bz2, count next. If every line is a number, a tab and text without tabs
// it is tsv. Else it is plain text: one document a file inside a folder; blank if at least 2% of
// the lines are blank lines between others; lines if not.
//
// Mistakes are errors with the file's path and the line, or the byte. Of several the
// first one in the corpus is reported, whatever the number of threads.
//
// # Words
//
// An Analyzer turns a document into words. There are
//
//	whitespace  the bytes between blanks, tabs and line feeds, as Stanford's GloVe
//	            has them: CR is as if not there, words are cut to 999 bytes at a
//	            character's border; nothing else changes
//	ascii       letters a-z, lower-cased; all else separates
//	unicode     words of UAX #29 that have a letter or a number, in the normal form NFC, case
//	            folded; bytes that are not UTF-8 separate
//	english     and the other Snowball languages: as unicode, then stemmed; with +stop
//	            (english+stop) stop words are dropped before that
//	lucene-english  as Lucene's EnglishAnalyzer: possessives off, 33 stop words, Porter's stemmer
//
// For "The Cat's 2 paws":
//
//	whitespace    The Cat's 2 paws
//	ascii         the cat s paws
//	unicode       the cat's 2 paws
//	english       the cat 2 paw
//	english+stop  cat 2 paw
//
// Case is folded by Unicode's simple folding (ẞ and ß, Σ, σ and ς become one). The languages take
// the typographic apostrophe for the plain one; French and Italian lose elided words (l'avion is
// avion); Turkish has its own i. Words longer than 64 bytes are not stemmed. porter takes
// possessives off, as english does. A NUL, unlike in GloVe, is a byte like any other to whitespace.
//
// # Speed
//
// Text is classified 64 bytes at a time in ordinary registers. On one core of a busy
// 2-core server and 64 MB of eLife paragraphs whitespace and ascii do some 850 MB/s,
// unicode 260 and english 80; the first three do not allocate once the buffers
// have grown, english only for words it has not met lately (see BenchmarkAnalyze).
// A long plain file is read by all workers at once in pieces cut between documents;
// compressed text is unpacked by one goroutine and parsed by all (BenchmarkBatches).
package text

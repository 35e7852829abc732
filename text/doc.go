// Package text reads the documents of a corpus and splits them into words.
//
// A Corpus names files, folders or standard input; Batches reads its documents on several cores,
// All one after the other. An Analyzer, which ParseAnalyzer returns by name, splits a document into
// words, its Tokens:
//
//	corpus := &text.Corpus{Paths: []string{"news.jsonl.zst"}}
//	analyzer, err := text.ParseAnalyzer("english")
//	var t text.Tokens
//	for doc, err := range corpus.All(ctx) {
//		err = analyzer.Analyze(doc.Text, &t)
//		for i := range t.Words {
//			fmt.Printf("%s %s\n", doc.ID, t.Word(i))
//		}
//	}
//
// Documents have a fixed order, and batches of them fixed borders, whatever the number of threads.
// A mistake in the input is an error with the file's path and the line or the byte. If there are
// several, the first one in the corpus is reported, again whatever the number of threads.
//
// # Documents
//
// Each file is plain or compressed (gzip, zstd, bzip2; recognised by content, not by name) and
// holds documents in one [Format], which Options names or which is detected.
//
// A Parquet table, recognised by content, is read as if each row were an object of jsonl. Its
// columns may hold strings, numbers, booleans, dates and times, lists of these, and structs of
// these for points. A program that reads tables imports package text/parquet, one that reads bzip2
// text/bzip2, and one that reads other encodings than UTF-8 text/encodings; package formats imports
// all of these.
//
// For example, the file news.txt with
//
//	Cats sleep.
//	Dogs bark.
//
// read as lines gives the documents news.txt:1 "Cats sleep." and news.txt:2 "Dogs bark.". IDs need
// not be unique; the position of a document in the corpus, (Batch.Seq, index in Batch.Docs), is.
//
// In JSON and tables, the text is the field contents. If there is none, the text consists of those
// of the following fields that exist, in this order: title, headline, headings, abstract, text,
// body, content, passage, paragraph, segment and article. The ID is the first of id, _id, pid,
// passage_id, docno, docid, doc_id and document_id that exists, and file:number otherwise. Case
// does not matter in these names. Options.Fields and Options.IDField name other fields: a table
// must have them, and so must at least one record of JSON. The columns of a table without a header
// are named by number, from 1. A JSON file that has records with and without contents is an error
// unless Fields is set. Options.Schema names fields with types instead; see package fields.
// Options.Note reports fields that were left out and records without an ID.
//
// Text is neither lost nor changed:
//
//   - Bytes stay as they are, control characters and a stray NUL included, unless Options.Encoding
//     names an encoding to convert from. With UTF8, bytes that are not UTF-8 are an error. Only a
//     byte order mark (EF BB BF) at the start of a file is removed.
//   - Refused are UTF-16 files, recognised by their byte order mark, unless Encoding names it, and
//     files that are not text: PDFs, archives, Collocate's own files, CIFF, and files with several
//     NULs in the first 64 KB. Several means at least two and a quarter of the bytes or, from 512
//     bytes on, more than one in 1,000.
//   - Lines end with LF or CR LF, and the last line needs no end. Both are removed; a CR elsewhere
//     stays.
//   - An empty line is an empty document in lines, a separator in blank (as is a line of blanks and
//     tabs), and skipped in JSON, tsv and csv. An empty file is an empty document in file and no
//     document in the other formats.
//   - Documents may be of any length that fits into memory. Analyzers refuse documents of 4 GiB or
//     more.
//
// JSON text fields may be strings, numbers, lists of these, or null, which counts as missing. A
// record without any text field is an error; one with empty text is an empty document. If a field
// occurs twice, the last one counts. Unpaired surrogates become U+FFFD. CSV follows RFC 4180; the
// separator is the comma, or else a semicolon, tab or vertical bar if only that makes sense of the
// header. TSV with a header is the same with tabs, but quotes inside a field are plain characters;
// without a header, quotes and further tabs are text. In TREC, tags may be in any case and have
// attributes; each counts as one blank. Entities (&amp; &#233;) are decoded, and DOCNO and DOCHDR
// are not part of the text. The text of SMART is that of the sections T and W.
//
// Folders are walked in byte order of the paths below them, and links are followed; a loop of links
// is an error. Names that begin with a dot, and those of Options.Except, are left out. Of a folder
// in BEIR's layout (corpus.jsonl beside queries.jsonl or qrels) only the corpus is read. Files with
// the same name are told apart by their paths.
//
// The format is detected for each file from its first bytes. A file that begins with {" is jsonl,
// or json if the object does not end on its line; [{ is json, <DOC> is trec, and ".I " is smart.
// Next come the names .csv, .tsv, .jsonl and .ndjson, also before .gz, .zst or .bz2. If every line
// is a number, a tab and text without tabs, the file is tsv. Otherwise it is plain text: one
// document per file inside a folder; blank if at least 2% of the lines are blank lines between
// others; and else lines. Options.Plain names one of these for all plain text. Options.Guess hears
// of what was guessed by contents. Annotated corpora, CoNLL-U and CWB's vertical text (VRT), are
// refused, since their tags would be words, unless a format is named. Guess also hears of lines
// that are a word and its tags.
//
// # Words
//
// These are the analyzers:
//
//	whitespace  the bytes between blanks, tabs and line feeds, as in Stanford's GloVe: CRs are
//	            removed, words are cut to 999 bytes at a character's border; nothing else changes
//	ascii       letters a-z, lower-cased; everything else separates words
//	unicode     words of UAX #29 that have a letter or a number, in normal form NFC, case folded,
//	            with plain apostrophes; bytes that are not UTF-8 separate words
//	english     and the other Snowball stemmers: like unicode, then stemmed. They are arabic,
//	            danish, dutch, english, finnish, french, german, hungarian, irish, italian,
//	            norwegian, porter, portuguese, romanian, russian, spanish, swedish, tamil and
//	            turkish. With +stop (english+stop), stop words are dropped before stemming; there is
//	            no list for irish, tamil and turkish
//	lucene-english  like Lucene's EnglishAnalyzer: removes possessives and 33 stop words, then
//	            applies Porter's stemmer
//
// For "The Cat's 2 paws" they give:
//
//	whitespace    The Cat's 2 paws
//	ascii         the cat s paws
//	unicode       the cat's 2 paws
//	english       the cat 2 paw
//	english+stop  cat 2 paw
//
// Case is folded by Unicode's simple folding (ẞ and ß become one, and so do Σ, σ and ς). In unicode
// and the Snowball languages a typographic apostrophe becomes a plain one, so don’t and don't are
// one word; unicode@2 keeps them apart, and so does whitespace. French and Italian drop elided
// articles (l'avion becomes avion); Turkish has its own rules for i. Words longer than 64 bytes are
// not stemmed. Like english, porter removes possessives. Unlike GloVe, whitespace treats
// a NUL like any other byte.
//
// # Chains
//
// A chain is an analyzer that is declared: a tokenizer and filters with | between them. Its name is
// the declaration, with lists of stop words and synonyms in it. So an index stores all of it, and
// who opens the index needs no files.
//
//	words | lower | fold | stop(english) | stem(english) | synonyms(car, auto; colour => color)
//
// The first step is one of these tokenizers or any other analyzer, also one of your own:
//
//	words         the words that unicode finds, in NFC, with their case
//	code          names of code: letters, digits, _ and $, joined by ., :: and ->
//	value         the whole text as one word
//
// These are the filters. Languages are named in full or by their codes (en).
//
//	lower         folds case, as unicode does; lower(turkish) has the rules of Turkish
//	fold          removes the accents of Latin and Greek letters: é is e, ß is ss, ø is o
//	elide(french) removes elided articles: l'avion is avion; also italian
//	possessive    removes 's and a final apostrophe
//	stop(english) drops the stop words of a language; stop(a, the) those words; stop(@FILE) those
//	              of a file, one per line
//	stem(english) stems words by Snowball's algorithm
//	parts         adds the parts of names: createTask and create_task are also create and task
//	ngrams(2-3)   replaces words by their n-grams of so many characters, at most 8
//	edge(2-10)    adds the beginnings of words, at most 64 characters, to documents
//	synonyms(...) rules in the form of ParseSynonyms, or synonyms(@FILE); for queries, and always
//	              the last step
//
// A step is applied to documents and queries, but for edge, which is for documents, and synonyms,
// which are for queries. index: or query: before a step applies it to one of them only:
// index:synonyms(...) adds synonyms to documents. Stop words and synonyms go through the steps
// before them, as text does. Inline replaces @FILE by the file's contents.
//
// Positions, by which phrases match: dropped words leave no gap. The parts of a name take
// successive positions, and the name has that of the first. An n-gram has the position of its first
// character, so a phrase of n-grams is a part of a word. Beginnings have the position of their
// word. A synonym in a document has that of the first word it stands for, and its other words the
// following ones. The length of a document is the number of all its words, and each has its own
// source for snippets: parts and n-grams that of their characters, unless a step before has changed
// the number of characters.
//
// A query requires the parts of a name, or its n-grams, not the name itself, which only adds to the
// score. Package search says how synonyms are scored.
//
// # Speed
//
// Text is classified 64 bytes at a time. BenchmarkAnalyze measures the analyzers, BenchmarkBatches
// the readers. Once their buffers have grown, whitespace, ascii and unicode do not allocate;
// english allocates only for words that it has not seen lately. All workers read a long plain file
// at once, in pieces that end between documents. Compressed text is unpacked by one goroutine and
// parsed by all.
package text

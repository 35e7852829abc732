// Package folders keeps an index in step with a folder of files: Sync adds what is new, replaces
// what changed and deletes what is gone; Watch does so again whenever something changes.
//
// Package extract finds the text of files. The ID of a document is the file's path under the
// folder, with slashes; the parts of a file such as a mail box have /1, /2 and so on after it. The
// documents have these fields, as far as a file has them:
//
//	title, name, text     text: the title, the file's name, and what it says
//	path, extension, kind keywords; path:docs/* are all files below docs
//	modified, size        when the file was changed last, and its bytes
//	author, date, from, to, tag, language, link, attachment   what the file states
//	encoding              of text that was not UTF-8
//	problem               why a file has no text: encrypted, broken, no-text, too-large
//	headings              a JSON list of extract.Heading; offsets are in the field text
//	hash                  SHA-256 of the file's bytes, the first half, in hexadecimal
//
// # What Sync relies on
//
// The index itself says what it has of each file, so it cannot disagree with a list beside it:
// neither after a crash, nor if it is restored from a backup, or documents are deleted. A file is
// unchanged if its size and the millisecond of its change are those of the index. Otherwise its
// bytes are read; if their hash is the same, only the fields that changed are. A file that has the
// hash of one that is gone was moved, and keeps the text that was found in it.
//
// A file could change again within the grain of the clock, after it was read. Files that are read
// so soon after their change have the field recheck; the next Sync compares their hashes, whatever
// their times. Programs that restore the time of a file they change, and leave its size, escape
// notice unless Options.Hash is set.
//
// Experimental: it may change with any version; package collocate says what may not.
package folders

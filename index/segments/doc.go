// Package segments answers the question: how does an index change while others search it?
//
// An index that lives is a folder with a manifest, the file "segments", and segments, each an
// immutable index of package index in a folder of its own. The manifest names the segments of one
// generation, in the order of their documents, and says which documents were deleted. Documents are
// numbered through all segments. An index that package index made is one segment, and stays where
// it is when others join it.
//
// A [Writer] adds, replaces and deletes documents, and merges segments. Commit writes what is new,
// syncs it, and renames the manifest: so a crash leaves the generation before or the new one. Only
// one writer at a time may change an index; a second is told who holds the lock.
//
// A [Reader] is one generation, and stays what it is whatever writers do; Refresh opens the newest.
//
// Deleted documents are in no result. Until their segment is merged they count where words and
// documents are counted for scores, as in Lucene; Compact makes the index, to the byte, the one
// that is made of the surviving documents afresh.
//
// Merging takes runs of neighbouring segments of about the same size, ten at a time, so that
// documents keep their order, and each is rewritten about once when the index grows tenfold.
package segments

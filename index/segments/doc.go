// Package segments adds documents to an index and deletes them while others search it.
//
// An index that can change is a folder with a manifest, the file "segments", and one subfolder per
// segment. A segment is an immutable index of package index. The manifest lists the segments of one
// generation, in the order of their documents, and says which documents were deleted. Documents are
// numbered through all segments. An index made by package index counts as one segment, and stays
// where it is when others are added.
//
// A Writer adds, replaces and deletes documents, and merges segments:
//
//	w, err := segments.NewWriter("news.index", segments.Options{Analyzer: analyzer})
//	defer w.Close()
//	err = w.Add(text.Document{ID: "7", Text: []byte("a rose is a rose")})
//	n, err := w.Delete("3")
//	err = w.Commit()
//
// Commit writes and syncs the new segments, then renames the manifest. So a crash leaves either the
// old generation or the new one. Only one Writer at a time may change an index; a second one gets
// an error that names the process that holds the lock.
//
// A Reader shows one generation and never changes, whatever writers do. Refresh opens the newest
// generation. Package search opens and searches such an index like any other.
//
// Deleted documents are never returned. Until their segment is merged they still count in the
// statistics that scores are computed from, as in Lucene. Compact merges all segments into one,
// which is byte for byte the index that package index makes of the remaining documents.
//
// Merging combines runs of neighbouring segments of about the same size, ten at a time, so
// documents keep their order. Each document is rewritten about once each time the index grows
// tenfold.
package segments

// Package bucket reads and changes an index in an object store.
//
// A View is a generation as a folder on local disk, an index of package segments like any other:
//
//	x, err := bucket.Open("s3://corpora/news", bucket.Options{})
//	v, err := x.View(ctx, 0) // the newest generation
//	defer v.Close()
//	s, err := search.Open(v.Dir)
//	changed, err := v.Refresh(ctx) // then s.Refresh()
//
// Segments are fetched into a cache that views share: files of up to 8 MB whole, larger ones in
// blocks when a reader first needs them. All checksums are verified.
//
// A change is made in a view, by the same code as in a folder. Then its new segments are put into
// the store, and the next generation is committed. If another process has committed meanwhile, the
// change is made again in a view of what it committed: segments that were written stay, and IDs
// that were replaced or deleted are looked up again. So all writers may work at once.
//
// Package generations describes what is in the store, and what happens when something fails.
//
// Experimental: it may change with any version; package collocate says what may not.
package bucket

// Package web has the page that `collocate serve` shows in a browser. Its source is in src, in
// Svelte and TypeScript. `npm run build` makes dist, which is committed and embedded, so that `go
// build` needs no Node. The page calls only the API of package serve.
//
// Experimental: it may change with any version; package collocate says what may not.
package web

import (
	"embed"
	"io/fs"
)

//go:embed dist
var dist embed.FS

// Files returns the files of the page: index.html and what it loads.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a constant
	}
	return files
}

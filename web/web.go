// Package web is what can be done from a browser: the page that `collocate serve` shows. Its source
// is in src, in Svelte and TypeScript; `npm run build` makes dist, which is committed and embedded,
// so that `go build` needs no Node. The page asks the API of package serve, and nobody else.
package web

import (
	"embed"
	"io/fs"
)

//go:embed dist
var dist embed.FS

// Files are the page: index.html and what it loads.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a constant
	}
	return files
}

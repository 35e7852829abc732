package serve

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/collocate/collocate/web"
)

// asset is a file of the page, plain and compressed.
type asset struct {
	kind, tag     string
	plain, packed []byte
}

// assets returns the files of the page by path.
var assets = sync.OnceValue(func() map[string]*asset {
	files := map[string]*asset{}
	err := fs.WalkDir(web.Files(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(web.Files(), name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		a := &asset{kind: mime.TypeByExtension(path.Ext(name)), tag: `"` +
			hex.EncodeToString(sum[:8]) + `"`, plain: body}
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			return err
		}
		w.Write(body) // to memory: cannot fail
		w.Close()
		if packed.Len() < len(body)*9/10 {
			a.packed = packed.Bytes()
		}
		files["/"+name] = a
		return nil
	})
	if err != nil {
		panic(err) // cannot happen: the files are embedded
	}
	return files
})

// views are the paths of the page, whose script decides by the path what to show.
var views = []string{"/", "/lines", "/words", "/places", "/table", "/about"}

// contentPolicy lets the page load only its own files and send requests only to its own server.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// page sends the page itself.
func (x *exchange) page() { x.file("/index.html") }

// asset sends a file that the page loads.
func (x *exchange) asset() { x.file(x.r.URL.Path) }

func (x *exchange) file(name string) {
	a := assets()[name]
	if a == nil {
		x.refuse(http.StatusNotFound, errNothing(x.r.URL.Path))
		return
	}
	h := x.w.Header()
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("Cache-Control", "no-cache") // revalidate each time
	h.Set("ETag", a.tag)
	h.Add("Vary", "Accept-Encoding")
	if x.r.Header.Get("If-None-Match") == a.tag {
		x.w.WriteHeader(http.StatusNotModified)
		return
	}
	body := a.plain
	if a.packed != nil && strings.Contains(x.r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = a.packed
	}
	x.begin(http.StatusOK, a.kind)
	x.w.Write(body)
}

package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// maxIndexes is the largest number of indexes that clients can create.
const maxIndexes = 256

// createdName is what the name of an index may be that a client creates: it becomes that of a
// folder.
var createdName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// indexParams is the body of PUT /v1/indexes/NAME.
type indexParams struct {
	Analyzer  string
	Fields    json.RawMessage
	Passages  *fields.Passages
	StoreText bool
	Positions bool
}

func (a *indexParams) set(name string, raw json.RawMessage) error {
	switch name {
	case "analyzer":
		return api.Decode(name, raw, &a.Analyzer)
	case "store_text":
		return api.Decode(name, raw, &a.StoreText)
	case "positions":
		return api.Decode(name, raw, &a.Positions)
	case "fields":
		a.Fields = raw
		return nil
	case "passages":
		return api.Decode(name, raw, &a.Passages)
	}
	return fmt.Errorf("unknown name %q: want analyzer, fields, passages, store_text, positions", name)
}

// options parses the body of a request for a new index; it may be empty.
func (a *indexParams) options(body []byte) (o segments.Options, err error) {
	a.Analyzer = "unicode"
	if len(bytes.TrimSpace(body)) > 0 {
		in := json.NewDecoder(bytes.NewReader(body))
		if err := api.Object(in, a.set); err != nil {
			return o, fmt.Errorf("body: %w", err)
		}
		if _, more := in.Token(); !errors.Is(more, io.EOF) {
			return o, errors.New("body: want nothing after the object")
		}
	}
	o.StoreText, o.Positions = a.StoreText, a.Positions
	if o.Analyzer, err = text.ParseAnalyzer(a.Analyzer); err != nil {
		return o, err
	}
	if a.Fields != nil {
		if o.Schema, err = fields.ParseJSON(slices.Concat([]byte(`{"fields":`), a.Fields, []byte(`}`))); err == nil {
			err = o.Schema.Check()
		}
		if err != nil {
			return o, fmt.Errorf("fields: %w", err)
		}
	}
	if a.Passages != nil {
		if o.Schema, err = a.Passages.Cut(o.Schema); err != nil {
			return o, fmt.Errorf("passages: %w", err)
		}
	}
	return o, nil
}

// createIndex makes an empty index in Options.Dir.
func (x *exchange) createIndex() {
	name := x.r.PathValue("index")
	body, ok := x.readBody()
	if !ok {
		return
	}
	o, err := new(indexParams).options(body)
	if err == nil && !createdName.MatchString(name) {
		err = fmt.Errorf("the name %q of a new index: want up to 100 letters, digits, dots, _ or -, a letter or digit first", name)
	}
	if err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	switch n := len(x.list()); {
	case x.o.Dir == "":
		x.refuse(http.StatusForbidden, errors.New("the server makes no new indexes: see serve.Options.Dir"))
		return
	case x.index(name) != nil:
		x.refuse(http.StatusConflict, fmt.Errorf("there is an index %q", name))
		return
	case n >= maxIndexes:
		x.refuse(http.StatusConflict, fmt.Errorf("the server has %d indexes: want at most %d", n, maxIndexes))
		return
	}
	var ix *served
	err = x.work(longLane, x.o.Limits.Time, func(ctx context.Context) error {
		ix, err = x.create(ctx, name, o)
		return err
	})
	if errors.Is(err, os.ErrExist) {
		x.refuse(http.StatusConflict, fmt.Errorf("there is a folder %q already", name))
		return
	}
	if err != nil {
		x.failed(err)
		return
	}
	x.w.Header().Set("Location", "./"+name)
	x.reply(http.StatusCreated, x.describe(ix, ix.current.Load()))
}

// create makes an index and serves it. Its first commit publishes it, with no document.
func (v *Server) create(ctx context.Context, name string, o segments.Options) (ix *served, err error) {
	v.creating.Lock()
	defer v.creating.Unlock()
	dir := filepath.Join(v.o.Dir, name)
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	ix = v.newServed(name, dir, nil)
	defer func() {
		if err != nil {
			ix.writer.close()
			os.RemoveAll(dir)
		}
	}()
	w, _, err := ix.writer.open(o)
	if err == nil {
		err = w.Commit()
	}
	if err != nil {
		return nil, err
	}
	if ix.was, err = os.Stat(dir); err != nil {
		return nil, err
	}
	s, err := v.open(ctx, name, func() (*search.Searcher, error) { return search.Open(dir) })
	if err != nil {
		return nil, err
	}
	ix.current.Store(newGeneration(1, s, true))
	if err := v.add(ix); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return ix, nil
}

// dropIndex deletes an index in Options.Dir with all its documents.
func (x *exchange) dropIndex() {
	if err := x.mayDrop(x.ix); err != nil {
		x.refuse(http.StatusForbidden, err)
		return
	}
	if err := x.drop(x.ix); err != nil {
		x.failed(err)
		return
	}
	x.w.WriteHeader(http.StatusNoContent)
}

// mayDrop returns an error if an index must not be deleted.
func (v *Server) mayDrop(ix *served) error {
	switch {
	case !v.o.Deletable:
		return errors.New("the server deletes no indexes: see serve.Options.Deletable")
	case v.o.Dir == "" || filepath.Dir(ix.dir) != filepath.Clean(v.o.Dir):
		return fmt.Errorf("the index %q is not in the folder of indexes that may be deleted", ix.name)
	}
	return nil
}

// dropped is how the names of folders begin whose indexes are being deleted.
const dropped = ".deleted-"

// drop ends serving an index and removes its folder. The folder is renamed first, so that a crash
// leaves all of the index or none.
func (v *Server) drop(ix *served) error {
	v.creating.Lock()
	defer v.creating.Unlock()
	v.changing.Lock()
	defer v.changing.Unlock()
	list := slices.DeleteFunc(slices.Clone(v.list()), func(other *served) bool { return other == ix })
	if len(list) == len(v.list()) {
		return errDropped
	}
	v.indexes.Store(&list)
	ix.reloading.Lock()
	g := ix.current.Swap(nil)
	ix.reloading.Unlock()
	v.letGo(g)
	v.metrics.forget(ix.name)
	ix.writer.close() // what it commits is removed
	gone := filepath.Join(filepath.Dir(ix.dir), dropped+ix.name)
	os.RemoveAll(gone)
	if err := os.Rename(ix.dir, gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// OpenAll serves the indexes in Options.Dir under the names of their folders. Other folders are
// left out.
func (v *Server) OpenAll(ctx context.Context) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	_, err := v.openAll(ctx)
	return err
}

// openAll returns the names of the indexes that were not served before.
func (v *Server) openAll(ctx context.Context) (opened []string, err error) {
	v.creating.Lock()
	defer v.creating.Unlock()
	entries, err := os.ReadDir(v.o.Dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		dir := filepath.Join(v.o.Dir, e.Name())
		ix := v.index(e.Name())
		switch is, err := os.Stat(dir); {
		case err != nil || !is.IsDir() || ix != nil && ix.dir == dir:
		case strings.HasPrefix(e.Name(), dropped):
			os.RemoveAll(dir)
		case isIndex(dir):
			if err := v.Open(ctx, e.Name(), dir); err != nil {
				return opened, err
			}
			opened = append(opened, e.Name())
		}
	}
	return opened, nil
}

// isIndex reports whether a folder is an index.
func isIndex(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "index"))
	return err == nil || segments.Living(dir)
}

package bucket

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/collocate/collocate/index/generations"
	"github.com/collocate/collocate/internal/s3"
)

// Index is an index in a store. Several goroutines may use it at once.
type Index struct {
	address string
	x       *generations.Index
	cache   *cache

	mu        sync.Mutex
	collected time.Time // when garbage was collected last
}

// Options say where segments are kept on local disk.
type Options struct {
	// Cache is the folder for segments; "" means collocate in the user's folder for caches.
	Cache string
	// CacheBytes bounds what the cache keeps of segments that are not in use; 0 means 10 GB.
	CacheBytes int64
}

const folderScheme = "file://"

// Is reports whether a path is an address of an index in a store: s3://bucket/name, or
// file:///folder for one in the same format in a folder.
func Is(path string) bool { return s3.Is(path) || strings.HasPrefix(path, folderScheme) }

// Open returns the index at an address, which need not be there yet.
func Open(address string, o Options) (*Index, error) {
	store, err := storeAt(address)
	if err != nil {
		return nil, err
	}
	return Of(store, address, o)
}

func storeAt(address string) (generations.Store, error) {
	if s3.Is(address) {
		return s3.NewStore(address)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "file" || u.Host != "" || u.Path == "" {
		return nil, fmt.Errorf("%q: want an address such as s3://bucket/name or file:///folder", address)
	}
	return generations.NewFolder(filepath.FromSlash(u.Path)), nil
}

// Of returns the index in a store. The address is for messages.
func Of(store generations.Store, address string, o Options) (*Index, error) {
	c, err := newCache(o)
	if err != nil {
		return nil, err
	}
	return &Index{address: strings.TrimRight(address, "/"), x: generations.New(store), cache: c}, nil
}

// Generations returns the generations of the index.
func (x *Index) Generations() *generations.Index { return x.x }

// Name is the last part of the address.
func (x *Index) Name() string { return x.address[strings.LastIndexByte(x.address, '/')+1:] }

// about adds the address to an error.
func (x *Index) about(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", x.address, err)
}

// Exists reports whether there is an index.
func (x *Index) Exists(ctx context.Context) (bool, error) {
	_, err := x.x.Newest(ctx)
	if errors.Is(err, generations.NotFound) {
		return false, nil
	}
	return err == nil, x.about(err)
}

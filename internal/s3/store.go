package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/collocate/collocate/index/generations"
)

// Store is a folder of a bucket as package generations needs it. The client tries again, with
// growing pauses, what servers refuse under load (503) or do not answer, up to ten times. A server
// must list objects in ascending order of their names; directory buckets of S3 Express do not.
type Store struct {
	address        string
	client         *minio.Client
	bucket, prefix string
}

// NewStore returns the store at an address such as s3://bucket/news.
func NewStore(address string) (*Store, error) {
	c, bucket, key, err := at(address)
	if err != nil {
		return nil, err
	}
	key = strings.Trim(key, "/")
	if key == "" {
		return nil, fmt.Errorf("%s: want the name of an index in the bucket, as in %s%s/news", address, scheme, bucket)
	}
	return &Store{strings.TrimRight(address, "/"), c, bucket, key + "/"}, nil
}

// named gives an error the name that package generations has for it, and the address.
func (s *Store) named(name string, err error) error {
	if err == nil {
		return nil
	}
	var as error
	switch said := minio.ToErrorResponse(err); said.Code {
	case minio.NoSuchKey:
		as = fs.ErrNotExist
	case minio.NoSuchBucket:
		as = generations.ErrNoBucket
	case minio.PreconditionFailed:
		as = fs.ErrExist
	case "RequestTimeTooSkewed":
		as = generations.ErrClock
	case minio.AccessDenied, "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "ExpiredTokenException",
		"InvalidToken", "TokenRefreshRequired":
		as = generations.ErrCredentials
	default:
		return fmt.Errorf("%s/%s: %w", s.address, name, err)
	}
	return fmt.Errorf("%s/%s: %w: %w", s.address, name, as, err)
}

// Read implements generations.Store.
func (s *Store) Read(ctx context.Context, name string, most int64) ([]byte, error) {
	in, err := s.Open(ctx, name, 0, 0)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("%s/%s: more than %d bytes", s.address, name, most)
	}
	return data, s.named(name, err)
}

// Open implements generations.Store.
func (s *Store) Open(ctx context.Context, name string, from, size int64) (io.ReadCloser, error) {
	o := minio.GetObjectOptions{}
	var err error
	switch {
	case size > 0:
		err = o.SetRange(from, from+size-1)
	case from > 0:
		err = o.SetRange(from, 0)
	}
	if err != nil {
		return nil, err
	}
	body, _, _, err := minio.Core{Client: s.client}.GetObject(ctx, s.bucket, s.prefix+name, o)
	if err != nil {
		return nil, s.named(name, err)
	}
	return body, nil
}

// Create implements generations.Store.
func (s *Store) Create(ctx context.Context, name string, data []byte) error {
	o := minio.PutObjectOptions{DisableMultipart: true}
	o.SetMatchETagExcept("*") // If-None-Match
	_, err := s.client.PutObject(ctx, s.bucket, s.prefix+name, bytes.NewReader(data), int64(len(data)), o)
	return s.named(name, err)
}

// Put implements generations.Store.
func (s *Store) Put(ctx context.Context, name string, data io.ReadSeeker, size int64) error {
	// With a chunked signature an empty object has a body of unknown length, which servers refuse.
	o := minio.PutObjectOptions{DisableContentSha256: size == 0}
	_, err := s.client.PutObject(ctx, s.bucket, s.prefix+name, data, size, o)
	return s.named(name, err)
}

// List implements generations.Store.
func (s *Store) List(ctx context.Context, prefix string, limit int) (list []generations.Object, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true, MaxKeys: limit}
	for found := range s.client.ListObjectsIter(ctx, s.bucket, o) {
		if found.Err != nil {
			return nil, s.named(prefix, found.Err)
		}
		list = append(list, generations.Object{
			Name: strings.TrimPrefix(found.Key, s.prefix), Size: found.Size, Modified: found.LastModified,
		})
		if len(list) == limit {
			break
		}
	}
	return list, nil
}

// Delete implements generations.Store.
func (s *Store) Delete(ctx context.Context, name string) error {
	err := s.named(name, s.client.RemoveObject(ctx, s.bucket, s.prefix+name, minio.RemoveObjectOptions{}))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Now implements generations.Store. The time is that of the last answer, and what has passed since.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if now, ok := answered.now(); ok {
		return now, nil
	}
	if _, err := s.List(ctx, "", 1); err != nil {
		return time.Time{}, err
	}
	now, ok := answered.now()
	if !ok {
		return now, fmt.Errorf("%s: the store does not say what time it is", s.address)
	}
	return now, nil
}

// answered is the time of the last answer, by the clock of the server that all addresses share.
var answered serverTime

type serverTime struct {
	mu   sync.Mutex
	said time.Time
	at   time.Time // by the clock of this machine, for durations
}

func (t *serverTime) now() (time.Time, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.said.Add(time.Since(t.at)), !t.said.IsZero()
}

// clocked notes the time that servers say.
type clocked struct{ http.RoundTripper }

func (c *clocked) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.RoundTripper.RoundTrip(r)
	if err == nil {
		if said, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
			answered.mu.Lock()
			answered.said, answered.at = said, time.Now()
			answered.mu.Unlock()
		}
	}
	return answer, err
}

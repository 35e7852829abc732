// Package s3 reads and writes objects of Amazon S3, and of servers with the same protocol, by
// addresses such as s3://bucket/folder/file.
//
// Credentials and server are configured as for Amazon's own programs. Credentials come from
// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, optionally with AWS_SESSION_TOKEN, from
// ~/.aws/credentials and AWS_PROFILE, or from the machine's role. The region comes from AWS_REGION,
// another server than Amazon's from AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL.
package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// scheme is the prefix of an address.
const scheme = "s3://"

// Is reports whether a path is an S3 address.
func Is(path string) bool { return strings.HasPrefix(path, scheme) }

// Object is an object with its address and size.
type Object struct {
	Address string
	Size    int64
}

// client connects on first use.
var client = sync.OnceValues(connect)

func connect() (*minio.Client, error) {
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("AWS_ENDPOINT_URL %q: want a URL such as https://host:9000", endpoint)
	}
	transport, err := minio.DefaultTransport(u.Scheme == "https")
	if err != nil {
		return nil, err
	}
	return minio.New(u.Host, &minio.Options{
		Transport: &clocked{RoundTripper: transport},
		Secure:    u.Scheme == "https", Region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{},
		}),
	})
}

// at returns the client, and the bucket and the key of an address.
func at(address string) (c *minio.Client, bucket, key string, err error) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(address, scheme), "/")
	if !Is(address) || bucket == "" {
		return nil, "", "", fmt.Errorf("%q: want a URL such as s3://bucket/folder/file", address)
	}
	c, err = client()
	return c, bucket, key, err
}

// fault adds the address to an error.
func fault(address string, err error) error {
	said := minio.ToErrorResponse(err)
	if said.Code == "NoSuchKey" || said.Code == "NoSuchBucket" {
		err = fmt.Errorf("%w: %s", os.ErrNotExist, said.Code)
	}
	return fmt.Errorf("%s: %w", address, err)
}

// List returns the objects in a folder and its subfolders, in order of their names, or the one
// object with that name. Hidden objects, whose names begin with a dot, are left out.
func List(ctx context.Context, address string) (list []Object, err error) {
	c, bucket, key, err := at(address)
	if err != nil {
		return nil, err
	}
	if key != "" && !strings.HasSuffix(key, "/") {
		size, err := Size(ctx, address)
		if err == nil {
			return []Object{{address, size}}, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		key += "/"
	}
	for o := range c.ListObjects(ctx, bucket, minio.ListObjectsOptions{Prefix: key, Recursive: true}) {
		if o.Err != nil {
			return nil, fault(address, o.Err)
		}
		name := strings.TrimPrefix(o.Key, key)
		if name == "" || strings.HasSuffix(name, "/") || strings.Contains("/"+name, "/.") {
			continue
		}
		list = append(list, Object{scheme + bucket + "/" + o.Key, o.Size})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: %w", address, os.ErrNotExist)
	}
	return list, nil
}

// Size returns the size of an object in bytes.
func Size(ctx context.Context, address string) (int64, error) {
	c, bucket, key, err := at(address)
	if err != nil {
		return 0, err
	}
	o, err := c.StatObject(ctx, bucket, key, minio.StatObjectOptions{})
	if err != nil {
		return 0, fault(address, err)
	}
	return o.Size, nil
}

// Open reads an object from a byte on, which must be 0 or one of its bytes.
func Open(ctx context.Context, address string, from int64) (io.ReadCloser, error) {
	return open(ctx, address, from, 0)
}

// OpenRange reads the given number of bytes of an object, at least one, from a byte on.
func OpenRange(ctx context.Context, address string, from, bytes int64) (io.ReadCloser, error) {
	return open(ctx, address, from, from+bytes-1)
}

// open reads an object from a byte up to and including another; 0 means up to the end.
func open(ctx context.Context, address string, from, to int64) (io.ReadCloser, error) {
	c, bucket, key, err := at(address)
	if err != nil {
		return nil, err
	}
	o := minio.GetObjectOptions{}
	if from > 0 || to > 0 {
		if err := o.SetRange(from, to); err != nil {
			return nil, fault(address, err)
		}
	}
	// Core returns the body of one request; Object would make a request for each Seek.
	body, _, _, err := minio.Core{Client: c}.GetObject(ctx, bucket, key, o)
	if err != nil {
		return nil, fault(address, err)
	}
	return body, nil
}

// Put uploads a file as an object, atomically.
func Put(ctx context.Context, address, path string) error {
	c, bucket, key, err := at(address)
	if err != nil {
		return err
	}
	file, err := os.Stat(path)
	if err != nil {
		return err
	}
	// With a chunked signature an empty object has a body of unknown length, which servers refuse.
	opt := minio.PutObjectOptions{DisableContentSha256: file.Size() == 0}
	if _, err := c.FPutObject(ctx, bucket, key, path, opt); err != nil {
		return fault(address, err)
	}
	return nil
}

// Remove removes an object.
func Remove(ctx context.Context, address string) error {
	c, bucket, key, err := at(address)
	if err != nil {
		return err
	}
	if err := c.RemoveObject(ctx, bucket, key, minio.RemoveObjectOptions{}); err != nil {
		return fault(address, err)
	}
	return nil
}

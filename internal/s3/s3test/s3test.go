// Package s3test starts an S3 server in memory, for tests.
package s3test

import (
	"net/http/httptest"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Start starts a server with the given buckets and configures package s3 to use it. Package s3
// connects only once, so a test program can start only one server.
func Start(t testing.TB, buckets ...string) {
	t.Helper()
	backend := s3mem.New()
	for _, name := range buckets {
		if err := backend.CreateBucket(name); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_REGION", "us-east-1")
}

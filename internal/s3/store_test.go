package s3

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/collocate/collocate/index/generations"
)

// answering returns a store whose server answers as given.
func answering(t *testing.T, answer http.HandlerFunc) *Store {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	c, err := minio.New(strings.TrimPrefix(server.URL, "http://"), &minio.Options{
		Creds: credentials.NewStaticV4("key", "secret", ""), Region: "us-east-1", MaxRetries: 3,
		Transport: &clocked{http.DefaultTransport},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &Store{"s3://corpora/news", c, "corpora", "news/"}
}

func fails(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>No.</Message></Error>", code)
	}
}

func TestErrorsOfStoresHaveNames(t *testing.T) {
	ctx := t.Context()
	for code, want := range map[string]error{
		"NoSuchKey": fs.ErrNotExist, "NoSuchBucket": generations.ErrNoBucket, "AccessDenied": generations.ErrCredentials,
		"ExpiredToken": generations.ErrCredentials, "RequestTimeTooSkewed": generations.ErrClock,
		"PreconditionFailed": fs.ErrExist,
	} {
		status := map[string]int{"NoSuchKey": 404, "NoSuchBucket": 404, "PreconditionFailed": 412}[code]
		if status == 0 {
			status = http.StatusForbidden
		}
		s := answering(t, fails(status, code))
		_, err1 := s.Read(ctx, "a", 10)
		err2 := s.Create(ctx, "a", []byte("x"))
		err3 := s.Put(ctx, "a", strings.NewReader("x"), 1)
		_, err4 := s.List(ctx, "a/", 1)
		for i, err := range []error{err1, err2, err3, err4} {
			if !errors.Is(err, want) || !strings.HasPrefix(err.Error(), "s3://corpora/news/a") {
				t.Errorf("%s, call %d: %v, want %v", code, i, err, want)
			}
		}
	}
}

// Create asks the server to make no object if there is one, and requests that the server refuses
// under load are repeated.
func TestCreateHasACondition(t *testing.T) {
	times := 0
	s := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut || r.Header.Get("If-None-Match") != "*" {
			t.Errorf("%s with If-None-Match %q", r.Method, r.Header.Get("If-None-Match"))
		}
		if times++; times < 3 {
			fails(http.StatusServiceUnavailable, "SlowDown")(w, r)
		}
	})
	if err := s.Create(t.Context(), "a", []byte("x")); err != nil || times != 3 {
		t.Errorf("%v after %d requests", err, times)
	}
}

// The time is the store's, whatever the clock of this machine says.
func TestTimeIsTheStores(t *testing.T) {
	old := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	s := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", old.Format(http.TimeFormat))
		fmt.Fprint(w, "<ListBucketResult></ListBucketResult>")
	})
	if _, err := s.List(t.Context(), "", 1); err != nil {
		t.Fatal(err)
	}
	if now, err := s.Now(t.Context()); err != nil || now.Sub(old) < 0 || now.Sub(old) > time.Minute {
		t.Errorf("the time is %v, %v, want %v", now, err, old)
	}
}

func TestMoreThanWantedIsNotRead(t *testing.T) {
	s := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		w.Write(make([]byte, 100))
	})
	if _, err := s.Read(t.Context(), "a", 99); err == nil || !strings.Contains(err.Error(), "more than 99 bytes") {
		t.Errorf("%v", err)
	}
}

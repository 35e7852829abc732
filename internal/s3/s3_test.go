package s3

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/s3/s3test"
)

func TestObjects(t *testing.T) {
	s3test.Start(t, "corpora")
	ctx := t.Context()
	for name, text := range map[string]string{
		"news/a.txt": "one two three", "news/b/c.txt": "four", "news/.hidden": "x", "newsletter.txt": "no",
	} {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := Put(ctx, "s3://corpora/"+name, file); err != nil {
			t.Fatal(err)
		}
	}
	for address, want := range map[string][]Object{
		"s3://corpora/news":           {{"s3://corpora/news/a.txt", 13}, {"s3://corpora/news/b/c.txt", 4}},
		"s3://corpora/news/":          {{"s3://corpora/news/a.txt", 13}, {"s3://corpora/news/b/c.txt", 4}},
		"s3://corpora/newsletter.txt": {{"s3://corpora/newsletter.txt", 2}},
	} {
		if got, err := List(ctx, address); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", address, got, err, want)
		}
	}
	for from, want := range []string{"one two three", "ne two three", "e two three"} {
		if got, err := read(ctx, "s3://corpora/news/a.txt", int64(from)); err != nil || got != want {
			t.Errorf("from %d: %q, %v, want %q", from, got, err, want)
		}
	}
	for _, address := range []string{"s3://corpora/none", "s3://nobody/none", "s3://corpora/none/"} {
		if _, err := List(ctx, address); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v, want ErrNotExist", address, err)
		}
	}
	for _, address := range []string{"s3://", "/data/news", "s3:///x"} {
		if _, err := Open(ctx, address, 0); err == nil {
			t.Errorf("%s was accepted as an address", address)
		}
	}
}

func read(ctx context.Context, address string, from int64) (string, error) {
	in, err := Open(ctx, address, from)
	if err != nil {
		return "", err
	}
	defer in.Close()
	all, err := io.ReadAll(in)
	return string(all), err
}

package main

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/collocate/collocate/internal/s3"
)

// canWriteOrPut is canWrite for files; URLs in S3 are not checked.
func canWriteOrPut(path string) error {
	if s3.Is(path) {
		return nil
	}
	return canWrite(path)
}

// viaFile calls fill to write out. If out is in S3, fill writes a temporary file, which is
// uploaded.
func viaFile(ctx context.Context, out string, fill func(path string) error) error {
	if !s3.Is(out) {
		return fill(out)
	}
	dir, err := os.MkdirTemp("", "collocate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, path.Base(out))
	if err := fill(file); err != nil {
		return err
	}
	return s3.Put(ctx, out, file)
}

// wholePath makes a path absolute, unless it is a URL in S3.
func wholePath(path string) (string, error) {
	if s3.Is(path) {
		return path, nil
	}
	return filepath.Abs(path)
}

// joinPath is the path of a file in a folder, or its URL in S3.
func joinPath(dir, name string) string {
	if strings.Contains(dir, "://") {
		return strings.TrimRight(dir, "/") + "/" + name
	}
	return filepath.Join(dir, name)
}

package worker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/bucket"
	"github.com/collocate/collocate/index/csr"
)

// export writes the index in a folder to a file for SciPy or in the Common Index File Format, as
// its name says.
func (w *Worker) export(ctx context.Context, c *pipe.Call) (reply pipe.Reply, err error) {
	var a struct {
		Path       string `json:"path"`
		Generation uint64 `json:"generation"`
		Out        string `json:"out"`
		Field      string `json:"field"`
		Memory     int64  `json:"memory"`
	}
	if err := c.Decode(&a); err != nil {
		return reply, err
	}
	if err := resources(0, a.Memory); err != nil {
		return reply, err
	}
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(a.Out), ".gz"), ".zst")
	matrix := strings.HasSuffix(a.Out, ".npz")
	switch {
	case !matrix && !strings.HasSuffix(name, ".ciff"):
		return reply, pipe.Valuef("%s: want a name that ends with .npz, .ciff, .ciff.gz or .ciff.zst", a.Out)
	case !matrix && a.Field != "":
		return reply, pipe.Valuef("field: only a file for SciPy (.npz) has one field")
	}
	if bucket.Is(a.Path) {
		o, err := openAt(ctx, a.Path, a.Generation)
		if err != nil {
			return reply, err
		}
		defer o.close()
		a.Path = o.view.Dir
	}
	if _, err := os.Stat(filepath.Dir(a.Out)); err != nil {
		return reply, err
	}
	r, done, err := api.OpenWhole(ctx, a.Path, a.Out, a.Memory, func(string) {})
	if err != nil {
		return reply, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if a.Field != "" && r.Field(a.Field) == nil {
		return reply, pipe.Valuef("field: the index has no words of a field %q", a.Field)
	}
	return pipe.Reply{}, write(ctx, r, a.Out, a.Field, matrix)
}

func write(ctx context.Context, r *index.Reader, out, field string, matrix bool) error {
	if !matrix {
		return api.ExportCIFF(ctx, r, out)
	}
	_, _, err := api.ExportNPZ(ctx, r, out, csr.Options{Field: field})
	return err
}

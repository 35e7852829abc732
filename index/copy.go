package index

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/mmap"
)

// Copy writes the files of open indexes to a new folder dir, each to the subfolder that is its key,
// or to dir itself for "."; see Create for what dir may contain. Then it calls finish, which may
// write other files of an index to the folder it is given, and publishes all of it at once. The
// bytes come from the open files, whose checksums are verified, so the folders of the indexes may
// be changed or removed meanwhile.
func Copy(ctx context.Context, dir string, of map[string]*Reader, finish func(dir string) error) (err error) {
	if err := given.Context(ctx); err != nil {
		return err
	}
	defer mmap.Recover(mmap.Guard(), &err)
	w, err := Create(dir)
	if err != nil {
		return err
	}
	defer w.Abort()
	for name, r := range of {
		if err := r.copyTo(ctx, w.dir, name); err != nil {
			return err
		}
	}
	if err := finish(w.dir.Path("")); err != nil {
		return err
	}
	return w.publish()
}

// copyTo copies the files of an index to a subfolder.
func (r *Reader) copyTo(ctx context.Context, dir *atomicfile.Dir, folder string) error {
	to := dir
	if folder != "." {
		var err error
		if to, err = dir.Sub(folder); err != nil {
			return err
		}
	}
	for name, f := range r.files {
		if err := f.Verify(); err != nil { // otherwise the copy would be damaged, too
			return fmt.Errorf("%s: %w", filepath.Join(r.dir, name), err)
		}
		err := atomicfile.WriteFile(to.Path(name), func(out *atomicfile.File) error {
			for data := f.Data(); len(data) > 0; {
				if err := ctx.Err(); err != nil {
					return err
				}
				n := min(len(data), 1<<20)
				if _, err := out.Write(data[:n]); err != nil {
					return err
				}
				data = data[n:]
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if r.fields != nil {
		texts, err := dir.Sub(filepath.Join(folder, fieldsFolder))
		if err != nil {
			return err
		}
		for i, sub := range r.fields.texts {
			if err := sub.copyTo(ctx, dir, filepath.Join(folder, fieldsFolder, r.fields.names[i])); err != nil {
				return err
			}
		}
		if err := texts.Commit(); err != nil {
			return err
		}
	}
	if to == dir {
		return nil
	}
	return to.Commit()
}

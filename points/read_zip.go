package points

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// mostEntries is the largest number of files in a ZIP archive that are looked at.
const mostEntries = 10_000

// readZip reads the one file with points in a ZIP archive: a Shapefile with its companions, KML (a
// KMZ file is a ZIP archive of it) or any other format. points.ReadOptions.Layer chooses one of
// several by its name without extension.
func readZip(ctx context.Context, at io.ReaderAt, size int64, rows *rowSink) error {
	z, err := zip.NewReader(at, size)
	if err != nil {
		return fmt.Errorf("ZIP archive: %w", err)
	}
	if len(z.File) > mostEntries {
		return fmt.Errorf("ZIP archive of %d files: want at most %d", len(z.File), mostEntries)
	}
	var found []*zip.File
	var names []string
	kml := false
	for _, f := range z.File {
		base := path.Base(f.Name)
		ending := strings.ToLower(path.Ext(base))
		if f.FileInfo().IsDir() || strings.HasPrefix(base, ".") || ending == ".zip" || ending == ".kmz" ||
			strings.HasPrefix(f.Name, "__MACOSX/") || !slices.Contains(endings, ending) {
			continue
		}
		kml = kml || ending == ".kml"
		found, names = append(found, f), append(names, strings.TrimSuffix(base, path.Ext(base)))
	}
	// Beside a Shapefile are often texts about it.
	for _, first := range []string{".shp", ".kml"} {
		if slices.ContainsFunc(found, func(f *zip.File) bool { return strings.EqualFold(path.Ext(f.Name), first) }) {
			for i := len(found) - 1; i >= 0; i-- {
				if !strings.EqualFold(path.Ext(found[i].Name), first) {
					found, names = slices.Delete(found, i, i+1), slices.Delete(names, i, i+1)
				}
			}
		}
	}
	chosen := 0
	switch {
	case rows.opt.Layer != "":
		if chosen = slices.Index(names, rows.opt.Layer); chosen < 0 {
			return fmt.Errorf("no file %q in the ZIP archive: want one of %s", rows.opt.Layer, quoteAll(names))
		}
	case len(found) == 0:
		return fmt.Errorf("no file with points in the ZIP archive: want one of %s", strings.Join(endings, " "))
	case len(found) > 1 && kml && slices.Contains(names, "doc"):
		chosen = slices.Index(names, "doc") // as Google Earth
	case len(found) > 1:
		return fmt.Errorf("several files in the ZIP archive, %s: choose one with points.ReadOptions.Layer", quoteAll(names))
	}
	f := found[chosen]
	in, err := f.Open()
	if err != nil {
		return fmt.Errorf("ZIP archive, %s: %w", f.Name, err)
	}
	defer in.Close()
	if rows.opt.Feature == "@file" {
		rows.fixed = []byte(names[chosen])
	}
	if strings.EqualFold(path.Ext(f.Name), ".shp") {
		err = readShapefile(bufio.NewReaderSize(interruptible{ctx, in}, 1<<16), f.Name, beside(z, f.Name), rows)
	} else {
		rows.opt.Layer = ""
		err = rows.read(ctx, in, "", true)
	}
	if err != nil {
		return fmt.Errorf("ZIP archive, %s: %w", f.Name, err)
	}
	return nil
}

// beside returns a function that opens a file of the archive with the same name as another, but
// another extension.
func beside(z *zip.Reader, name string) companions {
	base := strings.TrimSuffix(name, path.Ext(name))
	return func(ending string) (io.ReadCloser, error) {
		for _, f := range z.File {
			if strings.EqualFold(f.Name, base+ending) {
				return f.Open()
			}
		}
		return nil, fmt.Errorf("%s%s is not in the ZIP archive", base, ending)
	}
}

// companions opens the file beside a Shapefile that has another extension.
type companions func(ending string) (io.ReadCloser, error)

// largestCompanion bounds .prj and .cpg files.
const largestCompanion = 1 << 16

// text returns the contents of a small file; "" if it is not there.
func (c companions) text(ending string) string {
	f, err := c(ending)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largestCompanion))
	if err != nil {
		return ""
	}
	return string(data)
}

// inMemory returns random access to what is left of a stream.
func inMemory(r io.Reader, limit int64) (io.ReaderAt, int64, error) {
	if limit <= 0 {
		limit = 1 << 40
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errors.New("it does not fit the memory bound: write it to a file, or raise points.ReadOptions.Memory")
	}
	return bytes.NewReader(data), int64(len(data)), err
}

package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/collocate/collocate/points"
)

// Area says where points could have been.
type Area struct {
	Window string `ask:"window" file:"" filled:"" group:"Study area" help:"study area, in which points could have been: a file with polygons (GeoJSON, well-known text, a Shapefile, GeoPackage, GeoParquet, FlatGeobuf or KML, also zipped; GPKG|layername=NAME chooses a layer; so does a connection string of PostGIS), or the polygons themselves; by default it is estimated from the points"`
	Clip   bool   `ask:"clip" group:"Study area" help:"leave out points outside the window, instead of refusing them"`
}

// of returns the points in their study area. If used is true, the answer depends on the area: one
// that is not given is estimated, and a note says so unless it is the rectangle around the points.
func (q *Area) of(ctx context.Context, on *Places, used bool, tell func(string)) (*points.Set, error) {
	set := *on.Set
	if q.Window == "" {
		if q.Clip {
			return nil, wrongf("clip", "it needs a window")
		}
		if !used || set.Window != nil || set.Len() == 0 {
			return &set, nil
		}
		w, _, err := set.StudyArea(ctx)
		if err != nil {
			return nil, err
		}
		set.Window = w
		if w.Share() < 1 {
			tell(fmt.Sprintf("the points fill little of their rectangle: the study area is estimated as %.0f%% of it; give yours as points.Set.Window",
				100*w.Share()))
		}
		return &set, nil
	}
	said, text := "", []byte(strings.TrimSpace(q.Window))
	switch {
	case !on.NoFiles && (isFile(q.Window) || points.IsDatabase(q.Window)):
		said = q.Window
	case bytes.HasPrefix(text, []byte("{")) || strings.Contains(q.Window, "(") || strings.HasSuffix(strings.ToUpper(q.Window), " EMPTY"):
	case on.NoFiles:
		return nil, wrongf("window", "want polygons as GeoJSON or well-known text, such as POLYGON ((0 0, 9 0, 9 9, 0 0))")
	default:
		said = q.Window
	}
	var w *points.Window
	var err error
	if said != "" {
		w, err = points.ReadWindow(ctx, said, set.CRS)
	} else {
		w, err = points.ParseWindow(text, set.CRS)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, &Error{"window", said, err}
	}
	set.Window = w
	if q.Clip {
		in, left, err := set.Clip(ctx)
		if err != nil {
			return nil, &Error{"window", said, err}
		}
		if left > 0 {
			tell(fmt.Sprintf("left out %s outside the window", counted(left, "point")))
		}
		if rare := set.Len() - left - in.Len(); rare > 0 {
			tell(fmt.Sprintf("left out %s of features with fewer in the window than points.ReadOptions.MinPoints", counted(rare, "point")))
		}
		return in, nil
	}
	if set.Len() == 0 {
		return &set, nil
	}
	if _, _, err := set.StudyArea(ctx); err != nil {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		return nil, &Error{"window", said, err}
	}
	return &set, nil
}

// isFile reports whether there is a file of that name, which may have parentheses as text has.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func (on *Places) named(note string) string {
	if on.Named == nil {
		return note
	}
	return on.Named(note)
}

// told returns where notes go: to tell, unless it is nil, or to a list.
func (on *Places) told(notes *[]string) func(string) {
	if on.Tell != nil {
		return on.Tell
	}
	return func(note string) { *notes = append(*notes, on.named(note)) }
}

package segments

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/text"
)

// refusing is an analyzer that cannot read any text.
type refusing struct{}

func (refusing) Name() string { return "refusing" }

var errRefused = errors.New("refused")

func (refusing) Analyze([]byte, *text.Tokens) error { return errRefused }

// Writing documents ends with the first error, though there are more of them.
func TestBuffersEndWithTheFirstError(t *testing.T) {
	schema, err := fields.ParseList([]string{"title:text"})
	if err != nil {
		t.Fatal(err)
	}
	b := newBuffer(refusing{}, false, false, schema)
	long := bytes.Repeat([]byte("rose "), 1<<18) // more than a batch
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		if err := b.add(text.Document{ID: id, Fields: []fields.Values{{long}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.write(filepath.Join(t.TempDir(), "ix"), 1<<20, nil); !errors.Is(err, errRefused) {
		t.Errorf("error %v, want that of the analyzer", err)
	}
	n := 0
	for range b.texts([]int{0, 1}) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d texts, want one", n)
	}
}

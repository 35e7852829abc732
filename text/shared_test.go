package text

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// findShared returns the folder of larger collections beside the checkout, or "" if there is none.
func findShared() string {
	dir, err := os.Getwd()
	for err == nil {
		data := filepath.Join(dir, "shared", "data")
		if _, err := os.Stat(data); err == nil {
			return data
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// The formats of real collections are detected, and they have the documented number of documents.
func TestRealCollections(t *testing.T) {
	data := findShared()
	if data == "" {
		t.Skip("no folder shared/data beside the project")
	}
	for _, tt := range []struct {
		path  string
		docs  int64
		first string
	}{
		{"ir/cranfield/cran.all.1400", 1400,
			"1=experimental investigation of the aerodynamics of a\nwing in a slipstream ."},
		{"ir/cacm/cacm.all", 3204, "1=Preliminary Report-International Algebraic Language"},
		{"ir/cisi/CISI.ALL", 1460, "1=18 Editions of the Dewey Decimal Classifications\n   The present study"},
		{"ir/medline/MED.ALL", 1033, "1=correlation between maternal and fetal plasma levels"},
		{"ir/adi/ADI.ALL", 82, "1=the ibm dsd technical information center"},
		{"text/acl-abstracts.jsonl.zst", 110486, "1952.earlymt-1.1=Translation"},
		{"text/elife-paragraphs.jsonl.zst", 420834, "elife-00003.1=We previously discovered histones"},
	} {
		if testing.Short() && tt.docs > 400000 {
			continue
		}
		c := &Corpus{Paths: []string{filepath.Join(data, tt.path)}}
		var docs atomic.Int64
		err := c.Batches(context.Background(), func(_ int, b *Batch) error {
			docs.Add(int64(len(b.Docs)))
			if d := b.Docs[0]; b.Seq == 0 && !strings.HasPrefix(d.ID+"="+string(d.Text), tt.first) {
				t.Errorf("%s begins with %s=%.80q, want %q", tt.path, d.ID, d.Text, tt.first)
			}
			return nil
		})
		if err != nil || docs.Load() != tt.docs {
			t.Errorf("%s: %d documents, %v; want %d", tt.path, docs.Load(), err, tt.docs)
		}
	}
}

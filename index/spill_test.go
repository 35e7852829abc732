package index

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// The bytes of an index do not depend on whether lengths, IDs and their order are in memory or
// in files while it is written, and how much is handed over to the files at a time.
func TestWritingWithinLittleMemory(t *testing.T) {
	before := chunkSize
	defer func() { chunkSize = before }()
	rng := rand.New(rand.NewPCG(7, 7))
	for n := range 8 {
		p := randomIndex(rng, 5000, 100)
		if n%3 == 0 { // IDs in order need no sorting
			for d := range p.ids {
				p.ids[d] = fmt.Sprint("f:", d+1)
			}
		}
		large, little := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
		p.writeTo(t, large)
		chunkSize = 100 // lists of several chunks
		p.writeWithin(t, little, 1)
		chunkSize = before
		entries, err := os.ReadDir(large)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			want, err1 := os.ReadFile(filepath.Join(large, e.Name()))
			got, err2 := os.ReadFile(filepath.Join(little, e.Name()))
			if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
				t.Errorf("%d documents: %s differs: %v, %v", len(p.ids), e.Name(), err1, err2)
			}
		}
	}
}

package sections

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"testing"
)

// part is a file of which parts are missing, and what has been fetched of it.
type part struct {
	whole, here []byte
	fetched     []int64 // offsets
	mu          sync.Mutex
}

func (p *part) rest(block int64) *Rest {
	return &Rest{Block: block,
		Fetch: func(from, to int64) ([]byte, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.fetched = append(p.fetched, from)
			return bytes.Clone(p.whole[from:to]), nil
		},
		Keep: func(b []byte, at int64) error {
			p.mu.Lock()
			defer p.mu.Unlock()
			copy(p.here[at:], b)
			return nil
		}}
}

// Of a file whose end is there only the pages that are touched are fetched, each once. One that is
// zeros, as if it were missing, is fetched, too.
func TestRest(t *testing.T) {
	var b bytes.Buffer
	w, err := NewPaged(&b, magic, 1)
	if err != nil {
		t.Fatal(err)
	}
	section := make([]byte, 50*pageSize)
	for i := range 20 * pageSize { // the rest are zeros
		section[i] = byte(i*i>>3) | 1
	}
	if err := errors.Join(w.Section("a", section), w.Close()); err != nil {
		t.Fatal(err)
	}
	p := &part{whole: b.Bytes(), here: make([]byte, b.Len())}
	at := b.Len() - int(EndBytes(int64(b.Len())))
	if at <= 45*pageSize {
		copy(p.here[45*pageSize:], p.whole[45*pageSize:])
	} else {
		copy(p.here[at:], p.whole[at:])
	}
	f, err := ParsePart(p.here, p.rest(pageSize), magic, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.fetched) > 0 {
		t.Errorf("offsets %d were fetched to open the file, whose end is there", p.fetched)
	}
	a, err := f.Section("a")
	if err != nil {
		t.Fatal(err)
	}
	touch := func(page int, want ...int64) {
		t.Helper()
		p.fetched = nil
		at := page*pageSize - headerSize
		if err := f.Touch(a[at : at+3]); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a[at:at+3], section[at:at+3]) || !slices.Equal(p.fetched, want) {
			t.Errorf("page %d: offsets %d were fetched, want %d", page, p.fetched, want)
		}
	}
	touch(7, 7*pageSize)
	touch(7)
	touch(30, 30*pageSize)
	touch(30)
	p.here[7*pageSize+5] ^= 1
	if touch(7); f.Verify() != nil || !bytes.Equal(p.here, p.whole) {
		t.Error("Verify did not fetch what is missing and what is damaged")
	}

	// Nothing is there.
	p = &part{whole: b.Bytes(), here: make([]byte, b.Len())}
	if f, err = ParsePart(p.here, p.rest(0), magic, 2); err != nil { // the file is of version 1
		t.Fatal(err)
	}
	if err := f.Verify(); err != nil || !bytes.Equal(p.here, p.whole) {
		t.Errorf("a file of which nothing is there: %v", err)
	}

	// What is fetched is damaged.
	p = &part{whole: bytes.Clone(b.Bytes()), here: make([]byte, b.Len())}
	p.whole[10*pageSize] ^= 1
	if f, err = ParsePart(p.here, p.rest(pageSize), magic, 1); err != nil {
		t.Fatal(err)
	}
	a, _ = f.Section("a")
	damage := new(DamageError)
	if err := f.Touch(a[9*pageSize : 11*pageSize]); !errors.As(err, &damage) || damage.From != 10*pageSize {
		t.Errorf("a damaged page: %v", err)
	}
	if bytes.Equal(p.here[10*pageSize:11*pageSize], p.whole[10*pageSize:11*pageSize]) {
		t.Error("a damaged page was kept")
	}

	// Files without checksums for pages are fetched whole.
	p = &part{whole: build(t, map[string]string{"b": "hello"}, "b")}
	p.here = make([]byte, len(p.whole))
	if _, err := ParsePart(p.here, p.rest(0), magic, 1); err != nil || !bytes.Equal(p.here, p.whole) {
		t.Errorf("a file that is not paged: %v", err)
	}
}

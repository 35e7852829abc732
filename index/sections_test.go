package index

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/sections"
)

// withSection returns a file in which one section is changed.
func withSection(t *testing.T, file string, data []byte, name string, change func([]byte) []byte) []byte {
	t.Helper()
	f, err := sections.Parse(data, magics[file], formatVersion)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := sections.NewPaged(&b, magics[file], formatVersion)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Sections() {
		content, err := f.Section(s.Name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Name == name {
			content = change(content)
		}
		if err := w.Section(s.Name, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// harmless reports whether a change of a section leaves a valid file: any name of an analyzer is
// valid, bytes after the last word or ID are not read, further length classes are not used, and
// without the section "has" of a column every document has a value.
func harmless(section, what string) bool {
	switch section {
	case "analyzer":
		return true
	case "ids", "blob", "positions", "0-words", "class-lengths":
		return strings.HasSuffix(what, "longer")
	}
	return strings.HasSuffix(section, "-has") && what == "empty"
}

// Files whose sections have a wrong size, or wrong numbers throughout, with right checksums, are
// found by opening or by Check.
func TestWrongSectionsAreFound(t *testing.T) {
	withFields, _ := treeToDamage(t)
	for kind, good := range map[string]map[string][]byte{"plain": damageable(t), "with fields": withFields} {
		for _, file := range slices.Sorted(maps.Keys(good)) {
			if strings.Contains(file, "/") { // the index of a field
				continue
			}
			f, err := sections.Parse(good[file], magics[file], formatVersion)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range f.Sections() {
				for what, change := range map[string]func([]byte) []byte{
					"halved":          func(b []byte) []byte { return b[:len(b)/2] },
					"empty":           func([]byte) []byte { return nil },
					"one byte longer": func(b []byte) []byte { return append(bytes.Clone(b), 0) },
					"8 bytes longer":  func(b []byte) []byte { return append(bytes.Clone(b), 1, 2, 3, 4, 5, 6, 7, 8) },
					"all 0xff":        func(b []byte) []byte { return bytes.Repeat([]byte{0xff}, len(b)) },
					"all 1":           func(b []byte) []byte { return bytes.Repeat([]byte{1}, len(b)) },
				} {
					files := maps.Clone(good)
					for name, data := range good {
						files[name] = bytes.Clone(data)
					}
					files[file] = withSection(t, file, good[file], s.Name, change)
					if bytes.Equal(files[file], good[file]) {
						continue
					}
					repair(files)
					r, err := openMemory(files)
					if err == nil {
						digest(r, new(Cursor), 3)
						err = r.Check(t.Context(), CheckOptions{Threads: 1})
					}
					if err == nil && !harmless(s.Name, what) {
						t.Errorf("%s: section %s of file %s %s: no error", kind, s.Name, file, what)
					}
				}
			}
		}
	}
}

package folders_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/folders"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

const (
	childFolder = "COLLOCATE_TEST_SYNC_FOLDER"
	childIndex  = "COLLOCATE_TEST_SYNC_INDEX"
)

// Random edits, renames and deletions, each few followed by a Sync in a process of its own, which
// is often killed. When one is not, the index has exactly what the folder has. COLLOCATE_TEST_LONG
// makes 1,000 edits.
func TestNothingIsStaleOrLost(t *testing.T) { staleOrLost(t, nil) }

// The same, if files are cut into passages of two words.
func TestNothingIsStaleOrLostInPassages(t *testing.T) {
	staleOrLost(t, &fields.Passages{Words: 2, Field: "text"})
}

func staleOrLost(t *testing.T, cut *fields.Passages) {
	if dir := os.Getenv(childFolder); dir != "" { // the process to be killed
		d := newDesk(t)
		d.dir, d.ix, d.o.Batch, d.o.Passages = dir, os.Getenv(childIndex), 3, cut
		d.sync()
		return
	}
	rng := rand.New(rand.NewPCG(54, 1))
	d := newDesk(t)
	d.o.Batch, d.o.Passages = 3, cut
	m := &mess{d: d, rng: rng}
	m.write("keep.txt")
	edits, kills, syncs := 0, 0, 0
	want := trials.Cases(100)
	for edits < want {
		for range 1 + rng.IntN(8) {
			m.edit()
			edits++
		}
		for range rng.IntN(3) {
			if m.kill() {
				kills++
			}
			m.edit()
			edits++
		}
		d.sync()
		syncs++
		if want, got := m.files(), m.indexed(); !maps.Equal(got, want) {
			t.Fatalf("after %d edits and %d kills:\n got %q\nwant %q", edits, kills, got, want)
		}
		if r := d.sync(); r.Changes() {
			t.Fatalf("nothing changed, but %s", did(r))
		}
	}
	t.Logf("%d edits, %d kills, %d syncs", edits, kills, syncs)
}

// mess is a folder that somebody edits without a plan.
type mess struct {
	d   *desk
	rng *rand.Rand
	n   int
}

func (m *mess) pick(list ...string) string { return list[m.rng.IntN(len(list))] }

// path returns a path that may exist.
func (m *mess) path() string {
	path := m.pick("a", "b", "c", "d", "x.log") + m.pick("", ".txt", ".md", ".ipynb", ".bin", ".mbox")
	for range m.rng.IntN(3) {
		path = m.pick("a", "b", "sub", "tmp") + "/" + path
	}
	return path
}

// write makes or changes a file. Half of the texts have the same length.
func (m *mess) write(path string) {
	m.n++
	text := fmt.Sprintf("text %06d", m.n)
	switch {
	case strings.HasSuffix(path, ".bin"):
		text = "\x00" + text
	case strings.HasSuffix(path, ".ipynb"):
		text = "{" + text
	case strings.HasSuffix(path, ".mbox"):
		text = ""
		for i := range 1 + m.rng.IntN(3) {
			text += fmt.Sprintf("From a@b Thu Feb 29 12:00:00 2024\nSubject: s\n\nmail %d %d\n\n", m.n, i)
		}
	case m.rng.IntN(2) == 0:
		text += strings.Repeat(" more", m.rng.IntN(5))
	}
	full := filepath.Join(m.d.dir, path)
	if os.MkdirAll(filepath.Dir(full), 0o777) == nil { // else a file is in its way
		os.WriteFile(full, []byte(text), 0o666)
	}
}

func (m *mess) edit() {
	at := func(path string) string { return filepath.Join(m.d.dir, path) }
	path := m.path()
	switch m.rng.IntN(12) {
	case 0, 1:
		os.Remove(at(path))
	case 2:
		os.RemoveAll(at(m.pick("a", "b", "sub/a", "tmp")))
	case 3, 4:
		os.Rename(at(path), at(m.path()))
	case 5:
		os.Rename(at(m.pick("a", "b", "sub")), at(m.pick("a", "b", "sub", "tmp")))
	case 6:
		then := time.Date(2020, 1, 1+m.rng.IntN(9), 0, 0, m.rng.IntN(2), m.rng.IntN(2)*1e6, time.UTC)
		os.Chtimes(at(path), then, then)
	case 7:
		os.WriteFile(at(".gitignore"), []byte(m.pick("", "*.log*\n", "tmp/\n")), 0o666)
	default:
		m.write(path)
	}
}

// kill runs Sync in another process, and reports whether that was killed before it ended.
func (m *mess) kill() bool {
	m.d.t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^"+m.d.t.Name()+"$")
	child.Env = append(os.Environ(), childFolder+"="+m.d.dir, childIndex+"="+m.d.ix)
	var said bytes.Buffer
	child.Stdout, child.Stderr = &said, &said
	if err := child.Start(); err != nil {
		m.d.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			m.d.t.Fatalf("%v: %s", err, said.Bytes())
		}
		return false
	case <-time.After(time.Duration(m.rng.IntN(120)) * time.Millisecond):
		child.Process.Kill()
		return <-ended != nil
	}
}

// files is what the index should have: the texts of documents by their IDs.
func (m *mess) files() map[string]string {
	rules, _ := os.ReadFile(filepath.Join(m.d.dir, ".gitignore"))
	all := map[string]string{}
	err := filepath.WalkDir(m.d.dir, func(full string, e fs.DirEntry, err error) error {
		path := filepath.ToSlash(strings.TrimPrefix(full, m.d.dir+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "tmp" && string(rules) == "tmp/\n":
			return fs.SkipDir
		case strings.Contains(e.Name(), ".log") && string(rules) == "*.log*\n":
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir() || e.Name()[0] == '.' || strings.HasSuffix(path, ".bin"):
			return nil
		}
		data, err := os.ReadFile(full)
		if bytes.HasPrefix(data, []byte{0}) {
			return err
		}
		switch {
		case strings.HasPrefix(string(data), "{") && strings.HasSuffix(path, ".ipynb"):
			all[path] = ""
		case strings.HasPrefix(string(data), "From "):
			for i, one := range strings.Split(string(data), "Subject: s\n\n")[1:] {
				text, _, _ := strings.Cut(one, "\n")
				all[fmt.Sprintf("%s/%d", path, i+1)] = text
			}
		case strings.HasSuffix(path, ".ipynb"): // of another kind, renamed
			all[path] = ""
		case strings.HasSuffix(path, ".mbox"):
			all[path+"/1"] = string(data)
		default:
			all[path] = string(data)
		}
		return err
	})
	if err != nil {
		m.d.t.Fatal(err)
	}
	return all
}

// indexed is what the index has.
func (m *mess) indexed() map[string]string {
	g, err := segments.Open(m.d.ix)
	if err != nil {
		m.d.t.Fatal(err)
	}
	defer g.Close()
	all, parts := map[string]string{}, map[string]string{}
	at := folders.Schema().Find("text")
	for n, s := range g.Segments() {
		for doc := range s.Docs() {
			if s.Live != nil && !s.Live.Has(uint32(doc)) {
				continue
			}
			id, err1 := s.DocID(doc)
			values, err2 := g.Segments()[n].Stored(doc)
			if err := errors.Join(err1, err2); err != nil {
				m.d.t.Fatal(err)
			}
			into := all
			if m.d.o.Passages != nil {
				into = parts
			}
			if _, twice := into[id]; twice {
				m.d.t.Fatalf("%q is there twice", id)
			}
			into[id] = string(slices.Concat(values[at]...))
		}
	}
	for n := 1; len(parts) > 0; n++ { // all passages of a document, without a gap
		for _, id := range slices.Collect(maps.Keys(parts)) {
			if parent, number, _ := text.SplitPassageID(id); number == n {
				if _, ok := all[parent]; ok != (n > 1) {
					m.d.t.Fatalf("%q: there are others before it: %v", id, ok)
				}
				all[parent] += parts[id]
				delete(parts, id)
			}
		}
		if n > 100 {
			m.d.t.Fatalf("no passages: %q", parts)
		}
	}
	return all
}

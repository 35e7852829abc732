package serve

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search"
)

// matching returns the IDs of the documents that have a word, in order.
func matching(docs map[string]string, word string) (list []string) {
	for id, text := range docs {
		if word == "*" || slices.Contains(strings.Fields(text), word) {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// Random changes over HTTP give what the same changes of a map give: searches find what was
// committed last, and a restart loses nothing.
func TestChangesGiveWhatAMapGives(t *testing.T) {
	for seed := range uint64(trials.Cases(1)) {
		rng := rand.New(rand.NewPCG(seed, 71))
		dir := t.TempDir()
		h := writable(t, Options{Dir: dir, CommitEvery: time.Hour})
		must(t, h, "PUT", "/v1/indexes/m", `{"analyzer":"whitespace","store_text":true}`, 201)
		now := map[string]string{}
		// The states that may be visible: that of the last commit asked for, and all since, as the
		// server also commits when it has merged segments.
		states := []map[string]string{{}}
		said := func() string { return []string{"", "?refresh=true"}[rng.IntN(2)] }
		commit := func(how string) {
			if how != "" {
				states = nil
			}
			states = append(states, maps.Clone(now))
		}
		sees := func(what string, same func(docs map[string]string) bool) {
			t.Helper()
			at := slices.IndexFunc(states, same)
			if at < 0 {
				t.Fatalf("seed %d: %s is that of none of the states since the last commit: %q", seed, what, states)
			}
			states = states[at:]
		}
		status := func(how string) int {
			if how == "" {
				return http.StatusAccepted
			}
			return http.StatusOK
		}
		id := func() string { return fmt.Sprint("d/", rng.IntN(30)) }
		word := func() string { return fmt.Sprint("w", int(rng.ExpFloat64()*4)) }
		const docs = "/v1/indexes/m/documents"
		for range trials.Of(300) {
			how := said()
			switch n := rng.IntN(100); {
			case n < 40:
				var body strings.Builder
				failed := 0
				for range 1 + rng.IntN(5) {
					if rng.IntN(8) == 0 {
						failed++
						body.WriteString([]string{"{}\n", "{\"id\":\"x\"}\n", "nonsense\n", "{\"text\":\"w1\"}\n"}[rng.IntN(4)])
						continue
					}
					d, text := id(), ""
					for range rng.IntN(5) {
						text += word() + " "
					}
					now[d] = text
					fmt.Fprintf(&body, "{\"id\":%q,\"text\":%q}\n\n", d, text)
				}
				w := send(h, "POST", docs+how, body.String())
				a := decode[writeAnswer](t, w.Body.String())
				if a.Failed != failed || a.Added+a.Failed != strings.Count(body.String(), "{")+strings.Count(body.String(), "nonsense") {
					t.Fatalf("%s: %+v, want %d errors", body.String(), a, failed)
				}
				if a.Added > 0 {
					commit(how)
				}
			case n < 50:
				d := id()
				if _, ok := now[d]; ok {
					delete(now, d)
					must(t, h, "DELETE", docs+"/"+url.PathEscape(d)+how, "", status(how))
					commit(how)
				} else {
					must(t, h, "DELETE", docs+"/"+d+how, "", 404)
				}
			case n < 55:
				q := word()
				gone := matching(now, q)
				if how != "" {
					how = "&refresh=true"
				}
				a := decode[writeAnswer](t, must(t, h, "DELETE", docs+"?q="+q+how, "", status(how)))
				if a.Deleted != len(gone) {
					t.Fatalf("deleting %s: %d, want %q", q, a.Deleted, gone)
				}
				commit("first") // what was changed before
				for _, d := range gone {
					delete(now, d)
				}
				commit(how)
			case n < 58:
				must(t, h, "POST", "/v1/indexes/m/commit", "", 200)
				commit("now")
			case n < 61:
				j := decode[jobAnswer](t, must(t, h, "POST", "/v1/indexes/m/"+[]string{"merge", "compact"}[rng.IntN(2)], "", 202))
				if j = waitForJob(t, h, j.ID); j.State != "done" {
					t.Fatalf("job %+v, want it done", j)
				}
				commit("now")
			case n < 63:
				if err := h.Close(); err != nil {
					t.Fatal(err)
				}
				h = writable(t, Options{Dir: dir, CommitEvery: time.Hour})
				if err := h.OpenAll(t.Context()); err != nil {
					t.Fatal(err)
				}
				commit("now")
			default:
				q := word()
				if n < 70 {
					q = "*"
				}
				got := find(t, h, "m", q)
				sees(fmt.Sprintf("%s: %q", q, got), func(docs map[string]string) bool {
					return slices.Equal(got, matching(docs, q))
				})
				d := id()
				w := send(h, "GET", docs+"/"+d, "")
				sees(fmt.Sprintf("%s: %d %s", d, w.Code, w.Body), func(docs map[string]string) bool {
					text, ok := docs[d]
					return ok == (w.Code == 200) && (!ok || *decode[documentAnswer](t, w.Body.String()).Text == text)
				})
			}
		}
	}
}

func waitForJob(t testing.TB, h http.Handler, id string) (j jobAnswer) {
	t.Helper()
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(2 * time.Millisecond) {
		if j = decode[jobAnswer](t, must(t, h, "GET", "/v1/jobs/"+id, "", 200)); j.ended() {
			return j
		}
	}
	t.Fatalf("job %+v does not end", j)
	return j
}

// Several clients change two indexes at once while others search: whoever was told that a change is
// durable sees it at once, and in the end nothing is missing.
func TestManyWriters(t *testing.T) {
	h := writable(t, Options{CommitEvery: 3 * time.Millisecond, Threads: 2, Limits: Limits{Hold: -1, Wait: time.Minute}})
	for _, name := range []string{"a", "b"} {
		must(t, h, "PUT", "/v1/indexes/"+name, `{"analyzer":"whitespace"}`, 201)
	}
	var clients, readers sync.WaitGroup
	var done atomic.Bool
	readers.Go(func() {
		for !done.Load() {
			if w := call(h, "/v1/indexes/a/search?q=all&k=3", ""); w.Code != 200 {
				t.Errorf("search: %d %s", w.Code, w.Body)
				return
			}
			call(h, "/metrics", "")
		}
	})
	each := trials.Of(60) + 10
	left := make([]map[string]string, 4) // of each client
	for n := range left {
		left[n] = map[string]string{}
		clients.Go(func() {
			docs := "/v1/indexes/" + string("ab"[n%2]) + "/documents"
			for i := range each {
				how := []string{"false", "true", "wait"}[i%3]
				path := fmt.Sprintf("%s?refresh=%s", docs, how)
				id := fmt.Sprintf("%d-%d", n, i)
				w := send(h, "POST", path, fmt.Sprintf(`{"id":%q,"text":"all c%d"}`, id, n))
				a := decode[writeAnswer](t, w.Body.String())
				if a.Added != 1 || a.Durable != (how != "false") {
					t.Errorf("%s: %d %s", path, w.Code, w.Body)
					return
				}
				left[n][id] = "all"
				if a.Durable {
					must(t, h, "GET", docs+"/"+id, "", 200)
				}
				switch {
				case i%20 == 19:
					must(t, h, "DELETE", fmt.Sprintf("%s?q=c%d&refresh=true", docs, n), "", 200)
					clear(left[n])
				case i%7 == 6:
					must(t, h, "DELETE", docs+"/"+id, "", 202)
					delete(left[n], id)
				}
			}
		})
	}
	clients.Wait()
	done.Store(true)
	readers.Wait()
	for n := range left {
		name := string("ab"[n%2])
		must(t, h, "POST", "/v1/indexes/"+name+"/commit", "", 200)
		if got, want := find(t, h, name, fmt.Sprint("c", n)), matching(left[n], "*"); !slices.Equal(got, want) {
			t.Errorf("client %d: %q, want %q", n, got, want)
		}
	}
}

const childEnv = "COLLOCATE_TEST_WRITING"

// Whatever moment a server is killed at, no change is lost that it has called durable.
func TestKilledServersKeepDurableChanges(t *testing.T) {
	if dir := os.Getenv(childEnv); dir != "" {
		writeForever(t, dir)
		return
	}
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(61, 63))
	kills := 12 / trials.Every(6)
	if n, err := strconv.Atoi(os.Getenv("COLLOCATE_TEST_KILLS")); err == nil {
		kills = n
	}
	checked := 0
	for n := 0; n < kills || checked == 0; n++ {
		var output bytes.Buffer
		child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		child.Env = append(os.Environ(), childEnv+"="+dir)
		child.Stdout, child.Stderr = &output, &output
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- child.Wait() }()
		select {
		case err := <-ended:
			t.Fatalf("the server ended before it was killed: %v\n%s", err, output.Bytes())
		case <-time.After(time.Duration(30+rng.IntN(400)) * time.Millisecond):
			child.Process.Kill()
			<-ended
		}
		durable := map[string]int{}
		said, err := os.Open(filepath.Join(dir, "said"))
		if err != nil {
			continue // killed before the first commit
		}
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if id, version, ok := strings.Cut(lines.Text(), " "); ok {
				v, _ := strconv.Atoi(version)
				durable[id] = max(durable[id], v)
			}
		}
		said.Close()
		s, err := search.Open(filepath.Join(dir, "ix"))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Index().Check(t.Context(), index.CheckOptions{}); err != nil {
			t.Fatal(err)
		}
		for id, version := range durable {
			doc, found, err := s.Index().FindDoc(id)
			if err != nil || !found {
				t.Fatalf("kill %d: document %s: found %v, %v; version %d was durable", n, id, found, err, version)
			}
			body, err := s.Index().Text(doc)
			got, _ := strconv.Atoi(strings.TrimPrefix(string(body), "v"))
			if err != nil || got < version {
				t.Fatalf("kill %d: document %s is %q (%v), want version %d or later", n, id, body, err, version)
			}
			checked++
		}
		s.Close()
	}
	t.Logf("%d durable documents were there after a kill", checked)
}

// writeForever runs a server whose clients write down what it has called durable.
func writeForever(t *testing.T, dir string) {
	h := writable(t, Options{Dir: dir, CommitEvery: 5 * time.Millisecond})
	if err := h.OpenAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h.index("ix") == nil {
		must(t, h, "PUT", "/v1/indexes/ix", `{"store_text":true}`, 201)
	}
	said, err := os.OpenFile(filepath.Join(dir, "said"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 4 {
		go func() {
			for version := int(time.Now().UnixMilli() % 1e9); ; version++ {
				id := fmt.Sprintf("d%d-%d", n, version%7)
				how := []string{"true", "wait", "false"}[version%3]
				w := send(h, "POST", "/v1/indexes/ix/documents?refresh="+how,
					fmt.Sprintf(`{"id":%q,"text":"v%d"}`, id, version))
				if strings.Contains(w.Body.String(), `"durable":true`) {
					fmt.Fprintf(said, "%s %d\n", id, version)
				} else if w.Code != 202 {
					panic(w.Body.String())
				}
			}
		}()
	}
	select {}
}

// fullDisk fails writes while it is set.
type fullDisk struct{ full atomic.Bool }

func (d *fullDisk) Before(op disk.Op, path string) error {
	if d.full.Load() && (op == disk.Write || op == disk.Create) {
		return &os.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
	}
	return nil
}

func (d *fullDisk) After(disk.Op, string) {}

// On a full disk clients are told that their changes are lost. The old documents are still served,
// and once there is room the next change is written.
func TestWritesOnAFullDisk(t *testing.T) {
	h := writable(t, Options{CommitEvery: time.Hour})
	must(t, h, "PUT", "/v1/indexes/i", "", 201)
	const docs = "/v1/indexes/i/documents"
	must(t, h, "POST", docs+"?refresh=true", `{"id":"old","text":"bear"}`, 200)
	must(t, h, "POST", docs, `{"id":"soon","text":"bear"}`, 202)
	d := &fullDisk{}
	restore := disk.Use(d)
	defer restore()
	d.full.Store(true)
	if w := send(h, "POST", docs+"?refresh=true", `{"id":"new","text":"bear"}`); w.Code != 500 ||
		!strings.Contains(w.Body.String(), "no space left") {
		t.Errorf("on a full disk: %d %s, want 500", w.Code, w.Body)
	}
	if got := find(t, h, "i", "bear"); !slices.Equal(got, []string{"old"}) {
		t.Errorf("on a full disk: %q, want the old document", got)
	}
	d.full.Store(false)
	for start := time.Now(); ; time.Sleep(time.Millisecond) { // the writer is opened again
		w := send(h, "POST", docs+"?refresh=true", `{"id":"newer","text":"bear"}`)
		if w.Code == 200 {
			break
		}
		if time.Since(start) > 10*time.Second {
			t.Fatalf("after the disk has room: %d %s", w.Code, w.Body)
		}
	}
	if got := find(t, h, "i", "bear"); !slices.Equal(got, []string{"newer", "old"}) {
		t.Errorf("after the disk has room: %q", got)
	}
}

// Lines of a stream are those that a split at line ends gives, whatever its pieces, and long ones
// are left out.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{}\n\n{\"id\":1}\r\nlast"), uint8(3), uint8(200))
	f.Add([]byte("a long line\nb\n\n"), uint8(1), uint8(5))
	f.Fuzz(func(t *testing.T, data []byte, piece, most uint8) {
		l := newLines(&inPieces{data, int(piece) + 1}, int64(most))
		rows := bytes.Split(data, []byte("\n"))
		for i, row := range rows {
			if len(bytes.TrimSpace(row)) == 0 && (len(row) < int(most) || len(row) == int(most) && i == len(rows)-1) {
				continue
			}
			got, err := l.next()
			size := len(row)
			if i < len(rows)-1 {
				size++ // with its end
			}
			if long := size > int(most); long != errors.Is(err, errLongLine) || !long && !bytes.Equal(got, row) ||
				l.number != int64(i+1) {
				t.Fatalf("line %d: %q %v of number %d, want %q", i+1, got, err, l.number, row)
			}
		}
		if got, err := l.next(); err != io.EOF {
			t.Fatalf("after the last line: %q %v, want the end", got, err)
		}
	})
}

// inPieces gives a text in pieces.
type inPieces struct {
	rest  []byte
	piece int
}

func (p *inPieces) Read(to []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(to, p.rest[:min(p.piece, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}

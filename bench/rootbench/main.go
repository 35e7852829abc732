// Command rootbench measures the overhead of a root over shards.
//
//	go build -o collocate ./cmd/collocate
//	collocate shard news.index 3 --out news.shards
//	go run ./bench/rootbench -collocate ./collocate -shards news.shards -queries queries.txt
//
// It starts a server for each shard and a root over them. First, one client sends each query to the
// root and, as a root does, to each shard. The root's overhead is its time less that of the slowest
// shard for the same query. Then many clients send queries to the root without pause.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	var b bench
	flag.StringVar(&b.collocate, "collocate", "collocate", "the command")
	flag.StringVar(&b.shards, "shards", "", "folder of 'collocate shard'")
	flag.StringVar(&b.queries, "queries", "", "file with one query per line")
	flag.IntVar(&b.clients, "clients", 64, "number of clients in the second part")
	flag.DurationVar(&b.length, "for", 10*time.Second, "length of the second part")
	flag.StringVar(&b.profile, "profile", "", "file for the root's CPU profile in the second part")
	flag.Parse()
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "rootbench:", err)
		os.Exit(1)
	}
}

type bench struct {
	collocate, shards, queries string
	clients                    int
	length                     time.Duration
	profile                    string

	servers []*server
	client  *http.Client
	texts   []string
}

// server is a running server.
type server struct {
	cmd *exec.Cmd
	url string
}

var address = regexp.MustCompile(` at (http\S+)`)

func (b *bench) start(args ...string) (*server, error) {
	s := &server{cmd: exec.Command(b.collocate, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)}
	said, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	b.servers = append(b.servers, s)
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if m := address.FindStringSubmatch(lines.Text()); m != nil {
			s.url = m[1]
			go io.Copy(io.Discard, said)
			return s, nil
		}
	}
	return nil, fmt.Errorf("%s serve %s printed no address", b.collocate, strings.Join(args, " "))
}

func (b *bench) stop() {
	for _, s := range b.servers {
		s.cmd.Process.Signal(syscall.SIGTERM)
		s.cmd.Wait()
	}
}

// cpu returns the CPU time that the server has used.
func (s *server) cpu() time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if err != nil || len(fields) < 13 {
		return 0
	}
	var user, system int64
	fmt.Sscan(fields[11], &user)
	fmt.Sscan(fields[12], &system)
	return time.Duration(user+system) * 10 * time.Millisecond
}

func (b *bench) run() error {
	data, err := os.ReadFile(b.queries)
	if err != nil {
		return err
	}
	b.texts = strings.Split(strings.TrimSpace(string(data)), "\n")
	folders, err := filepath.Glob(filepath.Join(b.shards, "[0-9]*"))
	if err != nil {
		return err
	}
	if len(folders) == 0 {
		return fmt.Errorf("%s: no shards: want a folder of 'collocate shard'", b.shards)
	}
	b.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024}}
	defer b.stop()
	var shards []*server
	var urls []string
	for _, dir := range folders {
		s, err := b.start(dir)
		if err != nil {
			return err
		}
		shards, urls = append(shards, s), append(urls, s.url)
	}
	args := []string{"--root", "--shards", strings.Join(urls, ",")}
	if b.profile != "" {
		args = append(args, "--debug-addr", debugAddress)
	}
	root, err := b.start(args...)
	if err != nil {
		return err
	}
	if err := b.overhead(root, shards); err != nil {
		return err
	}
	return b.load(root, shards)
}

// ask sends a query and returns the time until the answer.
func (b *bench) ask(s *server, query string) (time.Duration, error) {
	start := time.Now()
	response, err := b.client.Get(s.url + "/v1/search?k=10&plain=true&q=" + url.QueryEscape(query))
	return b.answer(start, response, err)
}

func (b *bench) answer(start time.Time, response *http.Response, err error) (time.Duration, error) {
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", response.Status, said)
	}
	return time.Since(start), err
}

// askShard sends a query to a shard as a root does.
func (b *bench) askShard(s *server, whole, query string) (time.Duration, error) {
	body, err := json.Marshal(map[string]any{"whole": whole, "ask": map[string]any{"q": query, "k": 10, "plain": true}})
	if err != nil {
		return 0, err
	}
	start := time.Now()
	response, err := b.client.Post(s.url+"/internal/shard/search", "application/json", bytes.NewReader(body))
	return b.answer(start, response, err)
}

func (b *bench) overhead(root *server, shards []*server) error {
	response, err := b.client.Get(shards[0].url + "/internal/shard")
	if err != nil {
		return err
	}
	var about struct {
		Whole string `json:"whole"`
	}
	err = json.NewDecoder(response.Body).Decode(&about)
	response.Body.Close()
	if err != nil {
		return err
	}
	var all, slowest, added []time.Duration
	before := root.cpu()
	rounds := 3 // the first is warm-up
	for round := range rounds {
		if round == 1 {
			all, slowest, added, before = nil, nil, nil, root.cpu()
		}
		for _, text := range b.texts {
			whole, err := b.ask(root, text)
			if err != nil {
				return err
			}
			most := time.Duration(0)
			for _, s := range shards {
				took, err := b.askShard(s, about.Whole, text)
				if err != nil {
					return err
				}
				most = max(most, took)
			}
			all, slowest, added = append(all, whole), append(slowest, most), append(added, whole-most)
		}
	}
	cpu := (root.cpu() - before) / time.Duration(len(all))
	fmt.Printf("one client, %d queries: root %s, slowest shard %s, root less that %s; root's CPU %v a query\n",
		len(all), quantiles(all), quantiles(slowest), quantiles(added), cpu.Round(time.Microsecond))
	return nil
}

func (b *bench) load(root *server, shards []*server) error {
	var next, failed atomic.Int64
	took := make([][]time.Duration, b.clients)
	before := root.cpu()
	shardsBefore := time.Duration(0)
	for _, s := range shards {
		shardsBefore += s.cpu()
	}
	start := time.Now()
	var wg sync.WaitGroup
	if b.profile != "" {
		wg.Go(func() {
			if err := b.saveProfile(); err != nil {
				fmt.Fprintln(os.Stderr, "rootbench: profile:", err)
			}
		})
	}
	for c := range b.clients {
		wg.Go(func() {
			for time.Since(start) < b.length {
				t, err := b.ask(root, b.texts[int(next.Add(1))%len(b.texts)])
				if err != nil {
					failed.Add(1)
					continue
				}
				took[c] = append(took[c], t)
			}
		})
	}
	wg.Wait()
	seconds := time.Since(start).Seconds()
	all := slices.Concat(took...)
	if len(all) == 0 {
		return fmt.Errorf("all of %d queries failed", failed.Load())
	}
	shardsCPU := -shardsBefore
	for _, s := range shards {
		shardsCPU += s.cpu()
	}
	n := time.Duration(len(all))
	fmt.Printf("%d clients: %.0f queries a second through one root over %d shards, %s, %d failed; "+
		"CPU a query: root %v, shards %v\n", b.clients, float64(len(all))/seconds, len(shards),
		quantiles(all), failed.Load(), ((root.cpu() - before) / n).Round(time.Microsecond),
		(shardsCPU / n).Round(time.Microsecond))
	return nil
}

// debugAddress is the address at which the root serves profiles.
const debugAddress = "127.0.0.1:6061"

// saveProfile writes a CPU profile of the root during the second part.
func (b *bench) saveProfile() error {
	seconds := max(1, int(b.length.Seconds()))
	response, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", debugAddress, seconds))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(b.profile, data, 0o644)
}

func quantiles(all []time.Duration) string {
	slices.Sort(all)
	at := func(q float64) time.Duration { return all[int(q*float64(len(all)-1))].Round(time.Microsecond) }
	return fmt.Sprintf("p50 %v p95 %v p99 %v", at(0.5), at(0.95), at(0.99))
}

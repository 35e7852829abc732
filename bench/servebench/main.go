// Command servebench measures what good clients of `collocate serve` notice of hostile ones.
//
//	go build -o collocate ./cmd/collocate
//	go run ./bench/servebench -collocate ./collocate -index papers.index
//
// It starts a server and lets a few good clients send short queries, each at a steady pace. Quiet
// rounds alternate with rounds in which 64 hostile clients work without pause, each from an address
// of its own, in a process of their own. The result is the good clients' latency in both kinds of
// rounds, the statuses and errors of the hostile ones, and the server's memory. The index needs
// stored text.
//
// All compete for the cores. To measure the server rather than the system's scheduler, give each
// its own cores: on 16, for instance,
//
//	taskset -c 10,11 go run ./bench/servebench -server-cpus 0-9 -hostile-cpus 12-15 ...
//
// Clients have other source addresses than 127.0.0.1, which works on Linux only.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	var b bench
	flag.StringVar(&b.collocate, "collocate", "collocate", "the command")
	flag.StringVar(&b.index, "index", "", "an index with stored text")
	flag.StringVar(&b.server, "server", "", "ask this server instead of starting one")
	flag.IntVar(&b.rounds, "rounds", 4, "quiet and hostile rounds")
	flag.DurationVar(&b.round, "round", 5*time.Second, "length of a round")
	flag.IntVar(&b.good, "good", 4, "good clients")
	flag.IntVar(&b.hostile, "hostile", 64, "hostile clients")
	flag.DurationVar(&b.pace, "pace", 10*time.Millisecond, "time between two queries of a good client")
	flag.StringVar(&b.serverCPUs, "server-cpus", "", "run the server on these processors, as taskset -c names them")
	flag.StringVar(&b.hostileCPUs, "hostile-cpus", "", "run the hostile clients on these processors")
	role := flag.String("role", "", "hostile: be the hostile clients until standard input ends")
	flag.Parse()
	var err error
	if *role == "hostile" {
		err = b.attack()
	} else {
		err = b.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "servebench:", err)
		os.Exit(1)
	}
}

type bench struct {
	collocate, index, server string
	serverCPUs, hostileCPUs  string
	rounds, good, hostile    int
	round, pace              time.Duration
}

// result is printed as JSON.
type result struct {
	Quiet     latencies      `json:"quiet"`
	Hostile   latencies      `json:"hostile"`
	P99Ratio  float64        `json:"p99Ratio"`
	Attackers map[string]int `json:"attackers"` // number of answers by status or error
}

// latencies are the good clients' latencies in microseconds.
type latencies struct {
	Requests int            `json:"requests"`
	Statuses map[string]int `json:"statuses"`
	P50      int64          `json:"p50"`
	P90      int64          `json:"p90"`
	P99      int64          `json:"p99"`
	Max      int64          `json:"max"`
}

func (b *bench) run() error {
	r := result{Attackers: map[string]int{}}
	if b.server == "" {
		cmd := commandOn(b.serverCPUs, b.collocate, "serve", b.index, "--addr", "127.0.0.1:0")
		stderr, err := cmd.StderrPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		defer func() {
			cmd.Process.Signal(syscall.SIGTERM)
			cmd.Wait()
		}()
		in := bufio.NewScanner(stderr)
		for b.server == "" && in.Scan() {
			b.server = regexp.MustCompile(`http://[0-9.:]+`).FindString(in.Text())
		}
		if b.server == "" {
			return fmt.Errorf("%s serve %s printed no address", b.collocate, b.index)
		}
		go func() {
			for in.Scan() {
				fmt.Fprintln(os.Stderr, "server:", in.Text())
			}
		}()
		defer func() { fmt.Fprintln(os.Stderr, "peak of the server's memory:", peakMemory(cmd.Process.Pid)) }()
	}
	var quiet, hostile sample
	b.goodClients(new(sample), time.Second) // warm up
	for range b.rounds {
		b.goodClients(&quiet, b.round)
		stop, err := b.startAttack(r.Attackers)
		if err != nil {
			return err
		}
		time.Sleep(time.Second) // until all hostile clients are at work
		b.goodClients(&hostile, b.round)
		if err := stop(); err != nil {
			return err
		}
		time.Sleep(500 * time.Millisecond)
	}
	r.Quiet, r.Hostile = quiet.summary(), hostile.summary()
	r.P99Ratio = float64(r.Hostile.P99) / float64(r.Quiet.P99)
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(r)
}

// commandOn returns a command that runs on the given processors, or on all if cpus is empty.
func commandOn(cpus, name string, args ...string) *exec.Cmd {
	if cpus == "" {
		return exec.Command(name, args...)
	}
	return exec.Command("taskset", append([]string{"-c", cpus, name}, args...)...)
}

// peakMemory returns the peak resident memory of a process, as Linux formats it.
func peakMemory(pid int) string {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if size, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return strings.TrimSpace(size)
		}
	}
	return ""
}

// sample collects the latencies and statuses of the good clients.
type sample struct {
	mu       sync.Mutex
	times    []time.Duration
	statuses map[string]int
}

func (s *sample) add(took time.Duration, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.statuses == nil {
		s.statuses = map[string]int{}
	}
	s.statuses[status]++
	s.times = append(s.times, took)
}

func (s *sample) summary() latencies {
	slices.Sort(s.times)
	at := func(share float64) int64 { return s.times[int(share*float64(len(s.times)-1))].Microseconds() }
	return latencies{len(s.times), s.statuses, at(0.5), at(0.9), at(0.99), at(1)}
}

var queries = []string{
	"lipid droplets kill bacteria", "neurons", "cell membrane", "zebrafish embryos", "gene expression",
	"protein structure", "visual cortex", "stem cells", "immune response", "learning and memory",
}

// goodClients runs the good clients: each sends short queries at a steady pace, one at a time.
func (b *bench) goodClients(to *sample, length time.Duration) {
	var all sync.WaitGroup
	for c := range b.good {
		all.Go(func() {
			client := clientFrom(net.IPv4(127, 0, 2, byte(c+1)))
			defer client.CloseIdleConnections()
			end := time.Now().Add(length)
			for i := c; time.Now().Before(end); i++ {
				start := time.Now()
				status := get(client, b.server+"/search?snippets=1&q="+url.QueryEscape(queries[i%len(queries)]))
				took := time.Since(start)
				to.add(took, status)
				time.Sleep(b.pace - took)
			}
		})
	}
	all.Wait()
}

func clientFrom(ip net.IP) *http.Client {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: ip}}
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: d.DialContext}}
}

func get(client *http.Client, address string) string {
	resp, err := client.Get(address)
	return outcome(resp, err)
}

func outcome(resp *http.Response, err error) string {
	if err != nil {
		return "error"
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return fmt.Sprint(resp.StatusCode)
}

// startAttack starts the process of hostile clients. stop ends it and adds its answers to got.
func (b *bench) startAttack(got map[string]int) (stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := commandOn(b.hostileCPUs, self, "-role", "hostile", "-server", b.server, "-hostile", fmt.Sprint(b.hostile))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() error {
		in.Close()
		if err := cmd.Wait(); err != nil {
			return err
		}
		var more map[string]int
		if err := json.Unmarshal([]byte(out.String()), &more); err != nil {
			return err
		}
		for status, n := range more {
			got[status] += n
		}
		return nil
	}, nil
}

// attack runs the hostile clients until standard input ends.
func (b *bench) attack() error {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	attacks := []func(context.Context, string, *http.Client, net.IP) string{
		longQuery, costlyQuery, hugeBatch, slowReader, trickle, foreignHost, manyShort,
	}
	got := map[string]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for c := range b.hostile {
		all.Go(func() {
			ip := net.IPv4(127, 0, 1, byte(c+1))
			client := clientFrom(ip)
			for ctx.Err() == nil {
				status := attacks[c%len(attacks)](ctx, b.server, client, ip)
				if ctx.Err() == nil {
					mu.Lock()
					got[status]++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return json.NewEncoder(os.Stdout).Encode(got)
}

func send(ctx context.Context, client *http.Client, method, address string, body io.Reader,
	change func(*http.Request)) string {
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return "error"
	}
	if change != nil {
		change(r)
	}
	resp, err := client.Do(r)
	return outcome(resp, err)
}

// longQuery sends a query of thousands of words.
func longQuery(ctx context.Context, server string, client *http.Client, _ net.IP) string {
	q := strings.Repeat(strings.Join(queries, " ")+" ", 160)
	return "long " + send(ctx, client, "GET", server+"/search?snippets=1&k=1000&q="+url.QueryEscape(q), nil, nil)
}

// costlyQuery sends the most expensive request within the limits.
func costlyQuery(ctx context.Context, server string, client *http.Client, _ net.IP) string {
	q := strings.Repeat(strings.Join(queries, " ")+" ", 10)
	return "costly " + send(ctx, client, "GET", server+"/search?snippets=1&k=1000&q="+url.QueryEscape(q), nil, nil)
}

func batch(n int) string {
	return "[" + strings.Repeat(`{"q":"cell membrane protein","k":1000},`, n) + `{"q":"cell"}]`
}

func hugeBatch(ctx context.Context, server string, client *http.Client, _ net.IP) string {
	return "batch " + send(ctx, client, "POST", server+"/search", strings.NewReader(batch(9000)), nil)
}

// slowReader requests a large answer and does not read it.
func slowReader(ctx context.Context, server string, _ *http.Client, ip net.IP) string {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: ip}}
	c, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(server, "http://"))
	if err != nil {
		return "slow error"
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	body := batch(2000)
	fmt.Fprintf(c, "POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	for range 100 {
		if _, err := c.Read(make([]byte, 10)); err != nil {
			return "slow closed"
		}
		select {
		case <-ctx.Done():
			return "slow ended"
		case <-time.After(100 * time.Millisecond):
		}
	}
	return "slow served"
}

// trickle opens many connections and sends their headers one byte at a time.
func trickle(ctx context.Context, server string, _ *http.Client, ip net.IP) string {
	var conns []net.Conn
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: ip}}
	for range 100 {
		if c, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(server, "http://")); err == nil {
			defer c.Close()
			defer context.AfterFunc(ctx, func() { c.Close() })()
			conns = append(conns, c)
		}
	}
	for _, b := range []byte("GET /search?q=cell HTTP/1.1") {
		for _, c := range conns {
			c.Write([]byte{b})
		}
		select {
		case <-ctx.Done():
			return "trickle ended"
		case <-time.After(500 * time.Millisecond):
		}
	}
	return "trickle went on"
}

func foreignHost(ctx context.Context, server string, client *http.Client, _ net.IP) string {
	return "foreign " + send(ctx, client, "GET", server+"/search?q=cell", nil,
		func(r *http.Request) { r.Host = "evil.example" })
}

// manyShort sends short queries without pause.
func manyShort(ctx context.Context, server string, client *http.Client, _ net.IP) string {
	return "short " + send(ctx, client, "GET", server+"/search?q="+url.QueryEscape("cell membrane"), nil, nil)
}

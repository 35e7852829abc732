//go:build unix

// Command serveload is a load test of `collocate serve`. bench/serveload/run builds what it needs
// and starts it.
//
//	serveload -collocate ./collocate -index papers.index -cpus 0,1 -seconds 10 -overload 10m
//
// It measures, from another process on the same cores:
//
//	wrk       the highest throughput, in searches a second, with wrk, if it is installed
//	capacity  the same with clients of its own, and the server's CPU time per search
//	half      latencies at half of the higher throughput, from when a request was due
//	idle      the same with 10,000 idle connections, and whether these still work afterwards
//	overload  twice the capacity for a time: statuses, memory, and the first second afterwards
//	kill      kill -9 under load, a restart, and whether the answers are the same
//	peer      the first three for another server, with -peer, and for ours on -peer-index
//
// Searches ask for the ten best documents. They are the two-word queries of the search benchmark
// game (queries.txt), each followed by one of its words alone. The server has its default options.
// The game is under MIT: https://github.com/quickwit-oss/search-benchmark-game.
//
// Clients have other source addresses than 127.0.0.1, which works on Linux only.
package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

//go:embed queries.txt
var simpleQueries string

func main() {
	var b bench
	flag.StringVar(&b.collocate, "collocate", "collocate", "the command")
	flag.StringVar(&b.index, "index", "", "an index")
	flag.StringVar(&b.cpus, "cpus", "0,1", "processors of servers and clients, as taskset -c names them")
	queries := flag.String("queries", "", "a file of queries, one per line (default queries.txt)")
	seconds := flag.Float64("seconds", 10, "length of capacity, half and idle")
	flag.DurationVar(&b.overload, "overload", 10*time.Minute, "length of the overload")
	flag.IntVar(&b.idle, "idle", 10_000, "idle connections")
	flag.StringVar(&b.peer, "peer", "", "command of another server, which gets a port as its last argument")
	flag.StringVar(&b.peerIndex, "peer-index", "", "an index of the same words as the other server's")
	flag.Parse()
	b.length = time.Duration(*seconds * float64(time.Second))
	if *queries != "" {
		text, err := os.ReadFile(*queries)
		if err != nil {
			fail(err)
		}
		simpleQueries = string(text)
	}
	b.queries = strings.Split(strings.TrimSpace(simpleQueries), "\n")
	if text, err := exec.Command("taskset", "-a", "-cp", b.cpus, strconv.Itoa(os.Getpid())).CombinedOutput(); err != nil {
		fail(fmt.Errorf("taskset: %w: %s", err, text))
	}
	result, err := b.run()
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	out.Encode(result)
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "serveload:", err)
	os.Exit(1)
}

type bench struct {
	collocate, index, cpus string
	peer, peerIndex        string
	queries                []string
	length, overload       time.Duration
	idle                   int
}

// result is printed as JSON.
type result struct {
	*paces
	Idle      *idle   `json:"idle,omitempty"`
	Overload  *over   `json:"overload,omitempty"`
	Kill      *killed `json:"kill,omitempty"`
	Same      *paces  `json:"same_words,omitempty"` // our server on -peer-index
	Peer      *paces  `json:"peer,omitempty"`       // the other server
	TookSecs  float64 `json:"seconds"`
	ServerLog string  `json:"server_log,omitempty"`
}

// paces has the results at the highest rate of requests and at half of it.
type paces struct {
	Wrk      *byWrk `json:"wrk,omitempty"`
	Capacity *load  `json:"capacity"`
	Half     *load  `json:"half"`
}

// rate returns the highest measured rate.
func (p *paces) rate() float64 {
	if p.Wrk != nil {
		return max(p.Wrk.Rate, p.Capacity.Rate)
	}
	return p.Capacity.Rate
}

func (b *bench) run() (r result, err error) {
	start := time.Now()
	defer func() { r.TookSecs = time.Since(start).Seconds() }()
	s, err := b.start(b.collocate, "serve", b.index, "--addr", "127.0.0.1:0")
	if err != nil {
		return r, err
	}
	defer func() { s.stop() }()
	if r.paces, err = b.paces(s); err != nil {
		return r, err
	}
	if r.Idle, err = b.idleConnections(s, r.Half.Rate); err != nil {
		return r, err
	}
	if r.Overload, err = b.tooMuch(s, r.rate()); err != nil {
		return r, err
	}
	if r.Kill, err = b.kill(&s); err != nil {
		return r, err
	}
	s.stop()
	if b.peer == "" {
		return r, nil
	}
	if r.Same, err = b.other(b.collocate, "serve", b.peerIndex, "--addr", "127.0.0.1:0"); err != nil {
		return r, err
	}
	r.Peer, err = b.other("sh", "-c", "exec "+b.peer+" "+strconv.Itoa(freePort()))
	return r, err
}

// paces measures capacity and the latencies at half of it, after a warm-up.
func (b *bench) paces(s *server) (p *paces, err error) {
	if _, err = b.closed(s, b.length/3); err != nil {
		return nil, err
	}
	p = &paces{}
	if p.Wrk, err = b.wrk(s); err != nil {
		return nil, err
	}
	if p.Capacity, err = b.closed(s, b.length); err != nil {
		return nil, err
	}
	p.Half, err = b.paced(s, p.rate()/2, b.length, pacedClients)
	return p, err
}

func (b *bench) other(name string, args ...string) (*paces, error) {
	s, err := b.start(name, args...)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	return b.paces(s)
}

// server is a running server.
type server struct {
	cmd  *exec.Cmd
	addr string
	log  strings.Builder
}

// start starts a server, and reads its address from its standard error.
func (b *bench) start(name string, args ...string) (*server, error) {
	s := &server{cmd: exec.Command("taskset", append([]string{"-c", b.cpus, name}, args...)...)}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	in := bufio.NewScanner(stderr)
	for s.addr == "" && in.Scan() {
		if at := regexp.MustCompile(`http://([0-9.:]+)`).FindStringSubmatch(in.Text()); at != nil {
			s.addr = at[1]
		} else {
			fmt.Fprintln(&s.log, in.Text())
		}
	}
	if s.addr == "" {
		s.cmd.Wait()
		return nil, fmt.Errorf("%s printed no address: %s", name, s.log.String())
	}
	go func() {
		for in.Scan() {
			fmt.Fprintln(os.Stderr, "server:", in.Text())
		}
	}()
	return s, nil
}

func (s *server) stop() {
	if s.cmd.ProcessState == nil {
		s.cmd.Process.Signal(syscall.SIGTERM)
		s.cmd.Wait()
	}
}

// cpu returns the CPU time that the server has used.
func (s *server) cpu() time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	at := strings.LastIndexByte(string(text), ')') // after the name, which may contain blanks
	if f := strings.Fields(string(text[at+1:])); len(f) > 12 {
		user, _ := strconv.Atoi(f[11])
		system, _ := strconv.Atoi(f[12])
		return time.Duration(user+system) * 10 * time.Millisecond // clock ticks, 100 per second
	}
	return 0
}

// memory returns the server's resident memory in MB.
func (s *server) memory() int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	for line := range strings.Lines(string(text)) {
		if size, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(size), " kB"))
			return n / 1000
		}
	}
	return 0
}

func freePort() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// requestOf returns the bytes of a request.
func requestOf(query string) []byte {
	return []byte("GET /search?q=" + url.QueryEscape(query) + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

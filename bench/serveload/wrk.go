//go:build unix

package main

import (
	_ "embed"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

//go:embed wrk.lua
var wrkScript string

// byWrk has the results of wrk, which needs less CPU time than our own clients.
type byWrk struct {
	Rate      float64 `json:"requests_per_second"`
	Requests  int     `json:"requests"`
	Others    int     `json:"other_than_2xx_and_3xx"`
	CPUMicros float64 `json:"server_cpu_micros_per_request"`
}

var (
	wrkRequests = regexp.MustCompile(`(\d+) requests in`)
	wrkRate     = regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)
	wrkOthers   = regexp.MustCompile(`Non-2xx or 3xx responses: (\d+)`)
)

// wrk runs wrk, with requests without pause from one address. It returns nil if wrk is not
// installed.
func (b *bench) wrk(s *server) (*byWrk, error) {
	if _, err := exec.LookPath("wrk"); err != nil {
		fmt.Fprintln(os.Stderr, "serveload: wrk is not installed, so it is left out")
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "serveload")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	script, queries := filepath.Join(dir, "wrk.lua"), filepath.Join(dir, "queries")
	var list strings.Builder
	for _, q := range b.queries {
		fmt.Fprintln(&list, url.QueryEscape(q))
	}
	for name, text := range map[string]string{script: wrkScript, queries: list.String()} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command("taskset", "-c", b.cpus, "wrk", "-t1", "-c"+strconv.Itoa(busyClients),
		"-d"+strconv.Itoa(max(1, int(b.length/time.Second))), "-s", script, "http://"+s.addr)
	cmd.Env = append(os.Environ(), "QUERIES="+queries)
	cpu := s.cpu()
	text, err := cmd.CombinedOutput()
	used := s.cpu() - cpu
	n, rate, others := wrkRequests.FindSubmatch(text), wrkRate.FindSubmatch(text), wrkOthers.FindSubmatch(text)
	if err != nil || n == nil || rate == nil {
		return nil, fmt.Errorf("wrk: %w: %s", err, text)
	}
	r := &byWrk{}
	r.Requests, _ = strconv.Atoi(string(n[1])) // the pattern matched digits
	r.Rate, _ = strconv.ParseFloat(string(rate[1]), 64)
	if others != nil {
		r.Others, _ = strconv.Atoi(string(others[1]))
	}
	r.CPUMicros = float64(used.Microseconds()) / float64(max(1, r.Requests))
	return r, nil
}

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"
)

// askServer is the scripts' client: `ask LOG PATH [BODY]` waits until the file LOG names a server,
// and prints the status and the answer, without its time. The environment variable TOKEN is the
// token to send, if any.
func askServer() {
	if err := ask(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func ask(log, path string, body []string) error {
	var server []byte
	for start := time.Now(); server == nil; time.Sleep(20 * time.Millisecond) {
		said, _ := os.ReadFile(log)
		if time.Since(start) > time.Minute {
			return fmt.Errorf("no server in %s: %s", log, said)
		}
		if end := bytes.LastIndexByte(said, '\n'); end >= 0 { // the line is complete
			server = regexp.MustCompile(`http://[0-9.:]+`).Find(said[:end])
		}
	}
	client := http.Client{Timeout: time.Minute}
	method, from := http.MethodGet, io.Reader(nil)
	if len(body) > 0 {
		method, from = http.MethodPost, strings.NewReader(body[0])
	}
	r, err := http.NewRequest(method, string(server)+path, from)
	if err != nil {
		return err
	}
	if token := os.Getenv("TOKEN"); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	fmt.Printf("%d %s", resp.StatusCode, regexp.MustCompile(`,"micros":\d+`).ReplaceAll(text, nil))
	return err
}

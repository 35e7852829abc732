package serve

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"strconv"
	"testing"
)

// BenchmarkRequest measures requests over HTTP, including the small cost of the client: a short
// search, one with snippets, and one that is refused.
func BenchmarkRequest(b *testing.B) {
	v := New(elife(b, true), Options{Limits: Limits{Hold: -1}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- v.Run(ctx, l) }()
	b.Cleanup(func() {
		stop()
		<-ended
	})
	for _, c := range []struct{ name, path string }{
		{"search", "/search?q=lipid+droplets"},
		{"v1", "/v1/search?q=lipid+droplets"},
		{"snippets", "/search?q=lipid+droplets&snippets=1"},
		{"refused", "/search?q=lipid&k=-1"},
	} {
		b.Run(c.name, func(b *testing.B) {
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			in := bufio.NewReader(conn)
			request := []byte("GET " + c.path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := conn.Write(request); err != nil {
					b.Fatal(err)
				}
				readAnswer(b, in)
			}
		})
	}
}

// readAnswer reads an answer with a Content-Length, without allocating.
func readAnswer(b *testing.B, in *bufio.Reader) {
	size := -1
	for {
		row, err := in.ReadSlice('\n')
		if err != nil {
			b.Fatal(err)
		}
		if len(row) <= 2 {
			break
		}
		if value, ok := bytes.CutPrefix(row, []byte("Content-Length: ")); ok {
			if size, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				b.Fatal(err)
			}
		}
	}
	if size < 0 {
		b.Fatal("an answer without Content-Length")
	}
	if _, err := in.Discard(size); err != nil {
		b.Fatal(err)
	}
}

package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"
)

// start runs a server with a handler; stop tells it to stop, and ended has what Run returned.
func start(t *testing.T, h http.HandlerFunc, grace time.Duration) (url string, stop func(), ended chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	ended = make(chan error, 1)
	go func() { ended <- run(ctx, l, h, Limits{}, slog.New(slog.DiscardHandler), grace) }()
	return "http://" + l.Addr().String(), cancel, ended
}

// A server that is told to stop lets its requests end.
func TestStopWaitsForRequests(t *testing.T) {
	begun := make(chan bool)
	url, stop, ended := start(t, func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		time.Sleep(300 * time.Millisecond)
		if r.Context().Err() == nil {
			io.WriteString(w, "whole")
		}
	}, time.Minute)
	go func() {
		<-begun
		stop()
	}()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "whole" {
		t.Errorf("%q, %v", body, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("it still listens")
	}
}

// A request that takes too long is cancelled, and Run returns when it has ended, not before: the index may be closed then.
func TestStopCancelsLongRequests(t *testing.T) {
	begun, over := make(chan bool), make(chan bool)
	url, stop, ended := start(t, func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		time.Sleep(200 * time.Millisecond)
		close(over)
	}, 10*time.Millisecond)
	go func() {
		<-begun
		stop()
	}()
	if resp, err := http.Get(url); err == nil {
		resp.Body.Close()
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	select {
	case <-over:
	default:
		t.Error("a request is still being answered")
	}
}

// A listener that fails ends the server with its error.
func TestBrokenListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := run(t.Context(), l, http.NotFoundHandler(), Limits{}, slog.New(slog.DiscardHandler), grace); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v, want that the listener is closed", err)
	}
}

package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/collocate/collocate/internal/given"
)

// grace is the time that running requests have to end when the server stops.
const grace = 5 * time.Second

// Run serves on a listener until the context ends, and for Options.Drain longer. Running requests
// then have five seconds to end before they are cancelled. When Run returns, no request is running,
// so the index can be closed. Run returns nil if it ended because of the context.
func (v *Server) Run(ctx context.Context, l net.Listener) error {
	if ctx == nil {
		return given.Context(ctx)
	}
	if v.o.Root != nil {
		looking, stop := context.WithCancel(context.WithoutCancel(ctx))
		var wg sync.WaitGroup
		wg.Go(func() { v.follow(looking) })
		defer wg.Wait()
		defer stop()
	}
	drained, stopped := context.WithCancel(context.WithoutCancel(ctx))
	defer stopped()
	stop := context.AfterFunc(ctx, func() {
		v.draining.Store(true)
		time.AfterFunc(v.o.Drain, stopped)
	})
	defer stop()
	return run(drained, l, v, v.o, grace)
}

func run(ctx context.Context, l net.Listener, h http.Handler, o Options,
	grace time.Duration) error {
	log := o.Log
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	most := o.Limits.withDefaults().Connections
	if files := maxFiles(); files > 0 {
		most = min(most, max(1, files-files/8-32)) // keep some for the index and logs
	}
	keeper := newKeeper(most)
	var open sync.RWMutex // read-locked by requests, locked once all must have ended
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !open.TryRLock() {
				w.Header().Set("Connection", "close")
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusServiceUnavailable)
				text, _ := line(problemOf(http.StatusServiceUnavailable, errStopping)) // cannot fail
				w.Write(text)
				return
			}
			defer open.RUnlock()
			h.ServeHTTP(w, r)
		}),
		BaseContext: func(net.Listener) context.Context { return requests },
		ConnContext: keeper.context,
		ConnState:   keeper.changed,
		ErrorLog:    slog.NewLogLogger(serverErrors{log.Handler()}, slog.LevelInfo),
		// Not ReadTimeout, which would cancel long requests. The body has a deadline of its own.
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
	}
	if o.TLSCert != "" {
		c, err := newCertificate(o.TLSCert, o.TLSKey, log)
		if err != nil {
			return err
		}
		server.TLSConfig = &tls.Config{GetCertificate: c.get}
	}
	ended := make(chan error, 1)
	go func() {
		if o.TLSCert != "" {
			ended <- server.ServeTLS(l, "", "")
			return
		}
		ended <- server.Serve(l)
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		waiting, done := context.WithTimeout(requests, grace)
		defer done()
		if err = server.Shutdown(waiting); errors.Is(err, context.DeadlineExceeded) {
			log.Info("requests were cancelled, for the server stops")
			err = nil
		}
	}
	cancel()
	err = errors.Join(err, server.Close())
	open.Lock()
	return err
}

// serverErrors logs what net/http reports about the server itself as errors; the rest is about
// clients.
type serverErrors struct{ slog.Handler }

func (h serverErrors) Enabled(context.Context, slog.Level) bool { return true }

func (h serverErrors) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "http: panic") ||
		strings.HasPrefix(r.Message, "http: Accept error") {
		r.Level = slog.LevelError
	}
	if !h.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

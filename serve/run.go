package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// grace is how long requests may go on when the server is to stop.
const grace = 5 * time.Second

// Run serves on a listener until the context ends. Requests that are being answered then have five seconds to end; those that need longer are
// cancelled. When Run returns none is being answered, so that the index can be closed. A server that was told to stop returns nil.
func Run(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	return run(ctx, l, h, log, grace)
}

func run(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger, grace time.Duration) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var gate sync.RWMutex // held for reading by requests, for writing once all must have ended
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !gate.TryRLock() {
				fail(w, http.StatusServiceUnavailable, errors.New("the server stops"))
				return
			}
			defer gate.RUnlock()
			h.ServeHTTP(w, r)
		}),
		BaseContext: func(net.Listener) context.Context { return requests },
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		// Not ReadTimeout: it would cancel requests that take longer. The body has a time of its own.
		ReadHeaderTimeout: patience,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 17,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	var err error
	select {
	case err = <-failed:
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
	gate.Lock()
	return err
}

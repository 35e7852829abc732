package serve

import (
	"context"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// RunDebug serves Go's profiles under /debug/pprof/ until the context ends. Profiles reveal much
// about the process and slow it down, so they have a listener of their own that clients need not
// reach.
func RunDebug(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	hosts := &Server{} // IP addresses and localhost only
	server := &http.Server{
		ReadHeaderTimeout: headerTime,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := hosts.checkHost(r); err != nil {
				http.Error(w, said(err), http.StatusMisdirectedRequest)
				return
			}
			if err := hosts.checkOrigin(r); err != nil {
				http.Error(w, said(err), http.StatusForbidden)
				return
			}
			mux.ServeHTTP(w, r)
		}),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		server.Shutdown(stopping)
		return server.Close()
	}
}
